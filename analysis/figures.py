"""The overview figure: which method finds the evidence, how it fares as questions get harder, how well it answers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.cells import CellScores, merged, over_seeds
from analysis.style import PAGE_MM, Series, new_figure, save, series, styled
from psi.errors import InputError
from psi.metrics import Summary, metric

Group = Sequence[CellScores]


def demo_figure(
    cells: Sequence[CellScores],
    out: Path,
    *,
    cutoffs: Sequence[int] = (1, 2, 5, 10),
    part_metric: str = "recall@5",
    answer_metric: str = "f1",
    part_axis: str = "Hops: passages that must be combined",
) -> tuple[Path, ...]:
    """Draw the runs of one dataset, and write PNG, PDF and CSV beside each other; returns their paths.

    Panels: Recall@k by k (from `summaries`), `part_metric` by part of the questions (from `parts`), `answer_metric` by
    method. A panel without data is left out. `part_axis` says what the parts are. Whiskers are 95 % intervals. Runs
    that failed are named below.

    Raises:
        InputError: no run, runs of several datasets, or none with scores.
    """
    groups = _one_dataset(cells)
    looks = {group[0].method: series(at) for at, group in enumerate(groups)}
    drawn = [group for group in groups if any(cell.scored for cell in group)]
    rows = list(_rows(drawn, [f"recall@{k}" for k in cutoffs], part_metric, answer_metric))
    panels = [panel for panel in ("recall", "parts", "answers") if any(row["panel"] == panel for row in rows)]
    if not panels:
        raise InputError("no scores to draw: every run failed or is missing. Look at the table for what went wrong.")
    with styled():
        figure = new_figure(PAGE_MM, 82)
        widths = {"recall": 1.15, "parts": 1.25, "answers": 0.9}
        axes = figure.subplots(1, len(panels), width_ratios=[widths[panel] for panel in panels], squeeze=False)[0]
        for panel, ax in zip(panels, axes, strict=True):
            _DRAW[panel](ax, [row for row in rows if row["panel"] == panel], looks)
            if panel == "parts":
                ax.set_xlabel(part_axis)
        _frame(figure, groups, drawn, looks, answered="answers" in panels)
        return save(figure, out, rows)


def _one_dataset(cells: Sequence[CellScores]) -> list[tuple[CellScores, ...]]:
    groups = over_seeds(cells)
    datasets = dict.fromkeys(group[0].dataset for group in groups)
    if len(datasets) > 1:
        raise InputError(
            f"one figure shows one dataset, but these runs have {', '.join(datasets)}. Draw each by itself."
        )
    return groups


def _rows(groups: Sequence[Group], recalls: Sequence[str], part: str, answer: str) -> Iterator[dict[str, Any]]:
    """Everything that is drawn, one row a point; means and bounds in percent."""
    for group in groups:
        scored = [cell for cell in group if cell.scored]
        for name in recalls:
            yield from _point("recall", group, name, "all", [cell.summaries for cell in scored])
        for label in dict.fromkeys(label for cell in scored for label in cell.parts):
            yield from _point("parts", group, part, label, [cell.parts.get(label, {}) for cell in scored])
        yield from _point("answers", group, answer, "all", [cell.summaries for cell in scored])


def _point(
    panel: str, group: Group, name: str, part: str, summaries: Sequence[Mapping[str, Summary]]
) -> Iterator[dict[str, Any]]:
    found = [each[name] for each in summaries if name in each]
    summary = merged(found) if found else None
    if summary is None or summary.mean is None:
        return
    low = summary.mean if summary.low is None else summary.low
    high = summary.mean if summary.high is None else summary.high
    yield {
        "panel": panel, "dataset": group[0].dataset, "method": group[0].method, "metric": name, "part": part,
        "mean": 100 * summary.mean, "low": 100 * low, "high": 100 * high, "n": summary.n, "n_failed": summary.n_failed,
    }  # fmt: skip


def _draw_recall(ax: Axes, rows: Sequence[Mapping[str, Any]], looks: Mapping[str, Series]) -> None:
    names = list(dict.fromkeys(row["metric"] for row in rows))
    _draw_points(ax, rows, looks, "metric", names, joined=True)
    ax.set_xticks(range(len(names)), [name.partition("@")[2] for name in names])
    ax.set_xlabel(f"k: passages looked at\nn = {_span(rows)} questions")
    ax.set_ylabel("Recall@k (% of gold passages)")
    ax.set_title("Evidence found")


def _draw_parts(ax: Axes, rows: Sequence[Mapping[str, Any]], looks: Mapping[str, Series]) -> None:
    labels = list(dict.fromkeys(row["part"] for row in rows))
    _draw_points(ax, rows, looks, "part", labels, joined=False)
    sizes = [_span([row for row in rows if row["part"] == label]) for label in labels]
    ax.set_xticks(range(len(labels)), [f"{label}\nn = {n}" for label, n in zip(labels, sizes, strict=True)])
    ax.set_ylabel(f"{metric(rows[0]['metric']).label} (%)")
    ax.set_title("... by kind of question")


def _draw_points(
    ax: Axes,
    rows: Sequence[Mapping[str, Any]],
    looks: Mapping[str, Series],
    key: str,
    places: Sequence[str],
    *,
    joined: bool,
) -> None:
    """Means with intervals, the methods side by side at every place."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    for at, method in enumerate(methods):
        own, look = [row for row in rows if row["method"] == method], looks[method]
        shift = (at - (len(methods) - 1) / 2) * (0.3 if joined else 0.7) / len(methods)
        ax.errorbar(
            [places.index(row[key]) + shift for row in own], [row["mean"] for row in own], yerr=_whiskers(own),
            color=look.colour, marker=look.marker, linestyle=look.line if joined else "none", elinewidth=0.8,
        )  # fmt: skip
    ax.set_ylim(0, 103)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.grid(axis="y")


