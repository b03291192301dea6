"""Simulated use of a document: a query asked of one of its chunks, and the response to a query from retrieved texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from pydantic import PositiveInt

from baselines.hipporag.prompts import fits
from psi.component import Component
from psi.corpus.records import Passage
from psi.corpus.splitter import sentence_starts
from psi.errors import ConfigError, ModelError
from psi.index.abstract_replies import summary_of
from psi.index.fitting import Fitted, fitted
from psi.models.protocols import NO_USAGE, ChatModel, Conversation, Message, Reply, Usage
from psi.models.thinking import without_thinking
from psi.retrieval.sparse import BM25

ASK = (
    "Here is one part of a longer document. Write one question about the document that this part helps to answer. Reply "
    "with the question alone, on one line.\n\n{text}"
)
RESPOND = (
    "Below are texts from one document. Answer the question from them in one paragraph of at most {limit} words. Say "
    "only what the texts say, in their language. Reply with the paragraph alone.\n\nQuestion: {query}\n\n{texts}"
)
_LABEL = re.compile(r"^\W*(?:\d+\s*[.)]\s*)?(?:(?:question|query)\s*\d*\s*:)?[\s*_\"“]*", re.IGNORECASE)


class Written(NamedTuple):
    """A query or a response, what it cost, and how many of the texts before the model were cut or left out."""

    text: str
    usage: Usage = NO_USAGE
    cut: int = 0


@runtime_checkable
class Simulator(Protocol):
    """Somebody who asks and somebody who answers."""

    def queries(self, chunks: Sequence[Passage]) -> list[Written | ModelError]:
        """One query a chunk, which the chunk helps to answer."""
        ...

    def response(self, query: str, texts: Sequence[str]) -> Written | ModelError:
        """The response to a query from the texts retrieved for it."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes what is written, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class ModelSimulator(Component):
    """A chat model writes both, as in the paper (§3).

    llm: the chat model.
    words: length of a response.
    """

    llm: ChatModel
    words: PositiveInt = 100

    def queries(self, chunks: Sequence[Passage]) -> list[Written | ModelError]:
        """All in one batch.

        Raises:
            ConfigError: the model's window is too small for the instruction and one short text.
        """
        inputs = [self._fitted([chunk.content], _asking) for chunk in chunks]
        replies = self.llm.reply([_asking(found.texts) for found in inputs])
        return [_written(_query, reply, found) for reply, found in zip(replies, inputs, strict=True)]

    def response(self, query: str, texts: Sequence[str]) -> Written | ModelError:
        """One call.

        Raises:
            ConfigError: the model's window is too small for the instruction and one short text.
        """

        def asked(texts: Sequence[str]) -> Conversation:
            return _prompt(RESPOND, limit=str(self.words), query=query, texts="\n\n".join(texts))

        found = self._fitted(texts, asked)
        (reply,) = self.llm.reply([asked(found.texts)])
        return _written(lambda each: summary_of(each.text, self.words, truncated=each.truncated), reply, found)

    def _fitted(self, texts: Sequence[str], asked: Any) -> Fitted:
        found = fitted(texts, lambda part: fits(self.llm, asked(part)))
        if found is None:
            raise ConfigError(
                "ModelSimulator: the language model's window is too small for the instruction and one short text. "
                "Raise its context (llm.context_tokens)."
            )
        return found


@dataclass(frozen=True, kw_only=True)
class ExtractiveSimulator(Component):
    """Sentences of the document in the place of a model's.

    A chunk's query is its sentence with the most distinct terms; the response is made of the sentence of each retrieved
    text that shares the most terms with the query, the nearest text first, as long as they have at most `words` words
    together. Earlier sentences go first at equal numbers.

    terms: what a term is.
    words: length of a response; its first sentence may be longer.
    """

    terms: BM25 = field(default_factory=BM25)
    words: PositiveInt = 100

    def queries(self, chunks: Sequence[Passage]) -> list[Written | ModelError]:
        """The richest sentence of each chunk."""
        return [Written(self._most_terms(chunk.text, None)) for chunk in chunks]

    def response(self, query: str, texts: Sequence[str]) -> Written | ModelError:
        """One sentence a text."""
        (asked,) = self.terms.tokens([query])
        sentences = [self._most_terms(text, set(asked)) for text in texts]
        lengths = np.cumsum([len(sentence.split()) for sentence in sentences])
        return Written(" ".join(sentences[: max(1, int((lengths <= self.words).sum()))]))

    def _most_terms(self, text: str, among: set[str] | None) -> str:
        found = [sentence for sentence in _sentences(text) if sentence]
        if not found:
            return text
        terms = [set(tokens) if among is None else set(tokens) & among for tokens in self.terms.tokens(found)]
        return found[max(range(len(found)), key=lambda place: (len(terms[place]), -place))]


def _asking(texts: Sequence[str]) -> Conversation:
    return _prompt(ASK, text=texts[0])


def _prompt(instruction: str, **parts: str) -> Conversation:
    text = re.sub(r"\{(\w+)\}", lambda match: parts[match[1]], instruction)
    return (Message("user", text),)


def _written(read: Any, reply: Reply | ModelError, found: Fitted) -> Written | ModelError:
    if isinstance(reply, ModelError):
        return reply
    text = read(reply)
    if not text:
        return ModelError(f"nothing in the reply {reply.text[:80]!r}.", kind="empty", attempts=reply.attempts)
    usage = Usage(1, reply.prompt_tokens, reply.completion_tokens)
    return Written(text, usage, found.shortened + found.dropped)


def _query(reply: Reply) -> str:
    """The first line that says something, without labels and numbers before it.

    >>> _query(Reply("**Question 1:** Who spoke?\\n\\nIt is about ...", 0, 0))
    'Who spoke?'
    """
    lines = [_LABEL.sub("", line).strip(' *_"”') for line in without_thinking(reply.text).split("\n")]
    return next((line for line in lines if any(map(str.isalnum, line))), "")


def _sentences(text: str) -> list[str]:
    starts = sentence_starts(text)
    return [text[start:stop].strip() for start, stop in zip(starts, [*starts[1:], len(text)], strict=True)]
