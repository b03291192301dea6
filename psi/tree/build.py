"""From vectors to the abstract tree: spanning edges, merge-and-collapse, rebalancing."""

from dataclasses import dataclass
from typing import Unpack

import numpy.typing as npt

from psi.errors import InputError
from psi.tree.collapse import merge_and_collapse
from psi.tree.edges import Edges
from psi.tree.rebalance import Rebalancing, check_rebalancing, rebalance_tree
from psi.tree.report import SpanningReport
from psi.tree.spanning import SpanningOptions, spanning_edges_with_report
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
    max_children: int = 40,
    rebalance: Rebalancing = "similar",
    **options: Unpack[SpanningOptions],
) -> Tree:
    """The abstract tree over the rows of `vectors` (n, d), which are normalised here.

    A zero row has similarity 0 with everything. n = 1 gives a single node that is leaf and root. No node has more than
    `max_children` children unless rebalance is 'none'. options: as in `SpanningOptions`; the exact tree is the same for
    every precision, device, tile size and number of threads (see `spanning_edges`). Raises InputError for no rows, rows that
    are not finite (with the row number) or unknown settings.
    """
    return build_tree_with_report(vectors, max_children=max_children, rebalance=rebalance, **options)[0]


def build_tree_with_report(
    vectors: npt.ArrayLike,
    *,
    max_children: int = 40,
    rebalance: Rebalancing = "similar",
    **options: Unpack[SpanningOptions],
) -> tuple[Tree, BuildReport]:
    """`build_tree` and what it did."""
    check_rebalancing(max_children, rebalance)
    rows = shaped_rows(vectors)
    if not len(rows):
        raise InputError("vectors: a tree needs at least one row, got none; is the corpus empty?")
    edges, spanning = spanning_edges_with_report(rows, **options)
    with spanning.timing("collapse"):
        tree = merge_and_collapse(len(rows), edges)
    report = BuildReport(options.get("builder", "exact"), tree.layer_sizes(), edges, spanning)
    with spanning.timing("rebalance"):
        return rebalance_tree(tree, edges, max_children, rebalance), report
