"""Steps that both versions share: scores on one scale, and rankings from rows of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from psi.models.protocols import Usage
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import top_k

Floats = NDArray[np.float64]
BLOCK = 16  # questions walked at once: their masses stay in the cache


def min_max(scores: Floats, low: Floats, high: Floats) -> Floats:
    """Scores with `low` at 0 and `high` at 1; all at 1 where both are one."""
    span = high - low
    scaled: Floats = np.divide(
        scores - low, span, out=np.ones_like(scores), where=np.broadcast_to(span > 0, scores.shape)
    )
    return scaled


def specificity(held: csr_matrix) -> Floats:
    """(phrases,) one over the number of passages that hold the phrase (arXiv 2405.14831, §2.3)."""
    passages: NDArray[Any] = np.diff(held.indptr)
    shares: Floats = 1.0 / np.maximum(passages, 1)
    return shares


def ranked(scores: Floats, ids: Sequence[str], k: int, usage: Usage) -> Ranking:
    """The k best of (n,) scores, ties by position."""
    best = top_k(scores, k)
    return Ranking(tuple(ids[place] for place in best), tuple(scores[best].tolist()), usage)
