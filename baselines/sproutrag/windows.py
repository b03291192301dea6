"""Long documents through short encoders: overlapping windows of whole chunks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Piece(NamedTuple):
    """Tokens `start` to `end` (exclusive) of the chunk number `chunk`: all of them, unless it is longer than a window."""

    chunk: int
    start: int
    end: int


def windows_of(lengths: Sequence[int], capacity: int, overlap: float) -> list[list[Piece]]:
    """Windows of at most `capacity` tokens over chunks of so many tokens, in document order.

    A window takes as many whole chunks as fit. The next one begins with the last of them, as many as fill the share
    `overlap` of the capacity, and holds at least one chunk more; the last window reaches back as far as fits. A chunk
    longer than a window is cut into equal pieces that count as chunks here, so every token is in some window.
    """
    pieces = [piece for chunk, length in enumerate(lengths) for piece in _pieces(chunk, length, capacity)]
    ends = np.cumsum([0, *(piece.end - piece.start for piece in pieces)])
    found: list[list[Piece]] = []
    first = 0
    while True:
        last = int(np.searchsorted(ends, ends[first] + capacity, side="right")) - 1
        if last == len(pieces):
            back = int(np.searchsorted(ends, ends[last] - capacity))
            return [*found, pieces[max(back, _begin(pieces, found)) : last]]
        found.append(pieces[first:last])
        # the next piece has to fit beside what is repeated
        room = min(overlap * capacity, capacity - float(ends[last + 1] - ends[last]))
        first = max(first + 1, int(np.searchsorted(ends, ends[last] - room)))


def _begin(pieces: Sequence[Piece], found: Sequence[Sequence[Piece]]) -> int:
    """The earliest place where the last window may begin: after the beginning of the one before it."""
    return pieces.index(found[-1][0]) + 1 if found else 0


def _pieces(chunk: int, length: int, capacity: int) -> list[Piece]:
    cuts = np.linspace(0, length, -(-length // capacity) + 1).round().astype(int).tolist()
    return [Piece(chunk, start, end) for start, end in pairwise(cuts)]
