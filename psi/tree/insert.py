"""Insertion of new leaves into a tree, without a rebuild."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from psi.errors import InputError
from psi.tree.build import build_tree
from psi.tree.patched import PatchedRows, patched_rows
from psi.tree.rebalance import Rebalancing, check_rebalancing, rebalanced_tree
from psi.tree.search import beam_search
from psi.tree.tree import Tree, renumbered_tree
from psi.tree.vectors import unit_rows
from psi.tree.weights import Floats, Ids, pair_weights

How = Literal["auto", "leaves", "subtree"]

SEARCH_BEAM = 16  # wider than for questions: a wrong neighbour stays in the tree


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
    leaf: an old one (found by beam search) or an earlier new one. `subtree`: a tree is built over the new rows and joined to
    the old one by the rule of the scan: at the best pair between them, the lower root becomes a child of the other leaf's
    ancestor one height above it. `auto`: a subtree if most new rows are more similar to one another than to any old leaf.
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
    beside, similarity = _nearest_old(tree, old, new)
    among = _among(new)
    if how == "auto":
        how = "subtree" if len(new) > 1 and np.mean(among.other > similarity) > 0.5 else "leaves"
    if how == "leaves" and tree.height > 0:
        parents = _as_leaves(tree, beside, np.where(among.similarity > similarity, among.earlier, -1))
    else:
        parents = _as_subtree(tree, new, int(beside[np.argmax(similarity)]), int(np.argmax(similarity)))
    return _finished(tree, old, new, parents, max_children, rebalance)


def _nearest_old(tree: Tree, old: Floats, new: Floats) -> tuple[Ids, Floats]:
    ids, scores = beam_search(tree, old, new, beam=SEARCH_BEAM, k=1, normalised=True)
    return ids[:, 0], scores[:, 0]


class _Among(NamedTuple):
    """Of each new row: the most similar earlier new row (-1 for the first), that similarity, and the largest with any other."""

    earlier: Ids
    similarity: Floats
    other: Floats


def _among(new: Floats) -> _Among:
    count = len(new)
    earlier = np.full(count, -1, np.int64)
    other = np.full(count, -np.inf, np.float32)
    rows = torch.from_numpy(new)
    for start in range(0, count, 1024):
        stop = min(count, start + 1024)
        products = torch.mm(rows[start:stop], rows.T).numpy()
        products[np.arange(stop - start), np.arange(start, stop)] = -np.inf
        other[start:stop] = products.max(axis=1)
        for row in range(max(start, 1), stop):
            earlier[row] = products[row - start, :row].argmax()
    similarity = np.full(count, -np.inf, np.float32)
    later = np.arange(1, count)
    similarity[later] = pair_weights(new, later, earlier[later])
    return _Among(earlier, similarity, other)


def _shifted_parents(tree: Tree, extra: int) -> Ids:
    """Parents of the old nodes where `extra` leaves stand before the old inner nodes; the new leaves' parents are -1."""
    n = tree.n_leaves
    moved = np.where(tree.parents < 0, -1, tree.parents + extra)  # a parent is never a leaf
    return np.concatenate([moved[:n], np.full(extra, -1), moved[n:]])


def _as_leaves(tree: Tree, beside: Ids, earlier: Ids) -> Ids:
    parents = _shifted_parents(tree, len(beside))
    first = tree.n_leaves
    for k in range(len(beside)):
        parents[first + k] = parents[beside[k]] if earlier[k] < 0 else parents[first + earlier[k]]
    return parents


def _as_subtree(tree: Tree, new: Floats, old_leaf: int, new_leaf: int) -> Ids:
    """Join the tree over the new rows to the old one at the pair (old_leaf, new_leaf)."""
    batch = build_tree(new, rebalance="none")
    n, m = tree.n_leaves, batch.n_leaves
    first_inner = n + m + (tree.n_nodes - n)  # ids: old leaves, new leaves, old inner nodes, new inner nodes
    parents = _shifted_parents(tree, m)
    inner = np.where(batch.parents < 0, -1, batch.parents - m + first_inner)
    parents[n : n + m] = inner[:m]
    parents = np.append(parents, inner[m:])
    old_root = n + m + tree.root - n if tree.height else 0
    new_root = first_inner + batch.root - m if batch.height else n
    if tree.height == batch.height:
        parents[[old_root, new_root]] = len(parents)
        return np.append(parents, -1)
    low, leaf, steps = (
        (new_root, old_leaf, batch.height + 1)
        if batch.height < tree.height
        else (old_root, n + new_leaf, tree.height + 1)
    )
    above = leaf
    for _ in range(steps):
        above = parents[above]
    parents[low] = above
    return parents


def _above(tree: Tree, first_new: int) -> Ids:
    """The inner nodes above the leaves first_new, first_new + 1, ..."""
    seen = [np.empty(0, np.int64)]
    nodes = np.arange(first_new, tree.n_leaves)
    while (nodes := np.unique(tree.parents[nodes]))[-1] >= 0:
        seen.append(nodes)
    return np.concatenate(seen)


def _finished(
    tree: Tree, old: Floats, new: Floats, parents: Ids, max_children: int, rebalance: Rebalancing
) -> Inserted:
    """Canonical numbering, vectors of what changed, splits of what became crowded."""
    n, m = tree.n_leaves, len(new)
    grown, ids = renumbered_tree(n + m, parents, check=False)
    origin = np.where(ids < n, ids, np.where((ids < n + m) | (ids >= m + tree.n_nodes), -1, ids - m))
    dirty = _above(grown, n)
    source = origin.copy()
    source[dirty] = -1
    rows = patched_rows(grown, old, source, new)
    balanced, came_from = rebalanced_tree(grown, rows, max_children, rebalance)
    if balanced is grown:
        return Inserted(grown, origin, np.flatnonzero((source < 0) & (grown.heights > 0)), rows)
    kept = came_from >= 0
    split = kept & (balanced.leaf_counts() != grown.leaf_counts()[np.maximum(came_from, 0)])
    origin = np.where(kept, origin[came_from], -1)
    source = np.where(kept & ~split, source[came_from], -1)
    source[_above(balanced, n)] = -1
    rows = patched_rows(balanced, old, source, new)
    return Inserted(balanced, origin, np.flatnonzero((source < 0) & (balanced.heights > 0)), rows)
