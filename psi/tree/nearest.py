"""The most similar row of many for each of some rows: exact, by fast products over all pairs and the defined similarity."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from psi.tree.compiled import compiled
from psi.tree.kernels import LANES
from psi.tree.precision import Operands, bound_holds, choose_precision, honest_products, product_bound
from psi.tree.weights import Floats, Ids, weight
from psi.tree.workers import each_piece, one_thread_products, thread_count

ROWS = 1024  # a part of the rows, its rounded copy and its products stay in a core's cache
ASKED = 1024
WORTH_A_THREAD = 1 << 20  # products: starting another thread and its first product take as long
CHECKED = 16  # rows whose products are compared with the bound
BF16_LOSS = 2.0**-9  # rounding to nearest keeps 8 bits, so a unit row moves by this at most; small rows lose less still

Patterns = npt.NDArray[np.int16] | npt.NDArray[np.int32]


class Nearest(NamedTuple):
    """ids (m,) of the most similar rows, -1 where there was none to choose; similarity (m,), then -inf."""

    ids: Ids
    similarity: Floats


def nearest_rows(rows: Floats, asked: Floats, fast: Operands, *, earlier: bool = False) -> Nearest:
    """The row of `rows` (n, d) most similar to each of `asked` (m, d), all of unit length or zero; ties go to the smaller id.

    fast: `sieve_operands(asked)`; earlier: row i is only compared with the rows before i, for rows compared with themselves.
    Products sieve under the bound of `psi.tree.precision`; what passes is weighed, so the answer is the same for every
    precision and number of threads.
    """
    parts = -(-len(rows) // ROWS)
    # reading and rounding a row costs about as much as 64 products
    threads = max(1, min(thread_count(), parts, len(rows) * (64 + len(asked)) // WORTH_A_THREAD))
    piece = ROWS * max(1, -(-parts // threads))

    def search(start: int) -> Nearest:
        return _nearest_in(rows, start, min(len(rows), start + piece), asked, fast, earlier)

    with honest_products(fast.precision), one_thread_products():
        if threads == 1:
            return search(0)
        return _best(each_piece(len(rows), piece, search, threads), len(asked))


def sieve_operands(asked: Floats) -> Operands:
    """The rows (m, d) in bfloat16 where the CPU multiplies it, with a bound for products with any rounded unit rows."""
    exact = torch.from_numpy(asked)
    if choose_precision("auto", exact.device) == "bf16":
        with one_thread_products():
            fast = Operands(exact.bfloat16(), product_bound(asked.shape[1], BF16_LOSS), "bf16")
        if bound_holds(asked, fast, CHECKED):
            return fast
    return Operands(exact, product_bound(asked.shape[1], 0.0), "fp32")


def _best(found: list[Nearest], count: int) -> Nearest:
    best = Nearest(np.full(count, -1, np.int64), np.full(count, -np.inf, np.float32))
    for part in found:  # by rising ids: an equal one comes too late
        better = part.similarity > best.similarity
        best.ids[better], best.similarity[better] = part.ids[better], part.similarity[better]
    return best


def _nearest_in(rows: Floats, start: int, stop: int, asked: Floats, fast: Operands, earlier: bool) -> Nearest:
    """The answer over the rows start .. stop - 1, part by part."""
    best = Nearest(np.full(len(asked), -1, np.int64), np.full(len(asked), -np.inf, np.float32))
    kind, bits = (torch.int16, 16) if fast.precision == "bf16" else (torch.int32, 0)
    rounded = torch.empty(ROWS, rows.shape[1], dtype=fast.rows.dtype)
    out = torch.empty(min(ASKED, len(asked)) * ROWS, dtype=fast.rows.dtype)
    for left in range(start, stop, ROWS):
        # PyTorch warns of rows that it could not write to, such as a file's: it gets a copy of those
        part = torch.from_numpy(np.require(rows[left : min(stop, left + ROWS)], requirements="W"))
        part = rounded[: len(part)].copy_(part) if part.dtype != rounded.dtype else part
        for top in range(0, len(asked), ASKED):
            block = fast.rows[top : top + ASKED]
            product = out[: len(block) * len(part)].view(len(block), len(part))
            torch.mm(block, part.T, out=product)
            patterns = product.view(kind).numpy()
            _improve(patterns, bits, top, left, earlier, rows, asked, fast.bound, best.ids, best.similarity)
    return best


@compiled
def _improve(
    product: Patterns,
    cut: int,
    top: int,
    left: int,
    earlier: bool,
    rows: Floats,
    asked: Floats,
    bound: float,
    ids: Ids,
    similarity: Floats,
) -> None:
    """Take the pairs (top + i, left + j) of one product into the best so far.

    product (a, b): bit patterns of the products, which order like their values above zero; `cut`: bits that the format lacks.
    """
    lanes = np.empty(LANES, np.float64)
    for i in range(len(product)):
        q = top + i
        row = product[i, : max(0, q - left)] if earlier else product[i]
        if len(row) == 0:
            continue
        least = _least(row, similarity[q], bound, cut)
        hit = False
        for j in range(len(row)):
            hit |= row[j] >= least
        if not hit:
            continue
        place = _largest(row)
        _take(rows, asked, q, left + place, lanes, ids, similarity)
        least = _least(row, similarity[q], bound, cut)
        for j in range(len(row)):
            if row[j] >= least and j != place:
                _take(rows, asked, q, left + j, lanes, ids, similarity)


@compiled
def _largest(row: Patterns) -> int:
    """The first place of the largest value; both loops are kept plain so that the first one vectorises."""
    largest = row[0]
    for j in range(len(row)):
        largest = max(largest, row[j])
    place = 0
    while row[place] != largest:
        place += 1
    return place


@compiled
def _least(row: Patterns, similarity: np.float32, bound: float, cut: int) -> int:
    """The smallest pattern that a pair of this similarity can show, of the type of `row`; if it is not positive, any."""
    value = np.empty(1, np.float32)
    value[0] = similarity - bound - 2.0**-23  # below the difference also after rounding to float32
    pattern = np.empty(1, row.dtype)
    pattern[0] = value.view(np.int32)[0] >> cut if value[0] > 0 else -(1 << (31 - cut))  # a cut rounds down
    return pattern[0]  # type: ignore[no-any-return]


@compiled
def _take(
    rows: Floats, asked: Floats, q: int, x: int, lanes: npt.NDArray[np.float64], ids: Ids, similarity: Floats
) -> None:
    s = weight(rows[x], asked[q], lanes)
    if s > similarity[q] or (s == similarity[q] and x < ids[q]):
        ids[q], similarity[q] = x, s
