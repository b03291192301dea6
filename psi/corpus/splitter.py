"""Texts cut into chunks of at most so many tokens, at sentence ends where possible.

A chunk ends at the last sentence end within reach; a sentence longer than a chunk is cut between words; a word longer
than a chunk (a URL) between tokens. Nothing is lost: without overlap the chunks joined are the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from psi.errors import ConfigError

# scripts that put no space between words: each character counts as a word
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w){{1,10}}|[^\w\s]")
_WORD = re.compile(rf"(?<!\S)\S|[{_UNSPACED}]|(?<=[{_UNSPACED}])[^\W{_UNSPACED}]")
_SENTENCE_END = re.compile(r"(?<![.!?…])([.!?…]+)[\"'”’»)\]]*\s+|[。！？｡]+[”’」』）]*\s*|\n\s*\n\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])"
    r"(?:(?:[^\W\d_]\.)*[^\W\d_]|Mrs?|Ms|Dr|Prof|Rev|Gen|Col|Capt|Lt|Sgt|Sen|Rep|Gov|Pres|Hon|Jr|Sr|St|Mt|Ft"
    r"|Inc|Ltd|Co|Corp|Bros|No|Nos|Vol|Fig|Figs|Eq|Sec|Ch|pp?|ed|eds|vs?|cf|ca|approx|etc|al|Ph\.D"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$"
)


class Chunk(NamedTuple):
    """A stretch of a text: `text` is what stands between the character offsets `start` and `end`."""

    text: str
    start: int
    end: int


def token_starts(text: str) -> list[int]:
    """Offsets where tokens begin: up to ten word characters, one CJK character, or one other visible character.

    A rough stand-in for a subword tokenizer that needs no model: English prose has about 1.2 of them a word.
    """
    return [match.start() for match in _TOKEN.finditer(text)]


def split(
    text: str, max_tokens: int, overlap: int = 0, starts_of: Callable[[str], Iterable[int]] = token_starts
) -> list[Chunk]:
    """Cut a text into chunks of at most `max_tokens` tokens; each but the first repeats the `overlap` tokens before it.

    `starts_of` gives the offsets where a text's tokens begin (for a Hugging Face tokenizer: the first numbers of
    its `offset_mapping`).

    Raises:
        ConfigError: `max_tokens` < 1, or `overlap` not in 0..max_tokens-1.
    """
    if max_tokens < 1 or not 0 <= overlap < max_tokens:
        raise ConfigError(
            f"max_tokens={max_tokens}, overlap={overlap}: a chunk needs at least one token and the overlap must be "
            "smaller than a chunk: 0 <= overlap < max_tokens."
        )
    if not text:
        return []
    starts = sorted(set(starts_of(text)))
    return list(_chunks(text, starts, max_tokens, overlap))


def sentence_starts(text: str) -> list[int]:
    """Offsets where sentences begin; abbreviations, initials and numbers end none."""
    return [0, *(match.end() for match in _SENTENCE_END.finditer(text) if _ends_sentence(text, match))]


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if match.end() == len(text) or match[1] is None:
        return match.end() < len(text)
    if text[match.end()].islower():
        return False
    return match[1] != "." or not _ABBREVIATION.search(text, max(0, match.start() - 20), match.start())


def _chunks(text: str, starts: list[int], max_tokens: int, overlap: int) -> Iterator[Chunk]:
    sentences = _as_token_numbers(sentence_starts(text), starts)
    words = _as_token_numbers((match.start() for match in _WORD.finditer(text)), starts)
    first, new = 0, 0  # numbers of the chunk's first token and of its first token that is not repeated
    while True:
        last = first + max_tokens
        if last >= len(starts):
            yield _chunk(text, starts, first, len(starts))
            return
        cut = _last_between(sentences, new, last) or _last_between(words, new, last) or last
        yield _chunk(text, starts, first, cut)
        first, new = max(0, cut - overlap), cut


def _as_token_numbers(offsets: Iterable[int], starts: list[int]) -> list[int]:
    known = {start: number for number, start in enumerate(starts)}
    return [known[offset] for offset in offsets if offset in known]


def _last_between(cuts: list[int], new: int, last: int) -> int | None:
    at = bisect_right(cuts, last) - 1
    return cuts[at] if at >= 0 and cuts[at] > new else None


def _chunk(text: str, starts: list[int], first: int, cut: int) -> Chunk:
    start = starts[first] if first > 0 else 0
    end = starts[cut] if cut < len(starts) else len(text)
    return Chunk(text[start:end], start, end)
