"""Rankings: what a method retrieves for every question."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.stages.progress import progress
from psi.corpus.records import Benchmark, Passages, Question
from psi.errors import InputError
from psi.models.protocols import NO_USAGE, Usage
from psi.retrieval.ranking import Index, QuestionRanker, Ranking, Retriever, ranking_of, ranking_row
from psi.store import Artifact, RowLog, Stage, Store, read_rows, write_rows

VERSION = 2
CHUNK = 512  # questions searched in one batch, and rows between two points from which a killed run goes on


def rankings_stage(benchmark: Benchmark, retriever: Retriever | QuestionRanker, store: Store, *, k: int) -> Artifact:
    """Rankings as rows (`rankings.jsonl`, in the order of the questions); timings apart, in `timings.jsonl`."""
    inputs = {"passages": benchmark.passages.digest, "questions": benchmark.questions_digest}
    stage = Stage("rankings", VERSION, {"retriever": retriever.identity(), "k": k}, inputs)

    def make(folder: Path) -> Mapping[str, Any]:
        with store.recording() as used:
            search, asked = _write_rankings(benchmark, retriever, store, k, folder)
        vectors = {use.digest: use for use in used if use.manifest["stage"] == "question_embeddings"}
        indexes = {use.digest: use for use in used if use.digest not in vectors}
        return {
            # searching includes embedding the questions, also where another method has done it
            "search_seconds": round(search + sum(use.seconds for use in vectors.values() if not use.made), 4),
            "index_seconds": round(sum(use.seconds for use in indexes.values()), 4),
            "search_usage": asdict(asked),
            "index_usage": asdict(sum((_usage(use.facts) for use in indexes.values()), NO_USAGE)),
            "indexes": [{"stage": use.manifest["stage"], "digest": use.digest} for use in indexes.values()],
        }

    return store.obtain(stage, make, resumable=True)


def read_rankings(folder: Path) -> dict[str, Ranking]:
    """Rankings by question id."""
    rows = read_rows(folder / "rankings.jsonl")
    return {row["question"]: ranking_of(row) for row in rows}


def _write_rankings(
    benchmark: Benchmark, retriever: Retriever | QuestionRanker, store: Store, k: int, folder: Path
) -> tuple[float, Usage]:
    """Write the rankings; returns the seconds spent searching, and what chat models were asked for it."""
    seconds = 0.0
    with RowLog(folder / "rankings.log") as rows, progress("retrieving", len(benchmark.questions)) as bar:
        for document, questions in _scopes(benchmark).items():
            search = _searcher(benchmark, retriever, store, document)
            for batch in _batches(questions, CHUNK):
                if any(question.id not in rows.rows for question in batch):  # whole batches: same bytes after a kill
                    start = time.perf_counter()
                    rankings = search(batch, k)
                    seconds += time.perf_counter() - start
                    rows.append([_ranking_row(q, r) for q, r in zip(batch, rankings, strict=True)])
                bar.update(len(batch))
        found = [rows.rows[question.id] for question in benchmark.questions]
        write_rows(folder / "rankings.jsonl", found)
    return seconds, sum((ranking_of(row).usage for row in found), NO_USAGE)


def _usage(facts: Mapping[str, Any]) -> Usage:
    return Usage(*(int(facts.get(name, 0)) for name in ("calls", "prompt_tokens", "completion_tokens")))


def open_index(benchmark: Benchmark, retriever: Retriever, store: Store, document: str | None) -> Index:
    """The index of the corpus, or of one document of it; built where the store has none yet."""
    return retriever.build(_scope(benchmark, document), store)


Search = Callable[[Sequence[Question], int], list[Ranking]]


def _searcher(
    benchmark: Benchmark, retriever: Retriever | QuestionRanker, store: Store, document: str | None
) -> Search:
    if isinstance(retriever, QuestionRanker):
        passages = _scope(benchmark, document)
        return lambda questions, k: retriever.rank(questions, passages, k)
    index = open_index(benchmark, retriever, store, document)
    return lambda questions, k: index.search([question.text for question in questions], k)


def _scopes(benchmark: Benchmark) -> dict[str | None, list[Question]]:
    scopes: defaultdict[str | None, list[Question]] = defaultdict(list)
    for question in benchmark.questions:
        scopes[question.document].append(question)
    return scopes


def _scope(benchmark: Benchmark, document: str | None) -> Passages:
    if document is None:
        return benchmark.passages
    own = [passage for passage in benchmark.passages if passage.document == document]
    if not own:
        raise InputError(f"a question is about the document {document!r}, but no passage belongs to it.")
    return Passages(own)


def _ranking_row(question: Question, ranking: Ranking) -> dict[str, Any]:
    return {"question": question.id, **ranking_row(ranking)}


def _batches(questions: Sequence[Question], size: int) -> Iterator[Sequence[Question]]:
    for start in range(0, len(questions), size):
        yield questions[start : start + size]
