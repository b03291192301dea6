"""Tables and figures of the Dasgupta study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import NDArray

from analysis.studies.collapse import KINDS
from analysis.studies.protocol import Rows
from analysis.studies.theorems import SHAPES, change, change_by_trees, holds, uniform_gains
from analysis.style import PAGE_MM, new_figure, save, series, styled
from analysis.tables import Table, rows_table
from psi.metrics import summarise

COUNTER = (2, 10, 3)  # sizes of three subtrees of which the first gains by a leaf of the second
SHOWN_PAIRS = 2000  # of siblings in the map
_CLASSES = (
    ("class_0", "nodes below 1 % of the leaves"), ("class_1", "1–10 %"), ("class_2", "10–50 %"), ("class_3", "50 % and more"),
    ("class_4", "the root"),
)  # fmt: skip


@dataclass(frozen=True)
class Findings:
    """Everything that the study has measured; rows name their corpus and its number of passages."""

    costs: Rows
    collapsed: Rows
    partitions: Rows
    moves: Rows
    siblings: Mapping[str, NDArray[np.int64]]
    grid: int

    def tables(self) -> dict[str, Table]:
        """All tables by the names of their files."""
        return {
            "costs": self._costs_table(), "collapse": self._collapse_table(), "theorem41": self._partitions_table(),
            "theorem43": _uniform_table(self.grid), "theorem44": self._siblings_table(), "moves": self._moves_table(),
        }  # fmt: skip

    def figures(self, folder: Path) -> Iterator[Path]:
        """All figures, each as PNG, PDF and CSV."""
        yield from self._costs_figure(folder / "dasgupta_costs")
        yield from self._layers_figure(folder / "dasgupta_layers")
        yield from self._map_figure(folder / "dasgupta_theorem44")

    def _summed(self) -> list[dict[str, Any]]:
        """Costs over seeds."""
        rows = []
        for corpus, tree in dict.fromkeys((row["corpus"], row["tree"]) for row in self.costs):
            own = [row for row in self.costs if (row["corpus"], row["tree"]) == (corpus, tree)]
            found = summarise([row["cost"] for row in own])
            ends = (found.low, found.high) if len(own) > 1 else (None, None)
            rows.append({
                "corpus": corpus, "passages": own[0]["passages"], "tree": tree, "cost": found.mean,
                "low": ends[0], "high": ends[1],
                **{key: float(np.mean([row[key] for row in own])) for key in ("inner", "unit", "inner_nodes", "depth")},
                **{key: float(np.mean([row[key] for row in own])) for key, _ in _CLASSES}, "seeds": len(own),
            })  # fmt: skip
        return rows

    def _costs_table(self) -> Table:
        columns: dict[str, tuple[str, str | None]] = {
            "corpus": ("Corpus", None), "tree": ("Tree", None), "cost": ("Cost", ".4f"), "low": ("95 % from", ".4f"),
            "high": ("to", ".4f"), "inner": ("by inner product", ".4f"), "unit": ("unit weights", ".4f"),
            "inner_nodes": ("Inner nodes", ",.0f"), "depth": ("Depth", ",.0f"), "seeds": ("Seeds", "d"),
        }  # fmt: skip
        notes = (
            "Costs are shares of the star's, whose every pair counts all passages; lower is better. Weights: (1 + cos)/2; inner "
            "products, which may be negative, so that the shares have a meaning only where the star's cost is positive; 1 for "
            "all pairs, which shows what the shape alone is worth. Unit weights give every binary tree the same cost.",
            "RAPTOR's nodes with several parents stand under the one whose mean vector is nearest.",
        )
        return rows_table(self._summed(), columns, title="Dasgupta's cost", notes=notes)

    def _collapse_table(self) -> Table:
        rows = [{**row, "percent": 100 * row["change"]} for row in self.collapsed]
        columns: dict[str, tuple[str, str | None]] = {
            "corpus": ("Corpus", None), "height": ("Height", "d"), "kind": ("Join", None), "joins": ("Joins", ",d"),
            "percent": ("Change (%)", "+.3f"),
        }  # fmt: skip
        note = (
            "Change of the cost, as percent of the binary single-linkage tree's, when its joins become those of the abstract "
            "tree; height: of the node under which the lower side hangs. All rows of a corpus together lead from the binary "
            "tree to the rebalanced one."
        )
        return rows_table(rows, columns, title="From the binary tree to the abstract tree", notes=(note,))

    def _partitions_table(self) -> Table:
        rows = []
        for corpus, clusters in dict.fromkeys((row["corpus"], row["clusters"]) for row in self.partitions):
            own = [row for row in self.partitions if (row["corpus"], row["clusters"]) == (corpus, clusters)]
            rows.append({
                "corpus": corpus, "clusters": clusters, "error": max(row["error"] for row in own),
                **{key: _mean(own, key) for key in ("between", "balanced", "variation", "dependence")}, "partitions": len(own),
            })  # fmt: skip
        columns: dict[str, tuple[str, str | None]] = {
            "corpus": ("Corpus", None), "clusters": ("Clusters", "d"), "partitions": ("Partitions", "d"),
            "error": ("Identity off by", ".1e"), "between": ("L / total", ".4f"), "balanced": ("of equal groups", ".4f"),
            "variation": ("Variation of sizes", ".2f"), "dependence": ("Correlation", "+.2f"),
        }  # fmt: skip
        notes = (
            "Identity: n times the total sum of squares = n times that within groups + L, with L the sum over pairs of groups "
            "of n_i n_j |mean_i − mean_j|²; off by: the largest difference, as a share of the total. So the least sum within "
            "groups, which k-means looks for, is the largest L.",
            "Of equal groups: L where the same centres get equally many passages, at the least sum of squares. Variation: "
            "standard deviation of group sizes to their mean, 0 for equal groups. Correlation: of n_i n_j with "
            "|mean_i − mean_j|², which the step from the largest L to equal sizes assumes to be none.",
        )
        return rows_table(rows, columns, title="Theorem 4.1: k-means and L", notes=notes)

    def _siblings_table(self) -> Table:
        """Theorem 4.4 over the grid, and for siblings of the abstract trees."""
        rows: list[dict[str, Any]] = []
        grid = _grid(self.grid)
        for shape in SHAPES:
            held = holds(grid[:, 1], grid[:, 0], grid[:, 2], shape)
            rows.append(
                {"of": f"grid to {self.grid}", "shape": shape, "triples": len(grid), "holds": 100 * float(held.mean())}
            )
        for corpus, triples in self.siblings.items():
            for shape in SHAPES:
                held = holds(triples[:, 1], triples[:, 0], triples[:, 2], shape)
                share = 100 * float(held.mean()) if len(held) else None
                rows.append({"of": f"siblings in {corpus}", "shape": shape, "triples": len(triples), "holds": share})
        a, b, c = COUNTER
        for shape in SHAPES:
            found = float(change(b, a, a + b + c, shape))
            rows.append({
                "of": f"sizes {COUNTER}", "shape": shape, "triples": 1, "holds": 100.0 * (found >= 0), "change": found,
                "trees": change_by_trees(COUNTER, 1, 0, shape),
            })  # fmt: skip
        columns: dict[str, tuple[str, str | None]] = {
            "of": ("Sizes (a, b, n)", None), "shape": ("Subtrees", None), "triples": ("Triples", ",d"),
            "holds": ("Holds (%)", ".1f"), "change": ("Change", "+.0f"), "trees": ("by whole trees", "+.0f"),
        }  # fmt: skip
        notes = (
            "Holds: a subtree of a leaves does not gain by a leaf of a sibling of b > a, under a root of n, at unit weights. "
            "Star: leaves hang directly under the subtree's root, change (b − a − 1)(n + 1 − 3(a + b)/2); binary: change "
            "(b − a − 1)(n − a − b), never negative.",
        )
        return rows_table(rows, columns, title="Theorem 4.4: taking a leaf of a larger sibling", notes=notes)

    def _moves_table(self) -> Table:
        rows = []
        for corpus, to in dict.fromkeys(
            (row["corpus"], row["to"]) for row in sorted(self.moves, key=lambda r: r["to"], reverse=True)
        ):
            own = [row for row in self.moves if (row["corpus"], row["to"]) == (corpus, to)]
            raised = summarise([float(row["change"] > 0) for row in own])
            rows.append({
                "corpus": corpus, "to": to, "moves": len(own), "raised": _percent(raised.mean), "low": _percent(raised.low),
                "high": _percent(raised.high), "star": 100 * float(np.mean([row["star"] for row in own])),
            })  # fmt: skip
        columns: dict[str, tuple[str, str | None]] = {
            "corpus": ("Corpus", None), "to": ("To the sibling that is", None), "moves": ("Moves", ",d"),
            "raised": ("Cost rises (%)", ".1f"), "low": ("95 % from", ".1f"), "high": ("to", ".1f"),
            "star": ("by unit weights (%)", ".1f"),
        }  # fmt: skip
        note = (
            "A random leaf of the abstract tree goes under the nearest node of height 1 in a sibling subtree of another size; "
            "real weights (1 + cos)/2. By unit weights: what the formula for stars says of the same sizes."
        )
        return rows_table(rows, columns, title="Leaves moved between siblings", notes=(note,))

    def _costs_figure(self, out: Path) -> tuple[Path, ...]:
        rows = self._summed()
        corpora = list(dict.fromkeys(row["corpus"] for row in rows))
        trees = list(dict.fromkeys(row["tree"] for row in rows))
        with styled():
            figure = new_figure(PAGE_MM, 34 + 6 * len(trees))
            ax = figure.subplots()
            for at, corpus in enumerate(corpora):
                look = series(at)
                for row in (row for row in rows if row["corpus"] == corpus):
                    bars = None if row["low"] is None else [[row["cost"] - row["low"]], [row["high"] - row["cost"]]]
                    ax.errorbar(
                        [row["cost"]], [trees.index(row["tree"]) + 0.16 * (at - (len(corpora) - 1) / 2)], xerr=bars,
                        color=look.colour, marker=look.marker, linestyle="none",
                        label=f"{corpus} ({row['passages']:,} passages)" if row["tree"] == trees[0] else "_",
                    )  # fmt: skip
            ax.set_yticks(range(len(trees)), trees)
            ax.invert_yaxis()
            ax.set_xlabel("Dasgupta's cost, share of the star's; weights (1 + cos)/2; lower is better")
            ax.grid(axis="x")
            seeds = max(row["seeds"] for row in rows)
            note = f"whiskers: 95 % intervals over n = {seeds} seeds, where a tree depends on one"
            figure.legend(
                *ax.get_legend_handles_labels(),
                loc="outside lower left",
                ncols=3,
                title=note,
                title_fontsize=6.5,
                alignment="left",
            )
            return save(figure, out, rows)

    def _layers_figure(self, out: Path) -> tuple[Path, ...]:
        """Where the cost lies, and how it grows from the binary tree to the abstract tree; the first corpus."""
        name = self.costs[0]["corpus"]
        rows = [row for row in self._summed() if row["corpus"] == name and row["tree"] != "star"]
        collapsed = [row for row in self.collapsed if row["corpus"] == name]
        with styled():
            figure = new_figure(PAGE_MM, 92)
            left, right = figure.subplots(1, 2)
            _draw_classes(left, rows)
            _draw_collapse(right, collapsed)
            looks = [Patch(label=label, **_fill(at)) for at, (_, label) in enumerate(_CLASSES)]
            left.legend(handles=looks, fontsize=6.5, ncols=2, loc="upper left", bbox_to_anchor=(-0.6, -0.16))
            right.legend(fontsize=6.5, loc="upper left", bbox_to_anchor=(0, -0.16))
            figure.suptitle(
                f"{name}: {rows[0]['passages']:,} passages", x=0.01, ha="left", fontsize=9, fontweight="bold"
            )
            data = [
                {"panel": "size", "tree": row["tree"], "part": key, "value": row[key]}
                for row in rows
                for key, _ in _CLASSES
            ]
            data += [
                {"panel": "collapse", "tree": row["kind"], "part": row["height"], "value": row["change"]}
                for row in collapsed
            ]
            return save(figure, out, data)

    def _map_figure(self, out: Path) -> tuple[Path, ...]:
        """The region of theorem 4.4 for stars, the counter-example, and siblings of real trees."""
        data = []
        with styled():
            figure = new_figure(PAGE_MM, 86)
            axes = figure.subplots(1, max(1, len(self.siblings)), sharey=True, squeeze=False)[0]
            for at, (ax, (corpus, triples)) in enumerate(zip(axes, self.siblings.items(), strict=True)):
                _draw_region(ax)
                held = holds(triples[:, 1], triples[:, 0], triples[:, 2], "star")
                step = max(1, len(triples) // SHOWN_PAIRS)
                for right, look, label in ((True, series(0), "holds"), (False, series(4), "fails")):
                    shown = triples[::step][held[::step] == right]
                    ax.plot(
                        shown[:, 0] / shown[:, 2], shown[:, 1] / shown[:, 2], look.marker, color=look.colour, markersize=2,
                        alpha=0.6, label=f"siblings, {label}",
                    )  # fmt: skip
                    data += [{"corpus": corpus, "a": a, "b": b, "n": n, "holds": right} for a, b, n in shown.tolist()]
                n = sum(COUNTER)
                ax.plot(COUNTER[0] / n, COUNTER[1] / n, "*", color="black", markersize=9, label=f"sizes {COUNTER}")
                share = f"holds for {100 * held.mean():.1f} % of {len(held):,} pairs" if len(held) else "no pair"
                ax.set_title(f"{corpus}:\n{share}", fontsize=7.5)
                ax.set_xlabel("smaller subtree (a/n)")
                if not at:
                    ax.set_ylabel("larger subtree (b/n)")
            figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4)
            data.append(
                {"corpus": "counter-example", "a": COUNTER[0], "b": COUNTER[1], "n": sum(COUNTER), "holds": False}
            )
            return save(figure, out, data)


def _uniform_table(most: int) -> Table:
    """Theorem 4.3: k subtrees of m leaves."""
    rows = []
    for shape in SHAPES:
        for k in (2, 3, 4, 5, 10):
            gains = [uniform_gains(m, k, shape) for m in range(2, most + 1)]
            rows.append({"shape": shape, "k": k, "sizes": len(gains), "holds": 100 * float(np.mean(gains))})
    columns: dict[str, tuple[str, str | None]] = {
        "shape": ("Subtrees", None), "k": ("Subtrees under the root", "d"), "sizes": ("Sizes", "d"),
        "holds": ("Holds (%)", ".0f"),
    }  # fmt: skip
    note = f"Holds: moving a leaf between two of k subtrees of m = 2 … {most} leaves each lowers the cost, at unit weights."
    return rows_table(rows, columns, title="Theorem 4.3: equal subtrees are not best", notes=(note,))


def _grid(most: int) -> NDArray[np.int64]:
    """(triples, 3) all a < b up to `most`, with the rest of the root's leaves from 0 to 2 * most."""
    a, b, rest = np.meshgrid(np.arange(1, most), np.arange(2, most + 1), np.arange(0, 2 * most + 1), indexing="ij")
    kept = a < b
    return np.column_stack([a[kept], b[kept], (a + b + rest)[kept]])


