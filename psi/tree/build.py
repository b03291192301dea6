"""From vectors to the abstract tree: spanning edges, merge-and-collapse, rebalancing."""

import numpy.typing as npt

from psi.errors import InputError
from psi.tree.collapse import merge_and_collapse
from psi.tree.rebalance import Rebalancing, check_rebalancing, rebalance_tree
from psi.tree.spanning import spanning_edges
from psi.tree.tree import Tree
from psi.tree.vectors import checked_rows


def build_tree(
    vectors: npt.ArrayLike,
    *,
    builder: str = "exact",
    precision: str = "auto",
    device: str = "auto",
    max_children: int = 40,
    rebalance: Rebalancing = "similar",
) -> Tree:
    """The abstract tree over the rows of `vectors` (n, d)."""
    check_rebalancing(max_children, rebalance)
    rows = checked_rows(vectors)
    if not len(rows):
        raise InputError("vectors: a tree needs at least one row; is the corpus empty?")
    edges = spanning_edges(rows)
    return rebalance_tree(merge_and_collapse(len(rows), edges), edges, max_children, rebalance)
