"""Predictions that were made elsewhere: files of answers and retrieved passages, and the passages they mean."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic reads typing's own only from Python 3.12 on

from psi.corpus.gold import Reference, unmapped
from psi.corpus.records import Passages, Question
from psi.corpus.sources import invalid
from psi.errors import InputError

RELEASED_ERROR = "Error"  # what the released files of Ψ-RAG hold where the reply could not be read
HOW = ("id", "exact", "but for white space", "by letters and digits", "by title", "unmapped")


class Prediction(NamedTuple):
    """What somebody else's system gave for a question: an answer (None: none), passages as ids or texts (None: unknown)."""

    question: str
    answer: str | None
    passages: tuple[str, ...] | None


class _Released(TypedDict):
    answers: list[str | None]
    retrieved_docs: NotRequired[list[list[str]]]


class _Line(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # a misspelt key is no absent one
    question: Annotated[str, Field(min_length=1)]
    answer: NotRequired[str | None]
    passages: NotRequired[list[str]]


_RELEASED, _LINE = TypeAdapter(_Released), TypeAdapter(_Line)


def read_predictions(path: Path, questions: Sequence[Question]) -> list[Prediction]:
    """Predictions of a file: `.jsonl` with `{"question": id, "answer": text, "passages": [ids or texts]}` a line, or
    `.json` as Ψ-RAG released them, with `answers` and `retrieved_docs` in the order of the questions. Either may be gzipped.

    Raises:
        InputError: the file can't be read, a row is malformed, names an unknown question or one twice, or there are more
            answers than questions.
    """
    plain = path.name.removesuffix(".gz")
    if plain.endswith(".jsonl"):
        return list(_lines(path, {question.id for question in questions}))
    if plain.endswith(".json"):
        return list(_released(path, questions))
    raise InputError(f"{path}: the ending must be .json (as released with Ψ-RAG) or .jsonl, perhaps with .gz.")


def _lines(path: Path, known: set[str]) -> Iterator[Prediction]:
    seen: set[str] = set()
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _LINE.validate_json(line)
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {invalid(error)}.") from None
        question = row["question"]
        if question not in known:
            raise InputError(
                f"{path}, line {number}: the dataset has no question with the id {question!r}, only such as {min(known)!r}."
            )
        if question in seen:
            raise InputError(f"{path}, line {number}: a second answer to question {question!r}. Keep one of them.")
        seen.add(question)
        passages = row.get("passages")
        yield Prediction(question, row.get("answer"), None if passages is None else tuple(passages))


def _released(path: Path, questions: Sequence[Question]) -> Iterator[Prediction]:
    try:
        rows = _RELEASED.validate_json(_text(path))
    except ValidationError as error:
        raise InputError(f"{path}: {invalid(error)}. Is it a file of results released with Ψ-RAG?") from None
    answers, retrieved = rows["answers"], rows.get("retrieved_docs")
    if len(answers) > len(questions) or (retrieved is not None and len(retrieved) != len(answers)):
        found = "no" if retrieved is None else len(retrieved)
        raise InputError(
            f"{path} has {len(answers)} answers and {found} lists of passages for {len(questions)} questions. "
            "Rows stand in the order of the questions: choose the dataset that they were made on."
        )
    for place, answer in enumerate(answers):
        yield Prediction(questions[place].id, answer, None if retrieved is None else tuple(retrieved[place]))


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, ValueError) as error:  # ValueError: not UTF-8; OSError: also what gzip raises
        raise InputError(f"cannot read the predictions {path}: {error}.") from error


def answer_row(prediction: Prediction) -> dict[str, Any]:
    """The answer as a row of the answers stage: a reply that could not be read is a status, not text."""
    text = None if prediction.answer is None else prediction.answer.strip()
    if text is None:
        return {**_row(prediction, "failed", None), "error_type": "missing", "error": "no answer in the file"}
    if text == RELEASED_ERROR:
        return _row(prediction, "parse_failed", None)
    return _row(prediction, "ok" if text else "empty", text)


def _row(prediction: Prediction, status: str, text: str | None) -> dict[str, Any]:
    return {"question": prediction.question, "status": status, "text": text, "raw": prediction.answer,
            "prompt_tokens": 0, "completion_tokens": 0}  # fmt: skip


class PassageFinder:
    """Finds the passages that retrieved texts mean, and counts how (`HOW`)."""

    def __init__(self, passages: Passages):
        self.counts: Counter[str] = Counter()
        self._passages = passages
        contents = [(passage.content, passage.id) for passage in reversed(passages)]
        self._exact = dict(contents)  # of equal texts the smallest id
        self._squeezed = {squeezed(text): id_ for text, id_ in contents}
        self._letters = {letters(text): id_ for text, id_ in contents}
        titles = Counter(passage.title for passage in passages if passage.title)
        self._titles = {passage.title: passage.id for passage in passages if titles[passage.title] == 1}

    def ranking(self, retrieved: Sequence[str]) -> tuple[str, ...]:
        """Ids in the order of the texts, each once; a text without a passage keeps its place under an id of its own."""
        return tuple(dict.fromkeys(map(self._find, retrieved)))

    def _find(self, text: str) -> str:
        how, found = self._match(text)
        self.counts[how] += 1
        return found

    def _match(self, text: str) -> tuple[str, str]:
        title, _, body = text.partition("\n")
        if text in self._passages.position:
            return "id", text
        for how, known, key in (
            ("exact", self._exact, text),
            ("but for white space", self._squeezed, squeezed(text)),
            ("by letters and digits", self._letters, letters(text)),
            ("by title", self._titles, title.strip()),
        ):
            if key in known:
                return how, known[key]
        return "unmapped", unmapped(Reference(title.strip(), body.strip()).label)


def squeezed(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


def letters(text: str) -> str:
    """The letters and digits of a text, whatever their case: what splitters and cleaners leave alone."""
    return "".join(character for character in text.casefold() if character.isalnum())
