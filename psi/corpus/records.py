"""The records that everything else speaks of: passages, questions, and a benchmark made of both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import NamedTuple, overload

from psi.errors import InputError


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a document's text."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """The retrieval unit, a leaf of every index.

    `document` is the id of the document it is a chunk of (None: it stands alone); `category` a class label, where the
    corpus has one. `span` says which characters of the document it is, where that is known: the chunks of a document
    then hold every character of it at least once.
    """

    id: str
    title: str
    text: str
    document: str | None = None
    category: str | None = None
    span: Span | None = None

    @property
    def content(self) -> str:
        """What is indexed and shown to readers: the title on a line of its own, then the text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what is known about its answer.

    `answers` are all accepted strings, the main one first (empty: not scored). `gold` are ids of supporting passages
    (empty: left out of recall). `hops` is the number of passages that must be combined (None: unknown). `kind` is the
    benchmark's own type label. `document` scopes the question to one document. `answerable` is False where the right
    reaction is to say that the corpus does not tell. `steps` are the benchmark's own sub-questions in order, earlier
    answers filled in (empty: it has none). `spans` are the characters that support the answer, for benchmarks whose gold
    is characters of documents; `gold` then are the passages that hold some of them.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    hops: int | None = None
    kind: str = ""
    document: str | None = None
    answerable: bool = True
    steps: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


class Passages(Sequence[Passage]):
    """An immutable corpus: passages in the order of their ids, found by position or by id.

    Position order is id order, so "ties by id" holds wherever ties go to the smaller position.

    Raises:
        InputError: no passage at all, or two passages with one id.
    """

    def __init__(self, items: Sequence[Passage]):
        self._items = tuple(sorted(items, key=lambda passage: passage.id))
        if not self._items:
            raise InputError(
                "empty corpus: there is no passage to index. Check the dataset's path and its cleaning report."
            )
        self.position: dict[str, int] = {}
        for index, passage in enumerate(self._items):
            if passage.id in self.position:
                raise InputError(
                    f"duplicate passage id {passage.id!r}: ids must be unique. Rename one of them or drop the copy."
                )
            self.position[passage.id] = index

    @overload
    def __getitem__(self, index: int) -> Passage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Passage, ...]: ...
    def __getitem__(self, index: int | slice) -> Passage | tuple[Passage, ...]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._items)

    def by_id(self, passage_id: str) -> Passage:
        """The passage with this id.

        Raises:
            InputError: there is none.
        """
        if passage_id not in self.position:
            raise InputError(f"no passage has the id {passage_id!r} in this corpus of {len(self)} passages.")
        return self._items[self.position[passage_id]]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Passage ids by position."""
        return tuple(passage.id for passage in self._items)

    @cached_property
    def contents(self) -> tuple[str, ...]:
        """Indexed text by position."""
        return tuple(passage.content for passage in self._items)

    @cached_property
    def digest(self) -> str:
        """sha256 over the passages in order: equal digests mean equal corpora."""
        return _digest(self._items)


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What loading found and changed; shown to the user and kept in the manifest.

    `cleaned` counts texts by kind of repair (`surrogate`, `nul`, `nfc`, ...); `skipped_empty` are ids of dropped empty
    passages; `unmapped_gold` names gold references that match no passage, as `question id: reference`; `notes` are
    sentences for people (a limit larger than the data, a known fault of the files).
    """

    cleaned: dict[str, int] = field(default_factory=dict)
    skipped_empty: tuple[str, ...] = ()
    unmapped_gold: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """A corpus and the questions asked of it."""

    name: str
    passages: Passages
    questions: tuple[Question, ...]
    report: LoadReport = field(default_factory=LoadReport)

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for row, question in enumerate(self.questions):
            if question.id in seen:
                raise InputError(
                    f"{self.name}: duplicate question id {question.id!r} (row {row}): ids must be unique. "
                    "Rename one of them or drop the copy."
                )
            seen.add(question.id)

    @cached_property
    def questions_digest(self) -> str:
        """sha256 over the questions in order."""
        return _digest(self.questions)


def _digest(records: Sequence[Passage] | Sequence[Question]) -> str:
    sha = hashlib.sha256()
    for record in records:
        sha.update(json.dumps(asdict(record), ensure_ascii=True, sort_keys=True).encode())
        sha.update(b"\n")
    return sha.hexdigest()
