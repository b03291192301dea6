"""A time limit ends a run cleanly, and the next start ends it with the same bytes."""

import time

import pytest

from experiments.deadline import STARTED, deadline
from psi.errors import TimeLimitError

from .test_run import SMALL, results, run, toy_reader


def test_time_over_interrupts_and_leaves_no_alarm(monkeypatch):
    monkeypatch.setenv(STARTED, str(time.time()))
    with pytest.raises(TimeLimitError, match="max_hours"), deadline(0.1 / 3600):
        time.sleep(5)
    with deadline(0.1 / 3600):
        pass
    time.sleep(0.2)


def test_a_start_that_is_too_old_is_interrupted_at_once(monkeypatch):
    monkeypatch.setenv(STARTED, "0")
    with pytest.raises(TimeLimitError), deadline(1):
        time.sleep(5)


def test_a_run_that_ran_out_of_time_goes_on(tmp_path):
    arguments = [*SMALL, "method=bm25"]
    assert run(tmp_path / "whole", *arguments, *toy_reader(tmp_path / "a"))[0] == 0
    slow = toy_reader(tmp_path / "b", delay=0.4)  # 24 questions: about ten seconds
    code, out, _ = run(tmp_path / "cut", *arguments, *slow, f"max_hours={7 / 3600}")
    assert code == 1
    assert "TimeLimitError" in out
    assert run(tmp_path / "cut", *arguments, *toy_reader(tmp_path / "b"))[0] == 0
    assert results(tmp_path / "cut") == results(tmp_path / "whole")
