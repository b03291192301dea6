"""What each part of a system adds: every other run against the whole, paired over questions; a table and a figure.

    python -m experiments.ablations store=runs/ablations whole=psi metrics=[recall@2,recall@5]
    python -m experiments.ablations store=runs/ablations whole=psi+psi metrics=[recall@5,f1] out=ablations

`whole` is the name of the whole system in tables; `methods` limits the variants. Into the folder `out` go ablations.md,
ablations.csv and the figure. Make the runs with experiment=ablations_parts, _agent, _abstracts, _beam or _hops.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from analysis.ablation import Difference, ablation_figure, ablation_table
from analysis.cells import CellScores, over_seeds
from experiments.arguments import run_program, settings_from
from experiments.comparisons import mean_scores, method_names, shared_scores
from experiments.labels import in_order
from experiments.output import show, write_table
from experiments.selection import chosen_cells
from experiments.tables import cell_scores
from psi.component import Component, did_you_mean
from psi.errors import ConfigError, InputError
from psi.metrics import metric
from psi.metrics.significance import Paired, compare, holm
from psi.store import writing

Group = Sequence[CellScores]


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which runs, which of them is the whole system, by which metrics, and where results go (None: the console)."""

    whole: str
    store: str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = ("recall@5",)
    out: str | None = None


def differences(request: Request) -> list[Difference]:
    """Every variant against the whole, on each dataset that has it, by each metric that both were scored by.

    Raises:
        ConfigError: no run of the whole, or an unknown metric.
        InputError: no dataset has the whole and a variant.
    """
    for name in request.metrics:
        metric(name)
    store = Path(request.store)
    cells = in_order(
        chosen_cells(store, request.datasets, (*request.methods, request.whole) if request.methods else ())
    )
    groups = [
        group for group in over_seeds(cell_scores([(store, cell) for cell in cells])) if all(c.scored for c in group)
    ]
    known = {name for group in groups for name in method_names(group)}
    if request.whole not in known:
        raise ConfigError(f"whole={request.whole}: no run of it below {store}.{did_you_mean(request.whole, known)}")
    found = [row for dataset in dict.fromkeys(g[0].dataset for g in groups) for row in _of(groups, dataset, request)]
    if not found:
        raise InputError(
            f"no dataset below {store} has scores of {request.whole} and of another run by {request.metrics}."
        )
    return found


def _of(groups: Sequence[Group], dataset: str, request: Request) -> Iterator[Difference]:
    own = [group for group in groups if group[0].dataset == dataset]
    whole = next((group for group in own if request.whole in method_names(group)), None)
    if whole is None:
        return
    for name in request.metrics:
        base = mean_scores(whole, name)
        pairs = [(group, _compared(group, base, name)) for group in own if group is not whole]
        tested = [(group, paired) for group, paired in pairs if paired is not None]
        for (group, paired), p in zip(tested, holm([paired.p for _, paired in tested]), strict=True):
            yield _difference(dataset, name, group[0].method, paired, p)


def _compared(group: Group, base: dict[str, float], name: str) -> Paired | None:
    variant, whole = shared_scores(mean_scores(group, name), base)
    return compare(variant, whole) if variant else None


def _difference(dataset: str, name: str, variant: str, paired: Paired, p: float) -> Difference:
    points = 100 * paired.difference
    low, high = (points if bound is None else 100 * bound for bound in (paired.low, paired.high))
    return Difference(dataset, name, variant, points, low, high, p, paired.n)


def main(arguments: Sequence[str]) -> None:
    """Tell what each part adds."""
    request = settings_from(arguments, Request, __doc__)
    rows = differences(request)
    table = ablation_table(rows, request.whole)
    show(table)
    if request.out is not None:
        folder = Path(request.out)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_table(table, folder, "ablations")
            png, *_ = ablation_figure(rows, request.whole, folder / "ablations")
            sys.stdout.write(f"figure: {png}\n")


if __name__ == "__main__":
    run_program(main)
