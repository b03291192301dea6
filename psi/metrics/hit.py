"""Hit@k: whether a ranking finds any gold passage."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psi.metrics.ranked import head


def hit_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """1 if at least one gold passage is among the top k, else 0; None without gold.

    Also called success@k (trec_eval) and top-k accuracy (Karpukhin et al., Dense Passage Retrieval, 2020,
    §5).

    >>> hit_at_k(["B", "A"], ["A", "Z"], k=2)
    1.0

    Raises:
        ConfigError: k < 1.
    """
    top = head(ranked, k)
    return float(not set(gold).isdisjoint(top)) if gold else None