def _mean(rows: Sequence[Mapping[str, Any]], key: str) -> float | None:
    known = [row[key] for row in rows if row[key] is not None]
    return float(np.mean(known)) if known else None


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _fill(at: int) -> dict[str, Any]:
    look = series(at)
    return {"facecolor": look.colour, "hatch": look.hatch, "edgecolor": "white"}


def _draw_classes(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    starts = np.zeros(len(rows))
    for at, (key, _) in enumerate(_CLASSES):
        values = np.array([100 * row[key] for row in rows])
        ax.barh(range(len(rows)), values, 0.7, starts, linewidth=0.3, **_fill(at))
        starts += values
    ax.set_yticks(range(len(rows)), [row["tree"] for row in rows])
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    ax.set_xlabel("share of the cost (%)")
    ax.set_title("Where the cost lies")


def _draw_collapse(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    heights = sorted({row["height"] for row in rows if row["height"] is not None})
    for at, kind in enumerate(KINDS):
        own = {row["height"]: 100 * row["change"] for row in rows if row["kind"] == kind}
        width = 0.8 / len(KINDS)
        places = [place + (at - (len(KINDS) - 1) / 2) * width for place in range(len(heights))]
        ax.bar(places, [own.get(height, 0.0) for height in heights], width, linewidth=0.3, label=kind, **_fill(at))
    split = [row for row in rows if row["height"] is None]
    ax.bar(
        [len(heights)],
        [100 * row["change"] for row in split],
        0.3,
        linewidth=0.3,
        label="rebalancing",
        **_fill(len(KINDS)),
    )
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set_xticks(range(len(heights) + 1), [*map(str, heights), "splits"])
    ax.set_xlabel("height of the node that takes the lower side")
    ax.set_ylabel("change of cost (% of the binary tree's)")
    ax.set_title("What collapse adds")
    ax.grid(axis="y")


def _draw_region(ax: Axes) -> None:
    """Where (b − a − 1)(n + 1 − 3(a + b)/2) is negative, for large n: a + b > 2n/3."""
    a = np.linspace(0, 0.5, 101)
    ax.fill_between(
        a, np.maximum(a, 2 / 3 - a), 1 - a, where=2 / 3 - a < 1 - a, color="#F5D9C6", label="the theorem fails (stars)"
    )
    ax.plot([0, 0.5], [0, 0.5], color="#888888", linewidth=0.8)
    ax.plot([0, 0.5], [1, 0.5], color="#888888", linewidth=0.8)
    ax.set_xlim(0, 0.5)
    ax.set_ylim(0, 1)
