"""Ranking metrics: golden values, agreement with ranx on random runs, invariants."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.errors import ConfigError, InputError
from psi.metrics import check_ranking, metric
from psi.metrics.hit import hit_at_k
from psi.metrics.ndcg import ndcg_at_k
from psi.metrics.precision import precision_at_k
from psi.metrics.recall import all_recall_at_k, recall_at_k
from psi.metrics.reciprocal_rank import reciprocal_rank


def test_repeats_count_once() -> None:
    assert recall_at_k(["A", "A", "B"], ["A"], 2) == 1
    assert precision_at_k(["A", "A", "B"], ["A"], 2) == 0.5
    assert recall_at_k(["A", "A"], ["A", "B"], 2) == 0.5
    assert recall_at_k(["A"], ["A", "A"], 1) == 1
    assert all_recall_at_k(["A"], ["A", "A"], 1) == 1
    assert ndcg_at_k(["A"], ["A", "A"], 10) == 1
    assert reciprocal_rank(["B", "B", "A"], ["A"]) == 0.5


def test_fewer_results_than_k() -> None:
    assert recall_at_k(["A", "B", "C"], ["A", "Z"], 10) == 0.5
    assert precision_at_k(["A", "B", "C"], ["A", "Z"], 10) == 0.1
    assert recall_at_k([], ["A"], 10) == 0
    assert reciprocal_rank([], ["A"]) == 0


def test_all_recall_needs_every_gold_passage() -> None:
    assert all_recall_at_k(["A", "B", "C"], ["A", "C"], 2) == 0
    assert all_recall_at_k(["A", "B", "C"], ["A", "C"], 3) == 1


def test_ndcg_by_hand() -> None:
    gain = 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg_at_k(["x", "A", "B"], ["A", "B", "C"], 3) == pytest.approx(gain / (1 + gain))


@pytest.mark.parametrize("name", ["recall@5", "all_recall@5", "precision@5", "hit@5", "ndcg@10", "mrr", "mrr@10"])
def test_no_gold_is_not_a_score(name: str) -> None:
    chosen: Any = metric(name).score
    assert chosen(["A"], []) is None


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize("score", [recall_at_k, all_recall_at_k, precision_at_k, hit_at_k, ndcg_at_k, reciprocal_rank])
def test_cutoffs_below_one_are_refused(score: Any, k: int) -> None:
    for gold in (["A"], []):
        with pytest.raises(ConfigError, match=f"k={k}"):
            score(["A"], gold, k)


def test_agrees_with_ranx() -> None:
    golden = json.loads(Path(__file__).with_name("ranx_golden.json").read_text())
    for name, expected in golden["values"].items():
        score: Any = metric(name).score
        values = [score(golden["ranked"][q], gold) for q, gold in golden["gold"].items()]
        assert values == pytest.approx(expected, abs=1e-12), name


passages = st.lists(st.sampled_from("ABCDEFGH"), max_size=10)
golds = st.lists(st.sampled_from("ABCDEFGH"), min_size=1, max_size=4)
NAMES = ["recall@3", "all_recall@3", "precision@3", "hit@3", "ndcg@3", "mrr", "mrr@3"]


@given(passages, golds, st.sampled_from(NAMES))
def test_range_and_repeats(ranked: list[str], gold: list[str], name: str) -> None:
    score: Any = metric(name).score
    value = score(ranked, gold)
    assert 0 <= value <= 1
    assert value == score(list(dict.fromkeys(ranked)), list(set(gold)))


@given(passages, golds, st.integers(1, 9))
def test_monotone_in_k(ranked: list[str], gold: list[str], k: int) -> None:
    for score in (recall_at_k, all_recall_at_k, hit_at_k, reciprocal_rank):
        assert (score(ranked, gold, k) or 0) <= (score(ranked, gold, k + 1) or 0)


@given(passages, golds, st.sampled_from(NAMES))
def test_gold_put_first_never_lowers(ranked: list[str], gold: list[str], name: str) -> None:
    score: Any = metric(name).score
    distinct = list(dict.fromkeys(gold))[:3]
    assert score(distinct + ranked, distinct) == 1 or name == "precision@3"
    others = [each for each in ranked if each not in gold]
    assert score([*others, *gold], gold) >= score(others, gold)


def test_check_ranking_accepts_what_is_sound() -> None:
    check_ranking(["a", "b", "c"], [1.0, 1.0, 0.5], where="q1")
    check_ranking([], [], where="q1")


@pytest.mark.parametrize(
    ("ids", "scores", "message"),
    [
        (["a", "b"], [1.0, math.nan], "passage 'b' has the score nan"),
        (["a"], [math.inf], "'a'"),
        (["a", "b"], [1.0], "2 passage ids but 1 scores"),
        (["b", "a"], [1.0, 1.0], "'a' at place 2"),
        (["a", "b"], [1.0, 2.0], "'b' at place 2"),
        (["a", "a"], [1.0, 1.0], "'a' is named twice"),
        (["a", "b", "a"], [3.0, 2.0, 1.0], "named twice"),
    ],
)
def test_check_ranking_refuses(ids: list[str], scores: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_ranking(ids, scores, where="method bm25, question 'q1'")
