"""Reports of real stores: what is on the page is what the files hold."""

import base64
import gzip
import json
import re

import pytest

from analysis.report.page import report_page
from experiments.cell import Cell, read_cells, write_record
from experiments.report import Request, gathered, main
from psi.errors import ConfigError, InputError
from psi.store import read_rows
from tests.experiments.test_run import SMALL, run, toy_reader


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("report")
    code, _, err = run(root, "-m", *SMALL, "method=bm25,psi_tree", "answers=8", *toy_reader(root / "calls"))
    assert code == 0, err
    return root


def sections(page):
    found = re.findall(r'id="data-([\w-]+)">([^<]*)</script>', page)
    return {name: json.loads(gzip.decompress(base64.b64decode(text))) for name, text in found}


def test_the_page_holds_what_the_store_holds(store, tmp_path, capsys):
    main([f"runs={store}", f"out={tmp_path}/page.html"])
    assert "report: " in capsys.readouterr().out
    page = (tmp_path / "page.html").read_text()
    data = sections(page)
    core, questions = data["core"], data["dataset-0"]["questions"]
    assert [each["method"] for each in core["runs"]] == ["bm25", "psi_tree"]
    assert len(core["figures"]) == 1 and page.count("data:image/png") == 1
    for at, cell in enumerate(sorted(read_cells(store), key=lambda cell: cell.method)):
        summary = json.loads((store / cell.stages["scores"] / "summary.json").read_text())
        assert core["runs"][at]["metrics"]["recall@5"][0] == summary["recall@5"]["mean"]
        assert (
            core["runs"][at]["command"].endswith(f"method={cell.method}") or cell.method in core["runs"][at]["command"]
        )
        answers = {row["question"]: row for row in read_rows(store / cell.stages["answers"] / "answers.jsonl")}
        rankings = {row["question"]: row for row in read_rows(store / cell.stages["rankings"] / "rankings.jsonl")}
        for question, outcome in zip(questions, data[f"run-{at}"]["outcomes"], strict=True):
            shown = [data["dataset-0"]["passages"][place][0] for place in outcome["ranking"]]
            assert shown == rankings[question["id"]]["passages"]
            assert outcome["answer"] == answers.get(question["id"], {}).get("text")
            assert (outcome["bucket"] is not None) <= (question["id"] in answers)


def test_replays_end_with_the_ranking_of_the_tree_search(store, tmp_path):
    main([f"runs={store}", f"out={tmp_path}/page.html", "methods=[psi_tree]"])
    data = sections((tmp_path / "page.html").read_text())
    rows, tree = data["run-0"], data["tree-0"]
    ids = [passage[0] for passage in data["dataset-0"]["passages"]]
    assert len(rows["descents"]) == 24
    for outcome, descent in zip(rows["outcomes"], rows["descents"], strict=True):
        assert [tree["passages"][leaf] for leaf in descent[-1][2]] == [ids[place] for place in outcome["ranking"]]
    parents = tree["parents"]
    assert len(tree["labels"]) == len(parents) and parents[-1] == -1 and len(tree["passages"]) == 120
    assert all(tree["labels"])  # nodes without an abstract are named after passages near them


def test_equal_stores_give_equal_pages(store, tmp_path):
    for name in ("one", "two"):
        main([f"runs={store}", f"out={tmp_path}/{name}.html"])
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_what_is_missing_is_said(store, tmp_path):
    with pytest.raises(InputError, match="no finished run"):
        gathered(Request(runs=str(tmp_path / "nothing")))
    with pytest.raises(ConfigError, match="psi_tre"):
        gathered(Request(runs=str(store), methods=("psi_tre",)))
    with pytest.raises(InputError, match=r"no \.png file"):
        gathered(Request(runs=str(store), figures=(str(tmp_path),)))


def test_a_run_that_failed_is_on_the_page_too(store, tmp_path):
    folder = tmp_path / "cells" / "files" / "bm25" / "ab12"
    write_record(folder, Cell("files", "bm25", 0, "ab12", "failed", "InputError: no such folder"), "")
    report = gathered(Request(runs=(str(store), str(tmp_path))))
    assert [each.scores.outcome for each in report.runs] == ["ok", "ok", "failed: InputError"]
    assert "failed: InputError" in json.dumps(sections(report_page(report))["core"]["runs"])


def test_seeds_with_other_questions_are_datasets_of_their_own(tmp_path):
    code, _, err = run(tmp_path, "-m", *SMALL, "method=bm25", "answers=0", "seed=0,1")
    assert code == 0, err
    report = gathered(Request(runs=str(tmp_path)))
    assert [each.scores.dataset for each in report.runs] == ["encyclopedia", "encyclopedia (seed 1)"]
    first, second = report.datasets
    assert first.questions != second.questions
    for each, dataset in zip(report.runs, report.datasets, strict=True):
        known = {passage.id: passage.title for passage in dataset.shown}
        texts = {question.id: question.text for question in dataset.questions}
        best = [known[outcome.ranking[0][0]] in texts[id_] for id_, outcome in each.outcomes.items()]
        assert sum(best) > len(best) / 3  # the best passage's title stands in many questions: they belong together
