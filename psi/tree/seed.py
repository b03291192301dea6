"""A first spanning tree, good but not exact: nearest landmarks, then neighbours inside blocks of the resulting order."""

import numpy as np
import numpy.typing as npt
import torch

from psi.tree.compiled import compiled
from psi.tree.dendrogram import bottlenecks
from psi.tree.edges import Edges, maximum_spanning_forest, merged_forest
from psi.tree.kernels import LANES
from psi.tree.precision import Operands, honest_products
from psi.tree.weights import Floats, Ids, pair_weights, weight
from psi.tree.workers import each_piece, one_thread_products

GROWN = 192  # landmarks at the last level, whose tree is grown point by point
LOCAL_BLOCK = 1024
MANY = 40_000  # rows from which a second round of refinement saves more in the pass than it costs
CHUNK = 1024


def first_tree(rows: Floats, fast: Operands, threads: int) -> Edges:
    """A spanning tree of the rows, all weights as defined, in the total order; exact only for few rows.

    It costs about 1/16 of a pass over all pairs: one point in 32 to 64 is a landmark, the landmarks get a tree in the same way,
    every point is joined to its nearest landmark; then, once or twice, points that stand near each other in the order of the
    tree's dendrogram are compared and the best edges are added.
    """
    with honest_products(fast.precision), one_thread_products():
        tree = _landmark_tree(rows, fast.rows, threads)
        for _ in range((len(rows) > GROWN) + (len(rows) >= MANY)):
            tree = _refined(rows, fast.rows, tree, threads)
    return tree


def grown_tree(rows: Floats) -> Edges:
    """The exact maximum spanning tree, grown point by point (Prim); for few rows, or as a check: O(n^2 d), one thread."""
    return maximum_spanning_forest(len(rows), Edges(*_prim(rows)))


def _landmark_tree(rows: Floats, fast: torch.Tensor, threads: int) -> Edges:
    n = len(rows)
    if n <= GROWN:
        return grown_tree(rows)
    picked = np.sort(np.random.default_rng(n).choice(n, _landmarks(n), replace=False))
    index = torch.from_numpy(picked).to(fast.device)
    among = _landmark_tree(rows[picked], fast[index], threads)
    nearest = picked[_nearest_column(fast, fast[index], threads)]
    nearest[picked] = picked
    links = weighted_pairs(rows, np.arange(n), nearest, threads)
    return merged_forest(n, Edges(picked[among.u], picked[among.v], among.weight), links)


def _landmarks(n: int) -> int:
    return max(GROWN // 2, n // 64, min(n // 32, 512))


def _nearest_column(fast: torch.Tensor, landmarks: torch.Tensor, threads: int) -> Ids:
    return np.concatenate(
        each_piece(
            len(fast), CHUNK, lambda start: _largest_columns(_products(fast[start : start + CHUNK], landmarks)), threads
        )
    )


def _refined(rows: Floats, fast: torch.Tensor, tree: Edges, threads: int) -> Edges:
    """The best tree of this tree's edges and of a spanning tree inside each block of its dendrogram's order."""
    n = len(rows)
    order = bottlenecks(n, tree).order

    def inside(start: int) -> tuple[Ids, Ids]:
        members = order[start : start + LOCAL_BLOCK]
        block = fast[torch.from_numpy(members).to(fast.device)]
        a, b = _grown_from_products(_products(block, block))
        return members[a], members[b]

    left, right = zip(*each_piece(n, LOCAL_BLOCK, inside, threads), strict=True)
    found = weighted_pairs(rows, np.concatenate(left), np.concatenate(right), threads)
    return merged_forest(n, tree, found)


def _products(a: torch.Tensor, b: torch.Tensor) -> npt.NDArray[np.generic]:
    """All products of rows of a and b, or the bit patterns of bfloat16, which order like their values above zero."""
    product = torch.mm(a, b.T).cpu()
    return product.view(torch.int16).numpy() if product.dtype == torch.bfloat16 else product.numpy()


@compiled
def _largest_columns(product: npt.NDArray[np.generic]) -> Ids:
    out = np.empty(len(product), np.int64)
    for i in range(len(product)):
        row = product[i]
        largest = row[0]
        for j in range(len(row)):
            largest = max(largest, row[j])
        j = 0
        while row[j] != largest:
            j += 1
        out[i] = j
    return out


@compiled
def _grown_from_products(product: npt.NDArray[np.generic]) -> tuple[Ids, Ids]:
    """A spanning tree that is maximal for these products, ties anyhow (Prim); loops are kept plain so that they vectorise."""
    n = len(product)
    lowest = product.min()
    best = np.full(n, lowest, product.dtype)
    link = np.zeros(n, np.int32)
    outside = np.ones(n, np.bool_)
    a, b = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    x = 0
    for step in range(n - 1):
        outside[x] = False
        row = product[x]
        for j in range(n):
            closer = row[j] > best[j]
            best[j] = row[j] if closer else best[j]
            link[j] = x if closer else link[j]
        largest = lowest
        for j in range(n):
            largest = max(largest, best[j] if outside[j] else lowest)
        y = 0
        while not (outside[y] and best[y] == largest):
            y += 1
        a[step], b[step] = link[y], y
        x = y
    return a, b


def weighted_pairs(rows: Floats, a: Ids, b: Ids, threads: int | None = None) -> Edges:
    """The distinct pairs among {a, b} with their defined similarities; pairs of a point with itself are dropped."""
    n = len(rows)
    codes = np.unique((np.minimum(a, b) * n + np.maximum(a, b))[a != b])
    u, v = codes // n, codes % n
    return Edges(u, v, pair_weights(rows, u, v, threads))


@compiled
def _prim(rows: Floats) -> tuple[Ids, Ids, Floats]:
    n = len(rows)
    lanes = np.empty(LANES, np.float64)
    best = np.full(n, -2.0, np.float32)
    link = np.full(n, -1, np.int64)
    inside = np.zeros(n, np.bool_)
    joins = max(0, n - 1)
    u, v, w = np.empty(joins, np.int64), np.empty(joins, np.int64), np.empty(joins, np.float32)
    x = 0
    for step in range(joins):
        inside[x] = True
        nearest = -1
        for y in range(n):
            if inside[y]:
                continue
            s = weight(rows[x], rows[y], lanes)
            if s > best[y] or (s == best[y] and _earlier(x, y, link[y], y)):
                best[y], link[y] = s, x
            if (
                nearest < 0
                or best[y] > best[nearest]
                or (best[y] == best[nearest] and _earlier(link[y], y, link[nearest], nearest))
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
