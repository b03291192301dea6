"""Buckets of wrong answers, case sheets, agreement, figures."""

import csv
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from analysis.failure_figures import RunCases, overview_figure, parts_figure
from analysis.failures import RULES, WRONG, Case, Rule, classify, counts, is_other_granularity
from analysis.sheets import agreement, read_labels, sample, shares, write_sheet
from psi.corpus.records import Passage, Passages, Question
from psi.errors import InputError

ASKED = Question("q", "When was she born?", ("5 June 1990",), ("a", "b"), 2)


def case(
    text: str | None, ranked: tuple[str, ...] = ("a", "b"), status: str = "ok", question: Question = ASKED, **rule: Any
) -> Case:
    answers = {question.id: {"status": status, "text": text}}
    return classify([question], answers, {question.id: ranked}, {None: 3}, Rule(**rule))[0]


@pytest.mark.parametrize(
    ("text", "ranked", "status", "bucket"),
    [
        ("5 june 1990.", (), "ok", "correct"),
        (None, ("a", "b"), "failed", "failed"),
        (None, ("a", "b"), "parse_failed", "parse_failure"),
        ("", ("a", "b"), "empty", "parse_failure"),
        ("Not mentioned.", ("a", "b"), "ok", "not_mentioned"),
        ("Not mentioned", (), "max_steps", "not_mentioned"),
        ("1990", (), "ok", "wrong_granularity"),
        ("on 5 June 1990 in Oslo", (), "ok", "wrong_granularity"),
        ("1890", ("c",), "ok", "no_evidence"),
        ("1890", ("c", "b"), "ok", "part_evidence"),
        ("1890", ("c", "b", "a"), "ok", "reader_miss"),
        ("5 June 1990", ("c",), "truncated", "correct"),
    ],
)
def test_every_answer_has_one_bucket(text: str | None, ranked: tuple[str, ...], status: str, bucket: str) -> None:
    assert case(text, ranked, status).bucket == bucket


def test_questions_that_the_corpus_does_not_tell() -> None:
    null = Question("q", "Who?", ("Insufficient information.",), answerable=False)
    assert case("insufficient information", question=null).bucket == "correct"
    assert case("Not mentioned", question=null).bucket == "refused_null"
    assert case("Bob", question=null).bucket == "answered_null"
    assert case("Bob", question=Question("q", "Who?", ("Al",))).bucket == "unknown_evidence"


def test_evidence_is_looked_for_as_far_down_as_asked() -> None:
    deep = case("1890", ("c", "d", "a", "b"), depth=3)
    assert (deep.evidence, deep.found, deep.gold_rank) == ("part", ("a",), 4)
    assert case("1890", ("c", "d", "a", "b"), depth=4).evidence == "all"
    assert case("1890", ("a",)).gold_rank is None


def test_gold_passages_beyond_the_hops_are_alternatives() -> None:
    one = Question("q", "Who?", ("Al",), ("a", "b", "c"), 1)
    found = case("Bob", ("x", "b"), question=one)
    assert (found.bucket, found.gold_rank) == ("reader_miss", 2)


def test_what_counts_as_right_can_be_chosen() -> None:
    assert case("June 1990", metric="f1", threshold=0.5).bucket == "correct"
    with pytest.raises(InputError, match="scores rankings"):
        case("1990", metric="recall@5")
    with pytest.raises(InputError, match="nothing to look into"):
        classify([Question("q", "Who?")], {"q": {"status": "ok", "text": "x"}}, {}, {None: 1}, Rule())


def test_granularity_needs_whole_words_and_more_than_yes_or_no() -> None:
    assert is_other_granularity("the year 1990", "1990")
    assert not is_other_granularity("art", "artist")
    assert not is_other_granularity("yes, it is", "yes")
    assert not is_other_granularity("", "x")
    assert not is_other_granularity("new city of york", "new york")


