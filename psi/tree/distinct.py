"""Equal and zero rows, set aside before the search for the spanning tree and tied back in afterwards.

Hundreds of equal rows would make hundreds of thousands of pairs of weight 1 that all have to be looked at. They need not
be: with ties by id, only these edges of theirs can be in the maximum spanning tree (each claim is an exchange of an edge
for a path of earlier ones):

* a later copy of a row is tied by one edge of weight 1, to the smallest id among the row's first copy and the first
  copies of other rows that also have similarity 1 with it (by rounding);
* a zero row z has weight 0 with everything: the edge (0, z); and if z is the first zero row, its edges with all rows.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from psi.tree.compiled import compiled
from psi.tree.edges import Edges, joined
from psi.tree.weights import Floats, Ids
from psi.tree.workers import in_pieces


class Distinct(NamedTuple):
    """kept: first copies of the nonzero rows, ascending; copy, first: later copies and what they repeat; zero: zero rows."""

    kept: Ids
    copy: Ids
    first: Ids
    zero: Ids


def distinct_rows(rows: Floats) -> Distinct:
    """Split the rows (n, d) into first copies, later copies and zero rows."""
    codes, zero = _hashed(np.ascontiguousarray(rows).view(np.uint32))
    order = np.argsort(codes, kind="stable")
    first = _first_copies(rows, codes, order)
    everyone = np.arange(len(rows))
    copies = (first != everyone) & ~zero
    return Distinct(np.flatnonzero(~copies & ~zero), np.flatnonzero(copies), first[copies], np.flatnonzero(zero))


def _hashed(bits: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    codes = np.empty(len(bits), np.uint64)
    zero = np.empty(len(bits), np.bool_)
    # any word is less than 2^32, so factors of 63 bits spread it over the whole code
    factors = np.asarray(np.random.default_rng(0).integers(1 << 63, size=bits.shape[1]), np.uint64)
    in_pieces(len(bits), 4096, lambda start, stop: _hash(bits, factors, codes, zero, start, stop))
    return codes, zero


@compiled
def _hash(
    bits: npt.NDArray[np.uint32],
    factors: npt.NDArray[np.uint64],
    codes: npt.NDArray[np.uint64],
    zero: npt.NDArray[np.bool_],
    start: int,
    stop: int,
) -> None:
    """The words of each row times random factors, summed (both zeros count as one value); whether the row is zero."""
    for i in range(start, stop):
        code = np.uint64(0)
        seen = np.uint32(0)
        for k in range(bits.shape[1]):
            word = bits[i, k] if bits[i, k] != np.uint32(0x80000000) else np.uint32(0)
            seen |= word
            code += np.uint64(word) * factors[k]
        codes[i] = code
        zero[i] = seen == 0


@compiled
def _first_copies(rows: Floats, codes: npt.NDArray[np.uint64], order: Ids) -> Ids:
    """For each row the smallest id with the same content; rows whose hashes merely collide stay apart."""
    first = np.arange(len(rows))
    leader = order[0]
    for p in range(1, len(order)):
        i = order[p]
        if codes[i] != codes[leader]:
            leader = i
            continue
        same = True
        for k in range(rows.shape[1]):
            if rows[i, k] != rows[leader, k]:
                same = False
                break
        if same:
            first[i] = leader
    return first


def tie_back(n: int, split: Distinct, tree: Edges) -> Edges:
    """Candidate edges over all n rows from the spanning tree of the kept rows (in original ids)."""
    parts = [tree]
    if len(split.copy):
        anchor = np.arange(n)
        at_one = tree.weight >= 1
        np.minimum.at(anchor, tree.v[at_one], tree.u[at_one])
        parts.append(_pairs(anchor[split.first], split.copy, 1.0))
    if len(split.zero):
        later = split.zero[split.zero > 0]
        parts.append(_pairs(np.zeros_like(later), later, 0.0))
        others = np.delete(np.arange(n), split.zero[0])
        parts.append(_pairs(others, np.full_like(others, split.zero[0]), 0.0))
    return joined(parts)


def _pairs(a: Ids, b: Ids, weight: float) -> Edges:
    return Edges(np.minimum(a, b), np.maximum(a, b), np.full(len(a), weight, np.float32))
