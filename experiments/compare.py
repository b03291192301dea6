"""Is one method better than another? Paired over the questions of a dataset.

    python -m experiments.compare store=runs methods=[psi,bm25] metrics=[recall@5,f1] datasets=[twowiki]

For each dataset and metric: the mean difference (first minus second), its 95 % interval, the p-value of the paired permutation
test, the same corrected by Holm over all rows, and how many questions each wins. Scores of several seeds are averaged question
by question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from analysis.cells import CellScores, over_seeds
from analysis.renderers import to_markdown
from analysis.tables import LEVEL, Column, Entry, Table
from experiments.arguments import run_program, settings_from
from experiments.comparisons import mean_scores, method_names
from experiments.output import show
from experiments.selection import chosen_cells
from experiments.tables import cell_scores
from psi.component import Component, did_you_mean
from psi.errors import ConfigError, InputError
from psi.metrics import metric
from psi.metrics.significance import Paired, compare, holm


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which two methods (by their names in tables), on which datasets (empty: all that have both), by which metrics."""

    methods: Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]
    store: str = "runs"
    datasets: tuple[str, ...] = ()
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = ("recall@5",)
    out: str | None = None


class Compared(NamedTuple):
    """One dataset and metric: what was found, and p after correction."""

    dataset: str
    metric: str
    paired: Paired
    corrected: float


def compared(request: Request) -> list[Compared]:
    """Every dataset that has both methods, by every metric that both were scored by.

    Raises:
        ConfigError: no run of a method.
        InputError: no dataset has both.
    """
    store = Path(request.store)
    cells = [(store, cell) for cell in chosen_cells(store, request.datasets, ())]
    groups = [group for group in over_seeds(cell_scores(cells)) if all(cell.scored for cell in group)]
    found = list(_pairs(groups, request))
    if not found:
        raise InputError(
            f"no dataset has scores of both {' and '.join(request.methods)} by {', '.join(request.metrics)}."
        )
    corrected = holm([paired.p for _, _, paired in found])
    return [Compared(*each, p) for each, p in zip(found, corrected, strict=True)]


def _pairs(groups: Sequence[Sequence[CellScores]], request: Request) -> Iterator[tuple[str, str, Paired]]:
    names = {name for group in groups for name in method_names(group)}
    for name in request.methods:
        if name not in names:
            raise ConfigError(f"methods: no run of {name!r} in {request.store}.{did_you_mean(name, sorted(names))}")
    for dataset in dict.fromkeys(group[0].dataset for group in groups):
        of = [
            next((g for g in groups if g[0].dataset == dataset and name in method_names(g)), None)
            for name in request.methods
        ]
        if of[0] is None or of[1] is None:
            continue
        for name in request.metrics:
            metric(name)  # a misspelt one is named
            first, second = (mean_scores(group, name) for group in of if group is not None)
            shared = [question for question in first if question in second]
            if shared:
                yield dataset, name, compare(_of(first, shared), _of(second, shared))


def _of(scores: Mapping[str, float], questions: Sequence[str]) -> list[float]:
    return [scores[question] for question in questions]


def table(rows: Sequence[Compared], methods: Sequence[str]) -> Table:
    """The comparison for people, in percent."""
    labels = ("Difference", "95 % interval", "p", "p (Holm)", "Wins", "Ties", "Losses", "n")
    columns = [Column(label, "row", numeric=False) for label in ("Dataset", "Metric")]
    note = (
        f"Difference: {methods[0]} minus {methods[1]}, in points. †: p < {LEVEL} after Holm's correction over the rows."
    )
    return Table((*columns, *(Column(label, "score") for label in labels)), tuple(map(_entries, rows)), (note,))


def _entries(row: Compared) -> tuple[Entry, ...]:
    found = row.paired
    interval = "–" if found.low is None or found.high is None else f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    mark = "†" if row.corrected < LEVEL else ""
    texts = (
        row.dataset, metric(row.metric).label, f"{100 * found.difference:+.1f}{mark}", interval, f"{found.p:.4f}",
        f"{row.corrected:.4f}", f"{found.wins}", f"{found.ties}", f"{found.losses}", f"{found.n}",
    )  # fmt: skip
    return tuple(Entry(text) for text in texts)


def main(arguments: Sequence[str]) -> None:
    """Compare, and tell."""
    request = settings_from(arguments, Request, __doc__)
    shown = table(compared(request), request.methods)
    show(shown)
    if request.out is not None:
        Path(request.out).write_text(to_markdown(shown), encoding="utf-8")


if __name__ == "__main__":
    run_program(main)
