"""What decides, after every retrieval, whether to answer or to retrieve again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from psi.corpus.records import Passage, Question
from psi.errors import ModelError
from psi.retrieval.ranking import Ranking

DecisionKind = Literal["retrieve", "answer", "stop", "empty", "parse_failed", "truncated"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy makes of what it has seen.

    `kind`: `retrieve` with the new query in `text`; `answer` with the answer in `text`; `stop`: enough has been found,
    somebody else answers; the others: the model's reply cannot be used. `reply` is the reply as it came.
    """

    kind: DecisionKind
    text: str = ""
    reply: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 1
    passages_used: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One hybrid step: the query, what it found, the passages of it that are shown, and what was decided then.

    `decision` is None while it is open, and for good where the model's call failed. `seconds` is this question's share
    of the batches that it was in, for searching and deciding.
    """

    query: str
    ranking: Ranking
    passages: tuple[Passage, ...]
    decision: Decision | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Situation:
    """A question that is being worked on: its steps so far, of which the last is open, and the retrievals left."""

    question: Question
    steps: tuple[Step, ...]
    retrievals_left: int


def query_key(query: str) -> str:
    """What two queries share that ask for the same: their words, whatever the case and punctuation."""
    return " ".join(re.findall(r"\w+", query.casefold()))


@runtime_checkable
class Policy(Protocol):
    """Decides for a batch of questions. `self_answering` policies answer; the others only retrieve and stop."""

    @property
    def self_answering(self) -> bool:
        """Whether its decisions hold the answers."""
        ...

    def decide(self, situations: Sequence[Situation]) -> list[Decision | ModelError]:
        """One decision a question, in order. A failed model call is a `ModelError` in its place."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the decisions, as JSON data."""
        ...
