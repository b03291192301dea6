"""The beam's way down a tree, layer by layer: which nodes a search compared, which it kept, where it lost the gold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psi.tree import Tree, starting_layer, unit_rows

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


class Level(NamedTuple):
    """One layer of one search: its height, how many nodes were compared, the kept ones by similarity, best first."""

    height: int
    compared: int
    kept: Ids
    similarity: Floats


def descend(tree: Tree, node_vectors: Floats, query: Floats, beam: int) -> list[Level]:
    """What `psi.tree.beam_search` does for one question, from its first layer to the leaves.

    node_vectors (n_nodes, d) and query (d,) of any length; at the leaves, too, `beam` are kept. Ties go to the smaller id.
    """
    query = unit_rows(query[None])[0].astype(np.float64)
    height = starting_layer(tree, beam)
    candidates = np.arange(tree.layer_offsets[height], tree.layer_offsets[height + 1])
    levels = []
    while True:
        rows = unit_rows(node_vectors[candidates]).astype(np.float64)
        similarity = (rows @ query).astype(np.float32)
        best = np.lexsort((candidates, -similarity))[:beam]
        levels.append(Level(height, len(candidates), candidates[best], similarity[best]))
        if height == 0:
            return levels
        candidates = np.sort(np.concatenate([tree.children(int(node)) for node in levels[-1].kept]))
        height -= 1


def lost_at(tree: Tree, levels: list[Level], leaf: int) -> int | None:
    """The height at which the search left the path to this leaf; None: it reached it."""
    path = tree.path(leaf)
    return next((level.height for level in levels if path[level.height] not in level.kept), None)
