"""Costs by stage and differences to a whole system: numbers from hand-made runs, figures that can be drawn."""

import csv
import json

import pytest

from analysis.ablation import Difference, ablation_figure, ablation_table
from analysis.efficiency import Quality, StageCost, efficiency_figure, stages_table, totals
from analysis.renderers import to_csv
from experiments.ablations import Request, differences
from experiments.efficiency import main as efficiency
from experiments.efficiency import prices_of
from psi.errors import ConfigError, InputError
from tests.experiments.test_run import SMALL, run


def cost(method, phase, stage, seconds, **more):
    return StageCost(dataset="d", method=method, phase=phase, stage=stage, seconds=seconds, **more)


COSTS = [
    cost("a", "index", "embeddings", 30.0, memory=3 << 30, prompt_tokens=0),
    cost("a", "index", "tree", 2.0, memory=1 << 30, resumed=True),
    cost("a", "search", "rankings", 0.5, questions=100),
    cost("a", "answers", "answers", 20.0, questions=10, calls=10, prompt_tokens=5000, completion_tokens=70, price=0.25),
    cost("b", "search", "rankings", 0.1, questions=100),
]


def test_times_are_those_of_a_question_where_they_are_paid_for_each():
    a, b = totals(COSTS)
    assert (a["index_seconds"], a["search_ms"], a["answers_ms"], a["agent_ms"]) == (32.0, 5.0, 2000.0, 0)
    assert (a["calls"], a["prompt_tokens"], a["completion_tokens"], a["memory_gb"], a["price"]) == (
        10,
        5000,
        70,
        3.0,
        0.25,
    )
    assert b["memory_gb"] is None and b["search_ms"] == 1.0
    rows = list(csv.DictReader(to_csv(stages_table(COSTS)).splitlines()))
    assert rows[1]["note"] == "resumed" and rows[3]["ms"] == "2000.0" and rows[0]["ms"] == ""


def test_the_figure_of_costs_is_drawn_from_what_stands_beside_it(tmp_path):
    quality = [Quality(dataset="d", method="a", mean=0.5, low=0.4, high=0.6)]
    png, pdf, data = efficiency_figure(COSTS, quality, "Recall@5", tmp_path / "costs")
    assert png.stat().st_size and pdf.stat().st_size
    rows = list(csv.DictReader(data.open()))
    assert [row["mean"] for row in rows] == ["0.5", ""] and rows[0]["index_seconds"] == "32.0"
    with pytest.raises(InputError, match="one dataset"):
        efficiency_figure(
            [*COSTS, StageCost(dataset="e", method="a", phase="search", stage="s", seconds=1)], [], "F1", tmp_path / "x"
        )


def test_prices_come_from_the_configuration():
    assert prices_of("example").of(3600, 1e6, 1e6) == pytest.approx(1.8)
    assert prices_of("free").of(3600, 1e6, 1e6) == 0
    with pytest.raises(ConfigError, match="exampl"):
        prices_of("exampl")


def test_differences_are_drawn_and_told(tmp_path):
    rows = [
        Difference("d", "recall@5", "less", -12.0, -15.0, -9.0, 0.001, 200),
        Difference("d", "f1", "less", 0.5, -1, 2, 0.6, 50),
    ]
    assert "-12.0" in str(ablation_table(rows, "whole").rows)
    png, *_ = ablation_figure(rows, "whole", tmp_path / "ablation")
    assert png.exists()
    with pytest.raises(InputError, match="nothing to draw"):
        ablation_figure([], "whole", tmp_path / "ablation")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("costs")
    code, _, err = run(root, "-m", *SMALL, "method=bm25", "k=1,10", "answers=0")
    assert code == 0, err
    return root


def test_runs_are_compared_with_the_whole(store):
    (row,) = differences(Request(whole="bm25 [k=10]", store=str(store), metrics=("recall@5",)))
    assert row.variant == "bm25 [k=1]" and row.points < 0 and row.high < 0
    scores = [json.loads(path.read_text())["recall@5"]["mean"] for path in store.glob("stages/scores/*/summary.json")]
    assert abs(row.points) == pytest.approx(100 * (max(scores) - min(scores)))
    with pytest.raises(ConfigError, match="whole=psi"):
        differences(Request(whole="psi", store=str(store)))


def test_costs_of_real_runs_are_told_and_drawn(store, tmp_path, capsys):
    efficiency([f"store={store}", f"out={tmp_path}", "prices=example"])
    out = capsys.readouterr().out
    assert "rankings" in out and "Memory (GB)" in out
    rows = list(csv.DictReader((tmp_path / "stages.csv").open()))
    assert {row["stage"] for row in rows} == {"bm25", "rankings"}
    assert all(float(row["memory_gb"]) > 0 for row in rows)
    assert (tmp_path / "efficiency_encyclopedia.png").exists()
