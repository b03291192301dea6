"""Insertion of new leaves into a tree, without a rebuild (DESIGN §4)."""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from psi.errors import InputError
from psi.tree.build import build_tree
from psi.tree.rebalance import Rebalancing, check_rebalancing, rebalanced_tree
from psi.tree.search import beam_search
from psi.tree.tree import Tree, concatenated_ranges, renumbered_tree
from psi.tree.vectors import normalised_means, unit_rows
from psi.tree.weights import Floats, Ids, pair_weights
from psi.tree.workers import in_pieces

How = Literal["auto", "leaves", "subtree"]

SEARCH_BEAM = 16  # wider than for questions: a wrong neighbour stays in the tree


class Inserted(NamedTuple):
    """The tree after an insertion.

    tree; vectors (n_nodes, d): a vector for every node; origin (n_nodes,): the node's id in the tree before, -1 if it is new;
    changed: inner nodes that have other leaves below them than before, so that their abstracts are out of date.
    """

    tree: Tree
    vectors: Floats
    origin: Ids
    changed: Ids


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
        return Inserted(tree, old, np.arange(tree.n_nodes), np.empty(0, np.int64))
    beside, similarity = _nearest_old(tree, old, new)
    among, closeness = _nearest_earlier(new)
    if how == "auto":
        how = "subtree" if len(new) > 1 and np.mean(_nearest_other(new) > similarity) > 0.5 else "leaves"
    if how == "leaves" and tree.height > 0:
        parents = _as_leaves(tree, beside, np.where(closeness > similarity, among, -1))
    else:
        parents = _as_subtree(tree, new, int(beside[np.argmax(similarity)]), int(np.argmax(similarity)))
    return _finished(tree, old, new, parents, max_children, rebalance)


def _nearest_old(tree: Tree, old: Floats, new: Floats) -> tuple[Ids, Floats]:
    ids, scores = beam_search(tree, old, new, beam=SEARCH_BEAM, k=1, normalised=True)
    return ids[:, 0], scores[:, 0]


def _similarities(new: Floats, start: int, stop: int) -> Floats:
    return np.asarray(new[start:stop] @ new.T, np.float32)


def _nearest_earlier(new: Floats) -> tuple[Ids, Floats]:
    """Of each new row the most similar earlier new row (-1 for the first) and their similarity."""
    nearest = np.full(len(new), -1, np.int64)
    for start in range(0, len(new), 1024):
        stop = min(len(new), start + 1024)
        products = _similarities(new, start, stop)
        products[np.arange(len(new))[None, :] >= np.arange(start, stop)[:, None]] = -np.inf
        nearest[start:stop] = products.argmax(axis=1)
    nearest[0] = -1
    closeness = np.full(len(new), -np.inf, np.float32)
    later = np.arange(1, len(new))
    closeness[later] = pair_weights(new, later, nearest[later])
    return nearest, closeness


def _nearest_other(new: Floats) -> Floats:
    """Of each new row the largest similarity with another new row."""
    best = np.full(len(new), -np.inf, np.float32)
    for start in range(0, len(new), 1024):
        stop = min(len(new), start + 1024)
        products = _similarities(new, start, stop)
        products[np.arange(stop - start), np.arange(start, stop)] = -np.inf
        best[start:stop] = products.max(axis=1)
    return best


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


class _Patched:
    """Vectors of a changed tree's nodes: those of unchanged nodes are read from the old array, the others are held here."""

    def __init__(self, old: Floats, source: Ids, own: Floats):
        self.old = old
        self.source = source  # row of `old`, or -1 - k for row k of `own`
        self.own = own

    def take(self, nodes: Ids) -> Floats:
        source = self.source[nodes]
        rows = self.old[np.maximum(source, 0)]
        rows[source < 0] = self.own[-1 - source[source < 0]]
        return rows

    def all(self) -> Floats:
        out = np.empty((len(self.source), self.old.shape[1]), np.float32)
        nodes = np.arange(len(self.source))

        def fill(start: int, stop: int) -> None:
            out[start:stop] = self.take(nodes[start:stop])

        in_pieces(len(out), 4096, fill)
        return out


def _patched(tree: Tree, old: Floats, source: Ids, new: Floats) -> _Patched:
    """Give the nodes without a source (-1) a vector: new leaves their row, inner nodes the mean of their children."""
    missing = np.flatnonzero(source < 0)
    own = np.empty((len(missing), old.shape[1]), np.float32)
    source = source.copy()
    source[missing] = -1 - np.arange(len(missing))
    rows = _Patched(old, source, own)
    for height in range(tree.height + 1):
        nodes = missing[tree.heights[missing] == height]
        if not len(nodes):
            continue
        if height == 0:
            own[: len(nodes)] = new[nodes - (tree.n_leaves - len(new))]
            continue
        starts, stops = tree.child_offsets[nodes], tree.child_offsets[nodes + 1]
        below = rows.take(tree.child_ids[concatenated_ranges(starts, stops)])
        own[-1 - source[nodes]] = normalised_means(below, stops - starts)
    return rows


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
    grown, ids = renumbered_tree(n + m, parents)
    origin = np.where(ids < n, ids, np.where((ids < n + m) | (ids >= m + tree.n_nodes), -1, ids - m))
    dirty = _above(grown, n)
    source = origin.copy()
    source[dirty] = -1
    rows = _patched(grown, old, source, new)
    balanced, came_from = rebalanced_tree(grown, rows, max_children, rebalance)
    if balanced is grown:
        return Inserted(grown, rows.all(), origin, np.flatnonzero((source < 0) & (grown.heights > 0)))
    kept = came_from >= 0
    split = kept & (balanced.leaf_counts() != grown.leaf_counts()[np.maximum(came_from, 0)])
    origin = np.where(kept, origin[came_from], -1)
    source = np.where(kept & ~split, source[came_from], -1)
    source[_above(balanced, n)] = -1
    rows = _patched(balanced, old, source, new)
    return Inserted(balanced, rows.all(), origin, np.flatnonzero((source < 0) & (balanced.heights > 0)))
