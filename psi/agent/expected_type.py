"""What kind of answer a question asks for, told from its wording."""

from __future__ import annotations

import re
from typing import Literal

from psi.agent.words import MONTH, NUMBER_WORD

AnswerType = Literal["date", "number", "name", "any"]

_ASKED: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    ("date", re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b", re.IGNORECASE)),
    (
        "number",
        re.compile(
            r"\bhow (?:many|much|old|tall|long|far|high|big|large|fast|deep|wide|heavy)\b|\b(?:what|which) number\b"
            r"|\bwhat (?:is|was) the (?:population|number|length|height)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "name",
        re.compile(r"\b(?:who|whom|whose|where)\b|\b(?:what|which) (?:country|city|state|town)\b", re.IGNORECASE),
    ),
    ("any", re.compile(r"\b(?:what|which|how|why)\b", re.IGNORECASE)),
)
_YES_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
_YEAR_OR_MONTH = re.compile(rf"\b(?:1\d{{3}}|20\d{{2}})|\b{MONTH}\b|\bcentury\b|^\d{{1,4}}$")
_NUMBER = re.compile(rf"\d|\b(?:{NUMBER_WORD}|once|twice|dozens?|thousands?|millions?)\b", re.IGNORECASE)
_CAPITAL = re.compile(r"[A-Z]|[^\W\d_a-z]")
_LIST = re.compile(r"(?<=\s)[a-z0-9][\w'’-]*[,:]\s+(?P<first>(?:the )?[A-Z0-9\"“].*?),?\s+or\s+(?P<second>.+)$")
_SUBJECTS = re.compile(r"^(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Dd]id|[Dd]oes|[Dd]o)\s+(?P<first>[A-Z0-9].*?),?\s+or\s+(?P<second>.+)$")
_BARE = re.compile(r"\s(?P<first>[A-Z][\w.'’-]*(?:\s+[A-Z][\w.'’-]*)*)\s+or\s+(?P<second>[A-Z].*)$")
_PICK = re.compile(r"\b(?:out of|between)\s+(?P<first>[A-Z].*?)\s+and\s+(?P<second>[A-Z].*)$")
_NAME_WORDS = re.compile(r"^\S+(?:\s+(?:[^a-z\s]\S*|of|the|and|de|van|von|der|la|du|del|al|in|on|a))*")


def expected_type(question: str) -> AnswerType:
    """The kind asked for by the first question word: dates by `when`, numbers by `how many`, names by `who` and `where`."""
    hits = [(match.start(), order, kind) for order, (kind, pattern) in enumerate(_ASKED) if (match := pattern.search(question))]
    return min(hits)[2] if hits else "any"


def fits(span: str, kind: AnswerType) -> bool:
    """Whether a span can be an answer of that kind: a year or month in dates, a capital letter first in names."""
    if kind == "date":
        return bool(_YEAR_OR_MONTH.search(span))
    if kind == "number":
        return bool(_NUMBER.search(span))
    if kind == "name":
        return bool(_CAPITAL.match(span.lstrip("\"“'")))
    return True


def is_yes_no(question: str) -> bool:
    """Whether a question begins with an auxiliary verb and offers no choice."""
    return bool(_YES_NO.match(question.strip())) and " or " not in question


def options(question: str) -> tuple[str, str] | None:
    """The two names between which a question lets choose: `…, A or B?`, `Was A or B …?`, `… out of A and B?`."""
    asked = question.strip().rstrip("?").rstrip()
    match = _LIST.search(asked)
    if match:
        return match["first"], match["second"]
    match = _SUBJECTS.match(asked) or _PICK.search(asked) or _BARE.search(asked)
    if match is None:
        return None
    second = _NAME_WORDS.match(match["second"])
    # the second name ends where the sentence goes on in small letters
    return (match["first"], second.group()) if second and second.group()[0].isupper() else None
