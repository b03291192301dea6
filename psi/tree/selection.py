"""The most similar of some candidates, as the defined similarity decides; fast products spare it most of the work."""

import numpy as np

from psi.tree.compiled import compiled
from psi.tree.kernels import LANES
from psi.tree.weights import Floats, Ids, weight


@compiled
def select_best(
    nodes: Floats,
    asked: Floats,
    offsets: Ids,
    candidates: Ids,
    rough: Floats,
    bound: float,
    ids: Ids,
    scores: Floats,
) -> None:
    """The most similar candidates of each question, best first, ties by id; fills the first places of ids and scores.

    A candidate whose rough product is more than twice `bound` below the last one wanted cannot be among them; only the
    others get the defined similarity.
    """
    lanes = np.empty(LANES, np.float64)
    largest = np.empty(ids.shape[1], np.float32)
    for q in range(len(asked)):
        start, stop = offsets[q], offsets[q + 1]
        keep = min(ids.shape[1], stop - start)
        least = _keeper(rough[start:stop], largest[:keep]) - 2 * bound
        filled = 0
        for p in range(start, stop):
            if rough[p] < least:
                continue
            c = candidates[p]
            s = weight(nodes[c], asked[q], lanes)
            if filled == keep and (s < scores[q, keep - 1] or (s == scores[q, keep - 1] and c > ids[q, keep - 1])):
                continue
            place = filled if filled < keep else keep - 1
            while place > 0 and (scores[q, place - 1] < s or (scores[q, place - 1] == s and ids[q, place - 1] > c)):
                scores[q, place], ids[q, place] = scores[q, place - 1], ids[q, place - 1]
                place -= 1
            scores[q, place], ids[q, place] = s, c
            filled = min(filled + 1, keep)


@compiled
def _keeper(values: Floats, largest: Floats) -> float:
    """The smallest of the len(largest) largest values."""
    keep = len(largest)
    filled = 0
    for value in values:
        if filled == keep and value <= largest[keep - 1]:
            continue
        p = filled if filled < keep else keep - 1
        while p > 0 and largest[p - 1] < value:
            largest[p] = largest[p - 1]
            p -= 1
        largest[p] = value
        filled = min(filled + 1, keep)
    return float(largest[keep - 1])
