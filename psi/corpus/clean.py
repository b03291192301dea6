"""Cleaning at load: texts that every tokenizer, index and file can hold, with a count of what was repaired.

Repairs, in this order: lone surrogates become U+FFFD (`surrogate`), NUL goes (`nul`), CRLF and CR become LF
(`newline`), NFC normalisation (`nfc`), white space at both ends goes (`whitespace`). Everything else stays:
U+2028, zero-width joiners, special-token look-alikes.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal

from psi.corpus.records import Passage
from psi.errors import InputError

OnEmpty = Literal["refuse", "skip"]

_REPAIRS: dict[str, Callable[[str], str]] = {
    "surrogate": lambda text: re.sub("[\ud800-\udfff]", "\ufffd", text),
    "nul": lambda text: text.replace("\0", ""),
    "newline": lambda text: re.sub("\r\n?", "\n", text),
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "whitespace": str.strip,
}


def clean(text: str, counts: Counter[str] | None = None, *, strip: bool = True) -> str:
    """The text with every repair applied; `counts` goes up by one for each kind of repair that changed it.

    `strip=False` leaves white space at the ends alone: for texts that are still to be joined.
    """
    for kind, repair in _REPAIRS.items():
        if kind == "whitespace" and not strip:
            continue
        repaired = repair(text)
        if repaired != text and counts is not None:
            counts[kind] += 1
        text = repaired
    return text


def clean_json(value: Any, counts: Counter[str] | None = None, *, strip: bool = True) -> Any:
    """JSON data with every string in it cleaned (keys of objects stay as they are)."""
    if isinstance(value, str):
        return clean(value, counts, strip=strip)
    if isinstance(value, list):
        return [clean_json(item, counts, strip=strip) for item in value]
    if isinstance(value, dict):
        return {key: clean_json(item, counts, strip=strip) for key, item in value.items()}
    return value


def without_empty(passages: Sequence[Passage], on_empty: OnEmpty, where: str) -> tuple[list[Passage], tuple[str, ...]]:
    """Split passages into those with a text and the ids of those without.

    Raises:
        InputError: a passage has no text and `on_empty` is `refuse`; or no passage is left.
    """
    kept = [passage for passage in passages if passage.text]
    empty = tuple(passage.id for passage in passages if not passage.text)
    if empty and on_empty == "refuse":
        raise InputError(
            f"{where}: passage {empty[0]!r} has no text ({len(empty)} such passages). "
            "Give it one, remove it, or set on_empty=skip to leave such passages out and have them counted."
        )
    if not kept:
        raise InputError(
            f"empty corpus: {where} holds no passage with a text ({len(empty)} without). "
            "Check that it is the right place."
        )
    return kept, empty


def repeated_texts(passages: Sequence[Passage]) -> tuple[str, ...]:
    """A note for people if texts stand under more than one id (all of them are kept)."""
    repeats = len(passages) - len({passage.text for passage in passages})
    note = f"passages that repeat another one's text: {repeats}; each is kept under its own id."
    return (note,) if repeats else ()
