"""What runs cost, stage by stage: time, calls, tokens, memory, money; and what quality that buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.costs import cost_text
from analysis.plots import logarithmic
from analysis.style import PAGE_MM, new_figure, save, series, styled
from analysis.tables import Table, rows_table
from psi.errors import InputError

Phase = Literal["index", "search", "agent", "answers"]
_ASKED = ("search", "agent", "answers")  # phases that are paid for each question


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCost:
    """What one stage of a run took.

    phase: what it is for; questions: so many were worked on (0: it is done once for all); seconds: wall time, of the last
    attempt where it was resumed; memory, gpu: bytes at the most (None: not recorded); price: in the currency of the prices.
    """

    dataset: str
    method: str
    phase: Phase
    stage: str
    seconds: float
    questions: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    memory: int | None = None
    gpu: int | None = None
    price: float = 0.0
    resumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The score of a run by the metric that is looked at, as a fraction, with its interval."""

    dataset: str
    method: str
    mean: float
    low: float
    high: float


def stages_table(costs: Sequence[StageCost]) -> Table:
    """One row a stage of a run."""
    rows = [
        {
            **asdict(cost), "ms": 1000 * cost.seconds / cost.questions if cost.questions else None,
            "memory_gb": None if cost.memory is None else cost.memory / 2**30, "gpu_gb": cost.gpu / 2**30 if cost.gpu else None,
            "note": "resumed" if cost.resumed else "",
        }
        for cost in costs
    ]  # fmt: skip
    columns: dict[str, tuple[str, str | None]] = {
        "dataset": ("Dataset", None), "method": ("Method", None), "phase": ("For", None), "stage": ("Stage", None),
        "seconds": ("Seconds", ",.2f"), "ms": ("ms/question", ",.1f"), "calls": ("Calls", ",d"),
        "prompt_tokens": ("Tokens in", ",d"), "completion_tokens": ("Tokens out", ",d"), "memory_gb": ("Memory (GB)", ".2f"),
        "gpu_gb": ("GPU (GB)", ".2f"), "price": ("Price", ",.4f"), "note": ("", None),
    }  # fmt: skip
    unknown = ("gpu_gb", "note", "price", "calls", "prompt_tokens", "completion_tokens")
    shown = {key: spec for key, spec in columns.items() if key not in unknown or any(row[key] for row in rows)}
    notes = (
        "Seconds: wall time; a stage that several methods share is counted for each. Memory: the most that the process took "
        "while it worked on the stage, models included. Resumed: killed and continued; seconds are of the last attempt.",
        "Prices: of machine time and of all tokens, wherever the model runs; give tokens of your own models the price 0.",
    )
    return rows_table(rows, shown, title="What each stage costs", notes=notes)


def totals(costs: Sequence[StageCost]) -> list[dict[str, float | str | None]]:
    """One row a run: seconds of the index and milliseconds a question by phase, tokens, memory, price."""
    rows = []
    for dataset, method in dict.fromkeys((cost.dataset, cost.method) for cost in costs):
        own = [cost for cost in costs if (cost.dataset, cost.method) == (dataset, method)]
        memory = [cost.memory for cost in own if cost.memory is not None]
        rows.append({
            "dataset": dataset, "method": method, "index_seconds": sum(c.seconds for c in own if c.phase == "index"),
            **{f"{phase}_ms": _per_question(own, phase) for phase in _ASKED},
            "calls": sum(c.calls for c in own), "prompt_tokens": sum(c.prompt_tokens for c in own),
            "completion_tokens": sum(c.completion_tokens for c in own), "memory_gb": max(memory) / 2**30 if memory else None,
            "price": sum(c.price for c in own),
        })  # fmt: skip
    return rows


def _per_question(costs: Sequence[StageCost], phase: str) -> float:
    return sum(1000 * cost.seconds / cost.questions for cost in costs if cost.phase == phase and cost.questions)