def cases(n: int) -> list[Case]:
    texts = ("1990", "1890", "Not mentioned", "5 June 1990")
    asked = [Question(f"q{i}", "When?", ("5 June 1990",), ("a", "b"), 1 + i % 3) for i in range(n)]
    answers = {q.id: {"status": "ok", "text": texts[i % 4]} for i, q in enumerate(asked)}
    ranked = {q.id: ("a", "b") if i % 8 < 4 else ("b", "c") for i, q in enumerate(asked)}
    return classify(asked, answers, ranked, {None: 3}, Rule())


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 3))
def test_samples_are_proportional(n: int, size: int, seed: int) -> None:
    found = cases(n)
    chosen = sample(found, size, seed)
    wrong = [each for each in found if each.wrong]
    assert len(chosen) == min(size, len(wrong)) == len({each.question.id for each in chosen})
    assert chosen == sample(found[::-1], size, seed)
    for bucket, number in counts(chosen).items():
        share = len(chosen) * counts(wrong)[bucket] / max(len(wrong), 1)
        assert math.floor(share) <= number <= math.ceil(share)


def test_a_sheet_comes_back_with_labels(tmp_path: Path) -> None:
    passages = Passages([Passage(id_, id_.upper(), f"Text of {id_}.") for id_ in "abc"])
    chosen = sample(cases(40), 8, 0)
    write_sheet(
        tmp_path / "s.csv", chosen, passages, {chosen[0].question.id: "Step 1"}, {"a": "node 3 < node 4", "b": "node 3"}
    )
    rows = list(csv.DictReader((tmp_path / "s.csv").open(newline="")))
    assert rows[0]["trace"] == "Step 1" and "a: node 3 < node 4" in rows[0]["tree_path"]
    assert "GOLD: [b] B\nText of b." in rows[0]["retrieved"] and rows[0]["gold_passages"].startswith("[a] A")
    assert read_labels(tmp_path / "s.csv") == {}
    for row in rows[:4]:
        row["label"] = "Reader miss"
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert set(read_labels(tmp_path / "t.csv").values()) == {"reader_miss"}
    assert len(read_labels(tmp_path / "t.csv", column="bucket")) == 8
    (tmp_path / "u.csv").write_text("question,label\nq1,reder_miss\n")
    with pytest.raises(InputError, match=r"row 2: unknown label 'reder_miss'. Did you mean 'reader_miss'"):
        read_labels(tmp_path / "u.csv")
    with pytest.raises(InputError, match="no columns 'question' and 'bucket'"):
        read_labels(tmp_path / "u.csv", column="bucket")


@given(st.lists(st.tuples(st.sampled_from(WRONG[:3]), st.sampled_from(WRONG[:3])), min_size=1, max_size=30))
def test_kappa_is_cohens(pairs: list[tuple[str, str]]) -> None:
    first, second = ({str(i): pair[at] for i, pair in enumerate(pairs)} for at in (0, 1))
    found = agreement(first, second)
    if found.kappa is None:
        assert len(set(first.values()) | set(second.values())) == 1
    else:
        expected = cohen_kappa_score([left for left, _ in pairs], [right for _, right in pairs])
        assert found.kappa == pytest.approx(expected)
    assert found.observed == pytest.approx(sum(left == right for left, right in pairs) / len(pairs))


def test_shares_have_wilson_intervals() -> None:
    rows = shares({"a": "x", "b": "x", "c": "y"} | {str(i): "x" for i in range(7)})
    assert [(row.label, row.n) for row in rows] == [("x", 9), ("y", 1)]
    # Wilson (1927) by hand: p = 0.1, n = 10, z = 1.95996
    assert (rows[1].low, rows[1].high) == pytest.approx((0.01787621, 0.40415003), abs=1e-6)


def test_figures_hold_the_counts(tmp_path: Path) -> None:
    run = RunCases("toy", "m", cases(40))
    data = overview_figure([run], tmp_path / "o.png")[2]
    rows = list(csv.DictReader(data.open(newline="")))
    by_bucket = {row["bucket"]: int(row["count"]) for row in rows if row["panel"] == "run"}
    assert by_bucket == {bucket: n for bucket, n in counts(run.cases).items() if bucket != "failed"}
    again = overview_figure([run], tmp_path / "p" / "o.png")
    assert again[0].read_bytes() == (tmp_path / "o.png").read_bytes()
    rows = list(csv.DictReader(parts_figure(run, tmp_path / "q.png", depth=5)[2].open(newline="")))
    assert sum(int(row["count"]) for row in rows if row["panel"] == "gold rank") == 40
    with pytest.raises(InputError, match="nothing to draw"):
        overview_figure([RunCases("toy", "m", [])], tmp_path / "r.png")
    assert set(RULES) == {*WRONG, "failed", "correct"}
