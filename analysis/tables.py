"""The results table as data: what stands in every place, what is best, what failed. How it looks is in `renderers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from analysis.cells import CellScores, merged, over_seeds
from analysis.costs import cost_columns, cost_text, mean_of
from analysis.published import Published, PublishedRow
from psi.metrics import Metric, Summary, metric

Mark = Literal["", "best", "second", "failed"]
Value = str | float | int | None

_COUNTED = MappingProxyType({"ranking": "Rankings", "spans": "Spans", "answer": "Answers"})
SIGNIFICANT = "†"
LEVEL = 0.05  # below this p, after correction, a difference counts as significant
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
class Block:
    """Rows of another origin than those of the table, under a title that names it; `note` says how they were had."""

    title: str
    rows: tuple[tuple[Entry, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Headings, rows of as many entries, notes to print below; `blocks` stand apart from the rows, after them."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    title: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which rows differ from a baseline: corrected p-values by (dataset, method) and metric, and how they were had."""

    baseline: str
    level: float
    p_values: Mapping[tuple[str, str], Mapping[str, float]]
    note: str


def rows_table(
    rows: Sequence[Mapping[str, Value]],
    columns: Mapping[str, tuple[str, str | None]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """A table of plain rows: `columns` maps keys to a heading and a format of numbers such as `.2f` (None: text).

    None in a row is shown as a dash and is empty in the CSV; keys without a column are kept in the CSV alone.
    """
    others = [key for key in dict.fromkeys(key for row in rows for key in row) if key not in columns]
    heads = [
        Column(heading, "row" if form is None else "score", form is not None) for heading, form in columns.values()
    ]
    heads += [Column(key, "row", shown=False) for key in others]
    body = tuple(
        (
            *(Entry(_plain_text(row.get(key), form), data={key: row.get(key)}) for key, (_, form) in columns.items()),
            *(Entry("", data={key: row.get(key)}) for key in others),
        )
        for row in rows
    )
    return Table(tuple(heads), body, tuple(notes), title)


def _plain_text(value: Value, form: str | None) -> str:
    if value is None:
        return "–"
    return str(value) if form is None or isinstance(value, str) else format(value, form)


def results_table(
    cells: Sequence[CellScores],
    metrics: Sequence[str | Metric],
    *,
    published: Sequence[Published] = (),
    comparison: Comparison | None = None,
    title: str = "",
) -> Table:
    """One row a dataset and method, one column a metric, then counts, status and costs.

    Published rows stand in blocks of their own and take no part in what is best. Columns of costs that say nothing in any row
    are kept for the CSV alone.

    Raises:
        InputError: no cell, or two of one dataset, method and seed.
        ConfigError: an unknown metric.
    """
    chosen = [metric(each) if isinstance(each, str) else each for each in metrics]
    groups = over_seeds(cells)
    names = [name for cell in cells for name in cell.costs] + [
        name for p in published for row in p.rows for name in row.costs
    ]
    costs = cost_columns(tuple(dict.fromkeys(names)))
    kinds = tuple(dict.fromkeys(each.of for each in chosen))
    counted = {kind: [each.name for each in chosen if each.of == kind] for kind in kinds}
    blocks = tuple(_block(each, chosen, kinds, costs) for each in published if each.rows)
    scores = {each.name: _score_entries(each.name, groups, comparison) for each in chosen}
    rows = tuple(
        (
            *_names(group),
            *(scores[each.name][row] for each in chosen),
            *(_counts(group, kind, names) for kind, names in counted.items()),
            _status(group),
            *(_cost(group, names) for names in costs.values()),
        )
        for row, group in enumerate(groups)
    )
    columns = (
        Column("Dataset", "row", numeric=False),
        Column("Method", "row", numeric=False),
        Column("Seeds", "row", numeric=False, shown=len({cell.seed for cell in cells}) > 1),
        *(Column(each.label, "score") for each in chosen),
        *(Column(f"{_COUNTED[kind]} n/f/x", "run") for kind in kinds),
        Column("Status", "run", numeric=False, shown=any(cell.status != "ok" for cell in cells)),
        *(Column(heading, "run") for heading in costs),
    )
    empty = _empty(columns, [*rows, *(row for block in blocks for row in block.rows)], len(columns) - len(costs))
    columns = tuple(replace(column, shown=column.shown and at not in empty) for at, column in enumerate(columns))
    return Table(columns, rows, _notes(groups, comparison), title, blocks)


def _empty(columns: Sequence[Column], rows: Sequence[Sequence[Entry]], first_cost: int) -> set[int]:
    """Places of columns of scores that no row has, and of costs (from `first_cost` on) that are nothing or zero in all."""
    scores = {
        at for at, column in enumerate(columns) if column.about == "score" and all(row[at].text == "–" for row in rows)
    }
    costs = {at for at in range(first_cost, len(columns)) if not any(v for row in rows for v in row[at].data.values())}
    return costs | scores


def _block(
    published: Published, metrics: Sequence[Metric], kinds: Sequence[str], costs: Mapping[str, Sequence[str]]
) -> Block:
    rows = tuple(_published_row(row, published, metrics, kinds, costs) for row in published.rows)
    return Block(published.title, rows, published.setting)


def _published_row(
    row: PublishedRow,
    published: Published,
    metrics: Sequence[Metric],
    kinds: Sequence[str],
    costs: Mapping[str, Sequence[str]],
) -> tuple[Entry, ...]:
    source = f"arXiv {published.arxiv}, {published.source}"
    values = [row.metrics.get(each.name) for each in metrics]
    return (
        Entry(row.dataset, data={"dataset": row.dataset}),
        Entry(row.method, data={"method": row.method, "published": source}),
        Entry("", data={"seeds": None}),
        *(
            Entry("–" if value is None else f"{value:.1f}", data={each.name: None if value is None else value / 100})
            for each, value in zip(metrics, values, strict=True)
        ),
        *(Entry("") for _ in kinds),
        Entry("", data={"status": "published"}),
        *(_costs({name: row.costs.get(name) for name in names}) for names in costs.values()),
    )


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


def _score_entries(name: str, groups: Sequence[Sequence[CellScores]], comparison: Comparison | None) -> list[Entry]:
    summaries = [_summary(group, name) for group in groups]
    entries = [_score(name, group, each) for group, each in zip(groups, summaries, strict=True)]
    if comparison is not None:
        entries = [_compared(entry, group[0], name, comparison) for entry, group in zip(entries, groups, strict=True)]
    for dataset in {group[0].dataset for group in groups}:
        rankable = {
            row: each
            for row, (group, each) in enumerate(zip(groups, summaries, strict=True))
            if group[0].dataset == dataset and each and all(cell.status == "ok" for cell in group)
        }
        for row, mark in _marks(rankable).items():
            entries[row] = replace(entries[row], mark=mark)
    return entries


def _compared(entry: Entry, cell: CellScores, name: str, comparison: Comparison) -> Entry:
    p = comparison.p_values.get((cell.dataset, cell.method), {}).get(name)
    text = entry.text if p is None or p >= comparison.level else f"{entry.text}{SIGNIFICANT}"
    return replace(entry, text=text, data={**entry.data, f"{name}_p": p})


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


def _cost(group: Sequence[CellScores], names: Sequence[str]) -> Entry:
    return _costs({name: mean_of([cell.costs.get(name) for cell in group]) for name in names})


def _costs(values: Mapping[str, float | None]) -> Entry:
    return Entry(cost_text(list(values.values())), data=dict(values))


def _notes(groups: Sequence[Sequence[CellScores]], comparison: Comparison | None) -> tuple[str, ...]:
    several = [SEEDS_NOTE] if any(len(group) > 1 for group in groups) else []
    absent = []
    for group in groups:
        missing = max((each.n_missing for cell in group for each in cell.summaries.values()), default=0)
        if missing:
            absent.append(
                f"{group[0].dataset}, {group[0].method}: {missing} questions missing from the run count as 0."
            )
    own = dict.fromkeys(cell.note for group in groups for cell in group if cell.note)
    compared = [] if comparison is None else [f"{SIGNIFICANT}: {comparison.note}"]
    return (INTERVAL_NOTE, RANK_NOTE, *compared, COUNTS_NOTE, *several, *absent, *own)
