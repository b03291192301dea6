"""Rebalancing: no node, the root included, keeps more than a given number of children."""

from typing import Literal, Protocol

import numpy as np

from psi.errors import InputError
from psi.tree.compiled import compiled
from psi.tree.edges import Edges, joined, maximum_spanning_forest
from psi.tree.patched import RowsUnderChange
from psi.tree.seed import grown_tree
from psi.tree.tree import Tree, renumbered_tree
from psi.tree.vectors import unit_rows
from psi.tree.weights import Floats, Ids

Rebalancing = Literal["similar", "even", "none"]

# equal depth and at most two children is possible only over 2^h leaves, so a limit of 2 cannot be kept in general
SMALLEST_LIMIT = 3


def rebalance_tree(tree: Tree, links: Edges | Floats, max_children: int = 40, how: Rebalancing = "similar") -> Tree:
    """The tree with every node of more than `max_children` (>= 3) children split into sibling nodes.

    Layers are handled from the bottom; the parts become siblings, a split root gets a new root, all leaves keep equal
    depth, no node is left with a single child, and a node with exactly `max_children` is left alone. `even`: ceil(c / max)
    parts of nearly equal size by position. `similar`: cut the weakest link of the children's own spanning tree until every
    part fits; `links` say what that tree is: either the spanning edges that the tree was made from (each joins two children
    of the lowest common ancestor of its leaves), or a vector for every node (n_nodes, d), as from `mean_vectors`. `none`:
    the tree as it is. Raises InputError for another `how` or too small a limit.
    """
    check_rebalancing(max_children, how)
    if how == "none" or tree.child_counts().max() <= max_children:
        return tree
    rank = np.empty(tree.n_nodes, np.int64)
    rank[tree.child_ids] = np.arange(tree.n_nodes - 1)
    rank[tree.root] = tree.n_nodes
    splitter = Splitter(tree.parents, tree.heights, rank, _linking(tree, links) if how == "similar" else None)
    splitter.split(max_children)
    # parts of one node follow each other among their siblings
    return renumbered_tree(tree.n_leaves, splitter.parents, splitter.rank, check=False)[0]


def check_rebalancing(max_children: int, how: str) -> None:
    """Raise InputError for settings that `rebalance_tree` cannot follow."""
    if how not in ("similar", "even", "none"):
        raise InputError(f"rebalance={how!r}: expected 'similar', 'even' or 'none'")
    if how != "none" and max_children < SMALLEST_LIMIT:
        raise InputError(
            f"max_children={max_children}: expected at least {SMALLEST_LIMIT}, since three children cannot be split into pairs"
        )


class Linking(Protocol):
    """What a splitter asks and tells as it climbs the layers."""

    def links(self, parents: Ids, node: int, children: Ids) -> Edges | None:
        """Links among the children of a crowded node, as positions in `children`; None: split by position."""

    def climb(self, parents: Ids, below: Ids, split: list[int]) -> None:
        """The parents of the layer `below` are done, those in `split` have lost children; the next layer up is next."""


class _EdgeLinks:
    """Links from the spanning edges: of those whose leaves' ancestors are two children of the node."""

    def __init__(self, tree: Tree, edges: Edges):
        self.edges = edges
        self.above = np.arange(tree.n_leaves)  # every leaf's ancestor one height below the layer being split

    def links(self, parents: Ids, node: int, children: Ids) -> Edges:
        a, b = self.above[self.edges.u], self.above[self.edges.v]
        inside = np.flatnonzero((a != b) & (parents[a] == node) & (parents[b] == node))
        place = np.empty(len(parents), np.int64)
        place[children] = np.arange(len(children))
        pa, pb = place[a[inside]], place[b[inside]]
        return Edges(np.minimum(pa, pb), np.maximum(pa, pb), self.edges.weight[inside])

    def climb(self, parents: Ids, below: Ids, split: list[int]) -> None:
        self.above = parents[self.above]


class VectorLinks:
    """Links from the children's vectors: their own maximum spanning tree; parts get the mean of what they hold."""

    def __init__(self, rows: RowsUnderChange, how: Rebalancing = "similar"):
        self.rows = rows
        self.how = how

    def links(self, parents: Ids, node: int, children: Ids) -> Edges | None:
        """The maximum spanning tree of the children's vectors."""
        return None if self.how == "even" else grown_tree(unit_rows(self.rows.take(children)))

    def climb(self, parents: Ids, below: Ids, split: list[int]) -> None:
        """Compute the vectors of the parents of this layer that are out of date."""
        self.rows.climb(parents, below, split)


def _linking(tree: Tree, links: Edges | Floats) -> Linking:
    if isinstance(links, Edges):
        return _EdgeLinks(tree, links)
    if len(links) != tree.n_nodes:
        raise InputError(f"links: expected {tree.n_nodes} vectors (one a node), got {len(links)}")
    return VectorLinks(RowsUnderChange(links, np.arange(tree.n_nodes)))


