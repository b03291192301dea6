"""Scores of published predictions, recomputed: answers and rankings that nobody here made, with known results."""

import gzip
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from psi.metrics import score_questions

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
pytestmark = pytest.mark.skipif(not (SHARED / "predictions").is_dir(), reason="no released predictions in ../shared")


def released(name: str) -> dict[str, list[Any]]:
    with gzip.open(SHARED / f"predictions/{name}.json.gz", "rt") as file:
        rows: dict[str, list[Any]] = json.load(file)
    return rows


def records(dataset: str) -> list[Any]:
    rows: list[Any] = json.loads((SHARED / f"data/{dataset}/{dataset}.json").read_text())
    return rows


def percent(questions: list[Any], metrics: list[str], run: dict[str, list[Any]]) -> dict[str, float]:
    titles = [[passage.split("\n")[0] for passage in row] for row in run["retrieved_docs"]]
    scores = score_questions(
        questions,
        metrics,
        rankings={question.id: row for question, row in zip(questions, titles, strict=True)},
        answers={
            question.id: SimpleNamespace(text=text, status="ok")
            for question, text in zip(questions, run["answers"], strict=True)
        },
    )
    return {name: 100 * math.fsum(each.values.values()) / len(each.values) for name, each in scores.items()}


@pytest.mark.parametrize(("file", "em", "f1", "recall"), [("summary", 69.1, 76.7, 96.1), ("keyword", 68.9, 76.9, 95.6)])
def test_2wikimultihopqa(file: str, em: float, f1: float, recall: float) -> None:
    asked = [
        SimpleNamespace(
            id=row["_id"], answers=(row["answer"],), gold=tuple(title for title, _ in row["supporting_facts"])
        )
        for row in records("2wikimultihopqa")
    ]
    found = percent(asked, ["em", "f1_squad", "recall@5"], released(f"2wikimultihopqa_{file}"))
    assert found == pytest.approx({"em": em, "f1_squad": f1, "recall@5": recall}, abs=0.05 + 1e-9)


@pytest.mark.parametrize(("file", "em", "f1"), [("summary", 51.3, 60.4), ("keyword", 50.2, 59.4)])
def test_popqa_with_aliases(file: str, em: float, f1: float) -> None:
    asked = []
    for row in records("popqa"):
        aliases = [*json.loads(row["possible_answers"]), *json.loads(row["o_aliases"])]
        answers = (row["obj"], row["o_wiki_title"], *aliases)
        asked.append(SimpleNamespace(id=str(row["id"]), answers=answers, gold=()))
    found = percent(asked, ["em", "f1_squad"], released(f"popqa_{file}"))
    assert found == pytest.approx({"em": em, "f1_squad": f1}, abs=0.05 + 1e-9)
