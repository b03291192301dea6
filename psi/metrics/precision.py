"""Precision@k: the share of the top k that is gold."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psi.metrics.ranked import head


def precision_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """|top k ∩ gold| / k, over distinct passages; None without gold.

    The denominator is k even where fewer passages were returned, as in trec_eval: an empty place is not a
    hit. Reference: Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), §8.4.

    >>> precision_at_k(["A", "A", "B"], ["A"], k=2)
    0.5

    Raises:
        ConfigError: k < 1.
    """
    found = set(gold).intersection(head(ranked, k))
    return len(found) / k if gold else None
