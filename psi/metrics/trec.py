"""Runs and relevance judgements in the formats of trec_eval, which ranx and ir-measures read too."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from psi.errors import InputError

_UNSAFE = re.compile(r"[\s%]")  # white space ends a field


def write_run(path: Path, rankings: Mapping[str, Sequence[str]], tag: str) -> None:
    """Write rankings (question id -> passage ids, best first) as `question Q0 passage rank score tag`.

    Scores count down to 1: trec_eval ignores the rank, rounds scores to 32 bits and gives ties to the larger id, so only scores
    that differ by whole numbers keep the order. White space and % in ids are percent-encoded. A question without
    passages has no line: let trec_eval count it as 0 (`-c`).

    Raises:
        InputError: an id is empty, or a passage stands twice in one ranking.
    """
    lines = []
    for question, passages in rankings.items():
        if len(set(passages)) < len(passages):
            raise InputError(f"{path}: question {question!r} has a passage twice; the format allows each once.")
        lines += [
            f"{_field(question)} Q0 {_field(passage)} {place + 1} {len(passages) - place} {_field(tag)}\n"
            for place, passage in enumerate(passages)
        ]
    path.write_text("".join(lines), encoding="utf-8")


def write_qrels(path: Path, gold: Mapping[str, Sequence[str]]) -> None:
    """Write gold passages (question id -> passage ids) as `question 0 passage 1`; questions without gold have no line.

    Raises:
        InputError: an id is empty.
    """
    lines = [
        f"{_field(question)} 0 {_field(passage)} 1\n"
        for question, passages in gold.items()
        for passage in dict.fromkeys(passages)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def read_run(path: Path) -> dict[str, list[str]]:
    """Rankings of a run file: question id -> passage ids by score, ties to the smaller id; the rank column is not used.

    Raises:
        InputError: the file can't be read, a line has not six fields, a score is no finite number, a passage is named twice.
    """
    scores: dict[str, dict[str, float]] = {}
    for where, (question, _, passage, _, score, _) in _fields(path, 6, "question Q0 passage rank score tag"):
        own = scores.setdefault(question, {})
        if passage in own:
            raise InputError(f"{where}: question {question!r} names passage {passage!r} twice. Keep one of the lines.")
        own[passage] = _number(score, where)
    return {
        question: sorted(own, key=lambda passage, own=own: (-own[passage], passage))  # type: ignore[misc]
        for question, own in scores.items()
    }


def read_qrels(path: Path) -> dict[str, list[str]]:
    """Gold passages of a qrels file: question id -> passages of a relevance above 0, in the order of the file.

    Grades above 1 count as 1. A question whose passages are all irrelevant has an empty list.

    Raises:
        InputError: the file can't be read, a line has not four fields, or a relevance is no number.
    """
    gold: dict[str, list[str]] = {}
    for where, (question, _, passage, relevance) in _fields(path, 4, "question 0 passage relevance"):
        own = gold.setdefault(question, [])
        if _number(relevance, where) > 0 and passage not in own:
            own.append(passage)
    return gold


def _field(word: str) -> str:
    if not word:
        raise InputError("an empty id or tag cannot stand in a TREC file. Give everything a name.")
    return _UNSAFE.sub(lambda match: quote(match[0]), word)


def _fields(path: Path, count: int, form: str) -> Iterator[tuple[str, list[str]]]:
    """Decoded fields of the lines that are not blank, each with where it stands."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}. Give a UTF-8 text file with lines `{form}`.") from error
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if fields and len(fields) != count:
            raise InputError(f"{path}, line {number}: {len(fields)} fields, but `{form}` has {count}.")
        if fields:
            yield f"{path}, line {number}", [unquote(field) for field in fields]


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where}: {text!r} is no finite number.")
    return value
