"""Answer candidates: the spans of the passages that could be a short answer.

Short answers in open-domain question answering are nearly always dates, numbers, quoted titles, names or noun phrases
of the text. The rules here over-generate (about a hundred spans from two passages, the best of which is right for about
95 % of the questions of HotpotQA, NQ and 2Wiki) and leave the choice to a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from psi.agent.words import CONNECTORS, MONTH, NUMBER_WORD, STOP_WORDS

LONGEST_SPAN = 10
"""Words; longer spans are no short answers."""
LONGEST_ENDING = 5
"""Words of the endings that are taken from a run of content words."""

_YEAR = r"(?:1\d{3}|20\d{2})"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"\b{_DAY} (?:of )?{MONTH},? {_YEAR}\b"
    rf"|\b{MONTH} {_DAY}, ?{_YEAR}\b"
    rf"|\b{MONTH},? {_YEAR}\b"
    rf"|\b{MONTH} {_DAY}\b"
    rf"|\b{_DAY} {MONTH}\b"
    rf"|\b{_YEAR} ?[–-] ?\d{{2,4}}\b"
    rf"|\b{_YEAR}s?\b"
)
_LARGE = r"(?: (?:million|billion|trillion|thousand))"
_NUMBER = re.compile(
    rf"[$£€]\s?\d[\d,.]*\d*{_LARGE}?|\b\d[\d,]*(?:\.\d+)?(?: ?%| percent|{_LARGE})?|\b{NUMBER_WORD}\b", re.IGNORECASE
)
_QUOTED = re.compile(r"(?<=\")[^\"]{2,80}(?=\")|(?<=“)[^”]{2,80}(?=”)|(?<=‘)[^’]{2,80}(?=’)")
_CAPITALISED = r"[A-Z](?:[\w'’-]|\.(?=\w))*"
_NAME = rf"{_CAPITALISED}(?: {_CAPITALISED}){{0,2}}"
_PLACE = re.compile(rf"{_NAME}, {_NAME}")
# letters with dots between them (U.S.), or a word with inner marks, with its dot if it is an initial or Jr., Sr., St.
_WORD = re.compile(
    r"(?:[^\W\d_]\.){2,}"
    r"|[$£€]?\w+(?:(?:['’.\-/&+–]|(?<=\d),(?=\d{3}))\w+)*(?:'|%)?(?:(?<=\b[A-Z])\.)?(?:(?<=\b[JS]r)\.)?(?:(?<=\bSt)\.)?"
)
_NO_SENTENCE_END = "".join(
    rf"(?<!\b{word})" for word in ("[A-Z]", "Mr", "Mrs", "Ms", "Dr", "St", "Jr", "Sr", "No", "vs", "c", "ca", "d", "b")
)
_SENTENCE_END = re.compile(rf"(?:{_NO_SENTENCE_END}\.|[!?])(?:[\"”']|\[\d+\])*\s+(?=[\"“'(]?[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage with the passage's title."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span as it stands in the text, and the positions of the sentences that hold it."""

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
    """Sentences of a text without their end marks; initials and common abbreviations do not end one."""
    return [part for part in _SENTENCE_END.split(text) if part]


def title_spans(title: str) -> list[str]:
    """The title without its disambiguation, such as `(film)`."""
    bare = re.sub(r"\s*\([^)]*\)\s*$", "", title).strip()
    return [bare] if bare else []


def sentence_spans(text: str) -> list[str]:
    """Distinct candidate spans of one sentence, in a fixed order."""
    spans: dict[str, None] = {}
    for pattern in (_DATE, _NUMBER, _QUOTED, _PLACE):
        spans.update((match.group(), None) for match in pattern.finditer(text))
    for phrase in _phrases(text):
        for rule in (_name_parts, _run_endings, _of_phrases):
            spans.update((span, None) for span in rule(phrase))
    tidy = dict.fromkeys(_tidy(span) for span in spans)
    return [span for span in tidy if len(span.split()) <= LONGEST_SPAN and _says_something(span)]


def _phrases(text: str) -> Iterator[list[str]]:
    """Words of a text, cut wherever more than a blank or `&` stands between two of them."""
    matches = list(_WORD.finditer(text))
    phrase = [match.group() for match in matches[:1]]
    for left, right in pairwise(matches):
        if text[left.end() : right.start()] not in (" ", " & "):
            yield phrase
            phrase = []
        phrase.append(right.group())
    if phrase:
        yield phrase


def _name_parts(phrase: Sequence[str]) -> Iterator[str]:
    """Runs of capitalised words with connectors between them, and all parts that begin and end with a capital."""
    for run in _runs(phrase, lambda word: _is_capital(word) or word in CONNECTORS):
        capitals = [place for place, word in enumerate(run) if _is_capital(word)]
        for start in capitals:
            for end in capitals:
                if start <= end < start + LONGEST_SPAN:
                    yield " ".join(run[start : end + 1])


def _run_endings(phrase: Sequence[str]) -> Iterator[str]:
    """Runs without stop words and their endings: `retired chess player`, `chess player`, `player`."""
    for run in _runs(phrase, _is_content):
        yield " ".join(run)
        for start in range(max(0, len(run) - LONGEST_ENDING), len(run)):
            yield " ".join(run[start:])


def _of_phrases(phrase: Sequence[str]) -> Iterator[str]:
    """`X of Y` and `X of the Y`, with endings of X."""
    for place, word in enumerate(phrase):
        if word != "of":
            continue
        article = list(phrase[place + 1 : place + 2]) if phrase[place + 1 : place + 2] == ["the"] else []
        right = _leading(phrase[place + 1 + len(article) :], 5 - len(article))
        left = _leading(phrase[:place][::-1], 3)[::-1]
        for start in range(len(left) if right else 0):
            yield " ".join([*left[start:], "of", *article, *right])


def _leading(words: Sequence[str], most: int) -> list[str]:
    """The first words up to a stop word, at most so many."""
    for place, word in enumerate(words[:most]):
        if not _is_content(word):
            return list(words[:place])
    return list(words[:most])


def _runs(words: Sequence[str], keep: Callable[[str], bool]) -> Iterator[list[str]]:
    """The longest stretches of words that are kept."""
    run: list[str] = []
    for word in words:
        if keep(word):
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_capital(word: str) -> bool:
    # scripts without small letters count as capital
    return word[0].isalpha() and not word[0].islower()


def _is_content(word: str) -> bool:
    return word.lower() not in STOP_WORDS


def _tidy(span: str) -> str:
    """The span without blanks around it, a comma's leftover or the ending of a genitive."""
    return re.sub(r"(?<=\w)['’]s$|(?<=s)['’]$|[\s,;]+$", "", span.strip())


def _says_something(span: str) -> bool:
    return any(_is_content(word) for word in span.split()) and any(letter.isalnum() for letter in span)
