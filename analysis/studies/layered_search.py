"""The beam search of the abstract tree over any hierarchy: nodes may have several parents, and there may be many roots."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from psi.tree import Hierarchy, pair_weights, unit_rows

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
QUESTIONS = 256  # at once: a layer's scores are held for all of them


def layered_search(
    hierarchy: Hierarchy, node_vectors: Floats, queries: Floats, beam: int, k: int
) -> tuple[Ids, Floats]:
    """The k best leaves for each question, found from the top layer down.

    node_vectors (n_nodes, d), queries (q, d). Of each layer the `beam` nodes most similar to the question are kept, then all
    their children looked at, a child of several kept nodes once; of the leaves the k best. Ties go to the smaller id.
    Returns ids (q, k) and similarities (q, k); where fewer leaves were reached the ids are -1 and the similarities -inf.
    On an abstract tree this is `psi.tree.beam_search`, to the last bit. A hierarchy without layers is searched in full.
    """
    nodes, asked = unit_rows(node_vectors), unit_rows(queries, width=node_vectors.shape[1])
    parts = [
        _descent(hierarchy, nodes, asked[start : start + QUESTIONS], beam, k)
        for start in range(0, len(asked), QUESTIONS)
    ]
    shape = (0, min(k, hierarchy.n_leaves))
    ids, scores = zip(*parts, strict=True) if parts else ([np.empty(shape, np.int64)], [np.empty(shape, np.float32)])
    return np.concatenate(ids), np.concatenate(scores)


def _descent(hierarchy: Hierarchy, nodes: Floats, asked: Floats, beam: int, k: int) -> tuple[Ids, Floats]:
    layers = hierarchy.layers()
    children = _children(hierarchy)
    seen = np.ones((len(asked), len(layers[-1])), bool)
    for height in range(len(layers) - 1, 0, -1):
        layer, below = layers[height], layers[height - 1]
        kept, scores = _best(nodes, asked, seen, layer, min(beam, len(layer)))
        q, place = np.nonzero(scores > -np.inf)
        chosen = csr_matrix((np.ones(len(q)), (q, kept[q, place])), shape=(len(asked), hierarchy.n_nodes))
        seen = (chosen @ children)[:, below[0] : below[-1] + 1].toarray() > 0
    return _best(nodes, asked, seen, layers[0], min(k, hierarchy.n_leaves))


def _best(nodes: Floats, asked: Floats, seen: NDArray[np.bool_], layer: Ids, count: int) -> tuple[Ids, Floats]:
    """Ids and similarities (q, count) of the best nodes of the layer among those seen (q, layer), the best first."""
    q, place = np.nonzero(seen)
    scores = np.full(seen.shape, -np.inf, np.float32)
    scores[q, place] = pair_weights(np.concatenate([nodes, asked]), layer[place], len(nodes) + q)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    found = np.take_along_axis(scores, order, axis=1)
    return np.where(found > -np.inf, layer[order], -1), found


def _children(hierarchy: Hierarchy) -> csr_matrix:
    return csr_matrix(
        (np.ones(len(hierarchy.child_ids)), hierarchy.child_ids, hierarchy.child_offsets),
        shape=(hierarchy.n_nodes,) * 2,
    )
