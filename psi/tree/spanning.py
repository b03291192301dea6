"""The maximum spanning tree of all pairwise similarities, under the total order."""

import numpy as np
import numpy.typing as npt

from psi.tree.compiled import compiled
from psi.tree.edges import Edges, maximum_spanning_forest
from psi.tree.vectors import unit_rows
from psi.tree.weights import LANES, Floats, Ids, weight


def spanning_edges(vectors: npt.ArrayLike) -> Edges:
    """The n-1 edges of the maximum spanning tree in order of (-weight, smaller id, larger id); rows are normalised."""
    rows = unit_rows(vectors)
    u, v, w = _prim(rows)
    return maximum_spanning_forest(len(rows), Edges(u, v, w))


@compiled
def _prim(rows: Floats) -> tuple[Ids, Ids, Floats]:
    n = len(rows)
    lanes = np.empty(LANES, np.float64)
    best = np.full(n, -2.0, np.float32)
    link = np.full(n, -1, np.int64)
    inside = np.zeros(n, np.bool_)
    u, v, w = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1, np.float32)
    x = 0
    for step in range(n - 1):
        inside[x] = True
        nearest = -1
        for y in range(n):
            if inside[y]:
                continue
            s = weight(rows[x], rows[y], lanes)
            if s > best[y] or (s == best[y] and _earlier(x, y, link[y], y)):
                best[y], link[y] = s, x
            if nearest < 0 or best[y] > best[nearest] or (
                best[y] == best[nearest] and _earlier(link[y], y, link[nearest], nearest)
            ):
                nearest = y
        u[step], v[step], w[step] = min(link[nearest], nearest), max(link[nearest], nearest), best[nearest]
        x = nearest
    return u, v, w


@compiled
def _earlier(a: int, b: int, c: int, d: int) -> bool:
    """Whether the pair {a, b} comes before {c, d} at equal weight."""
    low, other = min(a, b), min(c, d)
    return low < other or (low == other and max(a, b) < max(c, d))
