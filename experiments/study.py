"""Studies of trees and corpora: measurements, tables and figures.

    python -m experiments.study study=dasgupta                                        # on the bundled benchmark
    python -m experiments.study study=skew corpora=[encyclopedia,multihoprag_chunks] out=studies/skew
    python -m experiments.study study=descent corpora=[twowiki] embedder=bge_m3 store=runs
    python -m experiments.study study=skew study.seeds=[0,1] dataset.passages=2000     # settings of study and datasets

`study` is one of conf/study, `corpora` are datasets of conf/dataset. Every measurement is kept in the store, so a study that was
killed goes on where it stopped. Into `out` (default: studies/NAME) go the figures (PNG, PDF and the numbers in them as
CSV) and the tables (Markdown and CSV). Other settings are those of `python -m experiments.run`: embedder, limit,
corpus_limit, seed; settings of `dataset` count for all corpora.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

import numpy as np
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException
from pydantic import Field

from analysis.studies.corpus import DescribedTree, StudyCorpus
from analysis.studies.protocol import Study, StudyResult
from experiments.arguments import run_program, settings_from
from experiments.complaints import CONF, explained
from experiments.compose import component_of
from experiments.configuration import composed
from experiments.output import show, write_table
from experiments.stages.benchmark import benchmark_stage, read_benchmark
from psi.component import Component, did_you_mean, settings_of
from psi.corpus.loader import Loader
from psi.corpus.records import Benchmark, Passages
from psi.errors import ConfigError, InputError
from psi.index.abstracts import Abstracter
from psi.index.embeddings import load_vectors, passage_vectors, question_vectors
from psi.index.psi_index import TreeIndexer
from psi.models.protocols import Embedder
from psi.store import Store, safe_name, writing
from psi.tree import unit_rows

FEWEST = 3  # different passages: fewer make no tree to speak of


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which study of which corpora, and where its measurements and its results are kept."""

    study: str
    corpora: Annotated[tuple[str, ...], Field(min_length=1)] = ("encyclopedia",)
    store: str = "runs"
    out: str | None = None


def main(arguments: Sequence[str]) -> None:
    """Run the study that the arguments name and write what it found."""
    own, others = _split(arguments)
    request = settings_from(own, Request, __doc__)
    try:
        study = _study(request.study, others)
        corpora = [_corpus(name, study.described, others, Store(request.store)) for name in request.corpora]
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explained(error, list(others))) from error
    folder = Path(request.out or f"studies/{safe_name(request.study)}")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write(study.run(corpora, Store(request.store), folder), folder)


def _study(name: str, others: Sequence[str]) -> Study:
    known = [path.stem for path in (CONF / "study").glob("*.yaml")]
    if name not in known:
        raise ConfigError(f"study={name}: no study of this name in {CONF / 'study'}.{did_you_mean(name, known)}")
    own = [
        each for each in others if each.startswith("study.")
    ]  # the rest may belong to another dataset than the default
    return cast(Study, component_of(composed([*own, f"+study={name}"]), "study"))


def _corpus(name: str, described: Sequence[str], others: Sequence[str], store: Store) -> StudyCorpus:
    settings = [*[each for each in others if not each.startswith("study.")], f"dataset={name}"]
    config = composed(settings)
    loader, embedder = cast(Loader, component_of(config, "dataset")), cast(Embedder, component_of(config, "embedder"))
    benchmark = read_benchmark(
        benchmark_stage(loader, store, limit=config.limit, corpus_limit=config.corpus_limit, seed=config.seed)
    )
    indexes = {kind: _described(kind, benchmark.passages, embedder, store, settings) for kind in described}
    return _as_arrays(name, benchmark, embedder, store, indexes)


def _described(
    kind: str, passages: Passages, embedder: Embedder, store: Store, settings: Sequence[str]
) -> DescribedTree:
    own = [each for each in settings if not each.startswith("abstracts=")]
    abstracts = cast(Abstracter, component_of(composed([*own, f"abstracts={kind}"]), "abstracts"))
    index = TreeIndexer(embedder=embedder, abstracts=abstracts).build(passages, store)
    return DescribedTree(index.tree, index.vectors, index.texts)


def _as_arrays(
    name: str, benchmark: Benchmark, embedder: Embedder, store: Store, indexes: dict[str, DescribedTree]
) -> StudyCorpus:
    passages, questions = benchmark.passages, benchmark.questions
    vectors = unit_rows(load_vectors(passage_vectors(passages, embedder, store)))
    if (distinct := len(np.unique(vectors, axis=0))) < FEWEST:
        raise InputError(
            f"{name}: {distinct} different passages, and a study of trees needs {FEWEST} at least. Choose a larger corpus."
        )
    texts = tuple(question.text for question in questions)
    asked = question_vectors(texts, embedder, store, vectors.shape[1]) if texts else vectors[:0]
    position = passages.position
    return StudyCorpus(
        name=name, vectors=vectors, categories=tuple(passage.category for passage in passages),
        titles=tuple(passage.title for passage in passages), texts=passages.contents,
        question_vectors=unit_rows(asked) if texts else asked, questions=texts,
        gold=tuple(tuple(position[id_] for id_ in q.gold if id_ in position) for q in questions), indexes=indexes,
    )  # fmt: skip


def _write(result: StudyResult, folder: Path) -> None:
    for name, table in result.tables.items():
        write_table(table, folder, name)
        show(table)
    sys.stdout.write("".join(f"figure: {path}\n" for path in result.figures if path.suffix == ".png"))


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Arguments for this program, and those for the configuration of study, datasets and embedder."""
    ours = [each for each in arguments if each.partition("=")[0] in (*settings_of(Request), "-h", "--help")]
    return ours, [each for each in arguments if each not in ours]


if __name__ == "__main__":
    run_program(main)
