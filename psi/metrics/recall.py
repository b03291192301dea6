"""Recall@k: the share of the gold passages that a ranking finds."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psi.metrics.ranked import head


def recall_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """|top k ∩ gold| / |gold|, over distinct passages; None without gold.

    Reference: Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), §8.3-8.4.

    >>> recall_at_k(["A", "A", "B"], ["A", "Z"], k=2)
    0.5

    Raises:
        ConfigError: k < 1.
    """
    found = _found(ranked, gold, k)
    return found / len(set(gold)) if gold else None


def all_recall_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """1 if every gold passage is among the top k, else 0; None without gold.

    The measure for questions that need all of their passages: "all-recall" in Gutiérrez et al., HippoRAG
    (2024).

    >>> all_recall_at_k(["A", "B", "C"], ["A", "C"], k=2)
    0.0

    Raises:
        ConfigError: k < 1.
    """
    found = _found(ranked, gold, k)
    return float(found == len(set(gold))) if gold else None


def _found(ranked: Sequence[str], gold: Collection[str], k: int) -> int:
    return len(set(gold).intersection(head(ranked, k)))
