"""The retrieval-and-answering agent (paper §3 and Algorithm 2): retrieve, decide, retrieve again with a new query."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import NonNegativeInt, PositiveInt

from psi.agent.answer import Answer, Status, failed_answer
from psi.agent.policy import Decision, Policy, Situation, Step, query_key
from psi.agent.trace import Trace
from psi.component import Component, runtime
from psi.corpus.records import Passages, Question
from psi.errors import ModelError
from psi.models.protocols import NO_USAGE
from psi.retrieval.ranking import Ranking

Search = Callable[[Sequence[Question], Sequence[str], int], list[Ranking]]
"""Ranks the corpus of each question for its query: at most k passages each."""

NOT_MENTIONED = "Not mentioned"
Merge = Literal["score", "rank"]


@runtime_checkable
class HopBudgets(Protocol):
    """Tells from a question how many extra retrievals it may need."""

    def budgets(self, questions: Sequence[str]) -> list[int]:
        """One number a question."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the numbers, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class Agent(Component):
    """Runs the loop for many questions at once: all open ones are searched, and decided on, in one batch.

    The first step searches with the question itself. Where the policy retrieves, the next step searches with its query,
    and the policy decides again, at most `hop_budget` times. A query that was asked before ends the question
    (`no_progress`), as does a retrieval beyond the budget (`max_steps`); the answer is then `Not mentioned`.

    name: stands in tables; it does not change any result.
    policy: decides.
    hop_budget: extra retrievals allowed for a question: a number, or what tells it for each question (a hop
        discriminator).
    reorganise: False keeps the query: a retrieval then shows the next passages for the question itself.
    merge: what makes a passage's best score over the steps: `score`, the highest score that a step gave it, as
        published; `rank`, one over its best rank, for retrievers whose scores depend on the length of the query.
    batch_size: questions that are worked on together.
    """

    name: str = runtime("agent")
    policy: Policy
    hop_budget: NonNegativeInt | HopBudgets = 1
    reorganise: bool = True
    merge: Merge = "score"
    batch_size: PositiveInt = runtime(64)

    def run(
        self,
        questions: Sequence[Question],
        rankings: Sequence[Ranking],
        search: Search,
        passages: Passages,
        *,
        k: int,
        context: int,
    ) -> list[Trace]:
        """Work on a batch of questions until all have ended.

        Args:
            questions: the batch.
            rankings: what the first step found for each of them.
            search: finds passages for new queries.
            passages: the corpus.
            k: passages in a ranking.
            context: passages of a step that the policy is shown.
        """
        situations = [
            Situation(question, (_step(question.text, ranking, ranking.ids[:context], passages),), budget)
            for question, ranking, budget in zip(questions, rankings, self._budgets(questions), strict=True)
        ]
        ended: dict[str, Trace] = {}
        while situations:
            going_on = []
            for situation, decision in self._decided(situations):
                answer = self._answer(situation, decision)
                if answer is None:
                    going_on.append(situation)
                else:
                    ranking = merged([step.ranking for step in situation.steps], k, self.merge)
                    ended[situation.question.id] = Trace(situation.question, situation.steps, ranking, answer)
            situations = self._searched(going_on, search, passages, k, context)
        return [ended[question.id] for question in questions]

    def _budgets(self, questions: Sequence[Question]) -> list[int]:
        if isinstance(self.hop_budget, int):
            return [self.hop_budget] * len(questions)
        return self.hop_budget.budgets([question.text for question in questions])

    def _decided(self, situations: Sequence[Situation]) -> list[tuple[Situation, Decision | ModelError]]:
        """The policy's decisions, put into the last step of each question."""
        start = time.perf_counter()
        decisions = self.policy.decide(situations)
        share = (time.perf_counter() - start) / len(situations)
        return [
            (_with_decision(situation, decision, share), decision)
            for situation, decision in zip(situations, decisions, strict=True)
        ]

    def _answer(self, situation: Situation, decision: Decision | ModelError) -> Answer | None:
        """How the question ends, or None: it goes on."""
        if isinstance(decision, ModelError):
            failed = failed_answer(situation.question.id, decision)
            return dataclasses.replace(failed, **_spent(situation, decision.attempts))
        if decision.kind != "retrieve":
            return _ended(situation, _STATUS[decision.kind], decision.text if decision.kind in _SAID else None)
        if situation.retrievals_left == 0:
            return _ended(situation, "max_steps", NOT_MENTIONED)
        if self.reorganise and query_key(decision.text) in {query_key(step.query) for step in situation.steps}:
            return _ended(situation, "no_progress", NOT_MENTIONED)
        return None

    def _searched(
        self, situations: Sequence[Situation], search: Search, passages: Passages, k: int, context: int
    ) -> list[Situation]:
        """The next step of every question that goes on, still undecided."""
        if not situations:
            return []
        start = time.perf_counter()
        seen = [0 if self.reorganise else context * len(situation.steps) for situation in situations]
        queries = [self._query(situation) for situation in situations]
        rankings = search(
            [situation.question for situation in situations], queries, max(k, *(context + n for n in seen))
        )
        share = (time.perf_counter() - start) / len(situations)
        after = []
        for situation, query, ranking, n in zip(situations, queries, rankings, seen, strict=True):
            step = _step(query, ranking, ranking.ids[n : n + context], passages, share)
            after.append(Situation(situation.question, (*situation.steps, step), situation.retrievals_left - 1))
        return after

    def _query(self, situation: Situation) -> str:
        decision = situation.steps[-1].decision
        return decision.text if self.reorganise and decision is not None else situation.question.text


