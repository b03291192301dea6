"""What is told of a finished cell, and the plain list of cells that is always kept."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from analysis.cells import CellScores
from experiments.cell import Cell
from experiments.tables import cell_scores
from experiments.trackers.protocol import Tracker
from psi.errors import InputError
from psi.store import writing

log = logging.getLogger(__name__)
LIST = "cells.jsonl"


@dataclass(frozen=True)
class Report:
    """A finished cell, its scores, and the store's folder, below which a tracker may write files of its own."""

    cell: Cell
    scores: CellScores
    store: Path

    @property
    def name(self) -> str:
        """Short, and different for different runs."""
        return f"{self.cell.dataset}-{self.cell.method}-{self.cell.seed}-{self.cell.digest}"

    def numbers(self) -> dict[str, float]:
        """Everything that is a number, by name: means and interval bounds of scores, costs."""
        scores = {
            f"{part}/{name.replace('@', '_at_')}": value
            for name, summary in self.scores.summaries.items()
            for part, value in (("score", summary.mean), ("low", summary.low), ("high", summary.high))
            if value is not None
        }
        return scores | {f"cost/{name}": float(value) for name, value in self.cell.costs.items()}

    def figure(self) -> Path | None:
        """The overview figure of this cell alone, drawn now; None where there is nothing to draw."""
        from analysis.figures import demo_figure  # matplotlib takes a second to import

        try:
            return demo_figure([self.scores], self.store / "figures" / f"{self.cell.digest}.png")[0]
        except InputError:
            return None


def tell(tracker: Tracker, cell: Cell, store: Path) -> None:
    """Add the cell to the store's list, and tell the tracker. A tracker's trouble is logged: it fails no cell.

    Raises:
        StoreError: the store can't be written.
    """
    report = Report(cell, cell_scores([(store, cell)])[0], store)
    _list(report)
    try:
        tracker.track(report)
    except Exception as error:  # noqa: BLE001 - a library that talks to a server: anything may go wrong
        log.error("%s was not told of %s: %s: %s", type(tracker).__name__, report.name, type(error).__name__, error)


def _list(report: Report) -> None:
    """A line in `cells.jsonl`, written at once, so that lines of many processes stay whole."""
    cell = report.cell
    line = {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"), "dataset": cell.dataset, "method": cell.method,
        "seed": cell.seed, "digest": cell.digest, "status": cell.status, "error": cell.error,
        "scores": {name: summary.mean for name, summary in report.scores.summaries.items()}, "costs": dict(cell.costs),
    }  # fmt: skip
    path = report.store / LIST
    with writing(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, json.dumps(line, ensure_ascii=False).encode() + b"\n")
        finally:
            os.close(handle)
