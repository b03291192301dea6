"""The theorems of Ψ-RAG's section 4, checked: what they say, where it holds, and what it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.studies.rooted import RootedTree, rooted_cost

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ids = NDArray[np.int64]
Shape = Literal["star", "binary"]
SHAPES: tuple[Shape, ...] = ("star", "binary")


class Scatter(NamedTuple):
    """Of a partition: n times the total sum of squares, n times that within groups, and L of theorem 4.1."""

    total: float
    within: float
    between: float


def scatter(points: Doubles, groups: Ids) -> Scatter:
    """The three sums of theorem 4.1 for (n, d) points and their groups (n,).

    L = sum over pairs of groups of n_i n_j |mu_i - mu_j|^2, taken pair by pair. The identity: total = within + L.
    """
    n = len(points)
    labels, sizes = np.unique(groups, return_counts=True)
    centres = np.stack([points[groups == label].mean(axis=0) for label in labels])
    total = n * float(((points - points.mean(axis=0)) ** 2).sum())
    within = n * float(((points - centres[np.searchsorted(labels, groups)]) ** 2).sum())
    between = sum(
        float(sizes[i] * sizes[j] * ((centres[i] - centres[j]) ** 2).sum())
        for i in range(len(labels))
        for j in range(i + 1, len(labels))
    )
    return Scatter(total, within, between)


def balanced(points: Doubles, centres: Doubles) -> Ids:
    """The group of each point (n,) where all groups get equally many (to one), at the least sum of squared distances."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    n, k = len(points), len(centres)
    seats = np.arange(n) % k  # as many seats of each centre as points, to one
    cost = cdist(points, centres, "sqeuclidean")
    _, taken = linear_sum_assignment(cost[:, seats])
    return seats[taken]


def dependence(points: Doubles, groups: Ids) -> float | None:
    """Correlation of n_i n_j with |mu_i - mu_j|^2 over pairs of groups; theorem 4.1's remark on equal sizes assumes none.

    None where sizes or distances do not vary.
    """
    labels, sizes = np.unique(groups, return_counts=True)
    centres = np.stack([points[groups == label].mean(axis=0) for label in labels])
    i, j = np.triu_indices(len(labels), 1)
    products = (sizes[i] * sizes[j]).astype(float)
    distances = ((centres[i] - centres[j]) ** 2).sum(axis=1)
    if len(products) < 3 or not products.std() or not distances.std():
        return None
    return float(np.corrcoef(products, distances)[0, 1])


def change(b: int | Ids, a: int | Ids, n: int | Ids, shape: Shape) -> Doubles:
    """Change of Dasgupta's cost when one leaf moves from a subtree of b leaves to one of a, under a root of n; unit weights.

    star: leaves hang directly under the subtrees' roots: (b - a - 1) * ((n + 1) - 3 (a + b) / 2).
    binary: the subtrees are binary trees of any shape, each of which costs (m^3 - m) / 3: (b - a - 1) * (n - (a + b)).
    """
    step = np.asarray(b) - np.asarray(a) - 1
    room = (
        np.asarray(n) + 1 - 1.5 * (np.asarray(a) + np.asarray(b))
        if shape == "star"
        else n - (np.asarray(a) + np.asarray(b))
    )
    found: Doubles = np.asarray(step * room, np.float64)
    return found


def holds(b: int | Ids, a: int | Ids, n: int | Ids, shape: Shape) -> NDArray[np.bool_]:
    """Theorem 4.4: whether the smaller subtree (a < b) never gains by taking a leaf of the larger one."""
    return change(b, a, n, shape) >= 0


def uniform_gains(m: int, k: int, shape: Shape) -> bool:
    """Theorem 4.3: whether moving a leaf between two of k subtrees of m leaves each lowers the cost."""
    return bool(change(m, m, k * m, shape) < 0)


def sized_tree(sizes: Sequence[int], shape: Shape) -> RootedTree:
    """A root over subtrees of these sizes; a subtree of one leaf has a node above it too, as in trees of equal depth."""
    n, parents, next_id = sum(sizes), np.full(2 * sum(sizes) + len(sizes) + 1, -1), sum(sizes)
    tops, first = [], 0
    for size in sizes:
        members = list(range(first, first + size))
        first += size
        if shape == "binary":
            while len(members) > 1:  # a chain: every binary tree costs the same under unit weights
                parents[members[:2]] = next_id
                members = [next_id, *members[2:]]
                next_id += 1
            tops += members
        else:
            parents[members] = next_id
            tops.append(next_id)
            next_id += 1
    parents[tops] = next_id
    return RootedTree(n, parents[: next_id + 1])


def change_by_trees(sizes: Sequence[int], source: int, target: int, shape: Shape) -> float:
    """The change of `change` from two whole trees, the slow way: one leaf of sizes[source] goes to sizes[target]."""
    moved = list(sizes)
    moved[source] -= 1
    moved[target] += 1
    nothing = np.ones((sum(sizes), 1), np.float32)
    before, after = (rooted_cost(sized_tree(each, shape), nothing, "unit") for each in (sizes, moved))
    return after - before
