"""What the wrapped packages have in common: how they are imported, and how their calls reach our models."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

from psi.corpus.records import Passages
from psi.errors import ConfigError, ModelError
from psi.models.protocols import NO_USAGE, ChatModel, Conversation, Usage
from psi.retrieval.ranking import Ranking

log = logging.getLogger(__name__)
GATHER = 0.005  # seconds in which calls that belong together come in


def imported(module: str, extra: str) -> Any:
    """A module of an optional package.

    Raises:
        ConfigError: naming the extra that brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(f"method={extra} needs its package ({error}): pip install 'psi-bench[{extra}]'.") from error


def version(package: str) -> str:
    """The installed version: part of what an index depends on, since the package holds the prompts; '' where absent."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


class Calls:
    """A chat model for packages that ask one thing at a time from many tasks: calls of one moment become a batch.

    Packages swallow errors of models and go on with less; so the first one is kept, for `check`.
    """

    def __init__(self, llm: ChatModel):
        self._llm, self._usage, self._cut = llm, NO_USAGE, 0
        self._error: ModelError | None = None
        self._waiting: list[tuple[Conversation, asyncio.Future[str]]] = []

    async def ask(self, conversation: Conversation) -> str:
        """The reply's text.

        Raises:
            ModelError: the call failed.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()
        if not self._waiting:
            loop.call_later(GATHER, self._flush)
        self._waiting.append((conversation, answer))
        return await answer

    def check(self) -> None:
        """Raise the first error since the last check.

        Raises:
            ModelError: a call failed.
        """
        error, self._error = self._error, None
        if error is not None:
            raise error

    def spent(self) -> Usage:
        """What was asked since this was last called."""
        usage, self._usage = self._usage, NO_USAGE
        return usage

    def facts(self) -> dict[str, int]:
        """What was asked since the last `spent`, for the manifest of an index, with the number of replies that were cut."""
        cut, self._cut = self._cut, 0
        usage = self.spent()
        if cut:
            log.warning("%d of %d replies were cut by the model's limits: see max_new_tokens of llm.", cut, usage.calls)
        return {**asdict(usage), "cut_replies": cut}

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            replies = self._llm.reply([conversation for conversation, _ in waiting])
        except Exception as error:  # whatever it is, the tasks that wait must end
            for _, answer in waiting:
                answer.set_exception(error)
            raise
        for (_, answer), reply in zip(waiting, replies, strict=True):
            if isinstance(reply, ModelError):
                self._error = self._error or reply
                answer.set_exception(reply)
            else:
                self._usage += Usage(1, reply.prompt_tokens, reply.completion_tokens)
                self._cut += reply.truncated
                answer.set_result(reply.text)


class Documents:
    """A corpus as a package sees it: each text once, under a name made of its first place in the order of ids.

    Packages know a text by its hash and take a second passage with the same text for a mistake.
    """

    def __init__(self, passages: Passages):
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, content in enumerate(passages.contents):
            if content.strip():
                places[content].append(place)
        self._ids, self._places = passages.ids, {f"{held[0]:09d}": held for held in places.values()}
        self.texts = dict(zip(self._places, places, strict=True))

    def ranking(self, names: Iterable[str], k: int, usage: Usage = NO_USAGE) -> Ranking:
        """At most k passages, in the order in which their texts first appear; score 1/rank: packages give an order alone."""
        found = list(dict.fromkeys(name for name in names if name in self._places))
        ids = [self._ids[place] for name in found for place in self._places[name]][:k]
        return Ranking(tuple(ids), tuple(1 / rank for rank in range(1, len(ids) + 1)), usage)


class FourCharacters:
    """Counts four characters as a token, which English text comes near to; the usual tokenizers want a download."""

    def encode(self, content: str) -> list[int]:
        """One number for each four characters; `decode` brings them back."""
        pieces = (content[start : start + 4] for start in range(0, len(content), 4))
        return [int.from_bytes(piece.encode("utf-32-be", "replace")) for piece in pieces]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of the numbers."""
        return "".join(self._piece(token) for token in tokens)

    @staticmethod
    def _piece(token: int) -> str:
        width = max(1, -(-token.bit_length() // 32))
        return token.to_bytes(4 * width).decode("utf-32-be")
