"""Finished answers of a store judged by a language model: faithfulness, correctness, precision and recall of the context.

    python -m experiments.judge store=runs methods=[psi] limit=50 llm=vllm_70b embedder=bge_m3 out=judged.jsonl

Needs the extra `judge`. `limit` questions a run are judged, `context` passages shown as the reader was. Every other
setting is one of `experiments.run`, such as llm, embedder, judge.judges. Replies of the judge are kept in the call cache.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from pydantic import NonNegativeInt, PositiveInt

from experiments.arguments import settings_from
from experiments.cell import Cell
from experiments.compose import component_of
from experiments.configuration import composed
from experiments.labels import Label, labels
from experiments.selection import chosen_cells
from experiments.stages.benchmark import read_benchmark
from experiments.stages.rankings import read_rankings
from psi.component import Component, settings_of
from psi.corpus.subset import subset
from psi.errors import ConfigError, InputError, PsiError
from psi.metrics.judges import Case, Judged, RagasJudges
from psi.metrics.scoring import FAILED
from psi.store import open_artifact, read_rows, write_rows


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which runs of a store to judge, how many of their answered questions (None: all), and where to write scores."""

    store: str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    limit: PositiveInt | None = 50
    seed: NonNegativeInt = 0
    context: PositiveInt = 5
    out: str | None = None


def cases_of(request: Request, cell: Cell) -> list[Case]:
    """The cases of a run: a sample of its questions that were answered, nested in larger ones.

    Raises:
        StoreError: a stage of the run is missing or damaged.
    """
    store = Path(request.store)
    benchmark = read_benchmark(open_artifact(store / cell.stages["benchmark"]))
    ranked = read_rankings(open_artifact(store / cell.stages.get("agent", cell.stages["rankings"])).path)
    rows = {
        row["question"]: row for row in read_rows(open_artifact(store / cell.stages["answers"]).path / "answers.jsonl")
    }
    return [
        Case(
            question.id,
            question.text,
            None if rows[question.id]["status"] == FAILED else rows[question.id]["text"] or "",
            tuple(benchmark.passages.by_id(i).content for i in ranked[question.id].ids[: request.context])
            if question.id in ranked
            else (),
            question.answers,
        )
        for question in subset(benchmark, None, None, request.seed).questions
        if question.id in rows
    ][: request.limit]


def main(arguments: Sequence[str]) -> None:
    """Judge runs; print means with counts, and write the scores question by question."""
    own = [each for each in arguments if each.partition("=")[0] in settings_of(Request) or each in ("-h", "--help")]
    request = settings_from(own, Request, __doc__)
    judges = _judges([f"store={request.store}", *(each for each in arguments if each not in own)])
    chosen = chosen_cells(Path(request.store), request.datasets, request.methods)
    cells = [cell for cell in chosen if "answers" in cell.stages]
    if not cells:
        raise InputError(f"no run below {request.store} has finished answers to judge.")
    rows: list[dict[str, Any]] = []
    for cell, name in zip(cells, labels(cells), strict=True):
        judged = judges.judge(cases_of(request, cell))
        _show(name, judged)
        rows += _rows({"dataset": name.dataset, "method": name.method, "seed": cell.seed}, judged)
    if request.out is not None:
        write_rows(Path(request.out), rows)


def _judges(overrides: Sequence[str]) -> RagasJudges:
    try:
        judges = component_of(composed(["+judge=ragas", *overrides]), "judge")
    except HydraException as error:
        raise ConfigError(f"{error}") from error
    if not isinstance(judges, RagasJudges):
        raise ConfigError("judge._target_ must be psi.metrics.judges.RagasJudges.")
    return judges


def _show(name: Label, judged: Judged) -> None:
    for judge, scores in judged.scores.items():
        each = scores.summary()
        mean = "-" if each.mean is None else f"{100 * each.mean:.1f}"
        interval = "" if each.low is None or each.high is None else f" [{100 * each.low:.1f}, {100 * each.high:.1f}]"
        sys.stdout.write(
            f"{name.dataset}\t{name.method}\t{judge}\t{mean}{interval}\t"
            f"n {each.n}, failed {each.n_failed}, excluded {each.n_excluded}\n"
        )
    sys.stdout.write(f"{name.dataset}\t{name.method}\tjudge's usage\t{asdict(judged.usage)}\n")


def _rows(run: Mapping[str, Any], judged: Judged) -> list[dict[str, Any]]:
    """A row for each score and each failure, the kind of error in the score's place."""
    rows = []
    for judge, scores in judged.scores.items():
        rows += [{**run, "judge": judge, "question": q, "status": "ok", "score": v} for q, v in scores.values.items()]
        rows += [{**run, "judge": judge, "question": q, "status": FAILED, "error_type": judged.errors[judge][q]}
                 for q in scores.failed]  # fmt: skip
    return rows


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except PsiError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