def merged(rankings: Sequence[Ranking], k: int, merge: Merge = "score") -> Ranking:
    """Each passage once, with its best score over the rankings; the k best, ties by id.

    >>> merged([Ranking(("a", "b"), (0.9, 0.2)), Ranking(("b", "c"), (0.5, 0.1))], k=2)[:2]
    (('a', 'b'), (0.9, 0.5))
    """
    best: dict[str, float] = {}
    for ranking in rankings:
        scores = ranking.scores if merge == "score" else [1 / rank for rank in range(1, len(ranking.ids) + 1)]
        for id_, score in zip(ranking.ids, scores, strict=True):
            best[id_] = max(score, best.get(id_, score))
    order = sorted(best, key=lambda id_: (-best[id_], id_))[:k]
    usage = sum((ranking.usage for ranking in rankings), NO_USAGE)
    return Ranking(tuple(order), tuple(best[id_] for id_ in order), usage)


_STATUS: dict[str, Status] = {
    "answer": "ok", "stop": "ok", "empty": "empty", "parse_failed": "parse_failed", "truncated": "truncated",
}  # fmt: skip
_SAID = ("answer", "empty")  # the others leave no text that could be scored


def _step(query: str, ranking: Ranking, shown: Sequence[str], passages: Passages, seconds: float = 0.0) -> Step:
    return Step(query, ranking, tuple(passages.by_id(id_) for id_ in shown), seconds=seconds)


def _with_decision(situation: Situation, decision: Decision | ModelError, seconds: float) -> Situation:
    last = situation.steps[-1]
    decided = dataclasses.replace(
        last, decision=None if isinstance(decision, ModelError) else decision, seconds=last.seconds + seconds
    )
    return dataclasses.replace(situation, steps=(*situation.steps[:-1], decided))


def _ended(situation: Situation, status: Status, text: str | None) -> Answer:
    decision = situation.steps[-1].decision
    raw = None if decision is None else decision.reply
    return Answer(situation.question.id, status, text=text, raw=raw, **_spent(situation))


def _spent(situation: Situation, attempts_of_failure: int = 0) -> dict[str, Any]:
    """Calls, tokens and passages over all steps."""
    decisions = [step.decision for step in situation.steps if step.decision is not None]
    return {
        "attempts": sum(decision.attempts for decision in decisions) + attempts_of_failure,
        "prompt_tokens": sum(decision.prompt_tokens for decision in decisions),
        "completion_tokens": sum(decision.completion_tokens for decision in decisions),
        "passages_used": decisions[-1].passages_used if decisions else 0,
    }
