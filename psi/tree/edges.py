"""Weighted pairs of leaves, their total order, and Kruskal's scan over them."""

from typing import NamedTuple

import numpy as np

from psi.tree.compiled import compiled
from psi.tree.weights import Floats, Ids


class Edges(NamedTuple):
    """Pairs of leaves u < v with their similarity; int64 (m,), int64 (m,), float32 (m,)."""

    u: Ids
    v: Ids
    weight: Floats

    def take(self, index: Ids) -> "Edges":
        """The edges at these positions."""
        return Edges(self.u[index], self.v[index], self.weight[index])


def joined(parts: list[Edges]) -> Edges:
    """Several edge lists as one."""
    return Edges(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def total_order(edges: Edges) -> Ids:
    """Positions of the edges by falling weight, ties by smaller id, then by larger id.

    As `np.lexsort` on the three columns, by two sorts of whole numbers, which NumPy does in vector code.
    """
    by_ids = np.argsort(edges.u * (edges.v.max(initial=0) + 1) + edges.v)
    bits = (0 - edges.weight[by_ids]).view(np.int32)  # 0 - 0 has no sign
    rising = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))  # orders like the numbers that the bits stand for
    order: Ids = by_ids[np.argsort((rising.astype(np.int64) << 32) | np.arange(len(bits)))]
    return order


def maximum_spanning_forest(n: int, edges: Edges) -> Edges:
    """The edges that join two components when scanned in the total order, in that order (Kruskal)."""
    ordered = edges.take(total_order(edges))
    return ordered.take(np.flatnonzero(_joins(n, ordered.u, ordered.v)))


def merged_forest(n: int, forest: Edges, more: Edges) -> Edges:
    """`maximum_spanning_forest` of both lists when the first already stands in the total order and only `more` is sorted."""
    more = more.take(total_order(more))
    both = Edges(*_merged(forest.u, forest.v, forest.weight, more.u, more.v, more.weight))
    return both.take(np.flatnonzero(_joins(n, both.u, both.v)))


def spanning_subset(n: int, edges: Edges) -> Edges:
    """The edges that join two components when scanned in the order given."""
    return edges.take(np.flatnonzero(_joins(n, edges.u, edges.v)))


@compiled
def _merged(u: Ids, v: Ids, w: Floats, mu: Ids, mv: Ids, mw: Floats) -> tuple[Ids, Ids, Floats]:
    total = len(u) + len(mu)
    ou, ov, ow = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.float32)
    i = j = 0
    for p in range(total):
        first = j == len(mu)
        if i < len(u) and j < len(mu):
            first = w[i] > mw[j] or (w[i] == mw[j] and (u[i] < mu[j] or (u[i] == mu[j] and v[i] <= mv[j])))
        if first:
            ou[p], ov[p], ow[p] = u[i], v[i], w[i]
            i += 1
        else:
            ou[p], ov[p], ow[p] = mu[j], mv[j], mw[j]
            j += 1
    return ou, ov, ow


@compiled
def find_root(parent: Ids, x: int) -> int:
    """The representative of x, halving the path on the way."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@compiled
def _joins(n: int, u: Ids, v: Ids) -> np.ndarray:
    parent = np.arange(n)
    joins = np.zeros(len(u), np.bool_)
    for e in range(len(u)):
        a = find_root(parent, u[e])
        b = find_root(parent, v[e])
        if a != b:
            parent[max(a, b)] = min(a, b)
            joins[e] = True
    return joins
