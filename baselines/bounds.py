"""Readers' bounds: what the gold passages alone allow, and what a reader does without any passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psi.component import Component
from psi.corpus.records import Passages, Question
from psi.retrieval.ranking import Ranking


@dataclass(frozen=True, kw_only=True)
class Gold(Component):
    """The oracle: exactly the question's gold passages that the corpus has, in the order of the benchmark."""

    def rank(self, questions: Sequence[Question], passages: Passages, k: int) -> list[Ranking]:
        """The gold of each question, scored 1, 1/2, 1/3, ... to keep its order."""
        found = [[gold for gold in question.gold if gold in passages.position][:k] for question in questions]
        return [Ranking(tuple(ids), tuple(1 / rank for rank in range(1, len(ids) + 1))) for ids in found]


@dataclass(frozen=True, kw_only=True)
class Nothing(Component):
    """No retrieval: the reader sees the question alone."""

    def rank(self, questions: Sequence[Question], passages: Passages, k: int) -> list[Ranking]:
        """An empty ranking for each question."""
        return [Ranking((), ()) for _ in questions]
