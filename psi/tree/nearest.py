"""The most similar row of many for each of some rows: exact, by fast products over all pairs and the defined similarity."""

from concurrent.futures import Future
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from psi.tree.compiled import compiled
from psi.tree.kernels import LANES
from psi.tree.precision import Operands, choose_precision, honest_products, product_bound
from psi.tree.weights import Floats, Ids, weight
from psi.tree.workers import one_thread_products, submitting, thread_count

ROWS = 4096  # fewer do not make up for the library's preparations for each product
ASKED = 1024
CHUNK = 64  # products of a row that are looked at one by one where any of them may count
WORTH_A_THREAD = (
    1 << 20
)  # products: starting another thread and its first product take as long, longer on a busy machine
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
    # reading and rounding a row costs about as much as 64 products
    threads = max(1, min(thread_count(), len(rows) * (64 + len(asked)) // WORTH_A_THREAD))
    starts = range(0, len(rows), max(1, -(-len(rows) // threads)))
    with honest_products(fast.precision), one_thread_products():
        searches = [_Search(rows[: start + starts.step], start, asked, fast, earlier) for start in starts]
        if len(searches) == 1:
            return searches[0].run()
        with submitting(len(searches) - 1) as submit:  # the first piece stays in this thread
            others: list[Future[Nearest]] = [submit(search.run) for search in searches[1:]]
            return _best([searches[0].run(), *(other.result() for other in others)], len(asked))


def sieve_operands(asked: Floats) -> Operands:
    """The rows (m, d) in bfloat16 where the CPU multiplies it, with a bound for products with any rounded unit rows."""
    exact = torch.from_numpy(asked)
    if choose_precision("auto", exact.device) == "bf16":
        with one_thread_products():
            return Operands(exact.bfloat16(), product_bound(asked.shape[1], BF16_LOSS), "bf16")
    return _float32(asked)


def _float32(asked: Floats) -> Operands:
    return Operands(torch.from_numpy(asked), product_bound(asked.shape[1], 0.0), "fp32")


def _best(found: list[Nearest], count: int) -> Nearest:
    best = _nothing(count)
    for part in found:  # by rising ids: an equal one comes too late
        better = part.similarity > best.similarity
        best.ids[better], best.similarity[better] = part.ids[better], part.similarity[better]
    return best


def _nothing(count: int) -> Nearest:
    return Nearest(np.full(count, -1, np.int64), np.full(count, -np.inf, np.float32))


class _Search:
    """The answer over the rows from `start` on, part by part.

    Buffers are made with it, before a thread starts: the first use of a new thread's memory costs as much as its work.
    """

    def __init__(self, rows: Floats, start: int, asked: Floats, fast: Operands, earlier: bool):
        self.rows, self.start, self.asked, self.fast, self.earlier = rows, start, asked, fast, earlier
        size = min(ROWS, len(rows) - start)
        self.rounded = torch.empty(size, rows.shape[1], dtype=fast.rows.dtype)
        self.products = torch.empty(size * min(ASKED, len(asked)), dtype=fast.rows.dtype)

    def run(self) -> Nearest:
        """Search; once more with float32 products should others break the bound: a library may sum otherwise than documented."""
        best = _nothing(len(self.asked))
        bits = 16 if self.fast.precision == "bf16" else 0
        m = len(self.asked)
        largest: Patterns = np.full(m, -1, np.int16) if bits else np.full(m, -1, np.int32)
        for left in range(self.start, len(self.rows), ROWS):
            part = self._part(left)
            for top in range(0, len(self.asked), ASKED):
                patterns = self._patterns(part, top)
                _improve(
                    patterns, bits, left, top, self.earlier, self.rows, self.asked, self.fast.bound, largest, *best
                )
        if bits and not _kept(largest, bits, self.fast.bound, best.similarity):
            return _Search(self.rows, self.start, self.asked, _float32(self.asked), self.earlier).run()
        return best

    def _part(self, left: int) -> torch.Tensor:
        # PyTorch warns of rows that it could not write to, such as a file's: it gets a copy of those
        part = torch.from_numpy(np.require(self.rows[left : left + ROWS], requirements="W"))
        return part if part.dtype == self.rounded.dtype else self.rounded[: len(part)].copy_(part)

    def _patterns(self, part: torch.Tensor, top: int) -> Patterns:
        block = self.fast.rows[top : top + ASKED]
        product = self.products[: len(part) * len(block)].view(len(part), len(block))
        torch.mm(part, block.T, out=product)
        patterns: Patterns = product.view(torch.int16 if product.dtype == torch.bfloat16 else torch.int32).numpy()
        return patterns


@compiled
def _improve(
    product: Patterns,
    cut: int,
    left: int,
    top: int,
    earlier: bool,
    rows: Floats,
    asked: Floats,
    bound: float,
    largest: Patterns,
    ids: Ids,
    similarity: Floats,
) -> None:
    """Take the pairs (left + i, top + j) of one product into the best so far.

    product (a, b): bit patterns of the products, which order like their values above zero; `cut`: bits that the format
    lacks; largest: the largest pattern so far of each of `asked`. Loops over a row are kept plain so that they vectorise.
    """
    height, width = product.shape
    seen = largest[top : top + width]
    for i in range(height):
        first = max(0, left + i + 1 - top) if earlier else 0
        _raise(seen[first:], product[i, first:])
    scratch = np.empty(1, np.float32)
    least = np.empty(width, product.dtype)
    for j in range(width):
        least[j] = _pattern(max(similarity[top + j], _surely(seen[j], cut, bound, scratch)) - bound, cut, scratch)
    lanes = np.empty(LANES, np.float64)
    for i in range(height):
        first = max(0, left + i + 1 - top) if earlier else 0
        if not _any_reaches(product[i, first:], least[first:]):
            continue
        for start in range(first, width, CHUNK):
            stop = min(width, start + CHUNK)
            if not _any_reaches(product[i, start:stop], least[start:stop]):
                continue
            for j in range(start, stop):
                if product[i, j] >= least[j]:
                    _take(rows, asked, top + j, left + i, lanes, ids, similarity)
                    least[j] = max(least[j], _pattern(similarity[top + j] - bound, cut, scratch))


@compiled
def _raise(largest: Patterns, row: Patterns) -> None:
    for j in range(len(row)):
        largest[j] = max(largest[j], row[j])


@compiled
def _any_reaches(row: Patterns, least: Patterns) -> bool:
    hit = False
    for j in range(len(row)):
        hit |= row[j] >= least[j]
    return hit


@compiled
def _surely(pattern: int, cut: int, bound: float, scratch: Floats) -> float:
    """A similarity that the pair with this product reaches; -2 if the product is not positive."""
    return _value(pattern, cut, scratch) * (1 - _rounding(cut)) - bound if pattern > 0 else -2.0


@compiled
def _kept(largest: Patterns, cut: int, bound: float, similarity: Floats) -> bool:
    """Whether the largest products are within the bound of the best similarities, as they are if all products keep it."""
    scratch = np.empty(1, np.float32)
    for q in range(len(largest)):
        if largest[q] > 0:
            value = _value(largest[q], cut, scratch)
            if not abs(value - similarity[q]) <= bound + _rounding(cut) * value:
                return False
    return True


@compiled
def _value(pattern: int, cut: int, scratch: Floats) -> float:
    scratch.view(np.int32)[0] = pattern << cut
    return float(scratch[0])


@compiled
def _rounding(cut: int) -> float:
    """Relative error of a product that was rounded to a format with fewer bits, either way."""
    return 2.0**-7 if cut else 0.0


@compiled
def _pattern(value: float, cut: int, scratch: Floats) -> int:
    """The smallest pattern that a product of this value can show; if it is not positive, any."""
    scratch[0] = value - 2.0**-23  # below it also after rounding to float32
    return scratch.view(np.int32)[0] >> cut if scratch[0] > 0 else -(1 << (31 - cut))  # a cut rounds down


@compiled
def _take(
    rows: Floats, asked: Floats, q: int, x: int, lanes: npt.NDArray[np.float64], ids: Ids, similarity: Floats
) -> None:
    s = weight(rows[x], asked[q], lanes)
    if s > similarity[q] or (s == similarity[q] and x < ids[q]):
        ids[q], similarity[q] = x, s
