"""What each part adds: differences to a whole system, question by question, as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from matplotlib.axes import Axes

from analysis.style import PAGE_MM, new_figure, save, series, styled
from analysis.tables import LEVEL, Table, rows_table
from psi.errors import InputError
from psi.metrics import metric


@dataclass(frozen=True, slots=True)
class Difference:
    """A variant minus the whole system on the questions that both have, in points (hundredths); p after correction."""

    dataset: str
    metric: str
    variant: str
    points: float
    low: float
    high: float
    p: float
    n: int


def ablation_table(rows: Sequence[Difference], whole: str) -> Table:
    """One row a dataset, variant and metric."""
    columns: dict[str, tuple[str, str | None]] = {
        "dataset": ("Dataset", None), "variant": ("Variant", None), "metric": ("Metric", None), "points": ("Points", "+.1f"),
        "low": ("95 % from", "+.1f"), "high": ("to", "+.1f"), "p": ("p (Holm)", ".4f"), "n": ("n", ",d"),
    }  # fmt: skip
    note = (
        f"Points: variant minus {whole}, paired over questions. p: permutation test, Holm's correction over the variants of a "
        "dataset by each metric."
    )
    return rows_table([asdict(row) for row in rows], columns, title=f"Against {whole}", notes=(note,))


def ablation_figure(rows: Sequence[Difference], whole: str, out: Path) -> tuple[Path, ...]:
    """A panel a metric: the difference of every variant, one mark a dataset; PNG, PDF and CSV.

    Filled marks differ significantly.

    Raises:
        InputError: nothing to draw.
    """
    if not rows:
        raise InputError(f"no variant has questions in common with {whole}, so there is nothing to draw.")
    names = list(dict.fromkeys(row.metric for row in rows))
    variants = list(dict.fromkeys(row.variant for row in rows))
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    with styled():
        figure = new_figure(PAGE_MM, 34 + max(7.0, 3.2 * len(datasets)) * len(variants))
        axes = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
        for ax, name in zip(axes, names, strict=True):
            _panel(ax, [row for row in rows if row.metric == name], variants, datasets)
            ax.set_xlabel(f"{metric(name).label}: points against {whole}")
        axes[0].set_yticks(range(len(variants)), variants)
        axes[0].invert_yaxis()
        handles, labels = axes[0].get_legend_handles_labels()
        note = f"Whiskers: 95 % bootstrap intervals over questions; filled: p < {LEVEL} after Holm's correction."
        figure.legend(
            handles, labels, loc="outside lower left", ncols=4, fontsize=7, title=note, title_fontsize=6.5, alignment="left"
        )  # fmt: skip
        figure.suptitle(f"What each part adds to {whole}", x=0.01, ha="left", fontsize=9, fontweight="bold")
        return save(figure, out, [asdict(row) for row in rows])


def _panel(ax: Axes, rows: Sequence[Difference], variants: Sequence[str], datasets: Sequence[str]) -> None:
    ax.axvline(0, color="black", linewidth=0.8)
    for at, dataset in enumerate(datasets):
        look, shift = series(at), (at - (len(datasets) - 1) / 2) * 0.7 / len(datasets)
        sizes = sorted({row.n for row in rows if row.dataset == dataset})
        label = f"{dataset} (n = {'–'.join(f'{n:,}' for n in sizes[:1] + sizes[1:][-1:])})" if sizes else dataset
        for row in (row for row in rows if row.dataset == dataset):
            ax.errorbar(
                [row.points], [variants.index(row.variant) + shift], xerr=[[row.points - row.low], [row.high - row.points]],
                color=look.colour, marker=look.marker, markerfacecolor=look.colour if row.p < LEVEL else "white",
                elinewidth=0.8, linestyle="none", label=label,
            )  # fmt: skip
            label = "_"  # one entry of the legend is enough
    ax.grid(axis="x")
    ax.set_ylim(-0.6, len(variants) - 0.4)
