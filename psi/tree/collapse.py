"""Merge-and-collapse: from a spanning tree in order of similarity to the equi-depth abstract tree."""

import numpy as np

from psi.errors import InputError
from psi.tree.compiled import compiled
from psi.tree.edges import Edges
from psi.tree.tree import Tree, tree_from_parents
from psi.tree.weights import Ids


def merge_and_collapse(n: int, edges: Edges) -> Tree:
    """The abstract tree over the leaves 0..n-1 from pairs scanned in the order given (Ψ-RAG §3).

    A pair of equal-height roots gets a new parent (merging, abstract-node collapse); otherwise the lower root becomes a
    child of the other leaf's ancestor one height above it (leaf collapse, abstract-node collapse). A pair whose leaves
    already share a root changes nothing, so all pairs in order and the maximum spanning tree in order give one tree.
    n = 1 gives a single node that is leaf and root. Raises InputError if the pairs do not connect all leaves.
    """
    if n < 1:
        raise InputError(f"a tree needs at least one leaf, got n={n}; is the corpus empty?")
    if len(edges.u) and not (min(edges.u.min(), edges.v.min()) >= 0 and max(edges.u.max(), edges.v.max()) < n):
        raise InputError(f"an edge names a leaf outside 0..{n - 1}")
    parents, rank, n_nodes, joins = _scan(n, edges.u, edges.v)
    if joins != n - 1:
        raise InputError(f"the edges join {joins + 1} of {n} leaves at most; pass a spanning tree (n - 1 joins)")
    return tree_from_parents(n, parents[:n_nodes], rank[:n_nodes])


@compiled
def _root_of(parents: Ids, x: int) -> int:
    while parents[x] >= 0:  # at most log2(n) steps: heights grow only when equal heights meet
        x = parents[x]
    return x


@compiled
def _scan(n: int, u: Ids, v: Ids) -> tuple[Ids, Ids, int, int]:
    parents = np.full(2 * n, -1, np.int64)
    heights = np.zeros(2 * n, np.int64)
    rank = np.zeros(2 * n, np.int64)  # when a node was attached: the order of siblings
    nodes = n
    clock = 0
    joins = 0
    for e in range(len(u)):
        i, j = min(u[e], v[e]), max(u[e], v[e])
        root_i, root_j = _root_of(parents, i), _root_of(parents, j)
        if root_i == root_j:
            continue
        joins += 1
        if heights[root_i] == heights[root_j]:
            heights[nodes] = heights[root_i] + 1
            parents[root_i] = parents[root_j] = nodes
            rank[root_i], rank[root_j] = clock, clock + 1
            clock += 2
            nodes += 1
            continue
        low, above = (root_i, j) if heights[root_i] < heights[root_j] else (root_j, i)
        while heights[above] <= heights[low]:
            above = parents[above]
        parents[low] = above
        rank[low] = clock
        clock += 1
    return parents, rank, nodes, joins
