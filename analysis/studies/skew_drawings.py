"""One mixture under every builder: trees as rows of nodes, and maps of the leaves with the nodes of a layer over them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from analysis.studies.mixtures import Mixture
from analysis.studies.purity import class_weights, memberships
from analysis.style import PAGE_MM, new_figure, save, series, styled
from psi.tree import Layers

Floats = NDArray[np.float64]
Row = dict[str, Any]
MAJOR, MINOR = series(0).colour, series(1).colour
SHARES = LinearSegmentedColormap.from_list("shares", [MAJOR, "#EDEDED", MINOR])


class Box(NamedTuple):
    """A node in a drawn tree, once under each of its parents: where it lies, and the minor category's share of it."""

    node: int
    height: int
    left: float
    width: float
    minor: float


def trees(out: Path, corpus: str, mixture: Mixture, drawn: Mapping[str, Layers]) -> tuple[Path, ...]:
    """Each builder's hierarchy, the leaves as marks of their category below; PNG, PDF and CSV."""
    boxes = {name: list(unfolded(layers, mixture)) for name, layers in drawn.items()}
    heights = [max(box.height for box in own) for own in boxes.values()]
    with styled():
        figure = new_figure(PAGE_MM, 18 + sum(9 + 4.2 * (height + 1) for height in heights))
        axes = figure.subplots(len(drawn), 1, squeeze=False, height_ratios=[height + 2 for height in heights])[:, 0]
        for ax, (name, own) in zip(axes, boxes.items(), strict=True):
            _draw_boxes(ax, own, len(mixture.rows))
            ax.set_title(f"{name} ({' / '.join(str(size) for size in drawn[name].layer_sizes())} nodes, leaves first)")
        _legend(figure, axes, corpus, mixture)
        rows = [{"builder": name, **box._asdict()} for name, own in boxes.items() for box in own]
        return save(figure, out, rows)


