"""The single-pass reader: passages in, a short answer out; the same for every retrieval method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from psi.agent.answer import Answer
from psi.corpus.records import Passage, Question


@runtime_checkable
class Reader(Protocol):
    """Answers questions from the passages it is given, best passage first."""

    batch_size: int

    def answer(self, questions: Sequence[Question], contexts: Sequence[Sequence[Passage]]) -> Iterator[Answer]:
        """One answer a question, in order, each batch as soon as it is done."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the answers, as JSON data."""
        ...
