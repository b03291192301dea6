"""What texts name: keys (the names of passages) by longest match in a trie of words, and capitalised phrases.

Both rest on capitals, as English and most European languages write names. Text without capitals names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from psi.corpus.records import Passage

LONGEST = 9  # words of a key
OPENING = 400  # characters of a passage in which its other names are looked for
Key = tuple[str, ...]
Kind = Literal["title", "head", "article", "alias", "comma"]

_WORD = re.compile(r"\w+")
_CAPITALISED = r"[A-ZÀ-ÖØ-Þ][\w'’-]+"
_PHRASE = re.compile(rf"{_CAPITALISED}(?: {_CAPITALISED})*")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_HEAD = re.compile(r"^\W*([^,(;:]{2,90}?)\s*(?:[,(;:]| (?:is|was|are|were|refers|has|had|may|can)\b)")
_ALIAS = re.compile(rf"\b(?:known as|born) [\"“']?({_CAPITALISED}(?: {_CAPITALISED})*)")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_CALENDAR = {*_MONTHS, "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}


def words(text: str) -> list[str]:
    """The words of a text in order, capitals kept."""
    return _WORD.findall(text)


def phrases(text: str) -> set[str]:
    """The runs of capitalised words in a text, without a possessive ending."""
    return {phrase.removesuffix("'s").removesuffix("’s").rstrip("'’-") for phrase in _PHRASE.findall(text)}


def names(passage: Passage) -> list[tuple[Kind, Key]]:
    """The keys by which other texts may mean a passage, each with how it was found.

    `title`: the title without what stands in brackets; `head`: the subject of the first sentence; `article`: the title
    without "The"; `alias`: what follows "known as" or "born" in the opening; `comma`: the title up to a comma. A
    passage without a title has no name.
    """
    title = _BRACKETS.sub("", passage.title).strip()
    if not title:
        return []
    found: list[tuple[Kind, str]] = [("title", title)]
    head = _HEAD.match(passage.text)
    if head and head[1][0].isupper():
        found.append(("head", head[1]))
    if title.startswith("The "):
        found.append(("article", title[4:]))
    found += [("alias", alias[1]) for alias in _ALIAS.finditer(passage.text[:OPENING])]
    if "," in title:
        found.append(("comma", title.split(",")[0]))
    keyed: Iterable[tuple[Kind, Key]] = ((kind, tuple(words(name))) for kind, name in found)
    return [(kind, key) for kind, key in keyed if _names_something(key)]


def _names_something(key: Key) -> bool:
    if len(key) == 1:  # one word is a name only where it looks like one
        return key[0][0].isupper() and len(key[0]) > 3 and key[0] not in _CALENDAR
    return 1 < len(key) <= LONGEST


class Trie:
    """Keys as a trie of words."""

    def __init__(self, keys: Sequence[Key]):
        self._root: dict[str, Any] = {}
        for number, key in enumerate(keys):
            node = self._root
            for word in key:
                node = node.setdefault(word, {})
            node[""] = number  # no word is empty

    def find(self, text: Sequence[str]) -> list[int]:
        """Numbers of the keys in a text, from left to right: the longest at each place, none inside another."""
        found: list[int] = []
        place, end, root = 0, len(text), self._root
        while place < end:
            node = root.get(text[place])
            place += 1
            if node is None:
                continue
            number, reach, after = -1, place, place
            while node is not None:
                if "" in node:
                    number, after = node[""], reach
                node = node.get(text[reach]) if reach < end else None
                reach += 1
            if number >= 0:
                found.append(number)
                place = after
        return found
