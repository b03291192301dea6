"""Whole runs: what is missing, failed, excluded or malformed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from psi.corpus.records import Question
from psi.errors import ConfigError, InputError
from psi.metrics import Metric, Summary, score_questions


@dataclass(frozen=True)
class Row:
    text: str | None
    status: str = "ok"


def asked(**gold: Sequence[str]) -> list[Question]:
    return [Question(name, "?", gold=tuple(ids), answers=("Paris",)) for name, ids in gold.items()]


def summary(questions: Sequence[Question], metric: str, **run: Any) -> Summary:
    return score_questions(questions, [metric], **run)[metric].summary()


def test_a_question_missing_from_the_run_counts_as_zero() -> None:
    found = score_questions(asked(q1="A", q2="B"), ["recall@1"], rankings={"q1": ["A"]})["recall@1"]
    assert found.values == {"q1": 1, "q2": 0}
    assert found.missing == ("q2",)
    assert found.summary().mean == 0.5
    assert (found.summary().n, found.summary().n_missing) == (2, 1)


def test_a_question_without_gold_is_excluded() -> None:
    found = summary(asked(q1="A", q2=""), "recall@1", rankings={"q1": ["A"], "q2": ["A"]})
    assert (found.mean, found.n, found.n_excluded, found.n_questions) == (1, 1, 1, 2)


def test_excluded_even_where_missing_or_failed() -> None:
    found = summary(asked(q1="A", q2="", q3=""), "recall@1", rankings={"q1": ["A"], "q2": None})
    assert (found.n_excluded, found.n_failed, found.n_missing) == (2, 0, 0)


def test_failed_rows_are_not_scored_as_text() -> None:
    rows = {"q1": Row("Paris"), "q2": Row("Paris", "failed"), "q3": Row(None, "failed"), "q4": Row("Rome")}
    found = summary(asked(q1="A", q2="A", q3="A", q4="A"), "em", answers=rows)
    assert (found.mean, found.n, found.n_failed) == (0.5, 2, 2)


@pytest.mark.parametrize("row", [Row("", "empty"), Row(None, "empty"), Row("", "parse_failed")])
def test_nothing_said_scores_zero(row: Row) -> None:
    for name in ("em", "f1"):
        found = summary(asked(q1="A"), name, answers={"q1": row})
        assert (found.mean, found.n, found.n_failed) == (0, 1, 0)


def test_failed_retrieval_is_counted() -> None:
    found = summary(asked(q1="A", q2="A"), "mrr", rankings={"q1": ["A"], "q2": None})
    assert (found.mean, found.n, found.n_failed) == (1, 1, 1)


def test_nothing_scored_has_no_mean() -> None:
    found = summary(asked(q1="", q2=""), "recall@5", rankings={"q1": ["A"], "q2": ["A"]})
    assert (found.mean, found.low, found.high, found.n, found.n_excluded) == (None, None, None, 0, 2)


def test_question_and_passage_may_share_an_id() -> None:
    one = [Question("1", "?", gold=("1",))]
    assert score_questions(one, ["recall@1"], rankings={"1": ["1", "2"]})["recall@1"].values == {"1": 1}


def test_a_run_can_be_scored_on_some_questions() -> None:
    run = {"q1": ["A"], "q2": ["B"]}
    assert score_questions(asked(q2="B"), ["hit@1"], rankings=run)["hit@1"].values == {"q2": 1}


@pytest.mark.parametrize(
    ("questions", "rankings", "message"),
    [
        (asked(q1="A"), {1: ["A"]}, "rankings: the id 1 is of type int"),
        (asked(q1="A"), {"q1": [1]}, "ranking of question 'q1': the id 1 is of type int"),
        (asked(q1="A"), {"q1": "ABC"}, "one string"),
        ([Question(1, "?", gold=("A",))], {"1": ["A"]}, "questions: the id 1"),  # type: ignore[arg-type]
        ([Question("q1", "?", gold=(1,))], {"q1": ["1"]}, "gold of question 'q1'"),  # type: ignore[arg-type]
        (asked(q1="A"), {"x1": ["A"]}, "none of the 1 question ids"),
    ],
)
def test_ids_that_cannot_match_are_refused(questions: list[Question], rankings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_questions(questions, ["recall@1"], rankings=rankings)


def test_unknown_status_is_refused() -> None:
    with pytest.raises(InputError, match=r"'q1': unknown status 'fail'.*Did you mean 'failed'"):
        summary(asked(q1="A"), "em", answers={"q1": Row("x", "fail")})


def test_a_metric_needs_its_input() -> None:
    with pytest.raises(ConfigError, match="'em' scores answers, but none were given"):
        score_questions(asked(q1="A"), ["em"], rankings={"q1": ["A"]})


def test_a_metric_of_ones_own() -> None:
    def length(prediction: str, golds: Sequence[str]) -> float | None:
        return len(prediction) / 10 if golds else None

    mine = Metric("length", "Length", "answer", length)
    assert score_questions(asked(q1="A"), [mine], answers={"q1": Row("Paris")})["length"].values == {"q1": 0.5}
