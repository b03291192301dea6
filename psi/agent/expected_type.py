"""What kind of answer a question asks for, told from its wording."""

from __future__ import annotations

import re
from typing import Literal

from psi.agent.words import MONTH, NUMBER_WORD

AnswerType = Literal["year", "date", "number", "role", "name", "thing", "any"]

_NUMERIC_THINGS = r"number|time|date|year|rank|score|percentage|age|population|period|speed|temperature"
_ASKED: dict[AnswerType, re.Pattern[str]] = {
    "year": re.compile(r"\b(?:what|which) year\b", re.IGNORECASE),
    "date": re.compile(
        r"\bwhen\b|\b(?:what|which) (?:date|day|month|decade|century)\b|\bwhat (?:is|was) the date\b", re.IGNORECASE
    ),
    "number": re.compile(
        r"\bhow (?:many|much|old|tall|long|far|high|big|large|fast|deep|wide|heavy)\b|\b(?:what|which) number\b"
        r"|\bwhat (?:is|was) the (?:population|number|length|height)\b",
        re.IGNORECASE,
    ),
    "role": re.compile(r"\b(?:what|which)\b.{1,60}\b(?:occupation|profession)\b", re.IGNORECASE),
    "name": re.compile(r"\b(?:who|whom|whose|where)\b|\b(?:what|which) (?:country|city|state|town)\b", re.IGNORECASE),
    "thing": re.compile(rf"\b(?:what|which)\b(?!.*\b(?:{_NUMERIC_THINGS})\b)", re.IGNORECASE),
    "any": re.compile(r"\b(?:what|which|how|why)\b", re.IGNORECASE),
}
_YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:1\d{3}|20\d{2})$")
_YEAR_OR_MONTH = re.compile(rf"\b(?:1\d{{3}}|20\d{{2}})|\b{MONTH}\b|\bcentury\b|^\d{{1,4}}$")
_NUMBER = re.compile(rf"\d|\b(?:{NUMBER_WORD}|once|twice|dozens?|thousands?|millions?)\b", re.IGNORECASE)
_CAPITAL = re.compile(r"[A-Z]|[^\W\d_a-z]")
_MONTH_AND_YEAR = re.compile(rf"\b{MONTH}\b.*\b\d{{4}}\b")
_ONLY_DATE = re.compile(rf"(?:[\d\s,–-]|\b{MONTH}\b|(?<=\d)(?:st|nd|rd|th|s)\b)+$")


def expected_type(question: str) -> AnswerType:
    """The kind asked for by the first question word: `when` a date, `how many` a number, `who` and `where` a name."""
    found = [(pattern.search(question), kind) for kind, pattern in _ASKED.items()]
    hits = [(match.start(), kind) for match, kind in found if match]
    return min(hits, key=lambda hit: hit[0])[1] if hits else "any"  # of equal places the first pattern's


def fits(span: str, kind: AnswerType) -> bool:
    """Whether a span can be an answer of that kind: a year or month in dates, a capital letter first in names, ..."""
    if kind == "year":
        return bool(_YEAR.match(span))
    if kind == "date":
        return bool(_YEAR_OR_MONTH.search(span))
    if kind == "number":
        return bool(_NUMBER.search(span))
    if kind == "role":
        return span.split()[-1].islower()
    if kind == "name":
        return bool(_CAPITAL.match(span.lstrip("\"“'"))) and not _ONLY_DATE.match(span)
    return kind == "any" or not _ONLY_DATE.match(span)


_OPTIONS = tuple(
    re.compile(pattern)
    for pattern in (
        # ..., A or B
        r"(?<=\s)[a-z0-9][\w'’-]*[,:]\s+(?P<first>(?:the )?[A-Z0-9\"“].*?),?\s+or\s+(?P<second>.+)$",
        # Was A or B born first
        r"^(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Dd]id|[Dd]oes|[Dd]o)\s+(?P<first>[A-Z0-9].*?),?\s+or\s+(?P<second>[A-Z].*)$",
        # Who was born first out of A and B
        r"\b(?:out of|between)\s+(?P<first>[A-Z].*?)\s+and\s+(?P<second>[A-Z].*)$",
        # Which band was formed first A or B
        r"\s(?P<first>[A-Z][\w.'’-]*(?:\s+[A-Z][\w.'’-]*)*)\s+or\s+(?P<second>[A-Z].*)$",
    )
)
_NAME_WORDS = re.compile(r"^\S+(?:\s+(?:[^a-z\s]\S*|of|the|and|de|van|von|der|la|du|del|al|in|on|a))*")


def is_whole_date(span: str) -> bool:
    """Whether a span names a month and a year."""
    return bool(_MONTH_AND_YEAR.search(span))


def is_yes_no(question: str) -> bool:
    """Whether a question begins with an auxiliary verb and offers no choice."""
    return bool(_YES_NO.match(question.strip())) and " or " not in question


def options(question: str) -> tuple[str, str] | None:
    """The two names between which a question lets choose: `…, A or B?`, `Was A or B …?`, `… out of A and B?`."""
    asked = question.strip().rstrip("?").rstrip()
    for number, pattern in enumerate(_OPTIONS):
        match = pattern.search(asked)
        if match is None:
            continue
        if number == 0:
            return match["first"], match["second"]
        name = _NAME_WORDS.match(match["second"])
        if name:  # the second name ends where the sentence goes on in small letters
            return match["first"], name.group()
    return None
