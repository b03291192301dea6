"""The oracle: the benchmark's own sub-questions as the reorganised queries, no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psi.agent.policy import Decision, Situation, query_key
from psi.component import Component
from psi.corpus.records import Question
from psi.errors import InputError, ModelError


@dataclass(frozen=True, kw_only=True)
class OraclePolicy(Component):
    """Retrieves with each gold sub-question in turn, then stops: the ceiling of reorganisation for a retriever."""

    @property
    def self_answering(self) -> bool:
        """False: a reader answers from what was found."""
        return False

    def decide(self, situations: Sequence[Situation]) -> list[Decision | ModelError]:
        """The next sub-question of each question, as long as there is one and the budget allows it.

        Raises:
            InputError: a question without sub-questions.
        """
        return [_next(situation) for situation in situations]


def _next(situation: Situation) -> Decision:
    asked = {query_key(step.query) for step in situation.steps}
    left = [step for step in _sub_questions(situation.question) if query_key(step) not in asked]
    return Decision("retrieve", left[0]) if left and situation.retrievals_left else Decision("stop")


def _sub_questions(question: Question) -> tuple[str, ...]:
    if not question.steps:
        raise InputError(
            f"question {question.id!r} has no gold sub-questions: the oracle agent needs a benchmark that comes with "
            "them (MuSiQue, 2WikiMultiHopQA). Take another dataset or another agent."
        )
    return question.steps
