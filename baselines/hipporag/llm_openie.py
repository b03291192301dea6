"""Open information extraction by a chat model, as HippoRAG does it: first the named entities, then the triples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import PositiveInt

from baselines.hipporag.openie import Extraction
from baselines.hipporag.prompts import entities_of_passage, fits, triples_of_passage
from baselines.hipporag.replies import entities_of, triples_of
from psi.component import Component, runtime
from psi.corpus.records import Passage
from psi.errors import ConfigError, ModelError
from psi.index.fitting import fitted
from psi.models.protocols import ChatModel, Conversation, Reply, Usage


@dataclass(frozen=True, kw_only=True)
class LlmOpenIE(Component):
    """Two calls a passage (arXiv 2405.14831, §2.3): named entities, then triples with the entities before the model.

    A passage longer than the model's window is cut at a sentence end. A reply without any list gives nothing and is
    counted; a failed call fails the passage.

    llm: the chat model.
    batch_size: passages in one call of the model, and between two points from which a killed run goes on.
    """

    llm: ChatModel
    batch_size: PositiveInt = runtime(64)

    def extract(self, passages: Sequence[Passage]) -> list[Extraction | ModelError]:
        """Entities for all, then triples for those whose first call did not fail.

        Raises:
            ConfigError: the model's window is too small for the prompt and one short text.
        """
        named = self._entities(passages)
        going_on = [place for place, found in enumerate(named) if isinstance(found, Extraction)]
        results: list[Extraction | ModelError] = list(named)
        for place, found in zip(going_on, self._triples(passages, named, going_on), strict=True):
            results[place] = found
        return results

    def _entities(self, passages: Sequence[Passage]) -> list[Extraction | ModelError]:
        replies = self.llm.reply([self._fitted(passage, entities_of_passage) for passage in passages])
        return [reply if isinstance(reply, ModelError) else _named(reply) for reply in replies]

    def _triples(
        self, passages: Sequence[Passage], named: Sequence[Extraction | ModelError], places: Sequence[int]
    ) -> list[Extraction | ModelError]:
        known = {place: found for place in places if isinstance(found := named[place], Extraction)}
        prompts = [self._fitted(passages[place], _asking(found.entities)) for place, found in known.items()]
        replies = self.llm.reply(prompts) if prompts else []
        return [
            reply if isinstance(reply, ModelError) else _with_triples(found, reply)
            for found, reply in zip(known.values(), replies, strict=True)
        ]

    def _fitted(self, passage: Passage, ask: Callable[[Passage], Conversation]) -> Conversation:
        def cut(texts: Sequence[str]) -> Conversation:
            return ask(dataclasses.replace(passage, text=texts[0]))

        found = fitted([passage.text], lambda texts: fits(self.llm, cut(texts)))
        if found is None:
            raise ConfigError(
                "LlmOpenIE: the language model's window is too small for the instruction and one short text. "
                "Raise its context (llm.context_tokens)."
            )
        return cut(found.texts)


def _asking(entities: Sequence[str]) -> Callable[[Passage], Conversation]:
    return lambda passage: triples_of_passage(passage, entities)


def _named(reply: Reply) -> Extraction:
    found = entities_of(reply.text)
    return Extraction(found or (), unparsed=int(found is None), usage=usage_of(reply))


def _with_triples(named: Extraction, reply: Reply) -> Extraction:
    found, usage = triples_of(reply.text), named.usage + usage_of(reply)
    if found is None:
        return named._replace(unparsed=named.unparsed + 1, usage=usage)
    return named._replace(triples=found.triples, malformed=found.malformed, usage=usage)


def usage_of(reply: Reply) -> Usage:
    """One call and its tokens."""
    return Usage(1, reply.prompt_tokens, reply.completion_tokens)
