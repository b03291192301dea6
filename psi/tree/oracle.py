"""The published procedure, taken literally: all pairs, one sort, one scan. Slow, and independent of the fast builders.

It shares nothing with them but the definition of a similarity, which it computes again in its own way, so that tests can
hold every builder against it. Memory grows with n^2.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


class OracleTree(NamedTuple):
    """Parents (-1 for the root) and heights of all nodes; leaves first, inner nodes in the order of their making."""

    parents: list[int]
    heights: list[int]


def all_pair_weights(vectors: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """(n, n) similarities of the normalised rows: float64 sums over 32 interleaved lanes, halved until one is left."""
    rows = _unit(np.asarray(vectors, np.float32))
    return np.stack([_against_all(row, rows) for row in rows])


def pair_similarity(a: npt.ArrayLike, b: npt.ArrayLike) -> np.float32:
    """The similarity of two unit rows."""
    return np.float32(_against_all(np.asarray(a, np.float32), np.asarray(b, np.float32)[None])[0])


def oracle_tree(vectors: npt.ArrayLike) -> OracleTree:
    """Every pair in order of similarity (ties: smaller id, larger id) through merging, leaf and abstract-node collapse."""
    weights = all_pair_weights(vectors)
    n = len(weights)
    smaller, larger = np.triu_indices(n, 1)
    order = np.lexsort((larger, smaller, -weights[smaller, larger]))
    parents: list[int] = [-1] * n
    heights: list[int] = [0] * n
    joins = 0
    for pair in order:
        joins += _join(parents, heights, int(smaller[pair]), int(larger[pair]))
        if joins == n - 1:
            break
    return OracleTree(parents, heights)


def _join(parents: list[int], heights: list[int], i: int, j: int) -> bool:
    up_i, up_j = _path(parents, i), _path(parents, j)
    root_i, root_j = up_i[-1], up_j[-1]
    if root_i == root_j:
        return False
    if heights[root_i] == heights[root_j]:
        parents.append(-1)
        heights.append(heights[root_i] + 1)
        parents[root_i] = parents[root_j] = len(parents) - 1
    elif heights[root_i] < heights[root_j]:
        parents[root_i] = next(a for a in up_j if heights[a] == heights[root_i] + 1)
    else:
        parents[root_j] = next(a for a in up_i if heights[a] == heights[root_j] + 1)
    return True


def _path(parents: list[int], node: int) -> list[int]:
    path = [node]
    while parents[path[-1]] != -1:
        path.append(parents[path[-1]])
    return path


def _lane_sums(products: Doubles) -> Doubles:
    """(n, d) products to (n,) sums in the documented order; zero padding adds nothing."""
    padded = np.zeros((len(products), -(-products.shape[1] // 32) * 32))
    padded[:, : products.shape[1]] = products
    lanes = np.zeros((len(products), 32))
    for start in range(0, padded.shape[1], 32):
        lanes += padded[:, start : start + 32]
    while lanes.shape[1] > 1:
        lanes = lanes[:, : lanes.shape[1] // 2] + lanes[:, lanes.shape[1] // 2 :]
    return lanes[:, 0]


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    doubles = rows.astype(np.float64)
    squares = _lane_sums(doubles * doubles)
    leave = (squares == 0) | (np.abs(squares - 1) <= 2.0**-22)
    return (doubles / np.where(leave, 1.0, np.sqrt(squares))[:, None]).astype(np.float32)


def _against_all(row: npt.NDArray[np.float32], rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    sums = np.clip(_lane_sums(rows.astype(np.float64) * row.astype(np.float64)), -1.0, 1.0).astype(np.float32)
    same = (rows == row).all(axis=1) & bool(row.any())
    return np.where(same, np.float32(1.0), sums).astype(np.float32)
