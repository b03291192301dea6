"""A sweep under a killer, against the same sweep left in peace: do both end with the same bytes?

    python -m experiments.bench.kill kills=40 launcher=joblib

A sweep of 72 cells (six methods, three samples of questions, two depths, two contexts; a chat model behind HTTP answers) is
started again and again; at random moments, most of them after its first job has begun, SIGKILL hits the whole process group
or one of its processes. The sweep is then left to end, and every file of every stage is compared with an unbroken sweep by
its sha256. Exit code 1 if any differs.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt
from tqdm import tqdm

from experiments.arguments import run_program, settings_from
from experiments.bench.sweep import CELLS, Launcher, echo_server, files, start, statuses
from psi.component import Component


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """How often to kill, under which launcher, in which folder (None: a temporary one), after how many seconds
    of work at most.
    """

    kills: PositiveInt = 40
    launcher: Launcher = "joblib"
    folder: str | None = None
    longest: PositiveFloat = 8.0
    seed: NonNegativeInt = 0
    out: str | None = None


def kill_often(store: Path, url: str, request: Request) -> int:
    """Start and kill until the number of kills is reached or the sweep has ended; returns the number of kills."""
    chance, kills = random.Random(request.seed), 0
    with tqdm(total=request.kills, desc="killing", unit="kill", disable=None) as bar:
        while kills < request.kills:
            process = start(store, url, request.launcher)
            if chance.random() < 0.8:  # the others are hit while they start
                _wait_for_work(process, store)
            while process.poll() is None and kills < request.kills:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(chance.uniform(0, request.longest))
                    break
                _kill(process, chance)
                kills += 1
                bar.set_postfix(cells=len(statuses(store)), refresh=False)
                bar.update()
            _end(process)
    return kills


def _wait_for_work(process: subprocess.Popen[bytes], store: Path) -> None:
    before = set(store.glob("logs/*/*/run.log"))
    while process.poll() is None and set(store.glob("logs/*/*/run.log")) <= before:
        time.sleep(0.1)


def _kill(process: subprocess.Popen[bytes], chance: random.Random) -> None:
    processes = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    members = [pid for pid in processes if _group(pid) == process.pid]
    with contextlib.suppress(ProcessLookupError):
        if chance.random() < 0.5 or not members:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            os.kill(chance.choice(members), signal.SIGKILL)


def _group(pid: int) -> int | None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        return os.getpgid(pid)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def measure(request: Request, folder: Path) -> dict[str, Any]:
    """Run both sweeps, and compare them."""
    with echo_server() as url:
        began = time.perf_counter()
        kills = kill_often(folder / "killed", url, request)
        code = start(folder / "killed", url, request.launcher).wait()
        killed_seconds, began = time.perf_counter() - began, time.perf_counter()
        whole_code = start(folder / "whole", url, request.launcher).wait()
        whole_seconds = time.perf_counter() - began
    killed, whole = files(folder / "killed"), files(folder / "whole")
    differing = sorted(name for name in killed.keys() | whole.keys() if killed.get(name) != whole.get(name))
    return {
        "launcher": request.launcher, "kills": kills, "cells": len(statuses(folder / "whole")), "files": len(whole),
        "differing": differing, "equal_statuses": statuses(folder / "killed") == statuses(folder / "whole"),
        "exit_codes": [code, whole_code], "seconds": [round(killed_seconds, 1), round(whole_seconds, 1)],
    }  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Measure, and tell."""
    request = settings_from(arguments, Request, __doc__)
    with tempfile.TemporaryDirectory(prefix="psi-kill-") as temporary:
        result = measure(request, Path(request.folder or temporary))
    text = json.dumps(result, indent=1)
    sys.stdout.write(text + "\n")
    if request.out is not None:
        Path(request.out).write_text(text + "\n", encoding="utf-8")
    good = (
        not result["differing"]
        and result["equal_statuses"]
        and result["cells"] == CELLS
        and result["exit_codes"] == [0, 0]
    )
    return 0 if good else 1


if __name__ == "__main__":
    run_program(main)
