"""From the binary single-linkage tree to the abstract tree: what every join changes in Dasgupta's cost (Ψ-RAG B.2).

Both trees are made by one scan of the maximum spanning tree: each edge joins a component A with a component B. In the binary
tree all pairs between A and B meet at a new node of |A| + |B| leaves. In the abstract tree the lower of the two hangs
under a node p inside the other, and a pair (a, b) meets at p or above it, at u, which in the end has |u| leaves. So the join
adds sum of w_ab * (|u| - |A| - |B|) over its pairs, and the sums of all joins are exactly the difference of the two costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psi.tree import Edges, Tree, unit_rows

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

Kind = Literal["merging", "leaf collapse", "node collapse, equal heights", "node collapse, unequal heights"]
KINDS: tuple[Kind, ...] = ("merging", "leaf collapse", "node collapse, equal heights", "node collapse, unequal heights")


class Join(NamedTuple):
    """One join: its kind, the height of the node under which the lower side hangs, its change of the cost."""

    kind: Kind
    height: int
    change: float


class _Growing:
    """The abstract tree while its edges are scanned, with the weighted sums and numbers of leaves below each node."""

    def __init__(self, vectors: Doubles):
        n, width = vectors.shape
        self.parents = np.full(2 * n, -1)
        self.heights = np.zeros(2 * n, np.int64)
        self.sums = np.zeros((2 * n, width))
        self.sums[:n] = vectors
        self.counts = np.zeros(2 * n, np.int64)
        self.counts[:n] = 1
        self.nodes: int = n

    def path(self, node: int) -> list[int]:
        """From a node to its root."""
        path = [node]
        while self.parents[path[-1]] >= 0:
            path.append(int(self.parents[path[-1]]))
        return path

    def add_root(self, left: int, right: int) -> int:
        """A new node above two roots of equal height."""
        new: int = self.nodes
        self.nodes += 1
        self.heights[new] = self.heights[left] + 1
        self.parents[[left, right]] = new
        self.sums[new] = self.sums[left] + self.sums[right]
        self.counts[new] = self.counts[left] + self.counts[right]
        return new

    def hang(self, low: int, above: list[int]) -> None:
        """A root under the first node of a path, whose nodes grow."""
        self.parents[low] = above[0]
        self.sums[above] += self.sums[low]
        self.counts[above] += self.counts[low]


def joins(tree: Tree, edges: Edges, vectors: Floats) -> Iterator[Join]:
    """Every join, for weights (1 + cos) / 2; edges: those that the scan of `tree`, before rebalancing, has joined.

    The changes sum to the cost of the abstract tree less that of the binary tree. O(n * height * d).
    """
    rows = unit_rows(vectors).astype(np.float64)
    # one more component makes x.y + 1 of the product; both halved give the weight
    weighted = np.hstack([rows, np.ones((len(rows), 1))]) / np.sqrt(2)
    growing, found = _Growing(weighted), []
    for u, v in zip(edges.u.tolist(), edges.v.tolist(), strict=True):
        left, right = growing.path(min(u, v)), growing.path(max(u, v))
        found.append(_join(growing, left, right))
    sizes = growing.counts
    for kind, height, size, shares in found:
        yield Join(kind, height, sum(weight * (int(sizes[node]) - size) for node, weight in shares))


def _join(growing: _Growing, left: list[int], right: list[int]) -> tuple[Kind, int, int, list[tuple[int, float]]]:
    """Kind, height, leaves of both sides, and the weight of the pairs that meet at each node."""
    a, b = left[-1], right[-1]
    size = int(growing.counts[a] + growing.counts[b])
    heights = growing.heights
    if heights[a] == heights[b]:
        kind: Kind = "merging" if heights[a] == 0 else "node collapse, equal heights"
        weight = float(growing.sums[a] @ growing.sums[b])
        return kind, int(heights[a]) + 1, size, [(growing.add_root(a, b), weight)]
    low, path = (a, right) if heights[a] < heights[b] else (b, left)
    above = [node for node in path if heights[node] > heights[low]]
    before = [np.zeros_like(growing.sums[low]), *(growing.sums[node].copy() for node in above)]
    shares = [(node, float(growing.sums[low] @ (before[at + 1] - before[at]))) for at, node in enumerate(above)]
    kind = "leaf collapse" if heights[low] == 0 else "node collapse, unequal heights"
    growing.hang(low, above)
    return kind, int(heights[low]) + 1, size, shares
