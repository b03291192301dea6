"""Training that gives equal bits for equal data and seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Seeded draws of torch that leave the caller's untouched, and one thread: sums in one order."""
    import torch

    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
