"""From vectors to the abstract tree: spanning edges, merge-and-collapse, rebalancing."""

from dataclasses import dataclass

import numpy.typing as npt

from psi.errors import InputError
from psi.tree.approximate import Approximate
from psi.tree.collapse import merge_and_collapse
from psi.tree.edges import Edges
from psi.tree.passes import Progress
from psi.tree.rebalance import Rebalancing, check_rebalancing, rebalance_tree
from psi.tree.report import SpanningReport
from psi.tree.spanning import Builder, spanning_edges_with_report
from psi.tree.tree import Tree
from psi.tree.vectors import shaped_rows


@dataclass(frozen=True)
class BuildReport:
    """What a build did: the layers before rebalancing, the edges it scanned, and how these came about."""

    builder: str
    layer_sizes_before_rebalancing: tuple[int, ...]
    edges: Edges
    spanning: SpanningReport


def build_tree(
    vectors: npt.ArrayLike,
    *,
    builder: Builder = "exact",
    precision: str = "auto",
    device: str = "auto",
    max_children: int = 40,
    rebalance: Rebalancing = "similar",
    tile: int | None = None,
    threads: int | None = None,
    approximate: Approximate | None = None,
    progress: Progress | None = None,
) -> Tree:
    """The abstract tree over the rows of `vectors` (n, d), which are normalised here.

    builder: 'exact', or for very large corpora 'hnsw', 'buckets', 'buckets+hnsw' (see `Approximate`).
    A zero row has similarity 0 with everything. n = 1 gives a single node that is leaf and root. No node has more than
    `max_children` children unless rebalance is 'none'. The exact tree is the same for every precision, device, tile size
    and number of threads (see `spanning_edges`). Raises InputError for no rows, rows that are not finite (with the row
    number) or unknown settings.
    """
    return build_tree_with_report(
        vectors,
        builder=builder,
        precision=precision,
        device=device,
        max_children=max_children,
        rebalance=rebalance,
        tile=tile,
        threads=threads,
        approximate=approximate,
        progress=progress,
    )[0]


def build_tree_with_report(
    vectors: npt.ArrayLike,
    *,
    builder: Builder = "exact",
    precision: str = "auto",
    device: str = "auto",
    max_children: int = 40,
    rebalance: Rebalancing = "similar",
    tile: int | None = None,
    threads: int | None = None,
    approximate: Approximate | None = None,
    progress: Progress | None = None,
) -> tuple[Tree, BuildReport]:
    """`build_tree` and what it did."""
    check_rebalancing(max_children, rebalance)
    rows = shaped_rows(vectors)
    if not len(rows):
        raise InputError("vectors: a tree needs at least one row, got none; is the corpus empty?")
    edges, spanning = spanning_edges_with_report(
        rows,
        builder=builder,
        precision=precision,
        device=device,
        tile=tile,
        threads=threads,
        approximate=approximate,
        progress=progress,
    )
    with spanning.timing("collapse"):
        tree = merge_and_collapse(len(rows), edges)
    report = BuildReport(builder, tree.layer_sizes(), edges, spanning)
    with spanning.timing("rebalance"):
        return rebalance_tree(tree, edges, max_children, rebalance), report
