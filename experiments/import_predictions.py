"""Make a run of predictions that another system has made, to be scored, compared and looked into like our own.

    python -m experiments.import_predictions dataset=twowiki file=2wikimultihopqa_summary.json.gz method=psi_released store=runs
    python -m experiments.import_predictions dataset=popqa file=mine.jsonl method="my system" metrics=[em,f1] partial=true

`file` is a JSONL of {"question": id, "answer": text, "passages": [ids or texts]}, or a result file as released with Ψ-RAG.
Retrieved texts are mapped to the passages of the dataset; texts that no passage has are counted and reported. Settings of the
dataset are given as for a run (dataset.folder=...). A file that leaves questions out is refused, unless partial=true counts
them as failed.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException
from pydantic import Field

from experiments.arguments import settings_from
from experiments.cell import Cell, write_record
from experiments.complaints import explained
from experiments.compose import run_from
from experiments.configuration import composed
from experiments.predictions import HOW, PassageFinder, Prediction, answer_row, read_predictions
from experiments.settings import Run
from experiments.stages.answers import Answers
from experiments.stages.benchmark import benchmark_stage, read_benchmark
from experiments.stages.scores import scores_stage
from experiments.tables import show_cells
from psi.component import Component
from psi.corpus.records import Benchmark
from psi.errors import ConfigError, InputError, PsiError
from psi.metrics import metric
from psi.store import Artifact, Stage, Store, digest, file_digest, safe_name, write_rows

log = logging.getLogger(__name__)
VERSION = 1
IMPORTED = "imported"  # the key of a run's settings that says that it was not made here
_OF_DATASET = ("dataset", "metrics", "locks")


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which file to import, under which name, into which store; partial: questions without an answer count as failed."""

    file: str
    method: Annotated[str, Field(min_length=1)]
    store: str = "runs"
    partial: bool = False


def import_predictions(request: Request, dataset: str, run: Run) -> Cell:
    """Import a file as a run on the run's dataset, with its metrics; returns its record, which is kept in the store.

    Raises:
        InputError: the file or the dataset can't be read or do not belong together.
        StoreError: the store can't be written.
    """
    path, store = Path(request.file), Store(request.store, locks=run.locks)
    loaded = benchmark_stage(run.dataset, store, limit=None, corpus_limit=None, seed=0)
    benchmark = read_benchmark(loaded)
    predictions = _complete(read_predictions(path, benchmark.questions), benchmark, request)
    source = {"file": path.name, "sha256": file_digest(path), "partial": request.partial}
    rankings = _rankings(predictions, benchmark, source, store)
    answers = _answers(predictions, source, rankings, store)
    metrics = _scorable(run.metrics, predictions)
    scores = scores_stage(benchmark, rankings, answers, metrics, store)
    stages = {"benchmark": loaded, "rankings": rankings, "scores": scores}
    stages |= {"answers": answers.artifact} if answers.artifact else {}
    settings = {"dataset": run.dataset.identity(), IMPORTED: source, "metrics": metrics}
    identity = digest([dataset, request.method, settings])[:12]
    folder = store.root / "cells" / safe_name(dataset) / safe_name(request.method) / identity
    cell = Cell(
        dataset, request.method, 0, identity, "ok", settings=settings, costs=_counts(benchmark, rankings, answers),
        stages={name: artifact.path.relative_to(store.root).as_posix() for name, artifact in stages.items()},
    )  # fmt: skip
    write_record(folder, cell, f"# imported, not made here: {json.dumps(source, ensure_ascii=False)}\n")
    return cell


def _complete(predictions: Sequence[Prediction], benchmark: Benchmark, request: Request) -> list[Prediction]:
    """A prediction for every question, in their order."""
    given = {prediction.question: prediction for prediction in predictions}
    lost = [question.id for question in benchmark.questions if question.id not in given]
    if lost and not request.partial:
        raise InputError(
            f"{request.file} answers {len(given)} of the {len(benchmark.questions)} questions of {benchmark.name} and not, "
            f"for instance, {lost[0]!r}. Give all of them, or count the others as failed with partial=true."
        )
    return [given.get(question.id, Prediction(question.id, None, None)) for question in benchmark.questions]


