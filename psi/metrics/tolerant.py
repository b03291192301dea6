"""Answers compared with more tolerance than the official rules have, under names of their own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from psi.metrics.exact_match import exact_match
from psi.metrics.f1 import f1_squad

_NUMBER = re.compile(r"(?<![\w.,])[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.,])[+-]?\d+(?:\.\d+)?(?![\w])")
_LIKE = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " "})


def em_tolerant(prediction: str, golds: Sequence[str]) -> float | None:
    """Exact match after `tolerant`; None without gold answers.

    >>> em_tolerant("1,000.0 metres", ["1000 metres"]), em_tolerant("Café “Rex”", ['Cafe\u0301 "Rex"'])
    (1.0, 1.0)
    """
    return exact_match(tolerant(prediction), [tolerant(gold) for gold in golds])


def f1_tolerant(prediction: str, golds: Sequence[str]) -> float | None:
    """F1 by the SQuAD rules after `tolerant`; None without gold answers."""
    return f1_squad(tolerant(prediction), [tolerant(gold) for gold in golds])


def tolerant(text: str) -> str:
    """Unicode forms made one (NFKC, case folded, typographic quotes and dashes as ASCII), and numbers by their value.

    1,000.0 is 1000, 007 is 7; 1,5 stays as it is, as it means different things in different countries.
    """
    return _NUMBER.sub(_value, unicodedata.normalize("NFKC", text).translate(_LIKE).casefold())


def _value(match: re.Match[str]) -> str:
    try:
        value = Decimal(match[0].replace(",", ""))
    except InvalidOperation:  # more digits than any number needs
        return match[0]
    return format(value.normalize() + 0, "f") if abs(value.adjusted()) < 25 else match[0]
