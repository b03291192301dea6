"""Exact match of answers, by the SQuAD and HotpotQA rules."""

from __future__ import annotations

from collections.abc import Sequence

from psi.metrics.normalise import normalise, same_without_words, scorable


def exact_match(prediction: str, golds: Sequence[str]) -> float | None:
    """1 if the normalised prediction equals any normalised gold answer, else 0; None without gold answers.

    Reference: Rajpurkar et al., SQuAD (2016), §6.1; HotpotQA's script agrees. One difference from both: a
    gold answer of articles or marks only (`The`, `A`, `+`) normalises to '', which officially equals an empty
    prediction and every other such text. Here it matches only itself.

    >>> exact_match("lyon.", ["Paris", "Lyon"])
    1.0
    """
    golds = scorable(golds)
    return float(any(_equal(prediction, gold) for gold in golds)) if golds else None


def _equal(prediction: str, gold: str) -> bool:
    left, right = normalise(prediction), normalise(gold)
    return left == right if right else not left and same_without_words(prediction, gold)
