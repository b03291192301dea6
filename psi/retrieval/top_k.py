"""Exact top-k with one order everywhere: score descending, ties by position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psi.errors import ConfigError, InputError


def top_k(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """Positions of the k best of (n,) scores, best first, equal scores by position; all of them where k > n.

    Raises:
        ConfigError: k < 1.
        InputError: a score is NaN.
    """
    check_k(k)
    if np.isnan(scores).any():
        raise InputError(f"the score at position {int(np.isnan(scores).argmax())} is NaN: scores must be numbers.")
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= threshold)
    else:
        candidates = np.arange(len(scores))
    # lexsort is stable and candidates ascend, so equal scores keep the order of their positions
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def check_k(k: int) -> None:
    """Refuse a k that asks for nothing.

    Raises:
        ConfigError: k < 1.
    """
    if k < 1:
        raise ConfigError(f"k={k}: the number of passages to retrieve must be at least 1.")


def check_questions(questions: list[str] | tuple[str, ...]) -> None:
    """Refuse blank questions: nothing can be relevant to them.

    Raises:
        InputError: naming the row.
    """
    for row, text in enumerate(questions):
        if not text.strip():
            raise InputError(f"question {row} of the batch is empty: remove it or write its text.")
