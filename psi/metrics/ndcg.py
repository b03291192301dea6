"""nDCG@k with binary relevance: finding gold passages, weighted by how early they come."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from psi.metrics.ranked import head


def ndcg_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """DCG / ideal DCG; DCG = sum of 1 / log2(place + 1) over gold passages in the top k; None without gold.

    The ideal ranking puts min(k, |gold|) gold passages first. Places count distinct passages. Reference:
    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.

    >>> round(ndcg_at_k(["B", "A"], ["A"], k=10), 4)
    0.6309

    Raises:
        ConfigError: k < 1.
    """
    relevant, top = set(gold), head(ranked, k)
    if not relevant:
        return None
    gain = _discounted(place for place, passage in enumerate(top, start=1) if passage in relevant)
    return gain / _discounted(range(1, min(k, len(relevant)) + 1))


def _discounted(places: Iterable[int]) -> float:
    return math.fsum(1 / math.log2(place + 1) for place in places)
