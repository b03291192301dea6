"""Lists of entities and triples in the replies of language models, in all the ways models write and cut them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from baselines.hipporag.openie import Triple
from psi.corpus.clean import clean
from psi.models.thinking import without_thinking

_INNERMOST = re.compile(r"\[[^\[\]{}]*\]|\{[^\[\]{}]*\}")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class Triples(NamedTuple):
    """Triples that can be used, and how many could not."""

    triples: tuple[Triple, ...]
    malformed: int


def entities_of(reply: str) -> tuple[str, ...] | None:
    """The distinct entities of a reply: a JSON list, or an object with one, or what a cut reply still holds of it.

    None where the reply holds no list.

    >>> entities_of('Sure! {"entities": ["Marta Holm", "Tars')
    ('Marta Holm',)
    """
    text = without_thinking(reply)
    found = _outer_list(text)
    if found is None:
        start = text.find("[")
        if start < 0:
            return None
        found = [json.loads(match[0]) for match in _STRING.finditer(text, start) if _is_json(match[0])]
    words = (_words(item) for item in found)
    return tuple(dict.fromkeys(word for word in words if word))


def triples_of(reply: str) -> Triples | None:
    """The distinct triples of a reply, as lists or as objects with three values; from a cut reply the whole ones.

    None where the reply holds no list.

    >>> triples_of('{"triples": [["Marta Holm", "born in", "Tarsk"], ["Tarsk", "is"], ["Tarsk", "lies')
    Triples(triples=(('Marta Holm', 'born in', 'Tarsk'),), malformed=1)
    """
    text = without_thinking(reply)
    found = _outer_list(text)
    if found is None:
        found = list(_innermost(text))
        if not found:
            return None
    if len(found) == 3 and all(isinstance(item, str) for item in found):
        found = [found]  # one triple without the list around it
    return usable(found)


def usable(items: Iterable[Any]) -> Triples:
    """The distinct items that are triples of non-blank parts, in order, and the number of all others."""
    triples: dict[Triple, None] = {}
    malformed = 0
    for item in items:
        parts = list(item.values()) if isinstance(item, dict) else item
        words = [_words(part) for part in parts] if isinstance(parts, list) else []
        if len(words) == 3 and all(words):
            triples[words[0], words[1], words[2]] = None
        else:
            malformed += 1
    return Triples(tuple(triples), malformed)


def _outer_list(text: str) -> list[Any] | None:
    """The first JSON list of a text, or the first list in its first JSON object; None where the JSON is not whole."""
    start = re.search(r"[\[{]", text)
    if start is None:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start.start())
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict):
        return next((value for value in found.values() if isinstance(value, list)), None)
    return found if isinstance(found, list) else None


def _innermost(text: str) -> Iterator[Any]:
    return (json.loads(match[0]) for match in _INNERMOST.finditer(text) if _is_json(match[0]))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _words(part: Any) -> str:
    """The part as clean text in one line; "" where it is no text or number, or holds no letter, digit or symbol."""
    if isinstance(part, bool) or not isinstance(part, (str, int, float)):
        return ""
    text = " ".join(clean(str(part)).split())
    return text if any(character.isalnum() for character in text) else ""
