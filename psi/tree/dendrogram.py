"""Bottlenecks of a spanning tree: the weakest edge on the path between two points, in constant time.

Scanning the edges from strong to weak and appending the smaller component's list to the larger one's puts every component
of every level in one run. Between neighbours in that order lies the edge that brought their runs together, so the weakest
edge on the path between two points is the weakest one between their places: a range maximum over edge ranks.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from psi.tree.compiled import compiled
from psi.tree.edges import Edges, find_root
from psi.tree.kernels import leading_zeros
from psi.tree.weights import Ids

Ranks = npt.NDArray[np.int32]


class Bottlenecks(NamedTuple):
    """order (n,): points as they stand in the dendrogram; place (n,): its inverse; table (levels, n): range maxima of ranks."""

    order: Ids
    place: Ids
    table: Ranks


def bottlenecks(n: int, tree: Edges) -> Bottlenecks:
    """For a spanning tree of n >= 2 points whose edges stand in the total order; an edge's rank is its position there."""
    order, gaps = _leaf_order(n, tree.u, tree.v)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    return Bottlenecks(order, place, _range_maxima(gaps))


@compiled
def _leaf_order(n: int, u: Ids, v: Ids) -> tuple[Ids, Ranks]:
    parent, head, tail, size = np.arange(n), np.arange(n), np.arange(n), np.ones(n, np.int64)
    following = np.full(n, -1, np.int64)
    joined_by = np.zeros(n, np.int32)
    for e in range(len(u)):
        a, b = find_root(parent, u[e]), find_root(parent, v[e])
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        following[tail[a]] = head[b]
        joined_by[tail[a]] = e
        tail[a] = tail[b]
    order = np.empty(n, np.int64)
    gaps = np.empty(n - 1, np.int32)
    x = head[find_root(parent, 0)]
    for p in range(n):
        order[p] = x
        if p < n - 1:
            gaps[p] = joined_by[x]
        x = following[x]
    return order, gaps


def _range_maxima(gaps: Ranks) -> Ranks:
    """Row l holds the maxima of the 2^l gaps that start at each position."""
    levels = max(1, len(gaps).bit_length())
    table = np.empty((levels, len(gaps)), np.int32)
    table[0] = gaps
    for level in range(1, levels):
        half = 1 << (level - 1)
        table[level] = table[level - 1]
        np.maximum(table[level - 1, :-half], table[level - 1, half:], out=table[level, : len(gaps) - half])
    return table


@compiled
def weakest_between(table: Ranks, a: int, b: int) -> int:
    """Rank of the weakest edge on the path between the points at the places a != b."""
    low, high = min(a, b), max(a, b)
    level = 63 - leading_zeros(high - low)  # 2^level <= high - low < 2^(level + 1)
    return int(max(table[level, low], table[level, high - (1 << level)]))
