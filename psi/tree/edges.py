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
    """Positions of the edges by falling weight, ties by smaller id, then by larger id."""
    return np.lexsort((edges.v, edges.u, -edges.weight))


def maximum_spanning_forest(n: int, edges: Edges) -> Edges:
    """The edges that join two components when scanned in the total order, in that order (Kruskal)."""
    ordered = edges.take(total_order(edges))
    return ordered.take(np.flatnonzero(_joins(n, ordered.u, ordered.v)))


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