class Splitter:
    """A tree under change: parents, rank (order among siblings) and layers of its nodes grow as nodes are split.

    Nodes may stand in any numbering, leaves first. Without a linking, nodes are split evenly by position.
    """

    def __init__(self, parents: Ids, heights: Ids, rank: Ids, linking: Linking | None):
        self.parents = parents.copy()
        self.rank = rank.copy()
        self.linking = linking
        by_height = np.argsort(heights, kind="stable")
        self.layers = np.split(by_height, np.cumsum(np.bincount(heights))[:-1])
        self.added: list[tuple[int, int, int]] = []

    def split(self, limit: int) -> None:
        """Split every node with more than `limit` children, from the bottom up."""
        height = 1
        while height < len(self.layers):  # a split root adds a layer
            self._split_layer(height, limit)
            height += 1

    def _split_layer(self, height: int, limit: int) -> None:
        """Split the crowded nodes of one height; their parents are looked at when the layer above has its turn."""
        below = self.layers[height - 1]
        owners = self.parents[below]
        crowded = np.flatnonzero(np.bincount(owners) > limit).tolist()
        for node in crowded:
            children = below[owners == node]
            children = children[np.argsort(self.rank[children], kind="stable")]
            self._detach(node, height, children, self._parts(node, children, limit))
        self._flush()
        if self.linking is not None:
            self.linking.climb(self.parents, below, crowded)

    def _parts(self, node: int, children: Ids, limit: int) -> Ids:
        links = None if self.linking is None else self.linking.links(self.parents, node, children)
        return _even_parts(len(children), limit) if links is None else _similar_parts(len(children), links, limit)

    def _detach(self, node: int, height: int, children: Ids, part_of: Ids) -> None:
        """The part of the first child stays with `node`; each other part gets a new node beside it."""
        extra = int(part_of.max())
        first = len(self.parents) + len(self.added)
        if self.parents[node] < 0:
            self._append(1, -1, height + 1, 0)
            self.parents[node] = first
            first += 1
        self._append(extra, int(self.parents[node]), height, int(self.rank[node]))
        moved = part_of > 0
        self.parents[children[moved]] = first + part_of[moved] - 1

    def _append(self, count: int, parent: int, height: int, rank: int) -> None:
        self.added.extend([(parent, height, rank)] * count)

    def _flush(self) -> None:
        """Nodes made in a layer join the arrays together: growing these node by node would copy them each time."""
        if self.added:
            first = len(self.parents)
            parents, heights, ranks = (np.asarray(column, np.int64) for column in zip(*self.added, strict=True))
            self.parents = np.append(self.parents, parents)
            self.rank = np.append(self.rank, ranks)
            self.layers += [np.empty(0, np.int64)] * (int(heights.max()) + 1 - len(self.layers))
            for height in np.unique(heights):
                self.layers[height] = np.append(self.layers[height], first + np.flatnonzero(heights == height))
            self.added = []


def _even_parts(count: int, limit: int) -> Ids:
    """Part number of each position: ceil(count / limit) runs whose sizes differ by one at most."""
    parts = -(-count // limit)
    return np.arange(count) * parts // count


def _similar_parts(count: int, links: Edges, limit: int) -> Ids:
    """Part number of each child: weakest links cut first; part 0 holds child 0."""
    chain = np.arange(count - 1)
    last_resort = Edges(chain, chain + 1, np.full(count - 1, -np.inf, np.float32))
    spanning = maximum_spanning_forest(count, joined([links, last_resort]))
    part_of = _cut_weakest(count, spanning.u, spanning.v, spanning.weight, limit)
    _, first, inverse = np.unique(part_of, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


@compiled
def _walk(start: int, offsets: Ids, links: Ids, u: Ids, v: Ids, cut: np.ndarray, order: Ids, via: Ids) -> int:
    """Breadth-first over uncut links; fills `order` and the link `via` which each vertex was reached; gives the count."""
    order[0], via[start] = start, -1
    found = 1
    head = 0
    while head < found:
        x = order[head]
        head += 1
        for p in range(offsets[x], offsets[x + 1]):
            e = links[p]
            if cut[e] or e == via[x]:
                continue
            y = u[e] + v[e] - x
            via[y] = e
            order[found] = y
            found += 1
    return found


@compiled
def _weakest(order: Ids, found: int, via: Ids, u: Ids, v: Ids, w: Floats, smallest: int) -> int:
    """The last link in the total order with at least `smallest` vertices on both sides, -1 if there is none."""
    size = np.ones(len(via), np.int64)
    best = -1
    for p in range(found - 1, 0, -1):
        y = order[p]
        e = via[y]
        size[u[e] + v[e] - y] += size[y]
        if min(size[y], found - size[y]) >= smallest and e > best:
            best = e  # links are in the total order, so the largest position is the weakest
    return best


@compiled
def _adjacency(count: int, u: Ids, v: Ids) -> tuple[Ids, Ids]:
    offsets = np.zeros(count + 1, np.int64)
    for e in range(len(u)):
        offsets[u[e] + 1] += 1
        offsets[v[e] + 1] += 1
    offsets = np.cumsum(offsets)
    fill = offsets[:-1].copy()
    links = np.empty(2 * len(u), np.int64)
    for e in range(len(u)):
        for x in (u[e], v[e]):
            links[fill[x]] = e
            fill[x] += 1
    return offsets, links


@compiled
def _cut_weakest(count: int, u: Ids, v: Ids, w: Floats, limit: int) -> Ids:
    """Label of each vertex after cutting; links in the total order, labels are any distinct numbers.

    Cutting pairs off a crowded node would only crowd the layer above, so links that leave a quarter of the limit on both
    sides come first, then links that leave two. Without one (a star), runs in breadth-first order, strongest first, are cut.
    """
    offsets, links = _adjacency(count, u, v)
    cut = np.zeros(len(u), np.bool_)
    label = np.zeros(count, np.int64)
    order = np.empty(count, np.int64)
    via = np.empty(count, np.int64)
    labels = 1
    todo = [0]
    while len(todo):
        start = todo.pop()
        found = _walk(start, offsets, links, u, v, cut, order, via)
        e = -1
        if found > limit:
            e = _weakest(order, found, via, u, v, w, max(2, limit // 4))
            if e < 0:
                e = _weakest(order, found, via, u, v, w, 2)
        if e >= 0:
            cut[e] = True
            todo.append(u[e])
            todo.append(v[e])
            continue
        parts = (found + limit - 1) // limit
        for p in range(found):
            label[order[p]] = labels + p * parts // found
        labels += parts
    return label
