"""The same sweep by every launcher: equal artefacts. Workers that are lost are replaced."""

import contextlib
import importlib.util
import os
import signal
import time
from pathlib import Path

import pytest

from .test_run import SMALL, results, run, start, toy_reader

SWEEP = [*SMALL, "method=bm25,no_retrieval", "seed=0,1"]
NEEDS = {"joblib": "joblib", "submitit_local": "submitit", "ray": "ray"}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    folder = tmp_path_factory.mktemp("basic")
    code, _, err = run(folder / "store", "-m", *SWEEP, *toy_reader(folder / "calls"))
    assert code == 0, err
    return results(folder / "store")


@pytest.mark.parametrize("launcher", NEEDS)
def test_launchers_give_equal_artefacts(launcher, unbroken, tmp_path):
    if importlib.util.find_spec(NEEDS[launcher]) is None:
        pytest.skip(f"the extra with {NEEDS[launcher]} is not installed")
    code, out, err = run(
        tmp_path / "store", "-m", f"hydra/launcher={launcher}", *SWEEP, *toy_reader(tmp_path / "calls")
    )
    assert code == 0, err
    assert out.count("encyclopedia") >= 4
    assert results(tmp_path / "store") == unbroken


def test_ray_replaces_a_worker_that_was_killed(unbroken, tmp_path):
    pytest.importorskip("ray", reason="extra ray is not installed")
    process = start(
        tmp_path / "store",
        "-m",
        "hydra/launcher=ray",
        *SWEEP,
        *toy_reader(tmp_path / "calls", delay=0.05),
        start_new_session=True,
    )
    calls = tmp_path / "calls"
    while process.poll() is None and not (calls.exists() and calls.stat().st_size):
        time.sleep(0.05)
    worker = next(pid for pid in _descendants(process.pid) if "execute_job" in _command(pid))
    os.kill(worker, signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert results(tmp_path / "store") == unbroken


def _descendants(parent):
    children = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            status = (process / "stat").read_text().rsplit(")", 1)[1].split()
            children.setdefault(int(status[1]), []).append(int(process.name))
    found = list(children.get(parent, []))
    for pid in found:
        found += children.get(pid, [])
    return found


def _command(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""
