"""Answer candidates: the spans of the passages that could be a short answer.

Short answers in open-domain question answering are nearly always dates, numbers, quoted titles, names or noun phrases
of the text. The rules here over-generate (about a hundred spans from two passages) and leave the choice to a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from psi.agent.words import MONTH, NUMBER_WORD, STOP_WORDS

LONGEST_SPAN = 10
"""Words: longer spans are no short answers."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage with the passage's title, which says what it is about."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span as it stands in the text and the sentences (positions in the list given) that hold it."""

    text: str
    sentences: tuple[int, ...]


def candidates(sentences: Sequence[Sentence]) -> list[Candidate]:
    """Distinct candidate spans in the order of their first appearance, titles included."""
    found: dict[str, dict[int, None]] = {}
    for number, sentence in enumerate(sentences):
        for span in [*title_spans(sentence.title), *sentence_spans(sentence.text)]:
            found.setdefault(span, {})[number] = None
    return [Candidate(text, tuple(numbers)) for text, numbers in found.items()]


def split_sentences(text: str) -> list[str]:
    """Sentences of a text with collapsed white space; initials and common abbreviations do not end one."""
    return [part for part in _SENTENCE_END.split(text) if part]


def title_spans(title: str) -> list[str]:
    """The title without its disambiguation, such as `(film)`."""
    bare = re.sub(r"\s*\([^)]*\)\s*$", "", title).strip()
    return [bare] if bare else []


def sentence_spans(text: str) -> list[str]:
    """Distinct candidate spans of one sentence, in a fixed order."""
    phrases = _phrases(text)
    spans: dict[str, None] = {}
    for pattern in (_DATE, _NUMBER, _QUOTED):
        spans.update((next(group for group in match.groups() if group).strip(), None) for match in pattern.finditer(text))
    for phrase in phrases:
        spans.update((span, None) for span in _capitalised(phrase))
        spans.update((span, None) for span in _content_runs(phrase))
    spans.update((span, None) for span in _place_pairs(text))
    return [span for span in spans if 0 < len(span.split()) <= LONGEST_SPAN and not _idle(span)]


_ABBREVIATION = r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bJr)(?<!\bSr)(?<!\bNo)(?<!\bvs)(?<!\bc)(?<!\bd)(?<!\bb)(?<!\bca)"
_SENTENCE_END = re.compile(rf"(?:{_ABBREVIATION}\.|[!?])(?:[\"”']|\[\d+\])*\s+(?=[\"“'(]?[A-Z0-9])")
_YEAR = r"(?:1\d{3}|20\d{2})"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"(\b{_DAY} (?:of )?{MONTH},? {_YEAR}\b)|(\b{MONTH} {_DAY}, ?{_YEAR}\b)|(\b{MONTH},? {_YEAR}\b)|(\b{MONTH} {_DAY}\b)"
    rf"|(\b{_DAY} {MONTH}\b)|(\b{_YEAR} ?[–-] ?\d{{2,4}}\b)|(\b{_YEAR}s?\b)"
)
_NUMBER = re.compile(
    rf"([$£€]\s?\d[\d,.]*\d*(?: (?:million|billion|trillion|thousand))?)|(\b\d[\d,]*(?:\.\d+)?(?: ?%| percent| (?:million|billion|trillion|thousand))?)"
    rf"|(\b{NUMBER_WORD}\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"([^\"]{2,80})\"|“([^”]{2,80})”|‘([^’]{2,80})’")
_WORD = re.compile(r"(?:[^\W\d_]\.){2,}|[$£€]?\w+(?:['’.\-/&+–]\w+)*(?:'|%)?(?:(?<=\b[A-Z])\.)?(?:(?<=\b[JS]r)\.)?(?:(?<=\bSt)\.)?", re.UNICODE)
_CONNECTORS = frozenset(["of", "the", "and", "de", "la", "le", "du", "van", "von", "der", "den", "del", "di", "da", "al", "el", "for", "in", "on", "to", "a", "&", "at", "with", "'n'", "y", "e", "et", "bin", "ibn"])
_CAPITALS = re.compile(r"[A-Z]|[^\W\d_a-z]")
_PAIR = re.compile(r"((?:[A-Z][\w.'’-]*)(?: [A-Z][\w.'’-]*){0,2}, (?:[A-Z][\w.'’-]*)(?: [A-Z][\w.'’-]*){0,2})")


def _phrases(text: str) -> list[list[str]]:
    """Words of a text, cut wherever something other than one blank (or `- `) stands between two of them."""
    matches = list(_WORD.finditer(text))
    phrases: list[list[str]] = [[matches[0].group()]] if matches else []
    for left, right in pairwise(matches):
        if text[left.end() : right.start()] in (" ", " & "):
            phrases[-1].append(right.group())
        else:
            phrases.append([right.group()])
    return phrases


def _capitalised(phrase: Sequence[str]) -> Iterator[str]:
    """Names: runs of capitalised words with small words between them, and all of their parts."""
    for run in _runs(phrase, lambda word: _is_capital(word) or word in _CONNECTORS):
        for start in range(len(run)):
            for end in range(start + 1, min(len(run), start + LONGEST_SPAN) + 1):
                if _is_capital(run[start]) and _is_capital(run[end - 1]):
                    yield " ".join(run[start:end])


def _content_runs(phrase: Sequence[str]) -> Iterator[str]:
    """Runs without stop words, their endings, and two of them joined by `of`."""
    runs = []
    for run in _runs(phrase, lambda word: word.lower() not in STOP_WORDS):
        runs.append(run)
        for start in range(max(0, len(run) - 5), len(run)):
            yield " ".join(run[start:])
        if len(run) > 5:
            yield " ".join(run)
    words = list(phrase)
    for place, word in enumerate(words):
        if word == "of":
            left = _tail(words[:place])
            right = _head(words[place + 1 :])
            for start in range(len(left)):
                if right:
                    yield " ".join([*left[start:], "of", *right])


def _tail(words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for word in reversed(words):
        if word.lower() in STOP_WORDS or len(kept) == 3:
            break
        kept.insert(0, word)
    return kept


def _head(words: Sequence[str]) -> list[str]:
    kept = [word for word in words[:1] if word == "the"]
    for word in words[len(kept) :]:
        if word.lower() in STOP_WORDS or len(kept) == 5:
            break
        kept.append(word)
    return kept if kept != ["the"] else []


def _place_pairs(text: str) -> Iterator[str]:
    """`Town, Country`."""
    for match in _PAIR.finditer(text):
        yield match.group(1).rstrip(".")


def _runs(words: Sequence[str], keep: object) -> Iterator[list[str]]:
    run: list[str] = []
    for word in words:
        if keep(word):  # type: ignore[operator]
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run


@cache
def _is_capital(word: str) -> bool:
    return bool(_CAPITALS.match(word)) and not word[0].isdigit()


def _idle(span: str) -> bool:
    return all(word.lower() in STOP_WORDS for word in span.split()) or not any(c.isalnum() for c in span)
