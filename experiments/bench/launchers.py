"""The same sweep by every launcher: do all end with the same bytes, and how long does each take?

    python -m experiments.bench.launchers launchers=[basic,joblib,submitit_local,ray] jobs=2

Every launcher gets a new store and runs 12 cells of `experiments.bench.sweep` (six methods, two samples of questions), `jobs` at
a time where it can: submitit_local starts all processes at once, so there are no more. Every file of every stage is then
compared with the first launcher's by its sha256. Exit code 1 if any differs.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import PositiveInt
from tqdm import tqdm

from experiments.arguments import run_program, settings_from
from experiments.bench.sweep import Launcher, echo_server, files, start, statuses
from psi.component import Component

CHOSEN = ("seed=0,1", "k=10", "context=2")
CELLS = 6 * 2


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which launchers, the first to compare with, how many cells at a time, and further settings of the sweep.

    With `settings=[answers=30,llm.concurrency=1]` cells take longer than processes take to start.
    """

    launchers: tuple[Launcher, ...] = ("basic", "joblib", "submitit_local", "ray")
    jobs: PositiveInt = 2
    settings: tuple[str, ...] = ()
    out: str | None = None


class Ended(NamedTuple):
    """How a sweep ended: seconds, exit code, digests of its files, statuses of its cells."""

    seconds: float
    code: int
    files: dict[str, str]
    statuses: dict[str, str]


def run(launcher: Launcher, store: Path, url: str, request: Request) -> Ended:
    """The whole sweep by one launcher."""
    began = time.perf_counter()
    code = start(store, url, launcher, *CHOSEN, *request.settings, jobs=request.jobs).wait()
    return Ended(time.perf_counter() - began, code, files(store), statuses(store))


def measure(request: Request, folder: Path) -> dict[str, Any]:
    """Run the sweep by every launcher, and compare with the first."""
    with echo_server() as url:  # one for all: its address is part of what a cell is
        ended = {
            launcher: run(launcher, folder / launcher, url, request)
            for launcher in tqdm(request.launchers, desc="sweeps", unit="launcher", disable=None)
        }
    first = next(iter(ended.values()))
    return {
        "jobs": request.jobs,
        "settings": list(request.settings),
        "cells": len(first.statuses),
        "files": len(first.files),
        "launchers": {
            launcher: {
                "seconds": round(end.seconds, 1),
                "of_first": round(end.seconds / first.seconds, 2),
                "exit_code": end.code,
                "equal": end.files == first.files and end.statuses == first.statuses,
            }
            for launcher, end in ended.items()
        },
    }


def main(arguments: Sequence[str]) -> int:
    """Measure, and tell."""
    request = settings_from(arguments, Request, __doc__)
    with tempfile.TemporaryDirectory(prefix="psi-launchers-") as folder:
        result = measure(request, Path(folder))
    text = json.dumps(result, indent=1)
    sys.stdout.write(text + "\n")
    if request.out is not None:
        Path(request.out).write_text(text + "\n", encoding="utf-8")
    good = all(found["equal"] and found["exit_code"] == 0 for found in result["launchers"].values())
    return 0 if good and result["cells"] == CELLS else 1


if __name__ == "__main__":
    run_program(main)
