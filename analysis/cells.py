"""The record that tables and figures are made of: one cell of a sweep, one method on one dataset with one seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from psi.errors import InputError
from psi.metrics import Summary

Status = Literal["ok", "partial", "failed", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellScores:
    """What one run gave.

    `summaries` maps metric names to means; `parts` does so for parts of the questions (`"2 hops"` -> metric -> mean),
    in the order to be shown. `questions` maps metric names to the scores of questions by their ids. `costs` are further
    columns by name (`index_seconds`, `search_calls`, ...; see `analysis.costs`).
    `error` is the type of the error that ended a run. `note` is a sentence that readers must see beside the numbers.
    `partial`: not every question has a row yet; `missing`: the run was never made.
    """

    dataset: str
    method: str
    seed: int = 0
    status: Status = "ok"
    error: str | None = None
    n_questions: int = 0
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    parts: Mapping[str, Mapping[str, Summary]] = field(default_factory=dict)
    questions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    costs: Mapping[str, float | None] = field(default_factory=dict)
    note: str | None = None

    @property
    def scored(self) -> bool:
        """Whether its summaries are to be shown."""
        return self.status in ("ok", "partial")

    @property
    def outcome(self) -> str:
        """The status in words: `ok`, `failed: ModelError`, `partial`, `missing`."""
        return f"{self.status}: {self.error}" if self.error else self.status


def over_seeds(cells: Sequence[CellScores]) -> list[tuple[CellScores, ...]]:
    """Cells that differ in their seed only, together; in the order in which datasets and methods first appear.

    Raises:
        InputError: no cell, or two of one dataset, method and seed.
    """
    if not cells:
        raise InputError("no results to show: no run was given. Run a sweep first, or check the folder of runs.")
    rows: dict[str, dict[str, dict[int, CellScores]]] = {}
    for cell in cells:
        seeds = rows.setdefault(cell.dataset, {}).setdefault(cell.method, {})
        if cell.seed in seeds:
            raise InputError(
                f"two results for dataset {cell.dataset!r}, method {cell.method!r}, seed {cell.seed}: a row needs one. "
                "Show runs of different settings under different method names, or in tables of their own."
            )
        seeds[cell.seed] = cell
    return [tuple(seeds[seed] for seed in sorted(seeds)) for methods in rows.values() for seeds in methods.values()]


def merged(summaries: Sequence[Summary]) -> Summary:
    """One summary for several seeds: the mean of their means, the widest of their bounds, the sums of their counts."""
    if len(summaries) == 1:
        return summaries[0]
    means = [each.mean for each in summaries if each.mean is not None]
    lows = [each.low for each in summaries if each.low is not None]
    highs = [each.high for each in summaries if each.high is not None]
    return Summary(
        mean=math.fsum(means) / len(means) if means else None,
        low=min(lows, default=None),
        high=max(highs, default=None),
        n=sum(each.n for each in summaries),
        n_failed=sum(each.n_failed for each in summaries),
        n_excluded=sum(each.n_excluded for each in summaries),
        n_missing=sum(each.n_missing for each in summaries),
    )
