"""Rankings: what every retriever returns, in one order everywhere: score descending, ties by passage id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple, Protocol, runtime_checkable

from psi.corpus.records import Passages, Question
from psi.models.protocols import NO_USAGE, Usage
from psi.store import Store


class Ranking(NamedTuple):
    """Passage ids, best first, with their scores. Ids are distinct; equal scores stand in the order of their ids.

    `usage` is what chat models were asked to find it.
    """

    ids: tuple[str, ...]
    scores: tuple[float, ...]
    usage: Usage = NO_USAGE


def ranking_row(ranking: Ranking) -> dict[str, Any]:
    """The ranking as JSON data."""
    row = {"passages": list(ranking.ids), "scores": list(ranking.scores)}
    return row if ranking.usage == NO_USAGE else {**row, "usage": list(astuple(ranking.usage))}


def ranking_of(row: Mapping[str, Any]) -> Ranking:
    """The ranking in a row."""
    return Ranking(tuple(row["passages"]), tuple(row["scores"]), Usage(*row.get("usage", ())))


@runtime_checkable
class Index(Protocol):
    """A corpus made searchable."""

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for a batch of questions: at most k passages each, fewer where fewer exist or match."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """A way to make corpora searchable: a component (settings only) whose `build` returns the index."""

    def build(self, passages: Passages, store: Store) -> Index:
        """Build the index, or open it where the store already holds it."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes what is found, as JSON data."""
        ...


@runtime_checkable
class QuestionRanker(Protocol):
    """A ranking that is made from the question record itself, its gold included: a bound, not a retriever."""

    def rank(self, questions: Sequence[Question], passages: Passages, k: int) -> list[Ranking]:
        """Rank passages for a batch of questions."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the rankings, as JSON data."""
        ...
