"""Replies of chat models, kept in a file: what was asked once costs no second call, in this run or any later one."""

from __future__ import annotations

import abc
import json
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import NonNegativeInt

from psi.component import Component, runtime
from psi.errors import ModelError, StoreError
from psi.models.budget import Budget
from psi.models.protocols import Conversation, Form, Reply
from psi.store.digest import digest

log = logging.getLogger(__name__)
VERSION = 1
"""Raised when this project's code makes other texts of the same replies."""
LONGEST_WAIT = 60.0
"""Seconds that a process waits while others write."""

Asked = tuple[int, Reply | ModelError]


@dataclass(frozen=True, kw_only=True)
class CachedChat(Component, abc.ABC):
    """A chat model that keeps its replies, by everything that changes them: its identity, the messages, the form.

    Failed calls and replies without a text are not kept. A reply from the cache has `attempts` 0 and the token counts
    of the call that it stands for, so the sum of `attempts` is the number of calls made.

    cache: file of the replies, for any number of models and processes of one machine; None: ask every time.
    repeat: number of the repetition, added to the seed: a repeated experiment gets replies of its own.
    budget: limit on the calls; those beyond it fail with the kind `budget`.
    """

    cache: str | None = runtime(None)
    repeat: NonNegativeInt = 0
    budget: Budget = runtime(Budget())

    @abc.abstractmethod
    def ask(self, conversations: Sequence[Conversation], forms: Sequence[Form | None]) -> Iterator[Asked]:
        """Call the model: every result with the position of its conversation, as soon as it is there."""

    def reply(
        self, conversations: Sequence[Conversation], forms: Sequence[Form | None] | None = None
    ) -> list[Reply | ModelError]:
        """One result a conversation, in order; a call that failed for good is a `ModelError` in its place.

        Raises:
            StoreError: the cache is damaged or can't be written.
            ConfigError: a setting does not fit the model or this machine.
        """
        shapes = [None] * len(conversations) if forms is None else list(forms)
        if self.cache is None:
            results = dict(self._asked(conversations, shapes))
            return [results[place] for place in range(len(conversations))]
        keys = self._keys(conversations, shapes)
        with call_cache(self.cache) as cache:
            found: dict[str, Reply | ModelError] = {**cache.find(keys)}
            asked = [place for place, key in enumerate(keys) if key not in found and key not in keys[:place]]
            if asked:
                for number, result in self._asked([conversations[n] for n in asked], [shapes[n] for n in asked]):
                    found[keys[asked[number]]] = result
                    if isinstance(result, Reply) and result.text.strip():
                        cache.keep(keys[asked[number]], result)
        if len(asked) < len(keys):
            log.info("%d of %d replies came from %s", len(keys) - len(asked), len(keys), self.cache)
        return [_counted_once(found[key], place in asked) for place, key in enumerate(keys)]

    def _asked(self, conversations: Sequence[Conversation], forms: Sequence[Form | None]) -> Iterator[Asked]:
        """Every result as it comes, as far as the budget goes; the others fail."""
        granted = self.budget.reserve(len(conversations))
        left = set(range(granted))
        try:
            for number, result in self.ask(conversations[:granted], forms[:granted]) if granted else ():
                left.remove(number)
                yield number, result
                tokens = result.prompt_tokens + result.completion_tokens if isinstance(result, Reply) else 0
                if not self.budget.spend(result.attempts - 1, tokens):
                    break  # which ends the generator: calls that have not begun are not made
        finally:
            if left:
                self.budget.spend(-len(left), 0)
        refused = sorted(left) + list(range(granted, len(conversations)))
        yield from ((number, self.budget.refused()) for number in refused)

    def _keys(self, conversations: Sequence[Conversation], forms: Sequence[Form | None]) -> list[str]:
        identity = self.identity()
        return [
            digest({"version": VERSION, "model": identity, "messages": conversation, "form": form})
            for conversation, form in zip(conversations, forms, strict=True)
        ]


class CallCache:
    """An open file of replies by key. The first reply to a key stays, whoever wrote it."""

    def __init__(self, connection: sqlite3.Connection):
        self._connection = connection

    def find(self, keys: Sequence[str]) -> dict[str, Reply]:
        """The kept replies among these keys, as replies that took no call."""
        found = {}
        for key in dict.fromkeys(keys):
            row = self._connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            if row is not None:
                found[key] = _kept(row[0])
        return found

    def keep(self, key: str, reply: Reply) -> None:
        """Add a reply, safe from the end of this process from then on."""
        facts = {name: value for name, value in reply._asdict().items() if name != "attempts"}
        # ASCII, because SQLite's text can't hold a lone surrogate
        self._connection.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, json.dumps(facts)))


@contextmanager
def call_cache(path: str) -> Iterator[CallCache]:
    """Open a file of replies, made where there is none, and close it.

    Raises:
        StoreError: it is damaged, or can't be written (found out before any call is made).
    """
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=LONGEST_WAIT, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    try:
        _prepare(connection)
        yield CallCache(connection)
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    finally:
        connection.close()


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")  # a file that can't be written is refused here
    connection.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID")
    connection.execute("COMMIT")
    # readers and one writer at a time, and a write without waiting for the disk: a reply is lost with the machine's
    # power at most, never with the process
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def _kept(text: str) -> Reply:
    try:
        return Reply(**json.loads(text), attempts=0)
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError(f"unreadable reply {text[:80]!r}") from error


def _unusable(path: str, error: Exception) -> StoreError:
    code = getattr(error, "sqlite_errorname", "")
    if isinstance(error, OSError) or code.startswith(
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IO")
    ):
        remedy = "Make it writable, choose another file with llm.cache=PATH, or do without: llm.cache=null"
    elif code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        remedy = (
            f"Other processes kept it busy for {LONGEST_WAIT:.0f} s: start again, or give each machine its own file"
        )
    else:
        remedy = "It is damaged or no cache of replies. Delete it, and its replies will be asked for again"
    return StoreError(f"cannot use {path} for the replies of language models ({error}). {remedy}.")


def _counted_once(result: Reply | ModelError, asked: bool) -> Reply | ModelError:
    return result if asked or isinstance(result, ModelError) else result._replace(attempts=0)
