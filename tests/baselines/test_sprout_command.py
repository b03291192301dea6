"""The command that trains SproutRAG: what it refuses, and its figures."""

import csv

import numpy as np
import pytest

from baselines.sproutrag import Encoder
from experiments.sprout import draw_curve, draw_heads, main
from psi.errors import ConfigError


def test_a_method_without_training_is_refused():
    with pytest.raises(ConfigError, match="method bm25 has nothing to train"):
        main(["method=bm25"])
    with pytest.raises(ConfigError, match="sprout_trained"):
        main(["method=sprout"])


def test_figures_come_with_their_numbers(tmp_path):
    rows = [{"step": step, "retrieval": 2.0 / step, "attention": 4.0 if step > 1 else None} for step in (1, 2, 3)]
    draw_curve(rows, tmp_path / "curve")
    scalars = np.zeros(72)
    scalars[5] = 1.0
    draw_heads(scalars, Encoder(), tmp_path / "heads")
    with (tmp_path / "heads.csv").open() as file:
        after = [float(row["after"]) for row in csv.DictReader(file)]
    assert len(after) == 72 and np.argmax(after) == 5 and np.isclose(np.mean(after), 1)
    for name in ("curve", "heads"):
        assert (tmp_path / f"{name}.png").stat().st_size > 1000
