"""A layered graph: like a tree, but a node may have several parents or a single child, and there may be many roots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from psi.errors import InputError

Ids = NDArray[np.int64]
_ARRAYS = ("layer_offsets", "child_offsets", "child_ids")


@dataclass(frozen=True, eq=False)
class Layers:
    """Nodes numbered layer by layer, leaves first; the children of a node are distinct nodes of the layer below.

    layer_offsets  (n_layers + 1,) layer h holds the nodes layer_offsets[h] .. layer_offsets[h + 1] - 1
    child_offsets  (n_nodes + 1,) node i's children are child_ids[child_offsets[i]:child_offsets[i + 1]], ascending
    child_ids      a node stands here once for each of its parents
    """

    layer_offsets: Ids
    child_offsets: Ids
    child_ids: Ids

    @classmethod
    def of(cls, n_leaves: int, clusters: Sequence[Sequence[Ids]]) -> Layers:
        """From the clusters of each layer, from the leaves upwards, as positions in the layer below.

        Raises:
            InputError: a cluster is empty, or names a node that the layer below does not have.
        """
        sizes = [n_leaves, *(len(layer) for layer in clusters)]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        children = []
        for height, layer in enumerate(clusters):
            for cluster in layer:
                if not len(cluster) or cluster.min() < 0 or cluster.max() >= sizes[height]:
                    raise InputError(f"layer {height + 1}: a cluster must name some of the {sizes[height]} nodes below")
                children.append(np.sort(cluster) + offsets[height])
        counts = [0] * n_leaves + [len(each) for each in children]
        ids = np.concatenate(children) if children else np.zeros(0)
        return cls(offsets, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), ids.astype(np.int64))

    @property
    def n_leaves(self) -> int:
        """Number of passages."""
        return int(self.layer_offsets[1])

    @property
    def n_nodes(self) -> int:
        """Leaves and inner nodes together."""
        return int(self.layer_offsets[-1])

    def layers(self) -> list[Ids]:
        """Node ids by layer, leaves first."""
        pairs = zip(self.layer_offsets[:-1], self.layer_offsets[1:], strict=True)
        return [np.arange(start, stop) for start, stop in pairs]

    def layer_sizes(self) -> tuple[int, ...]:
        """Number of nodes by layer, leaves first."""
        return tuple(int(size) for size in np.diff(self.layer_offsets))

    def children(self, node: int) -> Ids:
        """Ids of a node's children, ascending; none for a leaf."""
        return self.child_ids[self.child_offsets[node] : self.child_offsets[node + 1]]

    def parents(self, node: int) -> Ids:
        """Ids of a node's parents, ascending; none in the topmost layer."""
        return _row(self._by_child, node)

    def leaves_under(self, node: int) -> Ids:
        """Ids of the distinct leaves below a node, ascending; a leaf has itself."""
        return _row(self.leaf_sets, node)

    @cached_property
    def leaf_sets(self) -> csr_matrix:
        """(n_nodes, n_leaves) 1 where the leaf is below the node, or is it."""
        below = csr_matrix(
            (np.ones(len(self.child_ids)), self.child_ids, self.child_offsets), shape=(self.n_nodes, self.n_nodes)
        )
        sets = csr_matrix((np.ones(self.n_leaves), (range(self.n_leaves),) * 2), shape=(self.n_nodes, self.n_leaves))
        leaves = sets
        for _ in self.layers()[1:]:
            sets = csr_matrix((leaves + below @ sets).sign())
        sets.sort_indices()
        return sets

    @cached_property
    def _by_child(self) -> csr_matrix:
        """(n_nodes, n_nodes) rows are children, columns their parents."""
        owners = np.repeat(np.arange(self.n_nodes), np.diff(self.child_offsets))
        matrix = csr_matrix((np.ones(len(owners)), (self.child_ids, owners)), shape=(self.n_nodes,) * 2)
        matrix.sort_indices()
        return matrix

    def save(self, folder: Path) -> None:
        """Write the arrays as `.npy` files."""
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Layers:
        """Open what `save` wrote."""
        return cls(*(np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS))


def _row(matrix: csr_matrix, row: int) -> Ids:
    columns: Ids = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].astype(np.int64)
    return columns
