"""Several texts cut to a common limit so that each keeps its share."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from psi.corpus.splitter import split, token_starts

SHORTEST = 12
"""Tokens of a text (as `splitter.token_starts` counts them) below which it is left out rather than cut further."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The texts as they fit, in their order, and how many were `shortened` and `dropped`."""

    texts: tuple[str, ...]
    shortened: int = 0
    dropped: int = 0


def fitted(texts: Sequence[str], fits: Callable[[Sequence[str]], bool]) -> Fitted | None:
    """The texts, cut as little as `fits` demands; None where not even one short text fits.

    First the longest are cut to one common length (max-min fair: no text loses anything before all longer ones are as
    short as it is), at sentence ends where possible. Where texts of `SHORTEST` tokens are still too many, some are
    dropped, evenly over the list.
    """
    if fits(texts):
        return Fitted(tuple(texts))
    longest = max((len(token_starts(text)) for text in texts), default=0)
    size = _largest(SHORTEST, longest, lambda size: fits(_cut(texts, size)))
    if size is not None:
        return _fitted(texts, texts, size)
    number = _largest(1, len(texts), lambda number: fits(_cut(_spread(texts, number), SHORTEST)))
    return None if number is None else _fitted(texts, _spread(texts, number), SHORTEST)


def _fitted(texts: Sequence[str], kept: Sequence[str], size: int) -> Fitted:
    short = _cut(kept, size)
    shortened = sum(new != old for new, old in zip(short, kept, strict=True))
    return Fitted(tuple(short), shortened, len(texts) - len(kept))


def _cut(texts: Sequence[str], size: int) -> list[str]:
    return [text if len(token_starts(text)) <= size else split(text, size)[0].text.rstrip() for text in texts]


def _spread(texts: Sequence[str], number: int) -> list[str]:
    return [texts[int(place)] for place in np.linspace(0, len(texts) - 1, number)]


def _largest(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """The largest number in low..high for which `holds`, which is true up to some point and false from there on."""
    found = bisect_left(range(low, high + 1), True, key=lambda number: not holds(number))
    return low + found - 1 if found else None
