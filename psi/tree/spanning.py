"""The maximum spanning tree of all pairwise similarities: exact, in O(n) memory beside the vectors."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from psi.errors import InputError
from psi.tree.distinct import distinct_rows, tie_back
from psi.tree.edges import Edges, maximum_spanning_forest
from psi.tree.passes import PassCounts, Progress, improved_tree
from psi.tree.precision import bound_holds, choose_device, choose_precision, operands
from psi.tree.seed import first_tree, grown_tree
from psi.tree.vectors import unit_rows
from psi.tree.weights import Floats
from psi.tree.workers import thread_count

SMALL = 192  # below this the tree is grown point by point
CPU_TILE = 1024  # rows; a bf16 tile of this size and its operands stay in a core's cache
CUDA_TILE = 8192
HOPELESS_SHARE = 0.01  # of edges that a bf16 filter cannot sieve because their threshold is not positive


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


def spanning_edges(
    vectors: npt.ArrayLike,
    *,
    precision: str = "auto",
    device: str = "auto",
    tile: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Edges:
    """The n - 1 edges of the maximum spanning tree of `vectors` (n, d), ordered by (-similarity, smaller id, larger id).

    Rows are normalised here; a zero row has similarity 0 with everything. The result is the same for every precision,
    device, tile size and number of threads: fast products only sieve, under the bound of `psi.tree.precision`; what passes
    is weighed as `psi.tree.weights` defines. precision: 'auto', 'fp32', 'bf16', 'tf32' (CUDA); device: 'auto', 'cpu',
    'cuda[:N]'; tile: rows of a tile; progress: called with (tiles begun, tiles). Raises InputError for rows that are not
    finite (with the row number), a wrong shape, or unknown settings.
    """
    return spanning_edges_with_report(
        vectors, precision=precision, device=device, tile=tile, threads=threads, progress=progress
    )[0]


def spanning_edges_with_report(
    vectors: npt.ArrayLike,
    *,
    precision: str = "auto",
    device: str = "auto",
    tile: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Edges, SpanningReport]:
    """`spanning_edges` and how they came about."""
    place = choose_device(device)
    choice = choose_precision(precision, place)
    if tile is not None and tile < 1:
        raise InputError(f"tile={tile}: expected at least 1 row, or None")
    rows = unit_rows(vectors)
    report = SpanningReport(len(rows), device=str(place), threads=thread_count(threads))
    with report.timing("distinct"):
        split = distinct_rows(rows)
        kept = rows if len(split.kept) == len(rows) else rows[split.kept]
    report.distinct = len(kept)
    tree = _of_distinct(kept, choice, place, tile, report, progress)
    if len(kept) == len(rows):
        return tree, report
    candidates = tie_back(len(rows), split, Edges(split.kept[tree.u], split.kept[tree.v], tree.weight))
    return maximum_spanning_forest(len(rows), candidates), report


def _of_distinct(
    rows: Floats,
    precision: str,
    device: torch.device,
    tile: int | None,
    report: SpanningReport,
    progress: Progress | None,
) -> Edges:
    n = len(rows)
    if n <= SMALL:
        with report.timing("grow"):
            return grown_tree(rows)
    with report.timing("operands"):
        fast = operands(rows, precision, device)
        if not bound_holds(rows, fast):  # a library that accumulates otherwise than documented; fp32 is always right
            fast = operands(rows, "fp32", device)
    with report.timing("first_tree"):
        tree = first_tree(rows, fast, report.threads)
    if fast.precision == "bf16" and np.mean(tree.weight <= fast.bound) > HOPELESS_SHARE:
        fast = operands(rows, "fp32", device)
    report.precision, report.bound, report.tile = fast.precision, fast.bound, tile or _tile(n, device)
    with report.timing("pass"):
        tree, report.passes = improved_tree(
            rows, fast, tree, block=report.tile, threads=report.threads, progress=progress
        )
    return tree


def _tile(n: int, device: torch.device) -> int:
    """Small enough for a dozen tiles a side, so that the threads stay busy and the sieve can be refined on the way."""
    largest = CUDA_TILE if device.type == "cuda" else CPU_TILE
    return int(min(largest, max(128, -(-n // 12 // 64) * 64)))
