"""The figure of the tree bench: time and memory against the number of passages, log-log."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

# Okabe-Ito colours, and a marker each, so that neither colour vision nor a grey printer matters
STYLES = {
    "literal procedure": ("#000000", "X"),
    "scikit-learn": ("#E69F00", "s"),
    "fastcluster": ("#D55E00", "D"),
    "hnsw": ("#CC79A7", "v"),
    "buckets+hnsw": ("#56B4E9", "^"),
    "buckets": ("#009E73", "P"),
    "exact fp32": ("#0072B2", "o"),
    "exact bf16": ("#0072B2", "*"),
}
NAMES = {
    "literal procedure": "literal published procedure",
    "scikit-learn": "scikit-learn single linkage",
    "fastcluster": "fastcluster single linkage",
    "hnsw": "ours, HNSW (approximate)",
    "buckets+hnsw": "ours, buckets + HNSW (approximate)",
    "buckets": "ours, buckets (approximate)",
    "exact fp32": "ours, exact, fp32 only",
    "exact bf16": "ours, exact, bf16 sieve",
}


def draw(cells: list[dict[str, Any]], path: Path, kind: str = "clustered") -> None:
    """Two panels from the measured cells of one kind of vectors; writes a PNG."""
    chosen = [cell for cell in cells if cell["kind"] == kind]
    with plt.rc_context(
        {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False}
    ):
        figure, (time_axes, memory_axes) = plt.subplots(1, 2, figsize=(7.2, 3.9), layout="constrained")
        for builder in STYLES:
            _curve(time_axes, chosen, builder, "seconds")
            _curve(memory_axes, chosen, builder, "peak_mb")
        _rooflines(time_axes, chosen)
        time_axes.set(title="Time to build", ylabel="seconds", xlabel="passages (384 dimensions)")
        memory_axes.set(title="Peak memory of the process", ylabel="megabytes", xlabel="passages (384 dimensions)")
        memory_axes.axhline(2048, color="#999999", lw=0.8, ls=":")
        memory_axes.annotate(
            "2 GB", (memory_axes.get_xlim()[0], 2048), xytext=(3, 2), textcoords="offset points", color="#666666"
        )
        for axes in (time_axes, memory_axes):
            axes.set(xscale="log", yscale="log")
            axes.grid(True, which="major", color="#e6e6e6", lw=0.6)
        handles, labels = time_axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8, handlelength=2.6)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)
        plt.close(figure)


def _curve(axes: Axes, cells: list[dict[str, Any]], builder: str, column: str) -> None:
    points = sorted((cell["n"], cell[column]) for cell in cells if cell["builder"] == builder)
    if not points:
        return
    colour, marker = STYLES[builder]
    exact = builder.startswith("exact")
    axes.plot(
        *zip(*points, strict=True),
        color=colour,
        marker=marker,
        ms=8 if marker == "*" else 4.5,
        lw=1.8 if exact else 1.1,
        ls="--" if builder == "exact fp32" else "-",
        label=NAMES[builder],
        zorder=3 if exact else 2,
    )


def _rooflines(axes: Axes, cells: list[dict[str, Any]]) -> None:
    exact = sorted(((cell["n"], cell) for cell in cells if cell["builder"] == "exact bf16"), key=lambda item: item[0])
    if not exact:
        return
    # as timed in the process of each measurement: a shared machine is not the same at every moment
    for column, factor, dash, label in (
        ("fp32_pass_seconds", 1.0, (0, (4, 2)), "machine then: one fp32 product of all pairs"),
        ("bf16_pass_seconds", 0.5, (0, (1, 1.5)), "machine then: half of the pairs in bf16"),
    ):
        points = [(n, factor * cell[column]) for n, cell in exact]
        axes.plot(*zip(*points, strict=True), color="#777777", lw=1.2, ls=dash, label=label, zorder=1)
