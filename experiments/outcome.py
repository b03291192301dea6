"""How the jobs of one start ended: a note for each job, and at the end one table and one exit code for all."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig
from pydantic import TypeAdapter

from experiments.cell import Cell
from experiments.plan import Plan, show_plans
from experiments.tables import show_cells
from psi.errors import PsiError
from psi.store import writing

NOTE = "outcome.json"


@dataclass(frozen=True)
class JobOutcome:
    """One job: its cell, the store that holds it, whether its configuration was refused; of a dry run, the plan."""

    store: str
    cell: Cell | None
    refused: bool = False
    plan: Plan | None = None


_OUTCOME = TypeAdapter(JobOutcome)


def note_outcome(folder: Path, outcome: JobOutcome) -> None:
    """Leave a job's outcome in its log folder.

    Raises:
        StoreError: the folder can't be written.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f"{NOTE}.partial"
        temporary.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
        temporary.replace(folder / NOTE)


class Outcome(Callback):
    """Prints the table of everything that was run; the exit code is 1 if any failed, 2 if all were refused."""

    def on_run_end(self, config: DictConfig, **_: Any) -> None:
        """After a single run."""
        _finish(Path(config.hydra.runtime.output_dir))

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """After a sweep, whatever launched its jobs."""
        _finish(Path(config.hydra.sweep.dir))


def _finish(folder: Path) -> None:
    jobs = [_read(path) for path in sorted(folder.rglob(NOTE), key=_job_number)]
    if not jobs:  # an error before the first job's end; it is reported where it is caught
        return
    if all(job.refused for job in jobs):
        raise SystemExit(2)
    show_plans([job.plan for job in jobs if job.plan is not None])
    cells = _distinct(jobs)
    if cells:
        try:
            show_cells(cells)
        except PsiError as error:
            sys.stderr.write(f"{error}\n")
            raise SystemExit(1) from error
    if any(cell.status != "ok" for _, cell in cells):
        raise SystemExit(1)


def _distinct(jobs: Sequence[JobOutcome]) -> list[tuple[Path, Cell]]:
    """The last outcome of every run, with its store: a sweep may name one twice."""
    placed = {
        (job.store, job.cell.digest or place): (Path(job.store), job.cell)
        for place, job in enumerate(jobs)
        if job.cell is not None
    }
    return list(placed.values())


def _read(path: Path) -> JobOutcome:
    return _OUTCOME.validate_python(json.loads(path.read_text(encoding="utf-8")))


def _job_number(path: Path) -> tuple[int, str]:
    name = path.parent.name
    return (int(name), "") if name.isdigit() else (0, name)
