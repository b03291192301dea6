"""Finished cells are told of: always in the store's list, and to whom the configuration names."""

import json

import pytest

from experiments.cell import Cell
from experiments.trackers.report import tell
from experiments.trackers.tensorboard import TensorBoardTracker
from experiments.trackers.wandb import WandbTracker

from .test_run import SMALL, run


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracked")
    code, _, err = run(folder, *SMALL, "method=bm25", "answers=0")
    assert code == 0, err
    return folder


def cell_of(store):
    (record,) = store.glob("cells/*/*/*/cell.json")
    return Cell(**json.loads(record.read_text()))


def test_every_cell_is_a_line_in_the_store(store):
    lines = [json.loads(line) for line in (store / "cells.jsonl").read_text().splitlines()]
    assert lines[0]["digest"] == cell_of(store).digest
    assert 0 < lines[0]["scores"]["recall@5"] <= 1


def test_wandb_offline_holds_the_scores(store):
    pytest.importorskip("wandb", reason="extra track is not installed")
    tell(WandbTracker(), cell_of(store), store)
    (log,) = store.glob("wandb/offline-run-*/run-*.wandb")
    assert b"recall_at_5" in log.read_bytes()


def test_tensorboard_holds_the_scores(store):
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="extra track is not installed"
    )
    tell(TensorBoardTracker(), cell_of(store), store)
    (folder,) = store.glob("tensorboard/*")
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    lines = [json.loads(line) for line in (store / "cells.jsonl").read_text().splitlines()]
    assert events.Scalars("score/recall_at_5")[0].value == pytest.approx(lines[0]["scores"]["recall@5"])


class Broken:
    def track(self, report):
        raise RuntimeError("no network")


def test_a_trackers_trouble_fails_no_cell(store, caplog):
    tell(Broken(), cell_of(store), store)
    assert "no network" in caplog.text
