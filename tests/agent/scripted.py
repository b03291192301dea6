"""Chat models that follow a script: real classes of the protocol, no network, the same every time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from psi.component import Component, runtime
from psi.errors import ModelError
from psi.models.protocols import Conversation, Form, Reply


class Scripted:
    """Answers with `say(question, step)`, step 0 first; an exception that it returns stands in the reply's place."""

    def __init__(self, say: Callable[[str, int], str | ModelError], limit: int | None = None):
        self._say, self._limit = say, limit
        self.batches: list[list[Conversation]] = []

    def reply(
        self, conversations: Sequence[Conversation], forms: Sequence[Form | None] | None = None
    ) -> list[Reply | ModelError]:
        self.batches.append(list(conversations))
        return [_reply(self._say(*turn_of(conversation)), conversation) for conversation in conversations]

    def prompt_tokens(self, conversation: Conversation) -> int:
        return _words(conversation)

    def prompt_limit(self) -> int | None:
        return self._limit

    def identity(self) -> dict[str, str]:
        return {"component": "scripted"}


@dataclass(frozen=True, kw_only=True)
class ScriptedChat(Component):
    """Retrieves once with `More about …?`, then answers with the first word of the newest passage.

    Notes every question in the file `calls`. Questions whose text holds `failing` fail as long as the file `broken` is
    there. A call after the first `stop_after` is interrupted.
    """

    calls: str = runtime("")
    broken: str = runtime("")
    failing: str = runtime("")
    stop_after: int | None = runtime(None)

    def reply(
        self, conversations: Sequence[Conversation], forms: Sequence[Form | None] | None = None
    ) -> list[Reply | ModelError]:
        return [self._one(conversation) for conversation in conversations]

    def prompt_tokens(self, conversation: Conversation) -> int:
        return _words(conversation)

    def prompt_limit(self) -> None:
        return None

    def _one(self, conversation: Conversation) -> Reply | ModelError:
        if self.stop_after is not None and len(_lines(Path(self.calls))) == self.stop_after:
            raise KeyboardInterrupt
        question, step = turn_of(conversation)
        if self.calls:
            with Path(self.calls).open("a") as file:
                file.write(f"{question}\n")
        if self.broken and self.failing in question and Path(self.broken).exists():
            return ModelError("the server is down", kind="http_500", attempts=5)
        if step == 0:
            return _reply(f"Thought: not yet.\nRetrieve: More about {question}", conversation)
        passage = re.search(r"<passage 1>\n(.*)\n</passage 1>", conversation[-1].content)
        return _reply(f"Thought: found.\nAnswer: {passage[1].split()[0] if passage else 'nothing'}", conversation)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def turn_of(conversation: Conversation) -> tuple[str, int]:
    """The question of a conversation, and how often the model has replied to it."""
    question = asked(conversation[-1].content)
    return question, sum(message.role == "user" and asked(message.content) == question for message in conversation) - 1


def asked(turn: str) -> str:
    return re.findall(r"^Question: (.*)$", turn, re.MULTILINE)[-1]


def _reply(text: str | ModelError, conversation: Conversation) -> Reply | ModelError:
    if isinstance(text, ModelError):
        return text
    return Reply(text, prompt_tokens=_words(conversation), completion_tokens=len(text.split()))


def _words(conversation: Conversation) -> int:
    return sum(len(message.content.split()) for message in conversation)
