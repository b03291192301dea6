"""Answers that say nothing, and answers that say something wrong: the two rates of failure analyses."""

from __future__ import annotations

from collections.abc import Sequence

from psi.metrics.f1 import f1_squad
from psi.metrics.normalise import normalise, scorable

REFUSALS = frozenset({"not mentioned", "insufficient information", "unanswerable"})
"""As normalised."""


def is_refusal(text: str) -> bool:
    """Whether an answer only says that there is none.

    >>> is_refusal("Not mentioned.")
    True
    """
    return normalise(text) in REFUSALS


def not_mentioned(prediction: str, golds: Sequence[str]) -> float | None:
    """1 where the answer only says that there is none, else 0; its mean is the Not Mentioned Rate. None without gold answers.

    Reference: Ψ-RAG (arXiv 2605.00529), app. D.4.
    """
    return float(is_refusal(prediction)) if scorable(golds) else None


def false_answer(prediction: str, golds: Sequence[str]) -> float | None:
    """1 where something is said that shares no word with any gold answer, else 0; its mean is the False Rate.

    Refusals and empty answers say nothing. None without gold answers. Reference: as `not_mentioned`.

    >>> false_answer("Rome", ["Paris"]), false_answer("Not mentioned", ["Paris"])
    (1.0, 0.0)
    """
    if not scorable(golds):
        return None
    return float(bool(prediction.strip()) and not is_refusal(prediction) and f1_squad(prediction, golds) == 0)
