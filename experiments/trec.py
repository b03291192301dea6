"""Runs of a store as TREC files, and TREC files scored by our metrics.

    python -m experiments.trec store=runs out=trec                          # DATASET.qrels and DATASET-METHOD.run of every run
    python -m experiments.trec store=runs datasets=[twowiki] methods=[bm25] out=trec
    python -m experiments.trec run=their.run qrels=their.qrels metrics=[recall@5,ndcg@10]

The files are those of trec_eval; ranx and ir-measures read them too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from experiments.arguments import settings_from
from experiments.labels import labels
from experiments.selection import chosen_cells
from experiments.stages.benchmark import read_benchmark
from experiments.stages.rankings import read_rankings
from psi.component import Component
from psi.corpus.records import Question
from psi.errors import ConfigError, PsiError
from psi.metrics import Summary, score_questions
from psi.metrics.trec import read_qrels, read_run, write_qrels, write_run
from psi.store import open_artifact, safe_name


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which runs of a store to write into the folder `out`; or, with `run` and `qrels`, which files to score."""

    store: str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    out: str | None = None
    run: str | None = None
    qrels: str | None = None
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = ("recall@5", "recall@10", "mrr", "ndcg@10")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.run is None) != (self.qrels is None):
            raise ConfigError("run= and qrels= go together: a run is scored by relevance judgements.")
        if (self.run is None) == (self.out is None):
            raise ConfigError(
                "give either out=FOLDER, to write runs of a store, or run=FILE qrels=FILE, to score them."
            )


def export(store: Path, datasets: Sequence[str], methods: Sequence[str], out: Path) -> list[Path]:
    """Write the rankings of runs, an agent's where there is one, and the gold of their datasets. Returns the files.

    Raises:
        InputError: no such run, or ids that the format can't hold.
        StoreError: a stage of a run is missing or damaged.
    """
    cells = [cell for cell in chosen_cells(store, datasets, methods) if "rankings" in cell.stages]
    out.mkdir(parents=True, exist_ok=True)
    files: dict[Path, None] = {}
    for cell, name in zip(cells, labels(cells), strict=True):
        benchmark = read_benchmark(open_artifact(store / cell.stages["benchmark"]))
        ranked = read_rankings(open_artifact(store / cell.stages.get("agent", cell.stages["rankings"])).path)
        qrels = out / f"{safe_name(name.dataset)}.qrels"
        if qrels not in files:
            write_qrels(qrels, {question.id: question.gold for question in benchmark.questions})
        run = out / f"{safe_name(f'{name.dataset}-{name.method}-seed{cell.seed}')}.run"
        write_run(run, {question: ranking.ids for question, ranking in ranked.items()}, name.method)
        files |= {qrels: None, run: None}
    return list(files)


def scored(run: Path, qrels: Path, metrics: Sequence[str]) -> dict[str, Summary]:
    """Ranking metrics of a run file over the questions of a qrels file; questions that the run lacks count as 0.

    Raises:
        InputError: a file can't be read, or they have no question in common.
        ConfigError: a metric is unknown or does not score rankings.
    """
    questions = [Question(question, "", gold=tuple(gold)) for question, gold in read_qrels(qrels).items()]
    scores = score_questions(questions, metrics, rankings=read_run(run))
    return {name: each.summary() for name, each in scores.items()}


def main(arguments: Sequence[str]) -> None:
    """Write files, or score them."""
    request = settings_from(arguments, Request, __doc__)
    if request.out is not None:
        for path in export(Path(request.store), request.datasets, request.methods, Path(request.out)):
            sys.stdout.write(f"{path}\n")
    elif request.run is not None and request.qrels is not None:
        for name, each in scored(Path(request.run), Path(request.qrels), request.metrics).items():
            mean = "no question" if each.mean is None else f"{each.mean:.4f}"
            sys.stdout.write(f"{name}\t{mean}\tn {each.n}, missing {each.n_missing}, excluded {each.n_excluded}\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except PsiError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    except OSError as error:
        sys.stderr.write(f"cannot write {error.filename}: {error.strerror}. Choose another place with out=.\n")
        raise SystemExit(2) from None
