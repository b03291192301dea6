"""Reciprocal rank: how early the first gold passage comes. Its mean over questions is MRR."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psi.metrics.ranked import head


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], k: int | None = None) -> float | None:
    """1 / the place of the first gold passage in the top k, 0 if it is not there; None without gold.

    k = None takes the whole ranking. Places count distinct passages. Reference: Voorhees, The TREC-8 Question
    Answering Track Report (1999), §3.

    >>> reciprocal_rank(["B", "A", "C"], ["A", "C"])
    0.5

    Raises:
        ConfigError: k < 1.
    """
    relevant, top = set(gold), head(ranked, k)
    if not relevant:
        return None
    return next((1 / place for place, passage in enumerate(top, start=1) if passage in relevant), 0.0)