def _rankings(
    predictions: Sequence[Prediction], benchmark: Benchmark, source: Mapping[str, Any], store: Store
) -> Artifact:
    inputs = {"passages": benchmark.passages.digest, "questions": benchmark.questions_digest}
    stage = Stage("rankings", VERSION, {IMPORTED: dict(source)}, inputs)

    def make(folder: Path) -> Mapping[str, Any]:
        finder = PassageFinder(benchmark.passages)
        rows = [_ranking_row(each.question, finder.ranking(each.passages)) for each in predictions if each.passages]
        write_rows(folder / "rankings.jsonl", rows)
        return {"mapped": {how: finder.counts[how] for how in HOW}}

    artifact = store.obtain(stage, make)
    _report(benchmark.name, artifact.facts["mapped"])
    return artifact


def _ranking_row(question: str, ids: Sequence[str]) -> dict[str, Any]:
    # the files hold no scores: one over the place keeps the order
    return {"question": question, "passages": list(ids), "scores": [1 / place for place in range(1, len(ids) + 1)]}


def _report(dataset: str, mapped: Mapping[str, int]) -> None:
    total = sum(mapped.values())
    if total:
        found = ", ".join(f"{count} {how}" for how, count in mapped.items() if count)
        log.info("%s: %d retrieved passages: %s", dataset, total, found)
    if mapped["unmapped"]:
        log.warning(
            "%s: %d of %d retrieved passages are none of the corpus: they keep their places and match no gold passage in it",
            dataset, mapped["unmapped"], total,
        )  # fmt: skip


def _answers(predictions: Sequence[Prediction], source: Mapping[str, Any], rankings: Artifact, store: Store) -> Answers:
    if all(prediction.answer is None for prediction in predictions):
        return Answers({}, None)
    rows = {each.question: answer_row(each) for each in predictions}
    stage = Stage("answers", VERSION, {IMPORTED: dict(source)}, {"rankings": rankings.digest})

    def make(folder: Path) -> Mapping[str, Any]:
        write_rows(folder / "answers.jsonl", rows.values())
        statuses = [row["status"] for row in rows.values()]
        return {"statuses": {status: statuses.count(status) for status in sorted(set(statuses))}}

    return Answers(rows, store.obtain(stage, make))


def _scorable(metrics: Sequence[str], predictions: Sequence[Prediction]) -> list[str]:
    """The metrics for which the file holds enough: answers, or passages as far down as the metric looks.

    Raises:
        InputError: there is none.
    """
    longest = max((len(each.passages) for each in predictions if each.passages), default=0)
    answered = any(each.answer is not None for each in predictions)
    found = [name for name in metrics if (answered if metric(name).of == "answer" else _depth(name) <= longest)]
    if not found:
        raise InputError(
            f"the file holds nothing to be scored by {', '.join(metrics)}. Choose others with metrics=[...]."
        )
    return found


def _depth(name: str) -> int:
    return int(name.partition("@")[2] or 1)


def _counts(benchmark: Benchmark, rankings: Artifact, answers: Answers) -> dict[str, int]:
    mapped = rankings.facts["mapped"]
    return {
        "passages": len(benchmark.passages), "questions": len(benchmark.questions), "retrieved": sum(mapped.values()),
        "unmapped": mapped["unmapped"], "answered": sum(row["status"] != "failed" for row in answers.rows.values()),
    }  # fmt: skip


def dataset_run(overrides: Sequence[str]) -> tuple[str, Run]:
    """The name of the dataset, and a run that holds its settings and metrics.

    Raises:
        ConfigError: another setting than those, or an unknown one.
    """
    for override in overrides:
        key = override.partition("=")[0]
        if key.partition(".")[0] not in _OF_DATASET:
            raise ConfigError(
                f"{key}: predictions have no such setting, only {', '.join(_OF_DATASET)} and those of --help."
            )
    try:
        config = composed(overrides)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explained(error, overrides)) from error
    name = next((each.partition("=")[2] for each in overrides if each.startswith("dataset=")), "")
    if not name:
        raise ConfigError("dataset is not given. Set it: dataset=NAME, one of conf/dataset.")
    return name, run_from(config)


def main(arguments: Sequence[str]) -> None:
    """Import what the arguments name, and print its scores."""
    own = [each for each in arguments if each.partition("=")[0].partition(".")[0] not in _OF_DATASET]
    request = settings_from(own, Request, __doc__)
    dataset, run = dataset_run([each for each in arguments if each not in own])
    cell = import_predictions(request, dataset, run)
    show_cells([(Path(request.store), cell)])


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    logging.getLogger("psi").setLevel(logging.INFO)
    log.setLevel(logging.INFO)
    try:
        main(sys.argv[1:])
    except PsiError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