def _draw_answers(ax: Axes, rows: Sequence[Mapping[str, Any]], looks: Mapping[str, Series]) -> None:
    for at, row in enumerate(rows):
        look = looks[row["method"]]
        ax.barh(at, row["mean"], 0.65, color=look.colour, hatch=look.hatch, edgecolor="white")
        ax.errorbar(row["mean"], at, xerr=_whiskers([row]), color="black", elinewidth=0.8)
        ax.annotate(f"{row['mean']:.0f}", (row["high"], at), (4, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(rows)), [row["method"] for row in rows])
    ax.invert_yaxis()
    ax.set_xlim(0, max(row["high"] for row in rows) * 1.25 or 1)
    ax.grid(axis="x")
    failed = max(row["n_failed"] for row in rows)
    counts = f"n = {_span(rows)} questions" + (f", {failed} failed" if failed else "")
    ax.set_xlabel(f"{metric(rows[0]['metric']).label} of the answers (%)\n{counts}")
    ax.set_title("Answers right")


_DRAW = {"recall": _draw_recall, "parts": _draw_parts, "answers": _draw_answers}


def _frame(
    figure: Figure, groups: Sequence[Group], drawn: Sequence[Group], looks: Mapping[str, Series], *, answered: bool
) -> None:
    """Title, legend and small print, outside the panels."""
    names = [group[0].method for group in drawn]
    handles = []
    for name in names:
        look = looks[name]
        handles.append(Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line))
    title = (
        f"{groups[0][0].dataset}: how well {len(names)} methods find the evidence{' and answer' if answered else ''}"
    )
    legend = figure.legend(
        handles, names, title=title, loc="outside upper left", ncols=min(len(names), 6), alignment="left"
    )
    legend.get_title().set(fontsize=10, fontweight="bold")
    note = "\n".join(textwrap.wrap(_small_print(groups), 125))
    figure.supxlabel(note, fontsize=6.5, x=0.01, ha="left", color="#444444")


def _small_print(groups: Sequence[Group]) -> str:
    lost = [f"{group[0].method} ({cell.outcome})" for group in groups for cell in group if cell.status != "ok"]
    notes = dict.fromkeys(cell.note for group in groups for cell in group if cell.note)
    trouble = [f"Not finished: {', '.join(lost)}."] if lost else []
    return " ".join(["Whiskers: 95 % bootstrap intervals over questions.", *trouble, *notes])


def _whiskers(rows: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    return [[row["mean"] - row["low"] for row in rows], [row["high"] - row["mean"] for row in rows]]


def _span(rows: Sequence[Mapping[str, Any]]) -> str:
    sizes = sorted({row["n"] for row in rows})
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}"
