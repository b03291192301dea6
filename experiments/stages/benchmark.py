"""The benchmark as an artefact: what later stages and the analysis read instead of the source files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from psi.corpus.loader import Loader
from psi.corpus.records import Benchmark, LoadReport, Passage, Passages, Question, Span
from psi.corpus.subset import subset
from psi.errors import StoreError
from psi.store import Artifact, Stage, Store, read_rows, write_rows

VERSION = 2


def benchmark_stage(
    loader: Loader, store: Store, *, limit: int | None, corpus_limit: int | None, seed: int
) -> Artifact:
    """The benchmark as rows: `passages.jsonl`, `questions.jsonl`, `report.json`."""
    whole = limit is None and corpus_limit is None
    chosen = {"limit": limit, "corpus_limit": corpus_limit, "seed": None if whole else seed}
    stage = Stage("benchmark", VERSION, {"loader": loader.identity(), **chosen}, dict(loader.fingerprint()))

    def make(folder: Path) -> Mapping[str, Any]:
        benchmark = subset(loader.load(), limit=limit, corpus_limit=corpus_limit, seed=seed)
        write_rows(folder / "passages.jsonl", map(asdict, benchmark.passages))
        write_rows(folder / "questions.jsonl", map(asdict, benchmark.questions))
        (folder / "report.json").write_text(json.dumps(asdict(benchmark.report), ensure_ascii=False), encoding="utf-8")
        return {
            "name": benchmark.name, "passages": len(benchmark.passages), "questions": len(benchmark.questions),
            "passages_digest": benchmark.passages.digest, "questions_digest": benchmark.questions_digest,
        }  # fmt: skip

    return store.obtain(stage, make)


def read_benchmark(artifact: Artifact) -> Benchmark:
    """The benchmark of a benchmark stage.

    Raises:
        StoreError: another version of this project has written it.
    """
    if artifact.manifest["version"] != VERSION:
        raise StoreError(
            f"{artifact.path} was written by another version of this project (benchmarks of version "
            f"{artifact.manifest['version']}, here {VERSION}). Run the cell again, or take a new store."
        )
    report = json.loads((artifact.path / "report.json").read_text(encoding="utf-8"))
    benchmark = Benchmark(
        name=artifact.facts["name"],
        passages=Passages([_passage(row) for row in read_rows(artifact.path / "passages.jsonl")]),
        questions=tuple(_question(row) for row in read_rows(artifact.path / "questions.jsonl")),
        report=LoadReport(**_tuples(report)),
    )
    # known since it was written, and the files are those that were: digesting thousands of records takes its time
    vars(benchmark.passages)["digest"] = artifact.facts["passages_digest"]
    vars(benchmark)["questions_digest"] = artifact.facts["questions_digest"]
    return benchmark


def _passage(row: Mapping[str, Any]) -> Passage:
    return Passage(**{**row, "span": Span(*row["span"]) if row["span"] else None})


def _question(row: Mapping[str, Any]) -> Question:
    return Question(**{**_tuples(row), "spans": tuple(Span(*span) for span in row["spans"])})


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
