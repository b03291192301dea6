"""A hard limit on what chat models may be asked in one start of a sweep, shared by all its processes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import NonNegativeInt

from psi.component import Component, runtime
from psi.errors import ModelError, StoreError

WAIT = 60.0
"""Seconds that a process waits while others write."""


@dataclass(frozen=True, kw_only=True)
class Budget(Component):
    """Counts calls and tokens of everything that names the same ledger and start, in whatever process.

    Replies from the cache cost nothing. What is under way when the limit is reached ends and is kept; nothing else is
    asked. It never changes a result: refused calls are failures, to be asked for again by the next start.

    calls: most calls; None: no limit.
    tokens: most tokens, of prompts and replies together; None: no limit.
    ledger: file of the counts.
    start: what the counts belong to; a new start has the whole budget again.
    """

    calls: NonNegativeInt | None = runtime(None)
    tokens: NonNegativeInt | None = runtime(None)
    ledger: str = runtime("")
    start: str = runtime("")

    def refusal(self) -> ModelError | None:
        """The failure of a call that may not be made; None where it may.

        Raises:
            StoreError: the ledger can't be used.
        """
        if self.calls is None and self.tokens is None:
            return None
        calls, tokens = self.spent()
        for name, spent, most in (("calls", calls, self.calls), ("tokens", tokens, self.tokens)):
            if most is not None and spent >= most:
                return ModelError(
                    f"the budget is spent: {spent} of {most} {name} (budget.{name}). Start again with a larger one to go "
                    "on; what was answered is kept.",
                    kind="budget", attempts=0,
                )  # fmt: skip
        return None

    def spend(self, calls: int, tokens: int) -> None:
        """Add calls that were made.

        Raises:
            StoreError: the ledger can't be used.
        """
        if self.calls is None and self.tokens is None:
            return
        with closing(self._open()) as connection:
            connection.execute(
                "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (start) DO UPDATE SET calls = calls + excluded.calls, "
                "tokens = tokens + excluded.tokens",
                (self.start, calls, tokens),
            )

    def spent(self) -> tuple[int, int]:
        """Calls and tokens so far.

        Raises:
            StoreError: the ledger can't be used.
        """
        with closing(self._open()) as connection:
            row = connection.execute("SELECT calls, tokens FROM spent WHERE start = ?", (self.start,)).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def _open(self) -> sqlite3.Connection:
        try:
            Path(self.ledger).parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.ledger, timeout=WAIT, isolation_level=None)
            connection.execute(
                "CREATE TABLE IF NOT EXISTS spent (start TEXT PRIMARY KEY, calls INTEGER NOT NULL, tokens INTEGER NOT NULL)"
            )
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"cannot use {self.ledger} to count calls ({error}). Make it writable, or lift the limits: "
                "budget.calls=null budget.tokens=null."
            ) from error
        return connection
