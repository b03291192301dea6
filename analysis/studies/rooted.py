"""Rooted trees of any shape, and Dasgupta's cost of each of their nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from psi.errors import InputError
from psi.tree import Hierarchy, mean_vectors, unit_rows

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ids = NDArray[np.int64]
PairWeights = Literal["inner", "cosine01", "unit"]


@dataclass(frozen=True, eq=False)
class RootedTree:
    """A tree whose leaves are the nodes 0 .. n_leaves - 1; nodes may have one child, and leaves any depth.

    parents (n_nodes,): the id of a parent is larger than those of its children; the last node is the root, its parent -1.

    Raises:
        InputError: the parents are no such tree.
    """

    n_leaves: int
    parents: Ids

    def __post_init__(self) -> None:
        below = self.parents[:-1]
        fits = self.n_leaves >= 1 and len(self.parents) >= self.n_leaves and self.parents[-1] == -1
        if not fits or (below <= np.arange(len(below))).any() or (below >= len(self.parents)).any():
            raise InputError(
                "parents: each must have a larger id than its children, and the last node must be the root."
            )
        if (below < self.n_leaves).any():
            raise InputError(f"parents: a leaf, a node below {self.n_leaves}, has children.")

    def leaf_counts(self) -> Ids:
        """(n_nodes,) leaves below each node; 1 for a leaf."""
        counts = np.zeros(len(self.parents), np.int64)
        counts[: self.n_leaves] = 1
        for node, parent in enumerate(self.parents[:-1].tolist()):
            counts[parent] += counts[node]
        return counts


def node_costs(tree: RootedTree, vectors: Floats, weights: PairWeights = "cosine01") -> Doubles:
    """(n_nodes,) what each node adds to c(T) = sum over leaf pairs of w_ij * leaves below their lowest common ancestor.

    vectors (n_leaves, d) are normalised. `inner`: w = x_i . x_j, which may be negative; `cosine01`: (1 + x_i . x_j) / 2;
    `unit`: 1. A node with m leaves and vector sum S adds m * (|S|^2 - sum of its children's |S_c|^2) / 2: O(n_nodes * d).
    """
    ones = np.ones((tree.n_leaves, 1))
    if weights == "unit":
        return _inner_costs(tree, ones)
    inner = _inner_costs(tree, unit_rows(vectors).astype(np.float64))
    return inner if weights == "inner" else (inner + _inner_costs(tree, ones)) / 2


def rooted_cost(tree: RootedTree, vectors: Floats, weights: PairWeights = "cosine01") -> float:
    """Dasgupta's cost of a tree: the sum of `node_costs`."""
    return float(node_costs(tree, vectors, weights).sum())


def _inner_costs(tree: RootedTree, leaves: Doubles) -> Doubles:
    sums = np.zeros((len(tree.parents), leaves.shape[1]))
    sums[: tree.n_leaves] = leaves
    for node, parent in enumerate(tree.parents[:-1].tolist()):
        sums[parent] += sums[node]
    squares = np.einsum("ij,ij->i", sums, sums)
    within = np.zeros(len(squares))
    np.add.at(within, tree.parents[:-1], squares[:-1])
    within[: tree.n_leaves] = squares[: tree.n_leaves]
    costs: Doubles = tree.leaf_counts() * (squares - within) / 2
    return costs


def star(n: int) -> RootedTree:
    """All n leaves under one root: the dearest tree where no weight is negative."""
    return RootedTree(n, np.append(np.full(n, n), -1))


def from_linkage(linkage: Doubles) -> RootedTree:
    """The binary tree of SciPy's (n - 1, 4) linkage matrix."""
    n = len(linkage) + 1
    parents = np.full(2 * n - 1, -1)
    for merge, (left, right) in enumerate(linkage[:, :2].astype(np.int64)):
        parents[[left, right]] = n + merge
    return RootedTree(n, parents)


def from_hierarchy(hierarchy: Hierarchy, vectors: Floats) -> RootedTree:
    """The tree of a hierarchy over leaves with these (n, d) vectors.

    A node with several parents goes to the one whose mean vector is nearest, ties to the smaller id; a node without any that
    is not alone at the top goes under a new root.
    """
    counts = np.diff(hierarchy.child_offsets)
    owners = np.repeat(np.arange(hierarchy.n_nodes), counts)
    children = np.asarray(hierarchy.child_ids)
    if len(np.unique(children)) < len(children):
        nodes = mean_vectors(hierarchy, vectors)
        similarity = np.einsum("ij,ij->i", nodes[children], nodes[owners])
        order = np.lexsort((owners, -similarity, children))
        first = order[np.unique(children[order], return_index=True)[1]]
        children, owners = children[first], owners[first]
    parents = np.full(hierarchy.n_nodes, -1)
    parents[children] = owners
    tops = np.flatnonzero(parents < 0)
    if len(tops) > 1:
        parents[tops] = hierarchy.n_nodes
        parents = np.append(parents, -1)
    return RootedTree(hierarchy.n_leaves, parents)
