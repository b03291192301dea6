"""One look for every figure: sizes on paper, colours that the colour-blind can tell apart, files of equal bytes."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

Line = Literal["-", "--", ":", "-."]

COLUMN_MM = 85.0
PAGE_MM = 176.0
_MM_PER_INCH = 25.4

# Okabe and Ito, Color Universal Design (2008); yellow comes last because it is faint on white
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "++", "oo")
_LINES: tuple[Line, ...] = ("-", "--", ":", "-.")

SETTINGS: Mapping[str, Any] = MappingProxyType({
    "font.family": "DejaVu Sans", "font.size": 7.5, "axes.titlesize": 8.5, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.labelsize": 7.5, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "legend.fontsize": 7.5, "legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.6, "axes.axisbelow": True, "grid.linewidth": 0.4, "grid.color": "#DDDDDD",
    "lines.linewidth": 1.2, "lines.markersize": 4, "errorbar.capsize": 1.5, "hatch.linewidth": 0.5, "pdf.fonttype": 42,
    "text.parse_math": False,  # a name may hold dollar signs
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Series:
    """How one series is drawn, everywhere in a figure: no two of the first 32 are drawn alike."""

    colour: str
    marker: str
    hatch: str
    line: Line


def series(position: int) -> Series:
    """The look of the series at this position (from 0)."""
    at, turn = position % len(_COLOURS), position // len(_COLOURS)
    other = (at + turn) % len(_MARKERS)  # a colour that comes back does so with another marker, hatch and line
    return Series(_COLOURS[at], _MARKERS[other], _HATCHES[other], _LINES[turn % len(_LINES)])


def new_figure(width_mm: float, height_mm: float) -> Figure:
    """An empty figure of this size on paper, drawn by Agg without pyplot. Call inside `styled()`."""
    figure = Figure(figsize=(width_mm / _MM_PER_INCH, height_mm / _MM_PER_INCH), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def styled() -> AbstractContextManager[None]:
    """A context in which the project's settings hold, and matplotlib's own defaults for all others."""
    settings: dict[Any, Any] = {**matplotlib.rcParamsDefault, "backend": "agg"}
    settings.update(SETTINGS)
    return matplotlib.rc_context(settings)


def save(figure: Figure, out: Path, rows: Sequence[Mapping[str, Any]]) -> tuple[Path, ...]:
    """Write `out` as .png (200 dpi) and .pdf, and the numbers in it as .csv; the suffix of `out` does not matter.

    The files carry no date and no version, so that equal figures are equal bytes. Call inside `styled()`.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    png, pdf, data = (out.with_suffix(suffix) for suffix in (".png", ".pdf", ".csv"))
    figure.savefig(png, dpi=200, metadata={"Software": None})
    figure.savefig(pdf, metadata={"CreationDate": None, "Creator": None, "Producer": None})
    with data.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return png, pdf, data
