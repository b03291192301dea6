"""Dasgupta's cost of a hierarchy in time linear in its nodes (arXiv 1510.05043)."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from psi.errors import InputError
from psi.tree.tree import Tree
from psi.tree.vectors import unit_rows

PairWeights = Literal["inner", "cosine01"]


def dasgupta_cost(tree: Tree, vectors: npt.ArrayLike, weights: PairWeights = "inner") -> float:
    """c(T) = sum over leaf pairs of w_ij * (number of leaves below their lowest common ancestor).

    vectors (n_leaves, d) are normalised first. `inner`: w = x_i . x_j, which may be negative (then the cost is a signed
    sum, as it stands). `cosine01`: w = (1 + x_i . x_j) / 2, never negative. O(n_nodes * d): a node with m leaves and vector
    sum S adds m * (|S|^2 - sum of its children's |S_c|^2) / 2. A single leaf costs 0. Raises InputError on a wrong shape.
    """
    if weights not in ("inner", "cosine01"):
        raise InputError(f"weights={weights!r}: expected 'inner' or 'cosine01'")
    leaves = unit_rows(vectors).astype(np.float64)
    if len(leaves) != tree.n_leaves:
        raise InputError(f"vectors: expected {tree.n_leaves} rows (one a leaf), got {len(leaves)}")
    inner = _split_cost(tree, leaves)
    if weights == "inner":
        return inner
    return (inner + _split_cost(tree, np.ones((tree.n_leaves, 1)))) / 2


def cost_of_weights(tree: Tree, weights: npt.ArrayLike) -> float:
    """c(T) for any symmetric pair weights (n_leaves, n_leaves); the diagonal counts for nothing. O(n_leaves^2) a layer."""
    given = np.asarray(weights, np.float64)
    if given.shape != (tree.n_leaves, tree.n_leaves):
        raise InputError(f"weights: expected shape ({tree.n_leaves}, {tree.n_leaves}), got {given.shape}")
    counts = tree.leaf_counts()
    apart = np.triu(given, 1)
    above = np.arange(tree.n_leaves)
    cost = 0.0
    for _ in range(tree.height):
        above = tree.parents[above]
        met = above[:, None] == above[None, :]
        cost += float(np.sum(counts[above][:, None] * apart, where=met))
        apart = np.where(met, 0.0, apart)
    return cost


def _split_cost(tree: Tree, below: npt.NDArray[np.float64]) -> float:
    """The cost for w = inner product of `below`; one layer of vector sums is held at a time."""
    counts = tree.leaf_counts()
    # a leaf meets itself in |S|^2; its own square cancels in the difference taken one height up
    squares = np.einsum("ij,ij->i", below, below)
    cost = 0.0
    for height in range(1, tree.height + 1):
        start, stop = tree.layer_offsets[height], tree.layer_offsets[height + 1]
        first = tree.child_offsets[start]
        children = tree.child_ids[first : tree.child_offsets[stop]] - tree.layer_offsets[height - 1]
        below = np.add.reduceat(below[children], tree.child_offsets[start:stop] - first, axis=0)
        within = np.add.reduceat(squares[children], tree.child_offsets[start:stop] - first)
        squares = np.einsum("ij,ij->i", below, below)
        cost += float(np.sum(counts[start:stop] * (squares - within)) / 2)
    return cost
