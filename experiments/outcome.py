"""How the jobs of one start ended: a note for each job, and at the end one table and one exit code for all."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from experiments.cell import Cell
from experiments.tables import show_cells
from psi.errors import PsiError

NOTE = "outcome.json"


@dataclass(frozen=True)
class JobOutcome:
    """One job: its cell, and the store that holds it."""

    store: str
    cell: dict[str, Any]


def note_outcome(folder: Path, store: str, cell: Cell) -> None:
    """Leave a job's outcome in its log folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NOTE).write_text(json.dumps(asdict(JobOutcome(store, asdict(cell)))), encoding="utf-8")


class Outcome(Callback):
    """Prints the table of everything that was run; the exit code is 1 if any of it failed."""

    def on_run_end(self, config: DictConfig, **_: Any) -> None:
        """After a single run."""
        _finish(Path(config.hydra.runtime.output_dir))

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """After a sweep, whatever launched its jobs."""
        _finish(Path(config.hydra.sweep.dir))


def _finish(folder: Path) -> None:
    notes = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob(NOTE), key=_job_number)]
    if not notes:
        return  # a configuration error stopped everything before the first job; it has been reported
    cells = [(Path(note["store"]), Cell(**note["cell"])) for note in notes]
    try:
        show_cells(cells)
    except PsiError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from error
    if any(cell.status != "ok" for _, cell in cells):
        raise SystemExit(1)


def _job_number(path: Path) -> tuple[int, str]:
    name = path.parent.name
    return (int(name), "") if name.isdigit() else (0, name)
