"""Retrieval scored by characters: gold is spans of documents, and so is what was retrieved."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from psi.corpus.records import Span
from psi.metrics.ranked import head

Intervals = Mapping[str, Sequence[tuple[int, int]]]


def char_recall_at_k(ranked: Sequence[Span], gold: Collection[Span], k: int) -> float | None:
    """The share of the gold characters that the first k spans hold; None without gold.

    Reference: LegalBench-RAG (arXiv 2408.10343), §4.

    >>> char_recall_at_k([Span("d", 0, 10)], [Span("d", 5, 15)], k=1)
    0.5

    Raises:
        ConfigError: k < 1.
    """
    found, wanted, _ = _lengths(ranked, gold, k)
    return found / wanted if wanted else None


def char_precision_at_k(ranked: Sequence[Span], gold: Collection[Span], k: int) -> float | None:
    """The share of the characters of the first k spans that are gold; 0 where they hold none, None without gold.

    Reference: as `char_recall_at_k`.

    Raises:
        ConfigError: k < 1.
    """
    found, wanted, held = _lengths(ranked, gold, k)
    return (found / held if held else 0.0) if wanted else None


def char_hit_at_k(ranked: Sequence[Span], gold: Collection[Span], k: int) -> float | None:
    """1 where the first k spans hold a gold character, else 0; None without gold.

    Raises:
        ConfigError: k < 1.
    """
    found, wanted, _ = _lengths(ranked, gold, k)
    return float(found > 0) if wanted else None


def char_ie_at_k(ranked: Sequence[Span], gold: Collection[Span], k: int) -> float | None:
    """Information efficiency over characters: recall times precision of the first k spans; None without gold.

    Reference: SproutRAG (arXiv 2606.18381), its main measure.

    Raises:
        ConfigError: k < 1.
    """
    recall, precision = char_recall_at_k(ranked, gold, k), char_precision_at_k(ranked, gold, k)
    return None if recall is None or precision is None else recall * precision


def _lengths(ranked: Sequence[Span], gold: Collection[Span], k: int) -> tuple[int, int, int]:
    """Characters that are found, gold and retrieved; each counts once, however many spans hold it."""
    retrieved, wanted = _merged(head(ranked, k)), _merged(gold)
    return _shared(retrieved, wanted), _total(wanted), _total(retrieved)


def _merged(spans: Collection[Span]) -> Intervals:
    """Disjoint intervals in order, by document."""
    merged: dict[str, list[tuple[int, int]]] = {}
    for document, start, end in sorted(spans):
        own = merged.setdefault(document, [])
        if end <= start:
            continue
        if own and start <= own[-1][1]:
            own[-1] = (own[-1][0], max(own[-1][1], end))
        else:
            own.append((start, end))
    return merged


def _total(intervals: Intervals) -> int:
    return sum(end - start for own in intervals.values() for start, end in own)


def _shared(first: Intervals, second: Intervals) -> int:
    return sum(
        max(0, min(a_end, b_end) - max(a, b))
        for document in first.keys() & second.keys()
        for a, a_end in first[document]
        for b, b_end in second[document]
    )
