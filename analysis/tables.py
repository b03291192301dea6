"""The results table as data: what stands in every place, what is best, what failed. How it looks is in `renderers`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from analysis.cells import CellScores, merged, over_seeds
from psi.metrics import Metric, Summary, metric

Mark = Literal["", "best", "second", "failed"]
Value = str | float | int | None

COST_LABELS: Mapping[str, str] = MappingProxyType({
    "index_seconds": "Index (s)", "ms_per_question": "ms/question", "calls": "Model calls", "tokens": "Tokens",
})  # fmt: skip
_COUNTED = MappingProxyType({"ranking": "Rankings", "answer": "Answers"})
INTERVAL_NOTE = "±: half the width of the 95 % bootstrap interval over questions. Scores in percent."
RANK_NOTE = "Best in bold, second underlined, by mean, among runs of one dataset that scored equally many questions."
COUNTS_NOTE = "n/f/x: questions in the mean / failed by an error / excluded for want of gold passages or answers."
SEEDS_NOTE = "Several seeds: the mean of their means, the widest of their bounds, and their counts added up."


@dataclass(frozen=True, slots=True)
class Entry:
    """One place in a table: its text for people, a mark, and the data behind it by CSV column, in full precision."""

    text: str
    mark: Mark = ""
    data: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and what it is about: what a row is, how well it scored, or how the run went.

    `shown` is False for a column that says nothing here and is kept in the CSV only.
    """

    label: str
    about: Literal["row", "score", "run"]
    numeric: bool = True
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Headings, rows of as many entries, and notes to print below."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()


def results_table(cells: Sequence[CellScores], metrics: Sequence[str | Metric]) -> Table:
    """One row a dataset and method, one column a metric, then counts, status and costs.

    Raises:
        InputError: no cell, or two of one dataset, method and seed.
        ConfigError: an unknown metric.
    """
    chosen = [metric(each) if isinstance(each, str) else each for each in metrics]
    groups = over_seeds(cells)
    costs = tuple(dict.fromkeys(name for cell in cells for name in cell.costs))
    kinds = tuple(dict.fromkeys(each.of for each in chosen))
    counted = {kind: [each.name for each in chosen if each.of == kind] for kind in kinds}
    columns = (
        Column("Dataset", "row", numeric=False),
        Column("Method", "row", numeric=False),
        Column("Seeds", "row", numeric=False, shown=len({cell.seed for cell in cells}) > 1),
        *(Column(each.label, "score") for each in chosen),
        *(Column(f"{_COUNTED[kind]} n/f/x", "run") for kind in kinds),
        Column("Status", "run", numeric=False, shown=any(cell.status != "ok" for cell in cells)),
        *(Column(COST_LABELS.get(name, name), "run") for name in costs),
    )
    scores = {each.name: _score_entries(each.name, groups) for each in chosen}
    rows = tuple(
        (
            *_names(group),
            *(scores[each.name][row] for each in chosen),
            *(_counts(group, kind, names) for kind, names in counted.items()),
            _status(group),
            *(_cost(group, name) for name in costs),
        )
        for row, group in enumerate(groups)
    )
    return Table(columns, rows, _notes(groups))


def interval_text(summary: Summary) -> str:
    """Percent with one decimal and half the interval's width: `65.1 ±3.0`; `–` where nothing was scored."""
    if summary.mean is None:
        return "–"
    if summary.low is None or summary.high is None:
        return f"{100 * summary.mean:.1f}"
    return f"{100 * summary.mean:.1f} ±{50 * (summary.high - summary.low):.1f}"


def _names(group: Sequence[CellScores]) -> tuple[Entry, Entry, Entry]:
    first, seeds = group[0], ", ".join(str(cell.seed) for cell in group)
    return (
        Entry(first.dataset, data={"dataset": first.dataset}),
        Entry(first.method, data={"method": first.method}),
        Entry(seeds, data={"seeds": seeds}),
    )


