"""Which pairs of a tile can be in the maximum spanning tree: those that are earlier than the bottleneck between them."""

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from psi.tree.compiled import compiled
from psi.tree.dendrogram import bottlenecks, weakest_between
from psi.tree.edges import Edges
from psi.tree.kernels import LANES
from psi.tree.precision import thresholds
from psi.tree.weights import Floats, Ids, weight

REFERENCES = 4

Scalar = TypeVar("Scalar", bound=np.generic)


class Frontier(NamedTuple):
    """What a pair has to beat. Slots are the rows of the pass, cut into blocks of `block`, the last one maybe smaller.

    point (n,) the point in each slot; spot (n,) its place in the current dendrogram; table: range maxima of edge ranks;
    u, v, weight (n - 1,): the current spanning tree in the total order; least (n - 1,): the smallest output of the pass
    that a pair as strong as each edge can show; reach (n,): rank of the bottleneck between a slot and its block's reference;
    centre (blocks,): place of each block's reference.
    """

    block: int
    point: Ids
    spot: Ids
    table: npt.NDArray[np.int32]
    u: Ids
    v: Ids
    weight: Floats
    least: npt.NDArray[np.generic]
    reach: Ids
    centre: Ids


class Tile(NamedTuple):
    """Slots [top, top_end) against [left, left_end)."""

    top: int
    top_end: int
    left: int
    left_end: int


class Found(NamedTuple):
    """Pairs of a tile that beat their bottleneck, and how many pairs had to be weighed for that."""

    edges: Edges
    weighed: int


def frontier(n: int, tree: Edges, layout: Ids, block: int, bound: float, precision: str) -> Frontier:
    """The frontier of a spanning tree for slots `layout` (n,) in blocks of `block`; thresholds allow for `bound`."""
    necks = bottlenecks(n, tree)
    spot = necks.place[layout]
    reach, centre = _references(spot, necks.table, block)
    least = thresholds(tree.weight, bound, precision)
    return Frontier(block, layout, spot, necks.table, tree.u, tree.v, tree.weight, least, reach, centre)


@compiled
def _references(spot: Ids, table: npt.NDArray[np.int32], block: int) -> tuple[Ids, Ids]:
    """For each block the member, among a few, that is joined to the others by the strongest bottlenecks."""
    n = len(spot)
    blocks = (n + block - 1) // block
    reach = np.empty(n, np.int64)
    centre = np.empty(blocks, np.int64)
    for b in range(blocks):
        start, stop = b * block, min(n, (b + 1) * block)
        least = np.inf
        step = max(1, (stop - start) // REFERENCES)
        for candidate in range(start, stop, step):
            total = 0.0
            for x in range(start, stop, 8):
                if spot[x] != spot[candidate]:
                    total += weakest_between(table, spot[x], spot[candidate])
            if total < least:
                least, centre[b] = total, spot[candidate]
        for x in range(start, stop):
            # a reference reaches itself over no edge at all: rank -1, but 0 is as good, as no pair beats the first edge
            reach[x] = weakest_between(table, spot[x], centre[b]) if spot[x] != centre[b] else 0
    return reach, centre


@compiled
def tile_thresholds(
    frontier: Frontier, top: int, top_end: int, left: int, left_end: int
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic]]:
    """One threshold a row and a column: a pair below both cannot beat the path through the references.

    Neither the rows nor the columns go over the end of a block.
    """
    between = 0
    a, b = frontier.centre[top // frontier.block], frontier.centre[left // frontier.block]
    if a != b:
        between = weakest_between(frontier.table, a, b)
    rows = np.empty(top_end - top, frontier.least.dtype)
    columns = np.empty(left_end - left, frontier.least.dtype)
    for i in range(len(rows)):
        rows[i] = frontier.least[max(between, frontier.reach[top + i])]
    for j in range(len(columns)):
        columns[j] = frontier.least[max(between, frontier.reach[left + j])]
    return rows, columns


@compiled
def beats(frontier: Frontier, e: int, s: np.float32, low: int, high: int) -> bool:
    """Whether the pair (low, high) of similarity s comes before edge e in the total order."""
    if s != frontier.weight[e]:
        return bool(s > frontier.weight[e])
    return bool(low < frontier.u[e] or (low == frontier.u[e] and high < frontier.v[e]))


@compiled
def scan_tile(
    product: npt.NDArray[np.generic], top: int, left: int, frontier: Frontier, rows: Floats
) -> tuple[Ids, Ids, Floats, int]:
    """The pairs of slots (top + i, left + j) that come before the weakest edge between them, with their similarities.

    product (a, b): the pass's output. On the diagonal (top == left) only j > i counts. Returns u < v, weights and the
    number of pairs weighed. Three sieves, block by block: the thresholds of rows and columns, the true bottleneck, the
    defined similarity.
    """
    u, v, w = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.float32)
    lanes = np.empty(LANES, np.float64)
    found = 0
    weighed = 0
    bottom, right = top + product.shape[0], left + product.shape[1]
    block = frontier.block
    a = top
    while a < bottom:
        a_end = min(bottom, (a // block + 1) * block)
        b = a if top == left else left
        while b < right:
            b_end = min(right, (b // block + 1) * block)
            row_least, column_least = tile_thresholds(frontier, a, a_end, b, b_end)
            for s in range(a, a_end):
                row = product[s - top, b - left : b_end - left]
                least = row_least[s - a]
                if not _any_reaches(row, least, column_least):
                    continue
                x = frontier.point[s]
                for t in range(max(b, s + 1) if top == left else b, b_end):
                    if row[t - b] < min(least, column_least[t - b]):
                        continue
                    e = weakest_between(frontier.table, frontier.spot[s], frontier.spot[t])
                    if row[t - b] < frontier.least[e]:
                        continue
                    weighed += 1
                    y = frontier.point[t]
                    similarity = weight(rows[x], rows[y], lanes)
                    low, high = min(x, y), max(x, y)
                    if not beats(frontier, e, similarity, low, high):
                        continue
                    if found == len(u):
                        u, v, w = _doubled(u), _doubled(v), _doubled(w)
                    u[found], v[found], w[found] = low, high, similarity
                    found += 1
            b = b_end
        a = a_end
    return u[:found], v[:found], w[:found], weighed


@compiled
def _any_reaches(row: npt.NDArray[np.generic], least: np.generic, column_least: npt.NDArray[np.generic]) -> bool:
    hit = False
    for j in range(len(row)):
        hit |= row[j] >= min(least, column_least[j])
    return hit


@compiled
def weigh_pairs(frontier: Frontier, rows: Floats, x: Ids, y: Ids, e: Ids) -> tuple[Ids, Ids, Floats]:
    """Of the pairs of points (x, y), those that come before the edges of rank e, as u < v with their similarities."""
    u, v, w = np.empty(len(x), np.int64), np.empty(len(x), np.int64), np.empty(len(x), np.float32)
    lanes = np.empty(LANES, np.float64)
    found = 0
    for p in range(len(x)):
        low, high = min(x[p], y[p]), max(x[p], y[p])
        s = weight(rows[low], rows[high], lanes)
        if beats(frontier, e[p], s, low, high):
            u[found], v[found], w[found] = low, high, s
            found += 1
    return u[:found], v[:found], w[:found]


@compiled
def _doubled(values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    out = np.empty(2 * len(values), values.dtype)
    out[: len(values)] = values
    return out
