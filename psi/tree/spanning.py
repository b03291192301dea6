"""The maximum spanning tree of all pairwise similarities: exact, in O(n) memory beside the vectors."""

from typing import Literal, TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt
import torch

from psi.errors import InputError
from psi.tree.approximate import Approximate
from psi.tree.buckets import bucket_spanning_tree, scan_order, split_into_buckets, trees_in_threads
from psi.tree.distinct import Distinct, distinct_rows, tie_back
from psi.tree.edges import Edges, joined, maximum_spanning_forest, spanning_subset
from psi.tree.exact import exact_tree
from psi.tree.hnsw import hnsw_tree
from psi.tree.passes import Progress
from psi.tree.precision import choose_device, choose_precision, honest_products, operands
from psi.tree.remote import trees_by_ray
from psi.tree.report import SpanningReport
from psi.tree.seed import grown_tree
from psi.tree.vectors import unit_rows
from psi.tree.weights import Floats
from psi.tree.workers import thread_count

Builder = Literal["exact", "hnsw", "buckets", "buckets+hnsw"]
BUILDERS: tuple[str, ...] = get_args(Builder)


class SpanningOptions(TypedDict, total=False):
    """Keywords of everything that makes spanning edges.

    builder: 'exact' (default), or for very large corpora 'hnsw', 'buckets', 'buckets+hnsw'; precision: 'auto' (default),
    'fp32', 'bf16', 'tf32' (CUDA); device: 'auto' (default), 'cpu', 'cuda[:N]'; tile: rows of a tile; threads: as many as
    PyTorch uses by default; approximate: how the builders other than 'exact' work; progress: called with (tiles begun, tiles).
    """

    builder: Builder
    precision: str
    device: str
    tile: int | None
    threads: int | None
    approximate: Approximate | None
    progress: Progress | None


def spanning_edges(vectors: npt.ArrayLike, **options: Unpack[SpanningOptions]) -> Edges:
    """The n - 1 edges of the maximum spanning tree of `vectors` (n, d), ordered by (-similarity, smaller id, larger id).

    Rows are normalised here; a zero row has similarity 0 with everything. The exact result is the same for every precision,
    device, tile size and number of threads: fast products only sieve, under the bound of `psi.tree.precision`; what
    passes is weighed as `psi.tree.weights` defines. The builders 'hnsw', 'buckets' and 'buckets+hnsw' give other edges, in
    the order in which they are to be scanned. Raises InputError for rows that are not finite (with the row number), a wrong
    shape, or unknown settings.
    """
    return spanning_edges_with_report(vectors, **options)[0]


def spanning_edges_with_report(
    vectors: npt.ArrayLike,
    *,
    builder: Builder = "exact",
    precision: str = "auto",
    device: str = "auto",
    tile: int | None = None,
    threads: int | None = None,
    approximate: Approximate | None = None,
    progress: Progress | None = None,
) -> tuple[Edges, SpanningReport]:
    """`spanning_edges` and how they came about."""
    place = choose_device(device)
    choice = choose_precision(precision, place)
    if tile is not None and tile < 1:
        raise InputError(f"tile={tile}: expected at least 1 row, or None")
    if builder not in BUILDERS:
        raise InputError(f"builder={builder!r}: expected {', '.join(map(repr, BUILDERS))}")
    report = SpanningReport(0, device=str(place), threads=thread_count(threads))
    with report.timing("normalise"):
        rows = unit_rows(vectors)
    report.rows = len(rows)
    with report.timing("distinct"):
        split = distinct_rows(rows)
        kept = rows if len(split.kept) == len(rows) else rows[split.kept]
    report.distinct = len(kept)
    if builder == "exact":
        tree = exact_tree(kept, choice, place, tile, report, progress)
    else:
        tree = _approximate(kept, builder, choice, place, approximate or Approximate(), report)
    if len(kept) == len(rows):
        return tree, report
    return _with_copies(len(rows), split, tree, builder), report


def _with_copies(n: int, split: Distinct, tree: Edges, builder: str) -> Edges:
    tree = Edges(split.kept[tree.u], split.kept[tree.v], tree.weight)
    if not builder.startswith("buckets"):
        return maximum_spanning_forest(n, tie_back(n, split, tree))
    # the scan order of buckets is not one of falling similarity: copies come first, zero rows last
    extra = tie_back(n, split, tree)
    extra = extra.take(np.arange(len(tree.u), len(extra.u)))
    copies = extra.weight >= 1
    return spanning_subset(n, joined([extra.take(np.flatnonzero(copies)), tree, extra.take(np.flatnonzero(~copies))]))


def _approximate(
    rows: Floats, builder: str, precision: str, device: torch.device, settings: Approximate, report: SpanningReport
) -> Edges:
    if not len(rows):
        return grown_tree(rows)
    if builder == "hnsw":
        with report.timing("hnsw"):
            return hnsw_tree(rows, operands(rows, "fp32", torch.device("cpu")), settings, report.threads)
    with report.timing("buckets"):
        buckets = split_into_buckets(rows, settings)
    report.buckets = len(buckets)
    with report.timing("bucket_trees"), honest_products("fp32"):
        if settings.pool == "ray":
            trees = trees_by_ray(rows, buckets, builder, settings)
        else:
            trees = trees_in_threads(
                rows, buckets, lambda part: bucket_spanning_tree(part, builder, settings), report.threads
            )
    with report.timing("roots"):
        return scan_order(rows, buckets, trees, lambda roots: spanning_edges(roots, precision=precision))
