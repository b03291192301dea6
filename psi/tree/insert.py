"""Insertion of new leaves into a tree, without a rebuild."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from psi.errors import InputError
from psi.tree.build import build_tree
from psi.tree.compiled import compiled
from psi.tree.nearest import nearest_rows, sieve_operands
from psi.tree.patched import MISSING, PatchedRows, RowsUnderChange
from psi.tree.rebalance import Rebalancing, Splitter, VectorLinks, check_rebalancing
from psi.tree.tree import Tree, renumbered_tree
from psi.tree.vectors import unit_rows
from psi.tree.weights import Floats, Ids

How = Literal["auto", "leaves", "subtree"]


@dataclass(frozen=True, eq=False)
class Inserted:
    """The tree after an insertion.

    tree; origin (n_nodes,): the node's id in the tree before, -1 if it is new; changed: inner nodes that have other leaves
    below them than before, so that their abstracts are out of date; rows: the nodes' vectors, new ones computed, the others
    read from the array given.
    """

    tree: Tree
    origin: Ids
    changed: Ids
    rows: PatchedRows

    @cached_property
    def vectors(self) -> Floats:
        """A vector for every node (n_nodes, d) in one new array; made on first use, as it copies all old vectors."""
        return self.rows.all()


def insert_leaves(
    tree: Tree,
    node_vectors: npt.ArrayLike,
    new_vectors: npt.ArrayLike,
    *,
    how: How = "auto",
    max_children: int = 40,
    rebalance: Rebalancing = "similar",
    normalised: bool = False,
) -> Inserted:
    """The tree with the rows of new_vectors (m, d) as leaves n, n + 1, ...; the old leaves keep their ids.

    node_vectors (n_nodes, d) are normalised here unless `normalised`. `leaves`: each new row goes beside its most similar
    leaf, an old one or an earlier new one; the search is exact, ties go to the smaller id. `subtree`: a tree is built over the
    new rows and joined to the old one by the rule of the scan: at the best pair between them, the lower root becomes a child
    of the other leaf's ancestor one height above it. `auto`: a subtree if most new rows after the first are more similar to
    an earlier one than to any old leaf.
    Nodes above the limit are split afterwards. Raises InputError on wrong shapes, rows that are not finite, or settings.
    """
    check_rebalancing(max_children, rebalance)
    if how not in ("auto", "leaves", "subtree"):
        raise InputError(f"how={how!r}: expected 'auto', 'leaves' or 'subtree'")
    old = np.asarray(node_vectors, np.float32) if normalised else unit_rows(node_vectors, what="node_vectors")
    if len(old) != tree.n_nodes:
        raise InputError(f"node_vectors: expected {tree.n_nodes} rows (one a node), got {len(old)}")
    new = unit_rows(new_vectors, width=old.shape[1], what="new_vectors")
    if not len(new):
        same = np.arange(tree.n_nodes)
        return Inserted(tree, same, np.empty(0, np.int64), PatchedRows(old, same, new))
    fast = sieve_operands(new)
    outside, inside = nearest_rows(old[: tree.n_leaves], new, fast), nearest_rows(new, new, fast, earlier=True)
    among = inside.similarity > outside.similarity
    if how == "auto":
        how = "subtree" if 2 * among.sum() > len(new) - 1 else "leaves"
    if how == "leaves" and tree.height > 0:
        grown = _as_leaves(tree, outside.ids, np.where(among, inside.ids, -1))
    else:
        best = int(np.argmax(outside.similarity))
        grown = _as_subtree(tree, new, int(outside.ids[best]), best)
    return _finished(tree, old, new, grown, max_children, rebalance)


class _Grown(NamedTuple):
    """Parents and heights: old leaves, new leaves, old inner nodes, new inner nodes, a new root; the root's parent is -1."""

    parents: Ids
    heights: Ids


def _shifted(tree: Tree, extra: int) -> _Grown:
    """The old nodes, where `extra` leaves stand before the old inner nodes; the new leaves' parents are -1."""
    n = tree.n_leaves
    moved = np.where(tree.parents < 0, -1, tree.parents + extra)  # a parent is never a leaf
    return _Grown(
        np.concatenate([moved[:n], np.full(extra, -1), moved[n:]]),
        np.concatenate([np.zeros(extra, np.int64), tree.heights]),
    )


def _as_leaves(tree: Tree, beside: Ids, earlier: Ids) -> _Grown:
    grown = _shifted(tree, len(beside))
    _put_beside(grown.parents, tree.n_leaves, beside, earlier)
    return grown


@compiled
def _put_beside(parents: Ids, first: int, beside: Ids, earlier: Ids) -> None:
    """New leaf k gets the parent of the new leaf earlier[k], or of the old leaf beside[k] if that is -1."""
    for k in range(len(beside)):
        parents[first + k] = parents[first + earlier[k] if earlier[k] >= 0 else beside[k]]


@compiled
def _mark_above(parents: Ids, first: int, stop: int, source: Ids) -> None:
    """Let the vectors above the nodes first .. stop - 1 count as missing."""
    for x in range(first, stop):
        above = parents[x]
        while above >= 0 and source[above] != MISSING:
            source[above] = MISSING
            above = parents[above]


def _as_subtree(tree: Tree, new: Floats, old_leaf: int, new_leaf: int) -> _Grown:
    """Join the tree over the new rows to the old one at the pair (old_leaf, new_leaf)."""
    batch = build_tree(new, rebalance="none")
    n, m = tree.n_leaves, batch.n_leaves
    first_inner = m + tree.n_nodes
    shifted = _shifted(tree, m)
    inner = np.where(batch.parents < 0, -1, batch.parents - m + first_inner)
    parents = np.append(shifted.parents, inner[m:])
    parents[n : n + m] = inner[:m]
    heights = np.append(shifted.heights, batch.heights[m:])
    old_root = m + tree.root if tree.height else 0
    new_root = first_inner + batch.root - m if batch.height else n
    if tree.height == batch.height:
        parents[[old_root, new_root]] = len(parents)
        return _Grown(np.append(parents, -1), np.append(heights, tree.height + 1))
    low, leaf, steps = (
        (new_root, old_leaf, batch.height + 1)
        if batch.height < tree.height
        else (old_root, n + new_leaf, tree.height + 1)
    )
    above = leaf
    for _ in range(steps):
        above = parents[above]
    parents[low] = above
    return _Grown(parents, heights)


def _finished(
    tree: Tree, old: Floats, new: Floats, grown: _Grown, max_children: int, rebalance: Rebalancing
) -> Inserted:
    """Splits of what became crowded, vectors of what changed, canonical numbering."""
    n, m = tree.n_leaves, len(new)
    made = len(grown.parents) - m - tree.n_nodes
    origin = np.concatenate([np.arange(n), np.full(m, -1), np.arange(n, tree.n_nodes), np.full(made, -1)])
    source = origin.copy()
    source[n : n + m] = -1 - np.arange(m)
    _mark_above(grown.parents, n, n + m, source)
    rows = RowsUnderChange(old, source, new)
    parents = grown.parents
    if rebalance != "none" and np.bincount(parents + 1)[1:].max() > max_children:
        splitter = Splitter(parents, grown.heights, np.arange(len(parents)), VectorLinks(rows, rebalance))
        splitter.split(max_children)
        parents = splitter.parents
    balanced, order = renumbered_tree(n + m, parents, check=False)
    patched = rows.renumbered(order, balanced)
    origin = np.append(origin, np.full(len(parents) - len(origin), -1))
    return Inserted(balanced, origin[order], np.flatnonzero((patched.source < 0) & (balanced.heights > 0)), patched)