def maps(
    out: Path,
    corpus: str,
    mixture: Mixture,
    drawn: Mapping[str, Layers],
    vectors: NDArray[np.float32],
    plane: Literal["pca", "umap"],
) -> tuple[Path, ...]:
    """The leaves in two dimensions, and the first abstract layer of each builder at the means, with lines to the leaves."""
    places, names = _plane(vectors, plane, mixture.seed)
    columns = math.ceil(math.sqrt(len(drawn)))
    lines = math.ceil(len(drawn) / columns)
    rows = [
        {"builder": "", "kind": "leaf", "id": at, "x": x, "y": y, "leaves": 1, "minor": float(mixture.codes[at] > 0)}
        for at, (x, y) in enumerate(places.tolist())
    ]  # fmt: skip
    with styled():
        figure = new_figure(PAGE_MM, 20 + 52 * lines)
        axes = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
        for ax in axes.flat[len(drawn) :]:
            ax.set_visible(False)
        for ax, (name, layers) in zip(axes.flat, drawn.items(), strict=False):
            rows += _draw_map(ax, name, layers, mixture, places)
        for column in range(columns):
            axes[(len(drawn) - 1 - column) // columns, column].set_xlabel(names[0])
        for ax in axes[:, 0]:
            ax.set_ylabel(names[1])
        _legend(figure, axes, corpus, mixture)
        return save(figure, out, rows)


def unfolded(layers: Layers, mixture: Mixture) -> Iterator[Box]:
    """Boxes from the top down. A node of several parents is cut into equal parts, so that the leaves fill the width once.

    Children stand by their minor share, then by id.
    """
    shares = _minor_shares(layers, mixture)
    widths, parents = np.ones(layers.n_nodes), np.ones(layers.n_nodes)
    for layer in layers.layers()[1:]:
        below = layers.child_ids[layers.child_offsets[layer[0]] : layers.child_offsets[layer[-1] + 1]]
        parents[np.unique(below)] = np.unique(below, return_counts=True)[1]
        for node in layer:
            children = layers.children(node)
            widths[node] = (widths[children] / parents[children]).sum()
    top, at = layers.layers()[-1], 0.0
    waiting = deque[tuple[int, int, float, float]]()
    for node in _by_share(top, shares):
        waiting.append((node, len(layers.layers()) - 1, at, widths[node]))
        at += widths[node]
    while waiting:
        node, height, left, width = waiting.popleft()
        yield Box(node, height, float(left), float(width), float(shares[node]))
        scale = width / widths[node]  # of this occurrence
        for child in _by_share(layers.children(node), shares):
            part = scale * widths[child] / parents[child]
            waiting.append((child, height - 1, left, part))
            left += part


def _minor_shares(layers: Layers, mixture: Mixture) -> Floats:
    """(n_nodes,) of the minor category, or of all but the largest."""
    weights = np.concatenate([class_weights(layer, mixture.codes) for layer in memberships(layers)])
    return np.asarray(1 - weights[:, 0] / weights.sum(axis=1))


def _by_share(nodes: NDArray[np.int64], shares: Floats) -> list[int]:
    return [int(node) for node in nodes[np.lexsort((nodes, shares[nodes]))]]


def _draw_boxes(ax: Axes, boxes: Sequence[Box], leaves: int) -> None:
    for kind in ("leaf", "node"):
        own = [box for box in boxes if (box.height == 0) == (kind == "leaf")]
        patches = [Rectangle((box.left, box.height - 0.45), box.width, 0.9) for box in own]
        width = 0.15 if kind == "leaf" else 0.6
        collection = PatchCollection(patches, cmap=SHARES, norm=Normalize(0, 1), edgecolor="white", linewidth=width)
        collection.set_array(np.array([box.minor for box in own]))
        ax.add_collection(collection)
    height = max(box.height for box in boxes)
    ax.set(xlim=(0, leaves), ylim=(-0.5, height + 0.5), xticks=[], yticks=range(height + 1))
    ax.set_yticklabels(["leaves", *(str(at) for at in range(1, height + 1))])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _draw_map(ax: Axes, name: str, layers: Layers, mixture: Mixture, places: Floats) -> Iterator[Row]:
    layer = (layers.layers()[1:] or layers.layers())[0]
    shares = _minor_shares(layers, mixture)
    under = [layers.leaves_under(int(node)) for node in layer]
    centres = np.stack([places[leaves].mean(axis=0) for leaves in under])
    lines = [[centre, places[leaf]] for centre, leaves in zip(centres, under, strict=True) for leaf in leaves]
    ax.add_collection(LineCollection(lines, colors="#BBBBBB", linewidths=0.3, zorder=1))
    for code, look, size in ((0, series(0), 5), (1, series(1), 12)):
        own = np.minimum(mixture.codes, 1) == code
        ax.scatter(
            places[own, 0],
            places[own, 1],
            s=size,
            marker=look.marker,
            color=look.colour,
            linewidths=0,
            zorder=2 + 4 * code,
        )
    ax.scatter(
        centres[:, 0], centres[:, 1], s=[8 + 3 * len(leaves) for leaves in under], c=shares[layer],
        cmap=SHARES, vmin=0, vmax=1, alpha=0.85, edgecolors="black", linewidths=0.7, zorder=5,
    )  # fmt: skip
    ax.set_title(f"{name} ({len(layer)} nodes)")
    ax.set(xticks=[], yticks=[])
    for node, centre, leaves in zip(layer, centres.tolist(), under, strict=True):
        yield {
            "builder": name, "kind": "node", "id": int(node), "x": centre[0], "y": centre[1], "leaves": len(leaves),
            "minor": float(shares[node]),
        }  # fmt: skip


def _plane(vectors: NDArray[np.float32], plane: Literal["pca", "umap"], seed: int) -> tuple[Floats, tuple[str, str]]:
    """(n, 2) places of the leaves, the same on every run, and the names of the axes."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        if plane == "umap":
            return _umap(vectors, seed), ("UMAP 1", "UMAP 2")
        centred = np.asarray(vectors, np.float64) - np.asarray(vectors, np.float64).mean(axis=0)
        left, scales, _ = np.linalg.svd(centred, full_matrices=False)
        signs = np.sign(left[np.abs(left[:, :2]).argmax(axis=0), [0, 1]])
        explained = 100 * scales[:2] ** 2 / (scales**2).sum()
        places = np.round(left[:, :2] * scales[:2] * signs, 6)
        return places, (f"PC 1 ({explained[0]:.0f} % of variance)", f"PC 2 ({explained[1]:.0f} % of variance)")


def _umap(vectors: NDArray[np.float32], seed: int) -> Floats:
    import warnings

    import umap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed means a single thread
        model = umap.UMAP(n_neighbors=min(15, len(vectors) - 1), metric="cosine", random_state=seed, n_jobs=1)
        return np.asarray(model.fit_transform(vectors), np.float64)


def _legend(figure: Figure, axes: Any, corpus: str, mixture: Mixture) -> None:
    (major, minor), (n_major, n_minor) = mixture.categories[:2], mixture.sizes[:2]
    figure.suptitle(
        f"{corpus}, {mixture.label}, seed {mixture.seed}: {major} (n = {n_major}, blue), {minor} (n = {n_minor}, orange)",
        x=0.01, ha="left", fontsize=8,
    )  # fmt: skip
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, 100), SHARES), ax=list(np.ravel(axes)), location="bottom", aspect=60, pad=0.02
    )
    bar.set_label(f"share of {minor} among a node's leaves (%)")
    bar.outline.set_linewidth(0.4)
