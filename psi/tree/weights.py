"""The one definition of a similarity: what decides every order in this room.

Matrix products give values whose last bit depends on the shape of the tile, the number of threads and the device. A tree
whose ties must always break the same way cannot rest on them. So the similarity of two rows is *defined* as their inner
product summed in float64 in a fixed order (`LANES` partial sums: lane l takes the components l, l + LANES, ...; then the
upper half of the lanes is added to the lower half until one is left), rounded to float32 and cut to [-1, 1];
two equal rows other than zero have similarity 1. A product of
two float32 numbers is exact in float64, so fused and separate multiply-adds agree, and the value is the same on any
machine. Fast passes only choose which pairs get this treatment.
"""

import numpy as np
import numpy.typing as npt

from psi.tree.compiled import compiled
from psi.tree.kernels import LANES, ordered_product
from psi.tree.workers import in_pieces

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]

NEARLY_ONE = 0.999  # the square of a unit row's length is within 1e-6 of 1: below this, rows cannot be equal


@compiled
def dot64(a: Floats, b: Floats, lanes: npt.NDArray[np.float64]) -> float:
    """The inner product of two float32 rows in float64, in the fixed order; `lanes` is scratch of length LANES."""
    width = len(a)
    if width % LANES == 0:
        return ordered_product(a, b)
    whole = width - width % LANES
    lanes[:] = 0.0
    for start in range(0, whole, LANES):
        for lane in range(LANES):
            lanes[lane] += np.float64(a[start + lane]) * np.float64(b[start + lane])
    for lane in range(width - whole):
        lanes[lane] += np.float64(a[whole + lane]) * np.float64(b[whole + lane])
    half = LANES // 2
    while half:
        for lane in range(half):
            lanes[lane] += lanes[lane + half]
        half //= 2
    return float(lanes[0])


@compiled
def weight(a: Floats, b: Floats, lanes: npt.NDArray[np.float64]) -> np.float32:
    """The similarity of two unit (or zero) rows as defined above."""
    inner = dot64(a, b, lanes)
    if inner > NEARLY_ONE and _equal(a, b):
        return np.float32(1.0)
    return np.float32(min(1.0, max(-1.0, inner)))


@compiled
def _equal(a: Floats, b: Floats) -> bool:
    for k in range(len(a)):  # noqa: SIM110 (compiled: no generators)
        if a[k] != b[k]:
            return False
    return True


def pair_weights(rows: Floats, u: Ids, v: Ids, threads: int | None = None) -> Floats:
    """Similarities of the pairs (u[e], v[e]) of `rows` (n, d): float32 (m,), one defined value a pair."""
    out = np.empty(len(u), np.float32)
    in_pieces(len(u), 4096, lambda start, stop: _weigh(rows, u, v, out, start, stop), threads)
    return out


@compiled
def _weigh(rows: Floats, u: Ids, v: Ids, out: Floats, start: int, stop: int) -> None:
    lanes = np.empty(LANES, np.float64)
    for e in range(start, stop):
        out[e] = weight(rows[u[e]], rows[v[e]], lanes)
