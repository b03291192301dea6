"""The overview figure: what is drawn, what is refused, and that equal runs give equal bytes."""

import csv
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib.image import imread

from analysis.cells import CellScores
from analysis.figures import demo_figure
from analysis.style import PAGE_MM, series
from psi.errors import InputError
from psi.metrics import Summary


def cell(method: str, mean: float, **more: Any) -> CellScores:
    one = Summary(mean, mean - 0.1, mean + 0.1, 10)
    summaries = dict.fromkeys(("recall@1", "recall@5", "f1"), one)
    parts = {label: {"recall@5": one} for label in ("1 hop", "2 hops")}
    return CellScores(**{"dataset": "toy", "method": method, "summaries": summaries, "parts": parts, **more})


def numbers(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    cells = [cell("a", 0.5), cell("b", 0.4, note="Made with a small model.")]
    before = dict(matplotlib.rcParams)
    first = demo_figure(cells, tmp_path / "one" / "demo.png")
    second = demo_figure(cells, tmp_path / "two" / "demo.png")
    assert [path.suffix for path in first] == [".png", ".pdf", ".csv"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert dict(matplotlib.rcParams) == before
    assert imread(first[0]).shape[1] == pytest.approx(PAGE_MM / 25.4 * 200, abs=1)


def test_numbers_lie_beside_the_picture(tmp_path: Path) -> None:
    rows = numbers(demo_figure([cell("a", 0.5)], tmp_path / "demo.png")[2])
    assert {row["panel"] for row in rows} == {"recall", "parts", "answers"}
    assert {(row["metric"], row["part"]) for row in rows if row["panel"] == "parts"} == {
        ("recall@5", "1 hop"),
        ("recall@5", "2 hops"),
    }
    assert all((float(row["mean"]), row["n"]) == (50, "10") for row in rows)


def test_failed_runs_and_panels_without_data_are_left_out(tmp_path: Path) -> None:
    ranked = {"recall@5": Summary(0.5, None, None, 1), "f1": Summary(None, None, None, 0, 3)}
    cells = [cell("a", 0.5, summaries=ranked, parts={}), cell("b", 0.5, status="failed", error="ModelError")]
    rows = numbers(demo_figure(cells, tmp_path / "demo.png")[2])
    assert [(row["panel"], row["method"], row["low"]) for row in rows] == [("recall", "a", "50.0")]


def test_what_cannot_be_one_figure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="toy, other"):
        demo_figure([cell("a", 0.5), cell("a", 0.5, dataset="other")], tmp_path / "demo.png")
    with pytest.raises(InputError, match="no scores to draw"):
        demo_figure([cell("a", 0.5, status="failed", error="ModelError")], tmp_path / "demo.png")
    assert list(tmp_path.iterdir()) == []


def test_no_two_series_look_alike() -> None:
    for trait in ("line", "marker", "hatch"):
        assert len({(each.colour, getattr(each, trait)) for each in map(series, range(32))}) == 32
    assert len({each.marker for each in map(series, range(8))}) == 8
