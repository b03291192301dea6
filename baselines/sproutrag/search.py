"""Beam search in the trees of many documents at once, and what it finds as a ranking of passages.

For each question and document the search starts at the root, goes to the children of the nodes in the beam and keeps the
`beam` nearest of them, down to the leaves. All nodes that were ever in the beam are visited; those with a cosine of at
least `threshold` are candidates, or the best visited one where none has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psi.tree.compiled import compiled

Doubles = NDArray[np.float64]
Ids = NDArray[np.int64]
NONE = -np.inf


class Best(NamedTuple):
    """The best found so far for each question, best first: (q, k) scores, second scores that decide ties, and ids (-1: empty).

    Equal scores and second scores stand in the order of their ids.
    """

    scores: Doubles
    seconds: Doubles
    ids: Ids

    def row(self, question: int) -> tuple[Doubles, Doubles, Ids]:
        """What was found for one question."""
        size = int((self.ids[question] >= 0).sum())
        return self.scores[question, :size], self.seconds[question, :size], self.ids[question, :size]


def nothing(questions: int, k: int) -> Best:
    """For k places a question, all empty."""
    shape = (questions, k)
    return Best(np.full(shape, NONE), np.full(shape, NONE), np.full(shape, -1, np.int64))


@compiled
def candidates(near: Doubles, children: Ids, beam: int, threshold: float, leaves_only: bool) -> Doubles:
    """(q, nodes) cosines of the candidates, -inf elsewhere, from the cosines of all nodes of one tree.

    Nodes at the edge of the beam that are equally near go by their number. With leaves_only, inner nodes guide the search
    and are no candidates.
    """
    m = len(children) + 1
    found = np.full(near.shape, -np.inf)
    frontier, nearest = np.empty(beam, np.int64), np.empty(beam, np.int64)
    for q in range(len(near)):
        frontier[0], size = near.shape[1] - 1, 1
        best, best_score = -1, -np.inf
        while size:
            kept = 0
            for node in frontier[:size]:
                score = near[q, node]
                if node < m or not leaves_only:
                    if score >= threshold:
                        found[q, node] = score
                    if score > best_score:
                        best, best_score = node, score
                if node >= m:
                    for child in children[node - m]:
                        kept = _kept(near[q], nearest, kept, child)
            frontier, nearest, size = nearest, frontier, kept
        if best >= 0 and best_score < threshold:
            found[q, best] = best_score
    return found


@compiled
def _kept(near: Doubles, nearest: Ids, size: int, node: int) -> int:
    """Insert a node into the first `size` of `nearest`, nearest first, equal ones by number; returns the new size."""
    place = size
    while place > 0 and _nearer(near, node, nearest[place - 1]):
        place -= 1
    size = min(size + 1, len(nearest))
    for later in range(size - 1, place, -1):
        nearest[later] = nearest[later - 1]
    if place < len(nearest):
        nearest[place] = node
    return size


@compiled
def _nearer(near: Doubles, node: int, other: int) -> bool:
    return bool(near[node] > near[other] or (near[node] == near[other] and node < other))


@compiled
def handed_down(scores: Doubles, children: Ids) -> Doubles:
    """(q, m) the largest score among each leaf and the nodes above it, from (q, nodes) scores."""
    m = len(children) + 1
    best = scores.copy()
    for q in range(len(best)):
        for row in range(m - 2, -1, -1):
            for child in children[row]:
                best[q, child] = max(best[q, child], best[q, m + row])
    return best[:, :m]


@compiled
def insert(best: Best, rows: Ids, scores: Doubles, seconds: Doubles, ids: Ids) -> None:
    """Let the columns of (rows, n) scores compete for the places of the questions `rows`; -inf competes for none."""
    k = best.scores.shape[1]
    for i in range(len(rows)):
        q = rows[i]
        for j in range(scores.shape[1]):
            s, t, x = scores[i, j], seconds[i, j], ids[j]
            if s == -np.inf or not _ahead(s, t, x, best, q, k - 1):
                continue
            place = k - 1
            while place > 0 and _ahead(s, t, x, best, q, place - 1):
                best.scores[q, place] = best.scores[q, place - 1]
                best.seconds[q, place] = best.seconds[q, place - 1]
                best.ids[q, place] = best.ids[q, place - 1]
                place -= 1
            best.scores[q, place], best.seconds[q, place], best.ids[q, place] = s, t, x


@compiled
def _ahead(s: float, t: float, x: int, best: Best, q: int, place: int) -> bool:
    if best.ids[q, place] < 0 or s != best.scores[q, place]:
        return bool(best.ids[q, place] < 0 or s > best.scores[q, place])
    if t != best.seconds[q, place]:
        return bool(t > best.seconds[q, place])
    return bool(x < best.ids[q, place])


def chosen_documents(near: Doubles, count: int | None) -> Iterator[tuple[int, Ids]]:
    """Each document with the questions that search it: the `count` nearest of each, equal ones by position; None: all.

    near: (q, documents) cosines.
    """
    questions, documents = near.shape
    wanted = np.ones(near.shape, np.bool_)
    if count is not None and count < documents:
        nearest = np.argsort(-near, axis=1, kind="stable")[:, :count]
        wanted = np.zeros(near.shape, np.bool_)
        wanted[np.arange(questions)[:, None], nearest] = True
    for document in np.flatnonzero(wanted.any(axis=0)):
        yield int(document), np.flatnonzero(wanted[:, document])