def efficiency_figure(
    costs: Sequence[StageCost], quality: Sequence[Quality], metric: str, out: Path
) -> tuple[Path, ...]:
    """One dataset: time of the index by stage, time a question by phase, quality against time; PNG, PDF and CSV.

    Raises:
        InputError: no cost, or runs of several datasets.
    """
    datasets = dict.fromkeys(cost.dataset for cost in costs)
    if len(datasets) != 1:
        raise InputError(
            f"one figure shows one dataset, but these runs have {', '.join(datasets) or 'none'}. Draw each by itself."
        )
    methods = list(dict.fromkeys(cost.method for cost in costs))
    sums = totals(costs)
    with styled():
        figure = new_figure(PAGE_MM, 48 + 7 * len(methods))
        left, middle, right = figure.subplots(1, 3, width_ratios=[1.15, 1.15, 1])
        stages = _draw_index(left, costs, methods)
        phases = _draw_questions(middle, sums, methods)
        _draw_quality(right, quality, sums, methods, metric)
        handles = [Patch(label=name, **_look(at)) for at, name in enumerate([*stages, *phases])]
        figure.legend(handles=handles, loc="outside lower left", ncols=6, fontsize=6.5)
        figure.suptitle(f"{next(iter(datasets))}: what methods cost", x=0.01, ha="left", fontsize=9, fontweight="bold")
        return save(figure, out, [_data(row, quality, metric) for row in sums])


def _look(at: int) -> dict[str, Any]:
    look = series(at)
    return {"facecolor": look.colour, "hatch": look.hatch, "edgecolor": "white"}


def _draw_index(ax: Axes, costs: Sequence[StageCost], methods: Sequence[str]) -> list[str]:
    """Stacked bars of the stages of the index; returns the stages in the order of their colours."""
    index = [cost for cost in costs if cost.phase == "index"]
    stages = list(dict.fromkeys(cost.stage for cost in index))
    _stack(ax, [[sum(c.seconds for c in index if (c.method, c.stage) == (m, s)) for m in methods] for s in stages], 0)
    ax.set_yticks(range(len(methods)), methods)
    ax.set_xlabel("index (s)")
    return stages


def _draw_questions(ax: Axes, sums: Sequence[Mapping[str, object]], methods: Sequence[str]) -> list[str]:
    phases = [phase for phase in _ASKED if any(row[f"{phase}_ms"] for row in sums)]
    # colours go on after those of the stages of the index
    first = len(ax.figure.axes[0].containers)
    _stack(ax, [[_number(row[f"{phase}_ms"]) for row in sums] for phase in phases], first)
    ax.set_yticks(range(len(methods)), [""] * len(methods))
    ax.set_xlabel("time a question (ms)")
    return list(phases)


def _stack(ax: Axes, parts: Sequence[Sequence[float]], first: int) -> None:
    starts = [0.0] * len(parts[0]) if parts else []
    for at, part in enumerate(parts):
        ax.barh(range(len(part)), part, 0.7, starts, linewidth=0.3, **_look(first + at))
        starts = [start + value for start, value in zip(starts, part, strict=True)]
    for place, total in enumerate(starts):
        ax.annotate(cost_text([total]), (total, place), (3, 0), textcoords="offset points", va="center", fontsize=6.5)
    ax.invert_yaxis()
    ax.set_xlim(0, max(starts, default=0) * 1.25 or 1)
    ax.grid(axis="x")


def _draw_quality(
    ax: Axes, quality: Sequence[Quality], sums: Sequence[Mapping[str, object]], methods: Sequence[str], metric: str
) -> None:
    """Quality against time a question, one mark a method."""
    time = {row["method"]: sum(_number(row[f"{phase}_ms"]) for phase in _ASKED) for row in sums}
    handles = []
    for at, method in enumerate(methods):
        look = series(at)
        for each in (each for each in quality if each.method == method):
            bars = [[100 * (each.mean - each.low)], [100 * (each.high - each.mean)]]
            ax.errorbar(
                [time[method]], [100 * each.mean], yerr=bars, color=look.colour, marker=look.marker, elinewidth=0.8
            )
        handles.append(Line2D([], [], color=look.colour, marker=look.marker, linestyle="none", label=method))
    logarithmic(ax, "x")
    ax.set_xlabel("time a question (ms, log)")
    ax.set_ylabel(f"{metric} (%)")
    ax.set_ylim(0, 103)
    ax.grid(axis="y")
    ax.legend(handles=handles, fontsize=6, loc="lower right")


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _data(row: Mapping[str, object], quality: Sequence[Quality], metric: str) -> dict[str, object]:
    own = next((each for each in quality if each.method == row["method"]), None)
    shares = (
        {"mean": None, "low": None, "high": None}
        if own is None
        else {"mean": own.mean, "low": own.low, "high": own.high}
    )
    return {**row, "metric": metric, **shares}
