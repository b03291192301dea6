"""Reading a model's reply: `Thought: …`, then a line `Answer: …` or `Retrieve: …`, in all the ways models write it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from psi.models.thinking import without_thinking

_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
# a directive starts its line; bold, bullets, quotes and full-width colons are tolerated
_DIRECTIVE = re.compile(
    r"^[\s>*_#`\-]*(?:(?:the|final)\s+)*(?P<kind>answer|retrieve)(?:\s+is)?[\s*_`]*[:：][ \t*_`]*(?P<text>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_OTHER_LINE = re.compile(r"^[\s>*_#`\-]*(?:thought|answer|retrieve|question)\b[\s*_`]*[:：]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Directive:
    """What a reply asks for.

    `kind`: `answer` or `retrieve` with its `text`; `empty`: the reply or its directive says nothing; `parse_failed`:
    there is no directive. `complete` is True where something follows the directive's line, so that it cannot have been
    cut in the middle.
    """

    kind: Literal["answer", "retrieve", "empty", "parse_failed"]
    text: str = ""
    complete: bool = False


def parse_reply(reply: str, *, paragraphs: bool = False) -> Directive:
    """The first directive of a reply that starts a line, or the same as a JSON object.

    With `paragraphs` an answer goes on to the next directive or the end; without, to the end of its line.

    >>> parse_reply("Thought: I should not Retrieve: more.\\n**Answer:** Paris")
    Directive(kind='answer', text='Paris', complete=False)
    """
    text = without_thinking(reply)
    if not text.strip():
        return Directive("empty")
    return _from_json(text) or _from_lines(text, paragraphs) or Directive("parse_failed")


def _from_lines(text: str, paragraphs: bool) -> Directive | None:
    match = _DIRECTIVE.search(text)
    if match is None:
        return None
    lines = [match["text"], *text[match.end() :].split("\n")[1:]]
    if paragraphs and match["kind"].lower() == "answer":
        end = next((n for n, line in enumerate(lines) if n and _OTHER_LINE.match(line)), len(lines))
        return _directive(match["kind"], _bare("\n".join(lines[:end])), complete=end < len(lines))
    for number, line in enumerate(lines):
        if number and _OTHER_LINE.match(line):
            break
        value = _bare(line)
        if value:
            return _directive(match["kind"], value, complete=number + 1 < len(lines))
    return Directive("empty")


def _from_json(text: str) -> Directive | None:
    fenced = _FENCE.search(text)
    try:
        found = json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    fields = {str(key).strip().lower(): value for key, value in found.items()}
    for kind in ("answer", "retrieve"):
        if kind in fields and isinstance(fields[kind], (str, int, float)):
            return _directive(kind, _bare(str(fields[kind])), complete=True)
    return None


def _directive(kind: str, value: str, *, complete: bool) -> Directive:
    if not value:
        return Directive("empty")
    return Directive("answer" if kind.lower() == "answer" else "retrieve", value, complete)


def _bare(value: str) -> str:
    """The value without blanks, bold marks and backquotes around it; inner punctuation (`U.S.`) stays."""
    return value.strip().strip("*`").strip()
