"""What the rest of the system asks of models. Backends are components, so their settings are part of every digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from psi.errors import ModelError

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a conversation."""

    role: Role
    content: str


Conversation = tuple[Message, ...]


class Form(NamedTuple):
    """The shape asked of a reply: one line `Thought: …`, then one that begins with one of these words and a colon."""

    directives: tuple[str, ...]


class Reply(NamedTuple):
    """A chat model's answer to one conversation.

    `truncated` is True where the prompt did not fit the window or the reply hit its token limit: the text is then
    missing or cut. `attempts` counts the calls made for it: 0 where it came from a cache.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    truncated: bool = False
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Usage:
    """Chat model calls and their tokens, counted as if no reply came from a cache."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


NO_USAGE = Usage()


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors. Questions and passages have functions of their own because many models prompt them apart."""

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of passages, in their order."""
        ...

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of questions, in their order."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the vectors, as JSON data."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """Conversations to replies."""

    def reply(
        self, conversations: Sequence[Conversation], forms: Sequence[Form | None] | None = None
    ) -> list[Reply | ModelError]:
        """One result a conversation, in order; a failed call is a `ModelError` in its place and fails no other.

        Args:
            conversations: a batch.
            forms: the shape of each reply, None where it is free. A model that can hold to it does so; the others say
                what they like, so replies are parsed with the same care either way.
        """
        ...

    def prompt_tokens(self, conversation: Conversation) -> int | None:
        """Tokens of the conversation as the model will see it; None where only the server can tell."""
        ...

    def prompt_limit(self) -> int | None:
        """The most prompt tokens that leave room for a whole reply; None: not known."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the replies, as JSON data; never a secret."""
        ...


class SpanScores(NamedTuple):
    """Log-probabilities (natural) of candidate continuations of one prompt.

    `log_p` is Σ log p over a candidate's tokens, `log_end` the log-probability that the line ends after it, `tokens`
    its number of tokens. `prompt_tokens` counts the prompt with its shared prefix.
    """

    log_p: NDArray[np.float64]
    log_end: NDArray[np.float64]
    tokens: NDArray[np.int64]
    prompt_tokens: int


@runtime_checkable
class SpanScorer(Protocol):
    """A completion model that scores given continuations instead of writing its own."""

    def score(self, prefix: str, prompt: str, spans: Sequence[str]) -> SpanScores:
        """Score every span as the rest of the line after `prefix + prompt`; `prefix` is shared by many calls.

        Raises:
            PromptTooLongError: the prompt and the spans do not fit the model's window.
        """
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the scores, as JSON data."""
        ...
