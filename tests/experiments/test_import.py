"""Predictions of others as runs: what is read, how texts become passages, what is refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from experiments.cell import read_cells
from experiments.import_predictions import Request, dataset_run, import_predictions, main
from experiments.predictions import PassageFinder, read_predictions
from experiments.settings import Method, Run
from psi.corpus.records import Passage, Passages, Question
from psi.errors import ConfigError, InputError
from psi.store import open_artifact, read_rows
from tests.toys import ToyLoader, ToyReader, ToyRetriever

QUESTIONS = [Question("q0", "Which city is in France?"), Question("q1", "Which city is in Italy?")]
TEXTS = ("Paris is in France", "Rome is in Italy")


def run(*metrics: str) -> Run:
    reader = ToyReader()
    return Run(dataset=ToyLoader(), method=Method(retriever=ToyRetriever()), reader=reader, metrics=metrics)


def file_of(folder: Path, *rows: Any) -> Path:
    path = folder / "predictions.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def released(folder: Path, **content: Any) -> Path:
    path = folder / "released.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return path


def imported(folder: Path, path: Path, *metrics: str, **more: Any) -> tuple[Any, dict[str, Any]]:
    request = Request(file=str(path), method="theirs", store=str(folder / "store"), **more)
    cell = import_predictions(request, "toy", run(*metrics))
    scores = open_artifact(folder / "store" / cell.stages["scores"]).path
    return cell, json.loads((scores / "summary.json").read_text())


def test_released_files_become_runs_like_ours(tmp_path: Path) -> None:
    path = released(
        tmp_path, answers=["Paris", "Error"], retrieved_docs=[[TEXTS[0], "elsewhere"], ["elsewhere", TEXTS[1]]]
    )
    cell, summary = imported(tmp_path, path, "recall@1", "recall@2", "recall@9", "em")
    assert {name: each["mean"] for name, each in summary.items()} == {"recall@1": 0.5, "recall@2": 1.0, "em": 0.5}
    assert cell.costs["unmapped"] == 2 and cell.status == "ok"
    assert read_cells(tmp_path / "store") == [cell]
    rows = read_rows(tmp_path / "store" / cell.stages["answers"] / "answers.jsonl")
    assert [(row["status"], row["text"]) for row in rows] == [("ok", "Paris"), ("parse_failed", None)]
    assert imported(tmp_path, path, "recall@1", "recall@2", "recall@9", "em")[0] == cell


def test_own_files_name_questions_and_passages_by_their_ids(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"question": "q1", "answer": "Rome", "passages": ["p1"]}, {"question": "q0", "answer": ""})
    _, summary = imported(tmp_path, path, "recall@1", "em")
    assert {name: each["mean"] for name, each in summary.items()} == {"recall@1": 0.5, "em": 0.5}


def test_answers_alone_are_scored_alone(tmp_path: Path) -> None:
    path = file_of(tmp_path, *({"question": each.id, "answer": "Paris"} for each in QUESTIONS))
    assert list(imported(tmp_path, path, "recall@1", "em")[1]) == ["em"]
    with pytest.raises(InputError, match="nothing to be scored by recall@1"):
        imported(tmp_path, path, "recall@1")


def test_questions_that_are_left_out_are_refused_or_counted(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"question": "q0", "answer": "Paris"})
    with pytest.raises(InputError, match=r"answers 1 of the 2 questions of toy and not, for instance, 'q1'"):
        imported(tmp_path, path, "em")
    em = imported(tmp_path, path, "em", partial=True)[1]["em"]
    assert (em["mean"], em["n"], em["n_failed"]) == (1.0, 1, 1)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["{"], "line 1: record: Invalid JSON"),
        (['{"question": "q0", "anwser": "x"}'], "line 1: anwser: Extra inputs"),
        (['{"question": "q7", "answer": "x"}'], "no question with the id 'q7'"),
        (['{"question": "q0"}', '{"question": "q0"}'], "line 2: a second answer to question 'q0'"),
        (['{"question": "q0", "answer": 7}'], "line 1: answer: Input should be a valid string"),
    ],
)
def test_malformed_lines_are_refused(tmp_path: Path, rows: list[str], said: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(rows))
    with pytest.raises(InputError, match=said):
        read_predictions(path, QUESTIONS)


def test_released_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="3 answers and no lists of passages for 2 questions"):
        read_predictions(released(tmp_path, answers=["a", "b", "c"]), QUESTIONS)
    with pytest.raises(InputError, match="1 answers and 2 lists"):
        read_predictions(released(tmp_path, answers=["a"], retrieved_docs=[[], []]), QUESTIONS)
    with pytest.raises(InputError, match="answers: Field required"):
        read_predictions(released(tmp_path, answer=["a"]), QUESTIONS)
    broken = tmp_path / "broken.json.gz"
    broken.write_bytes(b"no gzip")
    with pytest.raises(InputError, match="cannot read the predictions"):
        read_predictions(broken, QUESTIONS)
    with pytest.raises(InputError, match="ending must be"):
        read_predictions(tmp_path / "x.csv", QUESTIONS)


def test_texts_are_found_exactly_then_loosely_then_by_title() -> None:
    passages = Passages([
        Passage("a", "Rome", "Rome is old."), Passage("b", "Rome -", "Rome is old."), Passage("c", "Oslo", "In Norway."),
    ])  # fmt: skip
    finder = PassageFinder(passages)
    found = finder.ranking(
        [
            "Rome\nRome is old.",
            "Rome - \n Rome is  old.",
            "ROME\nRome is old",
            "Oslo\nA city.",
            "Bonn\nOn the Rhine.",
            "c",
        ]
    )
    assert found[:3] == ("a", "b", "c") and found[3].startswith("unmapped:Bonn #") and len(found) == 4
    assert finder.counts == {
        "exact": 1, "but for white space": 1, "by letters and digits": 1, "by title": 1, "unmapped": 1, "id": 1,
    }  # fmt: skip


def test_settings_of_the_dataset_are_those_of_runs() -> None:
    name, found = dataset_run(["dataset=encyclopedia", "metrics=[em]"])
    assert (name, found.metrics) == ("encyclopedia", ("em",))
    with pytest.raises(ConfigError, match=r"k: predictions have no such setting"):
        dataset_run(["dataset=encyclopedia", "k=5"])
    with pytest.raises(ConfigError, match="dataset is not given"):
        dataset_run([])
    with pytest.raises(ConfigError, match="file is not given"):
        main(["dataset=encyclopedia", "method=m"])
