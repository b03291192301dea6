"""Work spread over threads in pieces that do not depend on their number.

Compiled kernels and one-thread matrix products release the interpreter lock, so plain threads suffice. Two OpenMP runtimes
(PyTorch's and numba's) would wait for each other at every change of library; on a shared machine that costs more than the work.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

R = TypeVar("R")


def thread_count(threads: int | None = None) -> int:
    """The number asked for, or the number PyTorch uses."""
    return max(1, torch.get_num_threads() if threads is None else threads)


@contextmanager
def one_thread_products() -> Iterator[None]:
    """Matrix products and other tensor operations keep to the thread that calls them.

    The number of threads of a product is a setting of the whole process; it is put back at the end.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def submitting(threads: int) -> Iterator[Callable[..., Future[R]]]:
    """The submit function of a pool of `threads` threads, with one-thread products."""
    with _pool(threads) as pool:
        yield pool.submit


def each_piece(n: int, piece: int, work: Callable[[int], R], threads: int) -> list[R]:
    """[work(0), work(piece), work(2 * piece), ...] up to n, over `threads` threads with one-thread products."""
    with _pool(threads) as pool:
        return list(pool.map(work, range(0, n, piece)))


@contextmanager
def _pool(threads: int) -> Iterator[ThreadPoolExecutor]:
    # A new thread takes OpenMP's default number of threads for bf16 products, whatever was set elsewhere: set it there too.
    with (
        one_thread_products(),
        ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool,
    ):
        yield pool


def in_pieces(n: int, piece: int, work: Callable[[int, int], object], threads: int | None = None) -> None:
    """Call work(start, stop) for the pieces of 0..n-1; the calls must write to disjoint places."""
    starts = range(0, n, piece)
    count = min(thread_count(threads), len(starts))
    if count <= 1:
        for start in starts:
            work(start, min(n, start + piece))
        return
    with ThreadPoolExecutor(count) as pool:
        for _ in pool.map(lambda start: work(start, min(n, start + piece)), starts):
            pass
