"""Curves of the skew study: against the ratio, by layer, sizes of nodes against those of categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from analysis.studies.skew_points import FIRST, MATCHED, SEARCH, Point, Points, named_top, search_metric, summary
from analysis.style import PAGE_MM, Series, new_figure, save, series, styled

Row = dict[str, Any]
DODGE = 0.03  # between builders at one ratio, as a part of it: their intervals would hide each other
_TRUE = "#555555"


@dataclass(frozen=True)
class Figures:
    """Figures of one corpus; `looks` are the builders in the order of their colours, `label` the ratio shown by layer."""

    corpus: str
    looks: Sequence[str]
    found: Points
    nodes: int
    label: str

    def ratios(self, out: Path, beams: Sequence[int], cutoffs: Sequence[int]) -> tuple[Path, ...]:
        """Six curves against the ratio; PNG, PDF and CSV."""
        narrow, wide, k = min(beams), max(beams), min(cutoffs)
        panels = [
            ("Minor lost, first layer", "minor leaves under\nmajor-dominated nodes (%)", FIRST, "minor_lost"),
            (f"Minor lost, at {self.nodes} nodes", "minor leaves under\nmajor-dominated nodes (%)", MATCHED, "minor_lost"),
            ("Major lost, first layer", "major leaves under\nminor-dominated nodes (%)", FIRST, "major_lost"),
            ("Purity, first layer", "leaves of their node's\nheaviest category (%)", FIRST, "purity"),
            (f"Minor recall, beam {narrow}", f"recall@{k} of minor questions (%)", SEARCH, search_metric("minor", narrow, k)),
            (f"Minor recall, beam {wide}", f"recall@{k} of minor questions (%)", SEARCH, search_metric("minor", wide, k)),
        ]  # fmt: skip
        rows = [row for title, _, place, metric in panels for row in self._by_ratio(title, place, metric)]
        with styled():
            figure = new_figure(PAGE_MM, 112)
            for ax, (title, label, _, _) in zip(figure.subplots(2, 3).flat, panels, strict=True):
                own = [row for row in rows if row["panel"] == title]
                self._curves(ax, own, DODGE)
                _ratio_axis(ax, own)
                ax.set(title=title, ylabel=label)
                _floor(ax, own)
            self._frame(figure, rows, "bars: 95 % intervals over seeds")
            return save(figure, out, rows)

    def layers(self, out: Path) -> tuple[Path, ...]:
        """Shares by layer from the top, and by the number of nodes, at one ratio."""
        panels = {
            "minor_lost": "minor leaves under\nmajor-dominated nodes (%)",
            "major_lost": "major leaves under\nminor-dominated nodes (%)",
            "entropy": "entropy of the category\ngiven the node (bits)",
        }  # fmt: skip
        rows = [row for metric in panels for row in self._by_layer(metric)]
        with styled():
            figure = new_figure(PAGE_MM, 108)
            axes = figure.subplots(2, 3)
            for column, (metric, label) in enumerate(panels.items()):
                for ax, x in zip(axes[:, column], ("layer", "nodes"), strict=True):
                    own = [row | {"x": row[x]} for row in rows if row["panel"] == metric]
                    self._curves(ax, own, DODGE if x == "nodes" else 0)
                    ax.set_ylabel(label)
                    _floor(ax, own)
                    _layer_axis(ax, own, x)
            axes[0, 0].set_title("By layer from the top")
            axes[1, 0].set_title("By number of nodes")
            self._frame(
                figure, rows, f"{self.label}; bars: 95 % intervals over seeds; layer 1: the topmost with two nodes"
            )
            return save(figure, out, rows)

    def sizes(self, out: Path) -> tuple[Path, ...]:
        """Sizes of nodes against those of the categories."""
        ranks = list(self._by_rank())
        spread = list(self._by_ratio("Spread of sizes, top layer", named_top(1), "variation"))
        true = [
            row for row in self._by_ratio("true", named_top(1), "true_variation") if row["builder"] == self.looks[0]
        ]
        over = list(self._by_ratio("Nodes of the minor category", FIRST, "minor_nodes"))
        with styled():
            figure = new_figure(PAGE_MM, 68)
            left, middle, right = figure.subplots(1, 3)
            self._curves(left, ranks, 0, marked=False)
            left.set(
                title="Sizes, first layer", xlabel="node by size (rank)", ylabel=f"share of leaves (%), {self.label}"
            )
            ratio = int(self.label.partition(":")[0])
            left.plot([1, 2], [100 * ratio / (1 + ratio), 100 / (1 + ratio)], "k_", markersize=7, label="categories")
            _share_axis(left)
            left.legend(fontsize=6.5)
            self._curves(middle, spread, DODGE)
            middle.plot(
                [r["x"] for r in true], [r["mean"] for r in true], color=_TRUE, linestyle="--", label="categories"
            )
            _ratio_axis(middle, spread)
            middle.set(title="Spread, top layer", ylabel="coefficient of variation\nof node sizes")
            middle.legend(fontsize=6.5)
            self._curves(right, over, DODGE)
            shares = [(row["x"], 100 / (1 + row["x"])) for row in true]
            right.plot(*zip(*shares, strict=True), color=_TRUE, linestyle="--", label="share of leaves")
            _ratio_axis(right, over)
            right.set(title="Minor's nodes", ylabel="nodes that the minor category\ndominates, first layer (%)")
            right.legend(fontsize=6.5)
            self._frame(
                figure, [*ranks, *spread, *over], "bars: 95 % intervals over seeds; top layer: with two nodes at least"
            )
            return save(figure, out, [*ranks, *spread, *true, *over])

    def _by_ratio(self, panel: str, place: str, metric: str) -> Iterator[Row]:
        for builder in self.looks:
            for kind in self.found.kinds:
                if kind[0] == self.corpus and kind[2] == builder and kind[1].endswith(":1"):
                    x = int(kind[1].partition(":")[0])
                    yield from self._row(panel, builder, x, self.found.of(kind, place, metric), metric)

    def _by_layer(self, metric: str) -> Iterator[Row]:
        for builder in self.looks:
            kind, depth = (self.corpus, self.label, builder), 1
            seeds = len(self.found.of(kind, FIRST, metric))
            while len(own := self.found.of(kind, named_top(depth), metric)) > seeds / 2:  # few trees are higher
                yield from (row | {"layer": depth} for row in self._row(metric, builder, depth, own, metric))
                depth += 1

    def _by_rank(self) -> Iterator[Row]:
        for builder in self.looks:
            kind, rank = (self.corpus, self.label, builder), 1
            seeds = len(self.found.of(kind, FIRST, "purity"))
            while own := self.found.of(kind, f"rank {rank}", "node_share"):
                if len(own) == seeds:  # smaller trees have no such node
                    yield from self._row("Sizes, first layer", builder, rank, own, "node_share")
                rank += 1

    def _row(self, panel: str, builder: str, x: float, own: Sequence[Point], metric: str) -> Iterator[Row]:
        if own:
            found, scale = summary(own), 1 if metric in ("entropy", "variation", "true_variation") else 100
            yield {
                "corpus": self.corpus, "panel": panel, "builder": builder, "x": x, "mean": scale * (found.mean or 0.0),
                "low": None if found.low is None else scale * found.low,
                "high": None if found.high is None else scale * found.high, "seeds": found.n,
                "questions": sum(point.n for point in own) if own[0].place == SEARCH else None,
                "layer": None, "nodes": sum(point.nodes for point in own) / len(own),
            }  # fmt: skip

    def _curves(self, ax: Axes, rows: Sequence[Row], dodge: float, *, marked: bool = True) -> None:
        names = [name for name in self.looks if any(row["builder"] == name for row in rows)]
        for at, name in enumerate(names):
            own, look = [row for row in rows if row["builder"] == name], self._look(name)
            shift = 1 + dodge * (at - (len(names) - 1) / 2)
            low = [row["mean"] - (row["mean"] if row["low"] is None else row["low"]) for row in own]
            high = [(row["mean"] if row["high"] is None else row["high"]) - row["mean"] for row in own]
            ax.errorbar(
                [row["x"] * shift for row in own], [row["mean"] for row in own], yerr=[low, high] if marked else None,
                color=look.colour, marker=look.marker if marked else "", linestyle=look.line, elinewidth=0.7,
                capsize=0, markersize=3.2, zorder=20 - at,
            )  # fmt: skip
        ax.grid(axis="y")

    def _look(self, name: str) -> Series:
        return series(list(self.looks).index(name))

    def _frame(self, figure: Figure, rows: Sequence[Row], note: str) -> None:
        shown = [name for name in self.looks if any(row["builder"] == name for row in rows)]
        handles = [
            Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=name)
            for name, look in ((name, self._look(name)) for name in shown)
        ]
        seeds = sorted({row["seeds"] for row in rows})
        n = f"n = {seeds[0]}" if len(seeds) == 1 else f"n = {seeds[0]} to {seeds[-1]}"
        figure.suptitle(f"{self.corpus} ({n} seeds; {note})", x=0.01, ha="left", fontsize=8)
        figure.legend(handles=handles, loc="outside lower left", ncols=len(handles))


def _ratio_axis(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    ratios = sorted({row["x"] for row in rows})
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ratios, [f"{ratio}:1" for ratio in ratios])
    ax.set_xlabel("major : minor (log)")


def _share_axis(ax: Axes) -> None:
    ax.set_yscale("log")
    ax.yaxis.set_minor_locator(NullLocator())
    low, high = ax.get_ylim()
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low <= tick <= high]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])


def _layer_axis(ax: Axes, rows: Sequence[Mapping[str, Any]], x: str) -> None:
    if x == "layer":
        ax.set_xticks(sorted({row["layer"] for row in rows}))
        ax.set_xlabel("layer from the top")
        return
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ticks = [tick for tick in (2, 5, 10, 20, 50, 100, 200, 500) if tick <= 1.2 * max(row["nodes"] for row in rows)]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.set_xlabel("nodes of the layer (log)")


def _floor(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    """From 0 where values come near it."""
    if rows and min(row["mean"] for row in rows) < 50:
        ax.set_ylim(bottom=min(0, -0.02 * max(row["mean"] for row in rows)))
