"""A hard limit on what chat models may be asked in one start of a sweep, shared by all its processes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import NonNegativeInt

from psi.component import Component, runtime
from psi.errors import ModelError, StoreError

_TABLE = "CREATE TABLE IF NOT EXISTS spent (start TEXT PRIMARY KEY, calls INTEGER NOT NULL, tokens INTEGER NOT NULL)"
WAIT = 60.0
"""Seconds that a process waits while others write."""


@dataclass(frozen=True, kw_only=True)
class Budget(Component):
    """Counts calls and tokens of everything that names the same ledger and start, in whatever process.

    Replies from the cache cost nothing. It never changes a result: refused calls are failures, to be asked for again by
    the next start.

    calls: most calls, not counting retries; None: no limit.
    tokens: most tokens, of prompts and replies together; what is under way when they are spent still ends. None: no limit.
    ledger: file of the counts.
    start: what the counts belong to; a new start has the whole budget again.
    """

    calls: NonNegativeInt | None = runtime(None)
    tokens: NonNegativeInt | None = runtime(None)
    ledger: str = runtime("")
    start: str = runtime("")

    @property
    def limited(self) -> bool:
        """Whether there is anything to count."""
        return self.calls is not None or self.tokens is not None

    def reserve(self, calls: int) -> int:
        """Take as many of these calls as there is room for, before they are made; returns how many.

        Raises:
            StoreError: the ledger can't be used.
        """
        if not self.limited:
            return calls
        with self._counts() as (connection, spent_calls, spent_tokens):
            if self.tokens is not None and spent_tokens >= self.tokens:
                return 0
            granted = calls if self.calls is None else max(0, min(calls, self.calls - spent_calls))
            self._add(connection, granted, 0)
        return granted

    def spend(self, calls: int, tokens: int) -> bool:
        """Add tokens, and calls beyond those reserved (below 0: that many were not made); whether tokens are left.

        Raises:
            StoreError: the ledger can't be used.
        """
        if not self.limited:
            return True
        with self._counts() as (connection, _, spent_tokens):
            self._add(connection, calls, tokens)
        return self.tokens is None or spent_tokens + tokens < self.tokens

    def refused(self) -> ModelError:
        """The failure of a call that there was no room for."""
        calls, tokens = self.spent()
        return ModelError(
            f"the budget is spent: {calls} calls (budget.calls={self.calls}), {tokens} tokens (budget.tokens="
            f"{self.tokens}). Start again with a larger one to go on; what was answered is kept.",
            kind="budget", attempts=0,
        )  # fmt: skip

    def spent(self) -> tuple[int, int]:
        """Calls and tokens so far.

        Raises:
            StoreError: the ledger can't be used.
        """
        with self._counts() as (_, calls, tokens):
            return calls, tokens

    @contextmanager
    def _counts(self) -> Iterator[tuple[sqlite3.Connection, int, int]]:
        """The ledger, kept from others for the block, with its counts of this start."""
        try:
            Path(self.ledger).parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.ledger, timeout=WAIT, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_TABLE)
                row = connection.execute("SELECT calls, tokens FROM spent WHERE start = ?", (self.start,)).fetchone()
                yield (connection, *(row or (0, 0)))
                connection.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"cannot use {self.ledger} to count calls ({error}). Make it writable, or lift the limits: "
                "budget.calls=null budget.tokens=null."
            ) from error

    def _add(self, connection: sqlite3.Connection, calls: int, tokens: int) -> None:
        connection.execute(
            "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (start) DO UPDATE SET calls = calls + excluded.calls, "
            "tokens = tokens + excluded.tokens",
            (self.start, calls, tokens),
        )