def _score_entries(name: str, groups: Sequence[Sequence[CellScores]]) -> list[Entry]:
    summaries = [_summary(group, name) for group in groups]
    entries = [_score(name, group, each) for group, each in zip(groups, summaries, strict=True)]
    for dataset in {group[0].dataset for group in groups}:
        rankable = {
            row: each
            for row, (group, each) in enumerate(zip(groups, summaries, strict=True))
            if group[0].dataset == dataset and each and all(cell.status == "ok" for cell in group)
        }
        for row, mark in _marks(rankable).items():
            entries[row] = replace(entries[row], mark=mark)
    return entries


def _summary(group: Sequence[CellScores], name: str) -> Summary | None:
    found = [cell.summaries[name] for cell in group if cell.scored and name in cell.summaries]
    return merged(found) if found else None


def _score(name: str, group: Sequence[CellScores], summary: Summary | None) -> Entry:
    if summary is None:
        unscored = next((cell.status for cell in group if not cell.scored), None)
        data: dict[str, Value] = dict.fromkeys(_csv_columns(name))
        return Entry(unscored or "–", mark="failed" if unscored else "", data=data)
    values = (
        summary.mean, summary.low, summary.high, summary.n, summary.n_failed, summary.n_excluded, summary.n_missing,
    )  # fmt: skip
    return Entry(interval_text(summary), data=dict(zip(_csv_columns(name), values, strict=True)))


def _csv_columns(name: str) -> tuple[str, ...]:
    return (name, *(f"{name}_{part}" for part in ("low", "high", "n", "n_failed", "n_excluded", "n_missing")))


def _marks(rankable: Mapping[int, Summary]) -> dict[int, Mark]:
    """Best and second by the mean as displayed, among the rows with the most questions; none if there is only one."""
    most = max((each.n for each in rankable.values()), default=0)
    shown = {
        row: round(100 * each.mean, 1) for row, each in rankable.items() if each.mean is not None and each.n == most
    }
    levels = sorted(set(shown.values()), reverse=True)[:2]
    names: tuple[Mark, Mark] = ("best", "second")
    mark_of = dict(zip(levels, names, strict=False))
    return {row: mark_of[value] for row, value in shown.items() if value in mark_of} if len(shown) > 1 else {}


def _counts(group: Sequence[CellScores], kind: str, names: Sequence[str]) -> Entry:
    found = [each for name in names if (each := _summary(group, name)) is not None]
    counts = dict.fromkeys(f"{each.n}/{each.n_failed}/{each.n_excluded}" for each in found)
    planned = sum(cell.n_questions for cell in group)
    return Entry("; ".join(counts) or f"0 of {planned}", data={"n_questions": planned})


def _status(group: Sequence[CellScores]) -> Entry:
    outcomes = [cell.outcome for cell in group]
    text = outcomes[0]
    if len(set(outcomes)) > 1:
        text = "; ".join(f"seed {cell.seed} {cell.outcome}" for cell in group if cell.status != "ok")
    bad = any(cell.status != "ok" for cell in group)
    return Entry(text, mark="failed" if bad else "", data={"status": text})


def _cost(group: Sequence[CellScores], name: str) -> Entry:
    found = [value for cell in group if (value := cell.costs.get(name)) is not None]
    if not found:
        return Entry("–", data={name: None})
    mean = math.fsum(found) / len(found)
    return Entry(f"{mean:,.0f}" if mean >= 100 else f"{mean:.3g}", data={name: mean})


def _notes(groups: Sequence[Sequence[CellScores]]) -> tuple[str, ...]:
    several = [SEEDS_NOTE] if any(len(group) > 1 for group in groups) else []
    absent = []
    for group in groups:
        missing = max((each.n_missing for cell in group for each in cell.summaries.values()), default=0)
        if missing:
            absent.append(
                f"{group[0].dataset}, {group[0].method}: {missing} questions missing from the run count as 0."
            )
    own = dict.fromkeys(cell.note for group in groups for cell in group if cell.note)
    return (INTERVAL_NOTE, RANK_NOTE, COUNTS_NOTE, *several, *absent, *own)
