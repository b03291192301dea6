"""The tree record: flat arrays, canonical numbering, invariants."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from psi.errors import InputError
from psi.tree.compiled import compiled
from psi.tree.weights import Ids


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree whose leaves all have height 0 and whose inner nodes have at least two children.

    Nodes are numbered by height, then by the smallest leaf below them: leaves are 0..n_leaves-1, each layer is one
    contiguous range and the root comes last. Equal trees therefore have equal arrays, whatever order they were built in.

    n_leaves       number of leaves, at least 1 (a single leaf is its own root)
    parents        (n_nodes,) parent id, -1 for the root
    heights        (n_nodes,) 0 for leaves
    child_offsets  (n_nodes + 1,) node i's children are child_ids[child_offsets[i]:child_offsets[i + 1]]
    child_ids      (n_nodes - 1,) in the order in which they were attached
    """

    n_leaves: int
    parents: Ids
    heights: Ids
    child_offsets: Ids
    child_ids: Ids

    @property
    def n_nodes(self) -> int:
        """Leaves and inner nodes together."""
        return len(self.parents)

    @property
    def root(self) -> int:
        """Id of the root: the last node."""
        return self.n_nodes - 1

    @property
    def height(self) -> int:
        """Height of the root; 0 for a single leaf."""
        return int(self.heights[-1])

    @cached_property
    def layer_offsets(self) -> Ids:
        """(height + 2,): the nodes of height h are layer_offsets[h] .. layer_offsets[h + 1] - 1."""
        return np.searchsorted(self.heights, np.arange(self.height + 2))

    def layers(self) -> list[Ids]:
        """Node ids by height, leaves first."""
        bounds = self.layer_offsets
        return [np.arange(bounds[h], bounds[h + 1]) for h in range(self.height + 1)]

    def layer_sizes(self) -> tuple[int, ...]:
        """Number of nodes by height, leaves first."""
        return tuple(int(size) for size in np.diff(self.layer_offsets))

    def children(self, node: int) -> Ids:
        """Ids of the children in the order in which they were attached; empty for a leaf."""
        self._refuse_unknown(node)
        return self.child_ids[self.child_offsets[node] : self.child_offsets[node + 1]]

    def child_counts(self) -> Ids:
        """(n_nodes,) number of children of each node; 0 for leaves."""
        return np.diff(self.child_offsets)

    def parent(self, node: int) -> int:
        """Id of the parent, -1 for the root."""
        self._refuse_unknown(node)
        return int(self.parents[node])

    def path(self, node: int) -> Ids:
        """Ids from `node` up to the root, both included."""
        self._refuse_unknown(node)
        path = [node]
        while self.parents[path[-1]] >= 0:
            path.append(int(self.parents[path[-1]]))
        return np.asarray(path, np.int64)

    def ancestors(self, nodes: npt.ArrayLike, height: int) -> Ids:
        """The ancestor of each node at `height` (a node of that height is its own); vectorised over nodes (m,)."""
        found = np.array(nodes, np.int64)
        if (found.size and int(self.heights[found].max()) > height) or height > self.height:
            raise InputError(f"height {height}: expected one between the nodes' own height and {self.height}")
        while (low := self.heights[found] < height).any():
            found[low] = self.parents[found[low]]
        return found

    def leaves_under(self, node: int) -> Ids:
        """Ids of the leaves below `node`, ascending; a leaf has itself."""
        self._refuse_unknown(node)
        below = np.asarray([node], np.int64)
        while self.heights[below[0]] > 0:
            below = self.child_ids[concatenated_ranges(self.child_offsets[below], self.child_offsets[below + 1])]
        return np.sort(below)

    def leaf_counts(self) -> Ids:
        """(n_nodes,) number of leaves below each node; 1 for a leaf."""
        counts = np.zeros(self.n_nodes, np.int64)
        counts[: self.n_leaves] = 1
        for layer in self.layers()[:-1]:
            np.add.at(counts, self.parents[layer], counts[layer])
        return counts

    def digest(self) -> str:
        """SHA-256 over the parent list; equal for equal trees on any machine (canonical numbering)."""
        content = np.ascontiguousarray(self.parents, "<i8").tobytes()
        return hashlib.sha256(f"{self.n_leaves}:".encode() + content).hexdigest()

    def check(self, max_children: int | None = None) -> None:
        """Raise InputError naming the node if an invariant is broken; `max_children` adds the limit on the fan-out."""
        _check_shapes(self)
        _check_links(self)
        counts = self.child_counts()[self.n_leaves :]
        if counts.size and counts.min() < 2:
            raise InputError(
                f"node {self.n_leaves + int(np.argmin(counts))} has fewer than 2 children; rebuild the tree"
            )
        if max_children is not None and counts.size and counts.max() > max_children:
            node = self.n_leaves + int(np.argmax(counts))
            raise InputError(f"node {node} has {counts.max()} children, at most {max_children} are allowed; rebalance")

    def _refuse_unknown(self, node: int) -> None:
        if not 0 <= node < self.n_nodes:
            raise InputError(f"node {node}: this tree has the nodes 0..{self.n_nodes - 1}")


