"""Scores by parts of the questions, of a small run."""

import math
from collections import Counter

import pytest

from experiments.cell import read_cells
from experiments.groups import by_group
from experiments.stages.benchmark import read_benchmark
from experiments.tables import cell_scores, main
from psi.errors import InputError
from psi.store import open_artifact

from .test_run import run


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    store = tmp_path_factory.mktemp("groups") / "store"
    settings = ["dataset=encyclopedia", "dataset.passages=120", "dataset.questions=30", "method=bm25", "answers=0"]
    code, _, err = run(store, *settings)
    assert code == 0, err
    [cell] = read_cells(store)
    return store, cell, cell_scores([(store, cell)])[0]


def test_groups_hold_every_question_once(small):
    whole = small[2]
    parts = list(by_group(*small, "hops"))
    assert sum(part.n_questions for part in parts) == 30
    for name, summary in whole.summaries.items():
        if summary.mean is None:
            continue
        own = [part.summaries[name] for part in parts]
        assert sum(each.n for each in own) == summary.n
        assert sum(each.n_excluded for each in own) == summary.n_excluded
        assert math.isclose(sum(each.mean * each.n for each in own if each.n) / summary.n, summary.mean)
    assert parts[0].dataset.endswith(": 1 hop")


def test_categories_are_those_of_the_gold_passages(small):
    parts = {part.dataset.partition(": ")[2]: part.n_questions for part in by_group(*small, "category")}
    benchmark = read_benchmark(open_artifact(small[0] / small[1].stages["benchmark"]))
    category = {passage.id: passage.category for passage in benchmark.passages}
    asked = [{category[id_] for id_ in question.gold} for question in benchmark.questions]
    names = [min(own) if len(own) == 1 else "several categories" if own else "unknown" for own in asked]
    assert parts == Counter(names)
    assert len(parts) > 2


def test_what_is_not_known_is_refused(small):
    with pytest.raises(InputError, match="by=document is not known"):
        list(by_group(*small, "document"))


def test_tables_show_them(small, capsys):
    main([f"store={small[0]}", "by=kind", "metrics=[recall@5]"])
    assert "encyclopedia: " in capsys.readouterr().out
