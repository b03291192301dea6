"""Expected scores, and two methods compared, on a small run."""

import pytest

from experiments.check import EXPECTED, Expected, Request, check, main, read_expected
from experiments.compare import Request as Comparison
from experiments.compare import compared
from experiments.compare import main as compare_main
from psi.errors import ConfigError, InputError

from .test_run import run

SMALL = ("dataset.passages=120", "dataset.questions=40")


def row(value, method="bm25", **more):
    known = {"dataset": "encyclopedia", "metric": "recall@5", "tolerance": 1.0, "source": "s", "settings": SMALL}
    return Expected(**known | {"value": value, "method": method} | more)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return str(tmp_path_factory.mktemp("check") / "store")


@pytest.fixture(scope="module")
def found(store):
    [checked] = check([row(50.0)], Request(store=store))
    return checked.found


def test_verdicts_go_by_the_tolerance(store, found):
    rows = [row(found), row(found + 0.99), row(found - 2.9), row(found + 3.1)]
    assert [each.verdict for each in check(rows, Request(store=store))] == ["OK", "OK", "OKish", "FAIL"]


def test_what_can_never_run_fails(store, tmp_path):
    wrong = [
        row(1.0, method="bm52"),
        row(1.0, dataset="encyclopaedia"),
        row(1.0, settings=("k=none",)),
        row(1.0, metric="recal@5"),
    ]
    (tmp_path / "predictions").mkdir()
    (tmp_path / "predictions" / "other.jsonl").write_text('{"question": "unknown", "answer": "x"}\n')
    unfit = row(1.0, method=None, predictions="other.jsonl")
    found = list(check([*wrong, unfit], Request(store=store, data=str(tmp_path))))
    assert [each.verdict for each in found] == ["FAIL"] * 5
    assert "bm25" in found[0].reason and "encyclopedia" in found[1].reason


def test_what_is_not_there_is_not_run_and_says_why(store):
    [checked] = check([row(1.0, method=None, predictions="none.json.gz", settings=())], Request(store=store))
    assert checked.verdict == "not run" and "none.json.gz" in checked.reason
    [checked] = check([row(1.0, dataset="wcep", settings=("dataset.folder=/nowhere",))], Request(store=store))
    assert checked.verdict == "not run" and "wcep.jsonl" in checked.reason


def test_a_run_that_begins_and_fails_is_no_missing_file(store, tmp_path):
    (tmp_path / "wcep.jsonl").write_text("{\n")
    [checked] = check([row(1.0, dataset="wcep", settings=(f"dataset.folder={tmp_path}",))], Request(store=store))
    assert checked.verdict == "FAIL" and checked.found is None and "wcep.jsonl" in checked.reason


def test_one_broken_row_fails_the_whole(store, found, tmp_path, capsys):
    run_of = f"dataset: encyclopedia, method: bm25, settings: [{', '.join(SMALL)}]"
    text = f"- {{{run_of}, metric: recall@5, value: VALUE, tolerance: 0.1, source: here}}\n"
    (tmp_path / "good.yaml").write_text(text.replace("VALUE", f"{found}"))
    (tmp_path / "broken.yaml").write_text(text.replace("VALUE", f"{found + 5}"))
    arguments = [f"expected={tmp_path}", f"store={store}"]
    assert main([*arguments, "names=[good]"]) == 0
    assert main([*arguments, f"out={tmp_path}/table.md"]) == 1
    assert "OK 1, OKish 0, FAIL 1, not run 0" in capsys.readouterr().out
    assert "| FAIL |" in (tmp_path / "table.md").read_text()


@pytest.mark.parametrize(
    "text", ["- {dataset: d}", "- {dataset: d, metric: em, value: x, tolerance: 1, source: s}", "- 5", "[1, 2]"]
)
def test_a_row_of_another_form_is_named(tmp_path, text):
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.yaml, row 0"):
        read_expected(tmp_path, ())


def test_a_file_that_is_no_yaml_is_named(tmp_path):
    (tmp_path / "bad.yaml").write_text("- {a: b: c}")
    with pytest.raises(ConfigError, match=r"bad\.yaml: not YAML"):
        read_expected(tmp_path, ())


def test_all_that_is_expected_can_be_read():
    rows = read_expected(EXPECTED, ())
    assert len(rows) > 50
    assert all((each.predictions is None) != (each.method is None) for each in rows)
    with pytest.raises(ConfigError, match="Did you mean 'released'"):
        read_expected(EXPECTED, ("relesed",))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare") / "store"
    code, _, err = run(folder, "-m", "dataset=encyclopedia", *SMALL, "method=bm25,no_retrieval,oracle", "answers=0")
    assert code == 0, err
    return str(folder)


def test_a_method_is_not_different_from_itself_and_the_oracle_is_better(pair, capsys):
    metrics = ("recall@1", "recall@5")
    same = compared(Comparison(store=pair, methods=("bm25", "bm25"), metrics=metrics))
    assert [(each.paired.difference, each.corrected) for each in same] == [(0, 1), (0, 1)]
    better = compared(Comparison(store=pair, methods=("oracle", "bm25"), metrics=metrics))
    assert all(each.paired.difference > 0 and each.paired.losses == 0 for each in better)
    assert all(each.corrected >= each.paired.p for each in better)
    compare_main([f"store={pair}", "methods=[oracle,bm25]"])
    assert "oracle minus bm25" in capsys.readouterr().out


def test_what_cannot_be_compared_is_named(pair):
    with pytest.raises(ConfigError, match="Did you mean 'bm25'"):
        compared(Comparison(store=pair, methods=("oracle", "bm52")))
    with pytest.raises(InputError, match="no dataset has scores of both"):
        compared(Comparison(store=pair, methods=("oracle", "bm25"), metrics=("em",)))
