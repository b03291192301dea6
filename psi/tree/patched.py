"""Vectors of a tree after a change: what did not change is read from the old array, the rest is computed anew."""

from itertools import pairwise

import numpy as np

from psi.tree.compiled import compiled
from psi.tree.tree import Tree
from psi.tree.vectors import CANCELLED
from psi.tree.weights import Floats, Ids
from psi.tree.workers import in_pieces


class PatchedRows:
    """One vector a node: row source[i] of `old` where source[i] >= 0, else row -1 - source[i] of `own`."""

    def __init__(self, old: Floats, source: Ids, own: Floats):
        self.old = old
        self.source = source
        self.own = own

    def take(self, nodes: Ids) -> Floats:
        """The vectors (m, d) of these nodes (m,)."""
        out = np.empty((len(nodes), self.old.shape[1]), np.float32)
        _copy(self.old, self.own, self.source[nodes], out, 0, len(nodes))
        return out

    def all(self) -> Floats:
        """All vectors (n_nodes, d) as one array."""
        out = np.empty((len(self.source), self.old.shape[1]), np.float32)
        in_pieces(len(out), 8192, lambda start, stop: _copy(self.old, self.own, self.source, out, start, stop))
        return out


def patched_rows(tree: Tree, old: Floats, source: Ids, new: Floats) -> PatchedRows:
    """Vectors for a changed tree whose node i has row source[i] of `old`, or none (-1).

    Without one, the last len(new) leaves get their row of `new` and inner nodes the normalised mean of their children.
    """
    missing = np.flatnonzero(source < 0)
    own = np.empty((len(missing), old.shape[1]), np.float32)
    source = source.copy()
    source[missing] = -1 - np.arange(len(missing))
    leaves = int(np.searchsorted(missing, tree.n_leaves))
    own[:leaves] = new[missing[:leaves] - (tree.n_leaves - len(new))]
    bounds = leaves + np.searchsorted(tree.heights[missing[leaves:]], np.arange(1, tree.height + 2))
    for start, stop in pairwise(bounds):  # by height: children come first
        _average(old, own, source, missing, tree.child_offsets, tree.child_ids, int(start), int(stop))
    return PatchedRows(old, source, own)


@compiled
def _copy(old: Floats, own: Floats, source: Ids, out: Floats, start: int, stop: int) -> None:
    for i in range(start, stop):
        if source[i] >= 0:
            out[i] = old[source[i]]
        else:
            out[i] = own[-1 - source[i]]


@compiled
def _average(
    old: Floats, own: Floats, source: Ids, nodes: Ids, offsets: Ids, children: Ids, start: int, stop: int
) -> None:
    width = old.shape[1]
    total = np.empty(width, np.float64)
    for p in range(start, stop):
        total[:] = 0.0
        for c in range(offsets[nodes[p]], offsets[nodes[p] + 1]):
            at = source[children[c]]
            row = old[at] if at >= 0 else own[-1 - at]
            for k in range(width):
                total[k] += row[k]
        square = 0.0
        for k in range(width):
            square += total[k] * total[k]
        length = np.sqrt(square)
        for k in range(width):
            own[p, k] = np.float32(total[k] / length) if length > CANCELLED else np.float32(0)
