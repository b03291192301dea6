"""Binary trees by single linkage over chunks: a maximum spanning tree, scanned in order (paper: tree construction).

Joining, again and again, the two nodes with the highest relation, where a parent's relation to another node is the larger
one of its children's, joins along the edges of the maximum spanning tree, from strong to weak. Pairs of chunks are ordered
by (-relation, smaller position, larger position), and of two pairs of nodes the one that has the first pair of chunks is
joined first: that decides ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from psi.tree.compiled import compiled
from psi.tree.edges import Edges, find_root, total_order

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


class BinaryTree(NamedTuple):
    """Nodes of a binary tree over m leaves: leaves 0..m-1 in order, then inner nodes as they were made, the root last.

    children (m - 1, 2): of each inner node, the one with the earlier first leaf first; relation (m - 1,): by which its
    children were joined.
    """

    children: Ids
    relation: Floats

    @property
    def n_leaves(self) -> int:
        """How many chunks there are."""
        return len(self.children) + 1


def linked(m: int, pairs: NDArray[np.int32], relation: Floats) -> BinaryTree:
    """The tree of m chunks from the relations of some pairs i < j, (p, 2) and (p,); all other pairs have relation 0.

    O(m² + p) time and O(m + p) memory.
    """
    return from_edges(m, spanning_tree(m, pairs, relation))


def from_edges(m: int, tree: Edges) -> BinaryTree:
    """The binary tree from the m - 1 edges of a spanning tree, in the order in which they join."""
    return BinaryTree(_joined(m, tree.u, tree.v), tree.weight.astype(np.float32))


def spanning_tree(m: int, pairs: NDArray[np.int32], relation: Floats) -> Edges:
    """The maximum spanning tree under the total order, in that order (Prim, without a heap)."""
    i, j = pairs[:, 0], pairs[:, 1]
    both = coo_array((np.tile(relation, 2), (np.r_[i, j], np.r_[j, i])), shape=(m, m), dtype=np.float32).tocsr()
    edges = Edges(*_grown(m, both.indptr.astype(np.int64), both.indices.astype(np.int64), both.data))
    return edges.take(total_order(edges))


@compiled
def _grown(m: int, starts: Ids, ends: Ids, relation: Floats) -> tuple[Ids, Ids, Floats]:
    """Edges (u, v, relation) of the spanning tree, grown from chunk 0 by the first edge that leads outwards."""
    inside = np.zeros(m, np.bool_)
    inside[0] = True
    # the best way to reach each chunk; before any relation is known, that from chunk 0, which is the first of all
    u, v, w = np.zeros(m, np.int64), np.arange(m), np.zeros(m, np.float32)
    newest = 0
    for _ in range(m - 1):
        for place in range(starts[newest], starts[newest + 1]):
            x = ends[place]
            low, high = min(newest, x), max(newest, x)
            if not inside[x] and _before(relation[place], low, high, w[x], u[x], v[x]):
                w[x], u[x], v[x] = relation[place], low, high
        newest = -1
        for x in range(m):
            if not inside[x] and (newest < 0 or _before(w[x], u[x], v[x], w[newest], u[newest], v[newest])):
                newest = x
        inside[newest] = True
    return u[1:], v[1:], w[1:]


@compiled
def _before(w: float, u: int, v: int, other_w: float, other_u: int, other_v: int) -> bool:
    return w > other_w or (w == other_w and (u < other_u or (u == other_u and v < other_v)))


@compiled
def _joined(m: int, u: Ids, v: Ids) -> Ids:
    parent, node = np.arange(m), np.arange(m)  # of union-find; the tree's node that each component stands for
    children = np.empty((max(m - 1, 0), 2), np.int64)
    for e in range(m - 1):
        a, b = find_root(parent, u[e]), find_root(parent, v[e])
        first, second = min(a, b), max(a, b)  # a component's representative is its first leaf
        children[e, 0], children[e, 1] = node[first], node[second]
        parent[second] = first
        node[first] = m + e
    return children


def inner_vectors(leaves: Floats, children: Ids) -> Floats:
    """(m - 1, d) progressive embeddings (paper): each the mean of its two children's, not scaled to length 1.

    Leaves are (m, d).
    """
    vectors = np.concatenate([leaves, np.zeros((len(children), leaves.shape[1]), np.float32)])
    _average(vectors, children, len(leaves))
    return vectors[len(leaves) :]


@compiled
def _average(vectors: Floats, children: Ids, m: int) -> None:
    for e in range(len(children)):
        a, b = children[e]
        for k in range(vectors.shape[1]):
            vectors[m + e, k] = np.float32(0.5) * (vectors[a, k] + vectors[b, k])


def leaves_below(children: Ids, node: int) -> list[int]:
    """The leaves below a node, in document order."""
    m = len(children) + 1
    found, waiting = [], [node]
    while waiting:
        here = waiting.pop()
        if here < m:
            found.append(here)
        else:
            waiting += children[here - m].tolist()
    return sorted(found)
