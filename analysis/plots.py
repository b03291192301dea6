"""Lines with intervals, and logarithmic axes with plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter

from analysis.style import series

Bounds = tuple[Sequence[float], Sequence[float]]


def line(
    ax: Axes, places: Sequence[float], means: Sequence[float], at: int, label: str, bounds: Bounds | None = None
) -> None:
    """A line in the look of position `at`, with whiskers from the lower to the upper bounds."""
    look, whiskers = series(at), None
    if bounds is not None:
        low, high = bounds
        whiskers = [[m - b for m, b in zip(means, low, strict=True)], [b - m for m, b in zip(means, high, strict=True)]]
    ax.errorbar(
        places, means, yerr=whiskers, color=look.colour, marker=look.marker, linestyle=look.line, label=label, elinewidth=0.8
    )  # fmt: skip


def logarithmic(ax: Axes, which: Literal["x", "y"], places: Sequence[float] | None = None) -> None:
    """Make an axis logarithmic with plain numbers at `places`, or at 1, 2 and 5 of each power of ten."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    usual = [step * 10.0**power for power in range(-6, 13) for step in (1, 2, 5)]
    axis.set_major_locator(FixedLocator(usual if places is None else list(places)))
    axis.set_major_formatter(lambda value, _: short_number(value))
    axis.set_minor_formatter(NullFormatter())


def short_number(value: float) -> str:
    """`0.01`, `20`, `6k`, `1M`."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
