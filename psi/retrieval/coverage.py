"""Coverage: how much of a question's terms, by idf, a set of passages holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psi.retrieval.terms import Terms

Integers = NDArray[np.integer[Any]]
Booleans = NDArray[np.bool_]
SCALE = 2**30  # idf as whole numbers: sums are exact, whatever the order and the padding


class Coverage:
    """Coverage for a batch of q questions over n passages.

    A term's slot is its place among the distinct known terms of its question; `width` is the largest number of them.

    Args:
        terms: the corpus's terms.
        questions: for each question the rows of its terms that the corpus knows.
    """

    def __init__(self, terms: Terms, questions: Sequence[Sequence[int]]):
        distinct = [sorted(set(rows)) for rows in questions]
        self.width = max([1, *map(len, distinct)])
        used = sorted({row for rows in distinct for row in rows})
        place = {row: number for number, row in enumerate(used)}
        # the row after the last stands for empty slots: no passage holds it and it weighs nothing
        self._held = np.zeros((len(used) + 1, terms.weights.shape[1]), dtype=bool)
        postings = terms.weights[used]
        self._held[np.repeat(np.arange(len(used)), np.diff(postings.indptr)), postings.indices] = True
        self._slots = np.full((len(distinct), self.width), len(used))
        for number, rows in enumerate(distinct):
            self._slots[number, : len(rows)] = [place[row] for row in rows]
        idf = np.append(np.rint(terms.idf[used] * SCALE), 0).astype(np.int64)
        self._weights = idf[self._slots]
        self._totals = np.maximum(self._weights.sum(axis=1), 1)

    def held(self, questions: Integers, passages: Integers) -> Booleans:
        """(..., width) which of a question's terms a passage holds, for broadcastable arrays of both."""
        questions, passages = np.broadcast_arrays(questions, passages)
        found: Booleans = self._held[self._slots[questions], passages[..., None]]
        return found

    def share(self, questions: Integers, held: Booleans) -> NDArray[np.float64]:
        """(...) the share of the idf of a question's known terms that is held; 0 where no term is known."""
        weights: NDArray[np.int64] = (self._weights[questions] * held).sum(axis=-1)
        share: NDArray[np.float64] = weights / self._totals[questions]
        return share
