"""Vectors of a tree under change: what did not change is read from the old array, the rest is computed anew."""

import numpy as np

from psi.tree.compiled import compiled
from psi.tree.tree import Tree, concatenated_ranges
from psi.tree.vectors import CANCELLED
from psi.tree.weights import Floats, Ids
from psi.tree.workers import in_pieces

MISSING = np.iinfo(np.int64).min  # in place of a row's number: has to be computed
PIECE = 128  # nodes averaged at once by a thread


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


class RowsUnderChange:
    """Vectors of nodes in any numbering, computed layer by layer from the bottom: a normalised mean of the children.

    source (nodes,): as in `PatchedRows`, or MISSING; own: rows that `source` refers to with negative numbers.
    """

    def __init__(self, old: Floats, source: Ids, own: Floats | None = None):
        self.old = old
        self.source = source
        self.used = 0 if own is None else len(own)
        self.own = np.empty((0, old.shape[1]), np.float32) if own is None else own

    def take(self, nodes: Ids) -> Floats:
        """The vectors (m, d) of these nodes (m,), none of them missing."""
        return PatchedRows(self.old, self.source, self.own).take(nodes)

    def climb(self, parents: Ids, below: Ids, split: list[int]) -> None:
        """Compute what is missing of the parents of the layer `below`; nodes that are new or were split count as missing."""
        self.source = np.append(self.source, np.full(len(parents) - len(self.source), MISSING))
        self.source[split] = MISSING
        nodes, offsets, sources = _families(parents, below, self.source)
        if not len(nodes):
            return
        rows = self._room_for(len(nodes))
        own = self.own  # grown already: children may be among its rows
        in_pieces(len(nodes), PIECE, lambda start, stop: _average(self.old, own, sources, offsets, rows, start, stop))
        self.source[nodes] = -1 - np.arange(self.used, self.used + len(nodes))
        self.used += len(nodes)

    def _room_for(self, count: int) -> Floats:
        """The next `count` rows of `own`, which grows by doubling."""
        if self.used + count > len(self.own):
            grown = np.empty((2 * (self.used + count), self.old.shape[1]), np.float32)
            grown[: self.used] = self.own[: self.used]
            self.own = grown
        return self.own[self.used : self.used + count]

    def renumbered(self, order: Ids, tree: Tree) -> PatchedRows:
        """The vectors of the nodes of `tree`, which had the numbers `order` here; what is still missing is computed."""
        source = self.source[order]
        nodes = np.flatnonzero(source == MISSING)
        source[nodes] = -1 - np.arange(self.used, self.used + len(nodes))
        starts, stops = tree.child_offsets[nodes], tree.child_offsets[nodes + 1]
        offsets = np.concatenate([[0], np.cumsum(stops - starts)])
        rows = self._room_for(len(nodes))
        # nodes are numbered by height, so that children are averaged before their parents
        _average(
            self.old, self.own, source[tree.child_ids[concatenated_ranges(starts, stops)]], offsets, rows, 0, len(nodes)
        )
        return PatchedRows(self.old, source, self.own[: self.used + len(nodes)])


@compiled
def _copy(old: Floats, own: Floats, source: Ids, out: Floats, start: int, stop: int) -> None:
    for i in range(start, stop):
        if source[i] >= 0:
            out[i] = old[source[i]]
        else:
            out[i] = own[-1 - source[i]]


@compiled
def _families(parents: Ids, below: Ids, source: Ids) -> tuple[Ids, Ids, Ids]:
    """Parents of this layer that are missing, and runs of their children's sources: nodes, offsets, sources."""
    family = np.full(len(parents), -1, np.int32)
    sizes = np.zeros(len(below) + 1, np.int64)
    nodes = np.empty(len(below), np.int64)
    count = 0
    for x in below:
        p = parents[x]
        if source[p] != MISSING:
            continue
        if family[p] < 0:
            family[p], nodes[count] = count, p
            count += 1
        sizes[family[p] + 1] += 1
    offsets = np.cumsum(sizes[: count + 1])
    filled = offsets[:-1].copy()
    sources = np.empty(offsets[-1], np.int64)
    for x in below:
        p = parents[x]
        if family[p] >= 0:
            sources[filled[family[p]]] = source[x]
            filled[family[p]] += 1
    return nodes[:count], offsets, sources


@compiled
def _average(old: Floats, own: Floats, sources: Ids, offsets: Ids, out: Floats, start: int, stop: int) -> None:
    """Normalised means of the runs sources[offsets[p] : offsets[p + 1]]."""
    width = old.shape[1]
    total = np.empty(width, np.float64)
    for p in range(start, stop):
        total[:] = 0.0
        for c in range(offsets[p], offsets[p + 1]):
            row = old[sources[c]] if sources[c] >= 0 else own[-1 - sources[c]]
            for k in range(width):
                total[k] += row[k]
        square = 0.0
        for k in range(width):
            square += total[k] * total[k]
        length = np.sqrt(square)
        for k in range(width):
            out[p, k] = np.float32(total[k] / length) if length > CANCELLED else np.float32(0)
