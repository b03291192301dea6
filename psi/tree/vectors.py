"""Vectors at the door of the room: checked, brought to unit length in a reproducible way, averaged over the tree."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from psi.errors import InputError
from psi.tree.compiled import compiled
from psi.tree.kernels import LANES
from psi.tree.weights import Floats, Ids, dot64
from psi.tree.workers import in_pieces

if TYPE_CHECKING:
    from psi.tree.hierarchy import Hierarchy

ALREADY_UNIT = 2.0**-22  # what rounding to float32 can leave; such rows stay as they are, so that twice is as once
CANCELLED = 1e-12  # a sum of unit vectors shorter than this is rounding noise without a direction


def shaped_rows(vectors: npt.ArrayLike, *, width: int | None = None, what: str = "vectors") -> Floats:
    """`vectors` as a contiguous float32 (n, d) array. Raises InputError for a wrong shape or a width other than `width`."""
    try:
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected numbers of shape (n, d), got something else: {error}") from error
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise InputError(f"{what}: expected shape (n, d) with d >= 1, got {rows.shape}; pass one row a vector")
    if width is not None and rows.shape[1] != width:
        raise InputError(f"{what}: expected {width}, got {rows.shape[1]} components a row; embed with the same model")
    return rows


def checked_rows(vectors: npt.ArrayLike, *, what: str = "vectors") -> Floats:
    """`shaped_rows`, also without a row with a NaN or an infinity (InputError)."""
    rows = shaped_rows(vectors, what=what)
    finite = np.empty(len(rows), np.bool_)
    for start in range(0, len(rows), 65_536):  # by parts: a mask over everything would cost n * d bytes
        finite[start : start + 65_536] = np.isfinite(rows[start : start + 65_536]).all(axis=1)
    _refuse_non_finite(finite, what)
    return rows


def _refuse_non_finite(finite: npt.NDArray[np.bool_], what: str) -> None:
    if not finite.all():
        row = int(np.argmin(finite))
        raise InputError(f"{what}: row {row} holds NaN or infinity; embed it again or drop it before building")


def unit_rows(vectors: npt.ArrayLike, *, width: int | None = None, what: str = "vectors") -> Floats:
    """Rows divided by their length, float32 (n, d); a zero row stays zero and has cosine 0 with everything.

    Lengths are summed in float64 in the fixed order of `psi.tree.weights`, so the result is the same on any machine.
    Raises InputError for a wrong shape, a width other than `width`, or a row with a NaN or an infinity.
    """
    rows = shaped_rows(vectors, width=width, what=what)
    out = np.empty_like(rows)
    finite = np.empty(len(rows), np.bool_)
    in_pieces(len(rows), 4096, lambda start, stop: _normalise(rows, out, finite, start, stop))
    _refuse_non_finite(finite, what)
    return out


@compiled
def _normalise(rows: Floats, out: Floats, finite: npt.NDArray[np.bool_], start: int, stop: int) -> None:
    lanes = np.empty(LANES, np.float64)
    for i in range(start, stop):
        square = dot64(rows[i], rows[i], lanes)  # squares of float32 numbers cannot overflow float64
        finite[i] = np.isfinite(square)
        if abs(square - 1) <= ALREADY_UNIT:
            for k in range(rows.shape[1]):
                out[i, k] = rows[i, k]
            continue
        length = np.sqrt(square)
        for k in range(rows.shape[1]):
            out[i, k] = np.float32(rows[i, k] / length) if length > 0 else np.float32(0)


def mean_vectors(tree: "Hierarchy", leaf_vectors: npt.ArrayLike) -> Floats:
    """A vector for every node, float32 (n_nodes, d): leaves normalised, an inner node the normalised mean of its children.

    Children whose vectors cancel out give a zero vector. Raises InputError if there is not one row a leaf.
    """
    leaves = unit_rows(leaf_vectors, what="leaf_vectors")
    if len(leaves) != tree.n_leaves:
        raise InputError(f"leaf_vectors: expected {tree.n_leaves} rows (one a leaf), got {len(leaves)}")
    out = np.empty((tree.n_nodes, leaves.shape[1]), np.float32)
    out[: tree.n_leaves] = leaves
    for layer in tree.layers()[1:]:
        _average_layer(tree, out, int(layer[0]), len(layer))
    return out


def _average_layer(tree: "Hierarchy", vectors: Floats, first: int, size: int) -> None:
    def average(start: int, stop: int) -> None:
        _average(vectors, first + start, first + stop, tree.child_offsets, tree.child_ids)

    in_pieces(size, 256, average)


@compiled
def _average(vectors: Floats, start: int, stop: int, offsets: Ids, children: Ids) -> None:
    width = vectors.shape[1]
    total = np.empty(width, np.float64)
    for node in range(start, stop):
        total[:] = 0.0
        for c in range(offsets[node], offsets[node + 1]):
            for k in range(width):
                total[k] += vectors[children[c], k]
        square = 0.0
        for k in range(width):
            square += total[k] * total[k]
        length = np.sqrt(square)
        for k in range(width):
            vectors[node, k] = np.float32(total[k] / length) if length > CANCELLED else np.float32(0)


def normalised_means(rows: Floats, counts: Ids) -> Floats:
    """The normalised mean of each run of `counts` (m,) consecutive rows: float32 (m, d)."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    table = np.concatenate([rows, np.empty((len(counts), rows.shape[1]), np.float32)])
    shifted = np.concatenate([np.zeros(len(rows), np.int64), offsets])
    _average(table, len(rows), len(table), shifted, np.arange(len(rows)))
    return table[len(rows) :]
