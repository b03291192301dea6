"""EM and F1 against a literal transcription of the official rules, and where they differ."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.metrics.exact_match import exact_match
from psi.metrics.f1 import f1, f1_chars, f1_squad

GOLDEN = [
    # prediction, gold answers, EM, F1
    ("Yes.", ["yes"], 1, 1),
    ("yes it is", ["yes"], 0, 0),
    ("", ["Paris"], 0, 0),
    ("Paris", ["Paris, France"], 0, 2 / 3),
    ("Paris Paris", ["Paris"], 0, 2 / 3),
    ("the Beatles", ["The Beatles"], 1, 1),
    ("The", ["the"], 1, 1),
    ("anything", ["A"], 0, 0),
    ("1,000", ["1000"], 1, 1),
    ("U.S.", ["US"], 1, 1),
    ("state-of-the-art", ["state of the art"], 0, 0),
    ("it’s", ["it's"], 0, 0),
    ("July 4, 1776", ["4 July 1776"], 0, 1),
    ("北京", ["北京市"], 0, 0),
    ("Lyon", ["Paris", "Lyon"], 1, 1),
    ("Lyon, France", ["Paris", "Lyon"], 0, 2 / 3),
    # a gold answer of articles or marks only matches itself and nothing else
    ("", ["A"], 0, 0),
    ("The", ["A"], 0, 0),
    ("a dog", ["A"], 0, 0),
    ("A.", ["a"], 1, 1),
    ("+", ["+"], 1, 1),
    ("-", ["+"], 0, 0),
    ("", ["+"], 0, 0),
    # blank gold answers say nothing
    ("Paris", ["", "Paris"], 1, 1),
    ("", ["", "Paris"], 0, 0),
]


@pytest.mark.parametrize(("prediction", "golds", "em", "word_f1"), GOLDEN)
def test_golden_table(prediction: str, golds: list[str], em: float, word_f1: float) -> None:
    assert exact_match(prediction, golds) == em
    assert f1(prediction, golds) == pytest.approx(word_f1)


@pytest.mark.parametrize("golds", [[], [""], [" ", "\n"]])
@pytest.mark.parametrize("prediction", ["", "Paris"])
def test_nothing_to_score_against_is_not_a_score(prediction: str, golds: list[str]) -> None:
    assert exact_match(prediction, golds) is None
    assert f1(prediction, golds) is None
    assert f1_squad(prediction, golds) is None
    assert f1_chars(prediction, golds) is None


def test_variants_differ_as_named() -> None:
    assert (f1("yes it is", ["yes"]), f1_squad("yes it is", ["yes"])) == (0, 0.5)
    assert f1("noanswer given", ["noanswer"]) == 0
    assert f1("北京", ["北京市"]) == 0
    assert f1_chars("北京", ["北京市"]) == pytest.approx(0.8)
    assert f1_chars("new york", ["newyork"]) == 1


def official_normalise(s: str) -> str:
    """Transcribed from the published scripts, line by line."""

    def remove_articles(text: str) -> str:
        return re.sub(r"\b(a|an|the)\b", " ", text)

    def white_space_fix(text: str) -> str:
        return " ".join(text.split())

    def remove_punc(text: str) -> str:
        exclude = set(string.punctuation)
        return "".join(ch for ch in text if ch not in exclude)

    return white_space_fix(remove_articles(remove_punc(s.lower())))


def official_f1(prediction: str, ground_truth: str, *, closed: bool) -> float:
    normalized_prediction = official_normalise(prediction)
    normalized_ground_truth = official_normalise(ground_truth)
    if closed:
        words = ["yes", "no", "noanswer"]
        if normalized_prediction in words and normalized_prediction != normalized_ground_truth:
            return 0
        if normalized_ground_truth in words and normalized_prediction != normalized_ground_truth:
            return 0
    prediction_tokens = normalized_prediction.split()
    ground_truth_tokens = normalized_ground_truth.split()
    common = Counter(prediction_tokens) & Counter(ground_truth_tokens)
    num_same = sum(common.values())
    if num_same == 0:
        return 0
    precision = 1.0 * num_same / len(prediction_tokens)
    recall = 1.0 * num_same / len(ground_truth_tokens)
    return (2 * precision * recall) / (precision + recall)


TEXTS = [
    "yes", "No.", "noanswer", "Yes, it is", "not mentioned", "Paris", "Paris, France",
    "paris paris", "The Paris", "U.S.", "US of A", "1,000", "1000 people", "4 July 1776",
    "July 4, 1776", "the state-of-the-art", "it’s", "it's", "state of the art", "O'Neill", "北京",
    "北京市", "Ångström", "Café de Flore", "an apple a day", "apple day", "C++", "C", "theatre",
    "  spaced\tout\nwords ", "(born 1950)", "born 1950", "$5 million", "5 million dollars", "",
    "Sgt. Pepper's Lonely Hearts", "Beatles, The", "non-fiction & poetry", "İstanbul", "ß and SS",
]  # fmt: skip
CASES = [(prediction, gold) for prediction in TEXTS for gold in TEXTS if official_normalise(gold)]


@pytest.mark.parametrize("gold", sorted({gold for _, gold in CASES}))
def test_agrees_with_the_official_rules(gold: str) -> None:
    for prediction in TEXTS:
        assert exact_match(prediction, [gold]) == (official_normalise(prediction) == official_normalise(gold))
        assert f1(prediction, [gold]) == pytest.approx(official_f1(prediction, gold, closed=True))
        assert f1_squad(prediction, [gold]) == pytest.approx(official_f1(prediction, gold, closed=False))


def test_enough_official_cases() -> None:
    assert len(CASES) >= 60


words = st.text(alphabet="ab THEthe.,-’北", max_size=12)


@given(words, st.lists(words, min_size=1, max_size=3))
def test_invariants(prediction: str, golds: list[str]) -> None:
    em = exact_match(prediction, golds)
    for score in (f1, f1_squad, f1_chars):
        value = score(prediction, golds)
        assert (value is None) == (em is None)
        if value is None or em is None:
            continue
        assert 0 <= em <= value <= 1
        assert value == score(prediction, golds[::-1])
        assert value <= (score(prediction, [*golds, "another"]) or 0)
        if score is not f1_chars:
            assert score(prediction, [*golds, prediction or "x"]) == (1 if prediction.strip() else value)


@given(words, words)
def test_overlap_is_symmetric(left: str, right: str) -> None:
    if left.strip() and right.strip():
        assert f1(left, [right]) == f1(right, [left])
