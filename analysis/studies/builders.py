"""Ways to put vectors in a hierarchy, side by side: each a component that studies take from their configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from psi.component import Component
from psi.errors import InputError
from psi.tree import Hierarchy, Layers, build_tree

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Linkage = Literal["single", "average", "complete"]
MOST_LINKED = 20_000  # the n(n-1)/2 distances of more take over 1.6 GB


@runtime_checkable
class HierarchyBuilder(Protocol):
    """A way to put (n, d) unit vectors in layers, leaves first."""

    @property
    def name(self) -> str:
        """What figures call it."""
        ...

    def build(self, vectors: Floats, seed: int) -> Hierarchy:
        """The hierarchy; equal vectors and seeds give equal ones."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the hierarchy, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class Psi(Component):
    """The abstract tree by merging and collapse; `max_children` and `rebalance` as in `psi.index.psi_index.TreeIndexer`."""

    name: str = "Ψ"
    max_children: Annotated[int, Field(ge=2)] = 40
    rebalance: Literal["similar", "even", "none"] = "similar"

    def build(self, vectors: Floats, seed: int) -> Hierarchy:
        """The tree; the seed changes nothing."""
        return build_tree(vectors, max_children=self.max_children, rebalance=self.rebalance)


@dataclass(frozen=True, kw_only=True)
class LinkageLayers(Component):
    """A binary agglomerative tree under cosine distances, cut into layers of as many nodes as the abstract tree has.

    Raises:
        InputError: (on build) more vectors than all-pair distances are made for.
    """

    name: str = "average linkage"
    method: Linkage = "average"

    def build(self, vectors: Floats, seed: int) -> Hierarchy:
        """The layers; the seed changes nothing."""
        from scipy.cluster.hierarchy import cut_tree

        sizes = psi_layer_sizes(vectors)
        if len(sizes) == 1:
            return Layers.of(len(vectors), [])
        cuts = cut_tree(linkage_of(vectors, self.method), n_clusters=sizes[1:])
        return nested([cuts[:, at] for at in range(cuts.shape[1])])


@dataclass(frozen=True, kw_only=True)
class KMeansLayers(Component):
    """k-means of the leaves, then of the means of each layer, into layers of as many nodes as the abstract tree has."""

    name: str = "k-means"

    def build(self, vectors: Floats, seed: int) -> Hierarchy:
        """The layers; a cluster that no point is nearest to is left out."""
        labels: list[Ids] = []
        points, above = np.asarray(vectors, np.float64), np.arange(len(vectors))
        for size in psi_layer_sizes(vectors)[1:]:
            groups = k_means(points, min(size, len(points)), seed)
            points = np.stack([points[groups == group].mean(axis=0) for group in range(groups.max() + 1)])
            above = groups[above]
            labels.append(above)
        return nested(labels, n_leaves=len(vectors))


@dataclass(frozen=True, kw_only=True)
class RandomLayers(Component):
    """The abstract tree with its leaves shuffled: what a shape alone is worth."""

    name: str = "random"

    def build(self, vectors: Floats, seed: int) -> Hierarchy:
        """The layers."""
        tree = build_tree(vectors)
        shuffled = np.random.default_rng(seed).permutation(tree.n_leaves)
        above, labels = shuffled, []
        for height in range(1, tree.height + 1):
            above = tree.ancestors(above, height)
            labels.append(above)
        return nested(labels, n_leaves=tree.n_leaves)


def psi_layer_sizes(vectors: Floats) -> tuple[int, ...]:
    """Number of nodes in each layer of the abstract tree, leaves first."""
    return build_tree(vectors).layer_sizes()


def linkage_of(vectors: Floats, method: Linkage) -> NDArray[np.float64]:
    """SciPy's (n - 1, 4) linkage matrix under cosine distances, which never fall below 0.

    Raises:
        InputError: more vectors than all-pair distances are made for.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    if len(vectors) > MOST_LINKED:
        raise InputError(
            f"{len(vectors)} passages: agglomerative linkage compares all pairs and is made for {MOST_LINKED} at most. "
            "Take a smaller corpus, or leave the linkage builders out."
        )
    return np.asarray(linkage(np.maximum(pdist(np.asarray(vectors, np.float64), "cosine"), 0), method))


def nested(labels: Sequence[Ids], n_leaves: int | None = None) -> Layers:
    """Layers from the group of every leaf in each layer, (n,) each, from below; groups of a layer lie inside those above.

    Groups are numbered by their smallest leaf.
    """
    if not labels:
        return Layers.of(n_leaves or 0, [])
    clusters, below = [], np.arange(len(labels[0]))
    for layer in labels:
        _, first, group = np.unique(layer, return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        above = rank[group]
        owner = np.empty(below.max() + 1, np.int64)
        owner[below] = above
        clusters.append([np.flatnonzero(owner == node) for node in range(len(first))])
        below = above
    return Layers.of(len(labels[0]), clusters)


def k_means(points: NDArray[np.float64], count: int, seed: int) -> Ids:
    """The k-means group of each point (n, d), numbered without gaps; fewer than `count` where points are equal."""
    import warnings

    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():  # sums of several threads differ in the last bits
        warnings.simplefilter("ignore")  # that fewer distinct points than groups were found
        labels = KMeans(count, n_init=1, random_state=seed).fit_predict(points)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
