"""Information efficiency: recall times precision, so that a ranking pays for what it returns in vain."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import fmean

from psi.metrics.precision import precision_at_k
from psi.metrics.recall import recall_at_k

CUTOFFS = (1, 3, 5)


def ie_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Recall@k times precision@k over passages; None without gold. Reference: SproutRAG (arXiv 2606.18381).

    >>> ie_at_k(["A", "B"], ["A"], k=2)
    0.5

    Raises:
        ConfigError: k < 1.
    """
    recall, precision = recall_at_k(ranked, gold, k), precision_at_k(ranked, gold, k)
    return None if recall is None or precision is None else recall * precision


def mean_ie(ranked: Sequence[str], gold: Collection[str]) -> float | None:
    """The mean of `ie_at_k` over k = 1, 3, 5; None without gold."""
    values = [value for k in CUTOFFS if (value := ie_at_k(ranked, gold, k)) is not None]
    return fmean(values) if values else None