def _check_shapes(tree: Tree) -> None:
    nodes = tree.n_nodes
    if not 1 <= tree.n_leaves <= nodes:
        raise InputError(
            f"a tree needs at least one leaf and no more leaves than nodes, got {tree.n_leaves} of {nodes}"
        )
    if len(tree.heights) != nodes or len(tree.child_offsets) != nodes + 1 or len(tree.child_ids) != nodes - 1:
        raise InputError("the arrays of the tree do not fit together; load it again or rebuild it")
    if (tree.parents[:-1] < 0).any() or tree.parents[-1] != -1:
        raise InputError("the tree needs exactly one root, the last node; rebuild it")


def _check_links(tree: Tree) -> None:
    if (np.diff(tree.heights) < 0).any() or (tree.heights == 0).sum() != tree.n_leaves:
        raise InputError("nodes must be numbered by height, leaves first; rebuild the tree")
    wrong = np.flatnonzero(tree.heights[tree.parents[:-1]] != tree.heights[:-1] + 1)
    if wrong.size:
        raise InputError(f"node {wrong[0]} does not stand one height below its parent; rebuild the tree")
    if not np.array_equal(np.sort(tree.child_ids), np.arange(tree.n_nodes - 1)):
        raise InputError("every node but the root must be a child exactly once; rebuild the tree")
    owner = np.repeat(np.arange(tree.n_nodes), tree.child_counts())
    if not np.array_equal(tree.parents[tree.child_ids], owner):
        raise InputError("the children lists and the parents disagree; rebuild the tree")


def tree_from_parents(n_leaves: int, parents: npt.ArrayLike, rank: Ids | None = None) -> Tree:
    """The canonical tree of a parent list in any numbering with the leaves first.

    parents (n_nodes,), -1 for the root; rank (n_nodes,) orders the children of one node (default: by id). All leaves must
    have the same depth. Raises InputError if that or another invariant does not hold.
    """
    return renumbered_tree(n_leaves, parents, rank)[0]


def renumbered_tree(
    n_leaves: int, parents: npt.ArrayLike, rank: Ids | None = None, *, check: bool = True
) -> tuple[Tree, Ids]:
    """`tree_from_parents`, and for each of its nodes (n_nodes,) the id that the node had in `parents`.

    `check=False` leaves out the invariants, for parents that keep them by construction.
    """
    given = np.asarray(parents, np.int64)
    if not 1 <= n_leaves <= len(given) or given.max(initial=-1) >= len(given):
        raise InputError(f"{len(given)} parents do not make a tree over {n_leaves} leaves")
    by_rank = np.arange(len(given)) if rank is None else np.argsort(rank, kind="stable")
    order, new_parents, heights, offsets, child_ids, numbered = _canonical(n_leaves, given, by_rank)
    if numbered < len(given) or new_parents[-1] != -1:
        raise InputError("the leaves of a tree must all have the same depth below one root; rebuild the tree")
    tree = Tree(n_leaves, new_parents, heights, offsets, child_ids)
    if check:
        tree.check()
    return tree, order


@compiled
def _canonical(n_leaves: int, parents: Ids, by_rank: Ids) -> tuple[Ids, Ids, Ids, Ids, Ids, int]:
    """Number layer by layer; a parent's turn comes when its first child has it, so it is ordered by its smallest leaf.

    by_rank: the nodes in the order in which children are listed.
    """
    nodes = len(parents)
    order, place = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    heights = np.zeros(nodes, np.int64)
    for x in range(n_leaves):
        order[x] = place[x] = x
    start, stop, height = 0, n_leaves, 0
    while start < stop:  # ends: every node is numbered once
        numbered = stop
        height += 1
        for p in range(start, stop):
            above = parents[order[p]]
            if above >= 0 and place[above] < 0:
                place[above], order[numbered], heights[numbered] = numbered, above, height
                numbered += 1
        start, stop = stop, numbered
    new_parents = np.full(nodes, -1, np.int64)
    offsets = np.zeros(nodes + 1, np.int64)
    for p in range(stop):
        above = parents[order[p]]
        if above >= 0:
            new_parents[p] = place[above]
            offsets[place[above] + 1] += 1
    for p in range(nodes):
        offsets[p + 1] += offsets[p]
    return order, new_parents, heights, offsets, _children(place, new_parents, offsets, by_rank), stop


@compiled
def _children(place: Ids, parents: Ids, offsets: Ids, by_rank: Ids) -> Ids:
    """Children lists in the order of `by_rank`; place (nodes,): the new number of each old one, -1 for none."""
    filled = offsets[:-1].copy()
    children = np.empty(max(0, len(parents) - 1), np.int64)
    for x in by_rank:
        p = place[x]
        if p >= 0 and parents[p] >= 0:
            children[filled[parents[p]]] = p
            filled[parents[p]] += 1
    return children


def concatenated_ranges(starts: Ids, stops: Ids) -> Ids:
    """The integers of all half-open ranges [starts, stops), one range after the other."""
    lengths = stops - starts
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    integers: Ids = np.arange(total) - np.repeat(ends - lengths - starts, lengths)
    return integers
