"""Answer normalisation as in the official SQuAD and HotpotQA scripts."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Lower case, ASCII punctuation removed, articles (a, an, the) removed, white space made single spaces.

    In this order, as in the official scripts of SQuAD v1.1 (Rajpurkar et al. 2016) and HotpotQA (Yang et al.
    2018). Hyphens vanish and join their words; typographic quotes are no ASCII punctuation and stay.

    >>> normalise("The  U.S. Senate!")
    'us senate'
    """
    return _spaced(_ARTICLES.sub(" ", _unpunctuated(text)))


def same_without_words(prediction: str, gold: str) -> bool:
    """Whether two texts that both normalise to '' are the same, judged by what normalisation took away.

    Articles stand for themselves (`The` is `the`, not `A`), and so do marks where there are no letters at
    all.
    """
    return _remainder(prediction) == _remainder(gold)


def scorable(golds: Sequence[str]) -> list[str]:
    """The gold answers that say something: blank ones are left out."""
    return [gold for gold in golds if gold.strip()]


def _remainder(text: str) -> str:
    return _spaced(_unpunctuated(text)) or _spaced(text.lower())


def _unpunctuated(text: str) -> str:
    return text.lower().translate(_PUNCTUATION)


def _spaced(text: str) -> str:
    return " ".join(text.split())
