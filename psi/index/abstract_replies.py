"""What language models reply when they are asked for an abstract, reduced to the abstract."""

from __future__ import annotations

import re

from psi.corpus.splitter import sentence_starts, split
from psi.models.thinking import without_thinking

_LABEL = re.compile(
    r"^\W*(?:(?:sure|certainly|of course|here (?:is|are)|the texts are)\b[^\n:]*"
    r"|(?:summary|abstract|key ?words?|topics)\b[^\n:,.]{0,30}):[*_]*\s*",
    re.IGNORECASE,
)
_ECHO = re.compile(r"\bText \d+:\s*")  # the marks that the prompt puts before its texts
_BULLET = re.compile(r"^\s*(?:[-*•–·]|\d+[.)])\s+")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_BETWEEN = re.compile(r"[,;、，；|\n]")
_WORD = re.compile(r"\S+")
_LONGEST_KEYWORD = 8  # words: what is longer is a sentence


def summary_of(reply: str, most_words: int, *, truncated: bool = False) -> str:
    """The reply's prose as one paragraph of at most `most_words` words, cut at a sentence end; "" if there is none.

    Reasoning, labels such as `Summary:` and list markers are dropped; with `truncated` also a last sentence that was
    begun but not ended.

    >>> summary_of("<think>Hm.</think>**Summary:** Paris is a city.", 100)
    'Paris is a city.'
    """
    lines = [_BULLET.sub("", line) for line in _body(reply).split("\n")]
    text = " ".join(" ".join(lines).split()).strip('"“” ')
    if truncated:
        last = sentence_starts(text)[-1]
        text = text[:last].strip() or text
    if len(_WORD.findall(text)) > most_words:
        text = split(text, most_words, starts_of=_word_starts)[0].text.strip()
    return text if _says_something(text) else ""


def keywords_of(reply: str, most: int, *, truncated: bool = False) -> str:
    """The reply's keywords, at most `most`, without repetitions, separated by commas; "" if there is none.

    A list with bullets or numbers is read like one with commas. Whole sentences are no keywords. With `truncated` the
    last keyword, which may be half of one, is dropped.

    >>> keywords_of("Here are the keywords:\\n1. **Cities**: large towns\\n2. France", 20)
    'Cities, France'
    """
    lines = [_keyword_line(line) for line in _body(reply).split("\n")]
    found = [word.strip(" .\"'“”`*_") for line in lines for word in _BETWEEN.split(line)]
    kept = [word for word in found if _says_something(word) and len(word.split()) <= _LONGEST_KEYWORD]
    if truncated and len(kept) > 1:
        kept.pop()
    distinct: dict[str, str] = {}
    for word in kept:
        distinct.setdefault(word.casefold(), word)
    return ", ".join(list(distinct.values())[:most])


def _body(reply: str) -> str:
    text = _ECHO.sub("", without_thinking(reply)).strip()
    while (label := _LABEL.match(text)) is not None:
        text = text[label.end() :]
    return text


def _keyword_line(line: str) -> str:
    """`1. **Cities**: large towns` → `Cities`; other lines as they are, list markers aside."""
    bare = _BULLET.sub("", line)
    bold = _BOLD.match(bare)
    return bold[1].strip(" :") if bold and bare != line else bare


def _word_starts(text: str) -> list[int]:
    return [match.start() for match in _WORD.finditer(text)]


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)
