"""ROUGE against its package, METEOR against nltk, rates, tolerance."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.metrics import metric
from psi.metrics.refusal import false_answer, not_mentioned
from psi.metrics.tolerant import em_tolerant, f1_tolerant, tolerant

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
VOCABULARY = ["the", "cat", "cats", "sat", "on", "a", "mat", "mats", "12", "Running", "runs"]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join)


@given(WORDS, st.lists(WORDS.filter(bool), min_size=1, max_size=3))
def test_rouge_is_the_packages(prediction, golds):
    from rouge_score.rouge_scorer import RougeScorer

    kinds = ["rouge1", "rouge2", "rougeL"]
    expected = RougeScorer(kinds, use_stemmer=True).score_multi(golds, prediction)
    for kind in kinds:
        for part in ("precision", "recall", "fmeasure"):
            assert metric(f"{kind.lower()}_{part[0]}").score(prediction, golds) == getattr(expected[kind], part)


@pytest.mark.parametrize(("file", "rouge_l"), [("summary", (22.31, 13.85, 16.84)), ("keyword", (21.67, 13.91, 16.69))])
def test_rouge_of_released_summaries(file, rouge_l):
    data, predictions = SHARED / "data/qmsum/qmsum.jsonl", SHARED / f"predictions/qmsum_{file}.json.gz"
    if not data.exists() or not predictions.exists():
        pytest.skip("no released summaries in ../shared")
    golds = [json.loads(line)["general_query_list"][0]["answer"] for line in data.read_text().splitlines()]
    answers = json.loads(gzip.decompress(predictions.read_bytes()))["answers"]
    for part, expected in zip("prf", rouge_l, strict=True):
        scores = [metric(f"rougel_{part}").score(*pair) for pair in zip(answers, ([g] for g in golds), strict=True)]
        assert 100 * sum(scores) / len(scores) == pytest.approx(expected, abs=0.005)


def test_rouge_by_characters():
    assert metric("rougel_chars_f").score("北京", ["北京大学"]) == pytest.approx(2 / 3)
    assert metric("rougel_f").score("北京", ["北京大学"]) == 0


@pytest.mark.parametrize(
    "name", ["rougel_f", "meteor", "false_rate", "not_mentioned_rate", "em_tolerant", "f1_tolerant"]
)
def test_nothing_to_score_against_is_no_score(name):
    assert metric(name).score("something", ["", " "]) is None


def test_meteor_by_hand():
    # one chunk of three words: F = 1, penalty 0.5·(1/3)³; two chunks, all words: 0.5·(2/4)³
    assert metric("meteor").score("cats sat down", ["cats sat down"]) == pytest.approx(1 - 0.5 / 27)
    assert metric("meteor").score("c d a b", ["a b c d"]) is not None
    assert metric("meteor").score("one two three four", ["three four one two"]) == pytest.approx(1 - 0.5 / 8)
    assert metric("meteor").score("cats", ["cat"]) == pytest.approx(0.5)  # by their stem; one chunk of one word
    assert metric("meteor").score("dog", ["cat"]) == 0


@pytest.mark.parametrize(
    ("answer", "golds", "refused", "false"),
    [
        ("Not mentioned.", ["Paris"], 1, 0), ("Insufficient information", ["Insufficient information."], 1, 0),
        ("Paris, France", ["Paris"], 0, 0), ("Rome", ["Paris"], 0, 1), ("Rome", ["Paris", "rome"], 0, 0), ("", ["Paris"], 0, 0),
    ],
)  # fmt: skip
def test_rates(answer, golds, refused, false):
    assert (not_mentioned(answer, golds), false_answer(answer, golds)) == (refused, false)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("1,000", "1000"), ("1000.0", "1000"), ("007", "7"), ("+5", "5"), ("-0", "0"), ("2.50 m", "2.5 m"), ("Straße", "STRASSE"),
        ("ﬁve", "five"), ("Cafe\u0301", "Café"), ("rock’n’roll", "rock'n'roll"), ("10–12", "10-12"), ("１２", "12"),
    ],
)  # fmt: skip
def test_what_is_the_same_but_for_its_form_is_equal(answer, gold):
    assert em_tolerant(answer, [gold]) == 1
    assert f1_tolerant(answer, [gold]) == 1


@pytest.mark.parametrize(
    ("answer", "gold"),
    [("1,5", "15"), ("1.000", "1000"), ("v1.10", "v1.1"), ("1.2.3", "1.2"), ("10,00", "1000"), ("C++", "C#")],
)
def test_what_may_differ_is_not_equal(answer, gold):
    assert tolerant(answer) != tolerant(gold)


@given(st.text(max_size=60))
def test_tolerance_is_idempotent_and_never_fails(text):
    assert tolerant(tolerant(text)) == tolerant(text)
