"""What a question names: where plain HippoRAG's walks begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from baselines.hipporag.errors import FailedSearchError
from baselines.hipporag.llm_openie import usage_of
from baselines.hipporag.prompts import entities_of_question
from baselines.hipporag.replies import entities_of
from baselines.hipporag.spacy_openie import PIPELINE, load_pipeline, named_phrases
from psi.component import Component
from psi.errors import ModelError
from psi.models.protocols import NO_USAGE, ChatModel, Usage


class Named(NamedTuple):
    """The entities of a question, and what was asked for them."""

    entities: tuple[str, ...]
    usage: Usage = NO_USAGE


@runtime_checkable
class EntityFinder(Protocol):
    """Finds the entities of questions."""

    def find(self, questions: Sequence[str]) -> list[Named]:
        """One result a question; no entity at all is a result."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes what is found, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class LlmEntities(Component):
    """Asks a chat model once a question (arXiv 2405.14831, §2.3)."""

    llm: ChatModel

    def find(self, questions: Sequence[str]) -> list[Named]:
        """All questions in one batch; a reply without a list names nothing.

        Raises:
            FailedSearchError: the model failed on a question.
        """
        replies = self.llm.reply([entities_of_question(question) for question in questions])
        failures = {q: r for q, r in zip(questions, replies, strict=True) if isinstance(r, ModelError)}
        if failures:
            raise FailedSearchError("finding entities", len(questions), failures)
        return [
            Named(entities_of(reply.text) or (), usage_of(reply))
            for reply in replies
            if not isinstance(reply, ModelError)
        ]


@dataclass(frozen=True, kw_only=True)
class SpacyEntities(Component):
    """Named entities and proper nouns by spaCy; the noun phrases of questions without any."""

    pipeline: str = PIPELINE

    def find(self, questions: Sequence[str]) -> list[Named]:
        """Parse the questions.

        Raises:
            ConfigError: spaCy or the pipeline is not installed.
        """
        return [Named(named_phrases(document)) for document in load_pipeline(self.pipeline).pipe(questions)]
