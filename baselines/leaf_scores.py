"""From scores of nodes to rankings of passages, where inner nodes stand for the passages below them.

A node that is found is replaced by those passages below it that are not yet listed, in the order of their own scores. So a
passage's score is the largest among itself and all nodes above it, and at equal scores its own decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psi.retrieval.top_k import top_k

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


def over_ancestors(near: Floats, n_leaves: int, child_offsets: Ids, child_ids: Ids) -> Floats:
    """(q, n_leaves) the largest score among a leaf and the nodes above it, from (q, n_nodes) scores.

    Node i's children, distinct and of smaller numbers, are child_ids[child_offsets[i]:child_offsets[i + 1]].
    """
    best = near.copy()
    for node in range(near.shape[1] - 1, n_leaves - 1, -1):
        children = child_ids[child_offsets[node] : child_offsets[node + 1]]
        best[:, children] = np.maximum(best[:, children], best[:, [node]])
    return best[:, :n_leaves]


def best_leaves(best: Floats, own: Floats, k: int) -> tuple[Ids, Floats]:
    """The k leaves first by (n,) `best`, then by `own`, then by position, and scores that fall in that order.

    The scores are `best`, lowered by the least that a float allows wherever `own` decided.
    """
    candidates = np.flatnonzero(best >= best[top_k(best, k)[-1]])
    order = candidates[np.lexsort((-own[candidates], -best[candidates]))][:k]
    return order, _falling(best[order], own[order])


def _falling(best: Floats, own: Floats) -> Floats:
    scores = best.copy()
    for place in range(1, len(best)):
        if best[place] == best[place - 1] and own[place] == own[place - 1]:
            scores[place] = scores[place - 1]
        else:
            scores[place] = min(best[place], np.nextafter(scores[place - 1], -np.inf))
    return scores
