"""Figures of failures: what becomes of the questions, by run, by hops, by the place of the gold passages, by index size."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullLocator

from analysis.failures import LABELS, WRONG, Bucket, Case, counts
from analysis.style import PAGE_MM, new_figure, save, series, styled
from psi.errors import InputError

_CORRECT = "#E4E4E4"
_SIZE_BINS = 4  # of documents by their length, where questions are asked of one document each


@dataclass(frozen=True, slots=True)
class RunCases:
    """The cases of one run."""

    dataset: str
    method: str
    cases: Sequence[Case]

    @property
    def judged(self) -> list[Case]:
        """Cases whose answer was judged: those of failed calls are left out."""
        return [case for case in self.cases if case.bucket != "failed"]


def overview_figure(runs: Sequence[RunCases], out: Path) -> tuple[Path, ...]:
    """What becomes of the questions of each run, and retrieval misses by the size of the index; PNG, PDF and CSV.

    Raises:
        InputError: no run has a judged answer.
    """
    bars = [(f"{run.dataset}\n{run.method}", run.judged) for run in runs if run.judged]
    if not bars:
        raise InputError("no answer was judged, so there is nothing to draw.")
    sizes = list(_sizes(runs))
    with styled():
        figure = new_figure(PAGE_MM, 30 + 11 * len(bars) + 22)
        left, right = figure.subplots(1, 2, width_ratios=[1.6, 1])
        _stack(left, bars, horizontal=True)
        left.set_title("What became of the questions")
        _draw_sizes(right, sizes)
        _legend(figure, [case for _, cases in bars for case in cases])
        return save(figure, out, [*_rows("run", bars), *sizes])


def parts_figure(run: RunCases, out: Path, *, depth: int) -> tuple[Path, ...]:
    """One run by hops and by the place of the last gold passage; PNG, PDF and CSV.

    Raises:
        InputError: no answer was judged.
    """
    if not run.judged:
        raise InputError(f"{run.method} on {run.dataset}: no answer was judged, so there is nothing to draw.")
    hops, ranks = _grouped(run.judged, _hops), _grouped(run.judged, lambda case: _rank(case, depth))
    with styled():
        figure = new_figure(PAGE_MM, 80)
        left, right = figure.subplots(1, 2, width_ratios=[max(len(hops), 2), max(len(ranks), 2)])
        _stack(left, hops, horizontal=False)
        left.set_title("By hops")
        left.set_xlabel("passages that must be combined")
        _stack(right, ranks, horizontal=False)
        right.set_title("By the place of the last gold passage needed")
        right.set_xlabel(f"place in the ranking (first {depth} looked at)")
        figure.suptitle(f"{run.dataset}: {run.method}", x=0.01, ha="left", fontsize=9, fontweight="bold")
        _legend(figure, run.judged)
        return save(figure, out, [*_rows("hops", hops), *_rows("gold rank", ranks)])


Bars = Sequence[tuple[str, Sequence[Case]]]


def _grouped(cases: Sequence[Case], key: Callable[[Case], tuple[int, str]]) -> list[tuple[str, Sequence[Case]]]:
    groups = sorted({key(case) for case in cases})
    return [(label, [case for case in cases if key(case) == (order, label)]) for order, label in groups]


def _hops(case: Case) -> tuple[int, str]:
    hops = case.question.hops
    if not case.question.answerable:
        return 99, "null"
    return (hops, str(hops)) if hops else (98, "unknown")


def _rank(case: Case, depth: int) -> tuple[int, str]:
    if case.evidence == "unknown":
        return 10**6 + 2, "no gold\nknown"
    if case.evidence == "all" and case.gold_rank is not None:
        return case.gold_rank, str(case.gold_rank)
    return (10**6, "a part\nfound") if case.evidence == "part" else (10**6 + 1, "none\nfound")


def _stack(ax: Axes, bars: Bars, *, horizontal: bool) -> None:
    """Bars of 100 %, the correct answers first, then the buckets in the order of the rules."""
    starts = [0.0] * len(bars)
    for bucket in ("correct", *WRONG):
        found = [100 * sum(case.bucket == bucket for case in cases) / len(cases) for _, cases in bars]
        if any(found):
            look: dict[str, Any] = _look(bucket)
            draw = ax.barh if horizontal else ax.bar
            draw(range(len(bars)), found, 0.72, starts, edgecolor="white", linewidth=0.4, **look)
            _annotate(ax, bucket, found, starts, horizontal=horizontal)
        starts = [start + share for start, share in zip(starts, found, strict=True)]
    ticks = [f"{label}\nn = {len(cases)}" for label, cases in bars]
    if horizontal:
        ax.set_yticks(range(len(bars)), ticks)
        ax.invert_yaxis()
        ax.set_xlabel("share of questions (%)")
        ax.set_xlim(0, 100)
    else:
        ax.set_xticks(range(len(bars)), ticks)
        ax.set_ylabel("share of questions (%)")
        ax.set_ylim(0, 100)


def _annotate(ax: Axes, bucket: Bucket, found: Sequence[float], starts: Sequence[float], *, horizontal: bool) -> None:
    for at, (share, start) in enumerate(zip(found, starts, strict=True)):
        if share >= 4:
            place = (start + share / 2, at) if horizontal else (at, start + share / 2)
            box = (
                {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none"}
                if bucket != "correct"
                else None
            )
            ax.annotate(f"{share:.0f}", place, ha="center", va="center", fontsize=6.5, bbox=box)


def _look(bucket: Bucket) -> dict[str, Any]:
    if bucket == "correct":
        return {"facecolor": _CORRECT}
    look = series(WRONG.index(bucket))
    return {"facecolor": look.colour, "hatch": look.hatch}


def _legend(figure: Figure, cases: Sequence[Case]) -> None:
    shown = [bucket for bucket, n in counts(cases).items() if n]
    handles = [Patch(label=LABELS[bucket], edgecolor="white", **_look(bucket)) for bucket in shown]
    figure.legend(handles=handles, loc="outside lower left", ncols=4)


def _sizes(runs: Sequence[RunCases]) -> Iterator[dict[str, Any]]:
    """Retrieval misses by the number of passages that were searched, one point a corpus or a bin of documents."""
    from scipy.stats import binomtest  # takes a second to import

    for run in runs:
        known = sorted((case for case in run.judged if case.evidence != "unknown"), key=lambda case: case.index_size)
        for cases in _bins(known):
            missed = sum(case.evidence != "all" for case in cases)
            interval = binomtest(missed, len(cases)).proportion_ci(method="wilson")
            mean = sum(case.index_size for case in cases) / len(cases)
            yield {
                "panel": "index size", "part": round(mean, 1), "bucket": f"{run.dataset}, {run.method}", "n": len(cases),
                "count": missed, "share": 100 * missed / len(cases), "low": 100 * interval.low, "high": 100 * interval.high,
            }  # fmt: skip


def _bins(cases: Sequence[Case]) -> list[Sequence[Case]]:
    if not cases or cases[0].index_size == cases[-1].index_size:
        return [cases] if cases else []
    edges = [round(at * len(cases) / _SIZE_BINS) for at in range(_SIZE_BINS + 1)]
    return [cases[low:high] for low, high in itertools.pairwise(edges) if low < high]


def _draw_sizes(ax: Axes, points: Sequence[Mapping[str, Any]]) -> None:
    names = list(dict.fromkeys(point["bucket"] for point in points))
    for at, name in enumerate(names):
        own, look = [point for point in points if point["bucket"] == name], series(at)
        whiskers = [[p["share"] - p["low"] for p in own], [p["high"] - p["share"] for p in own]]
        shift = 1 + 0.03 * (at - (len(names) - 1) / 2)
        ax.errorbar(
            [p["part"] * shift for p in own], [p["share"] for p in own], yerr=whiskers, color=look.colour,
            marker=look.marker, linestyle=look.line if len(own) > 1 else "none", elinewidth=0.8,
            label=textwrap.fill(name, 30),
        )  # fmt: skip
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_ylim(0, max([1.5 * point["high"] for point in points] + [10]))
    ax.margins(x=0.25)
    ax.set_xlabel("passages searched (log)")
    ax.set_ylabel("questions without enough gold (%)")
    ax.set_title("Misses by index size")
    ax.grid(axis="y")
    if names:
        ax.legend(fontsize=6, loc="upper center", bbox_to_anchor=(0.45, -0.2))


def _rows(panel: str, bars: Bars) -> Iterator[dict[str, Any]]:
    for label, cases in bars:
        for bucket, count in counts(cases).items():
            if bucket != "failed":
                yield {
                    "panel": panel, "part": label.replace("\n", " "), "bucket": bucket, "n": len(cases), "count": count,
                    "share": 100 * count / len(cases), "low": None, "high": None,
                }  # fmt: skip
