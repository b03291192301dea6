"""What is kept about a build: settings as used, times, counts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from psi.tree.passes import PassCounts


@dataclass
class SpanningReport:
    """How a spanning tree came about.

    rows, distinct: rows given, and rows left after setting equal and zero rows aside; precision, device, tile, threads: as
    used; bound: proven bound on |fast product - similarity|; seconds: wall time by step; passes: counts of the pass over all
    pairs; candidate_bytes: memory of the candidate edges at their most.
    """

    rows: int
    distinct: int = 0
    precision: str = "none"
    device: str = "cpu"
    tile: int = 0
    threads: int = 1
    bound: float = 0.0
    buckets: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    passes: PassCounts = field(default_factory=PassCounts)

    @property
    def candidate_bytes(self) -> int:
        """20 bytes an edge: the tree, the pairs waiting to be merged into it, and the copies of the merge."""
        return 20 * 3 * (self.distinct + self.passes.most_pending)

    @contextmanager
    def timing(self, step: str) -> Iterator[None]:
        """Add the wall time of a block to `seconds[step]`."""
        start = time.perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - start
