"""Whom finished cells are told of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from psi.component import Component

if TYPE_CHECKING:
    from experiments.trackers.report import Report


@runtime_checkable
class Tracker(Protocol):
    """Somebody who is told of every cell that ended."""

    def track(self, report: Report) -> None:
        """Tell of one cell."""
        ...


@dataclass(frozen=True, kw_only=True)
class NoTracker(Component):
    """Nobody is told; the list in the store is kept all the same."""

    def track(self, report: Report) -> None:
        """Nothing."""
