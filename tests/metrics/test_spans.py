"""Scores by characters, against sets of character positions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.corpus.records import Question, Span
from psi.errors import ConfigError
from psi.metrics import metric, score_questions

SPANS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 20), st.integers(0, 8)).map(
        lambda t: Span(t[0], t[1], t[1] + t[2])
    ),
    max_size=6,
)


def positions(spans):
    return {(span.document, place) for span in spans for place in range(span.start, span.end)}


@given(SPANS, SPANS, st.integers(1, 7))
def test_characters_are_counted_once(ranked, gold, k):
    found, wanted = positions(list(dict.fromkeys(ranked))[:k]), positions(gold)
    names = ("char_recall", "char_precision", "char_hit", "char_ie")
    recall, precision, hit, ie = (metric(f"{name}@{k}").score(ranked, gold) for name in names)
    if not wanted:
        assert (recall, precision, hit, ie) == (None,) * 4
        return
    assert recall == pytest.approx(len(found & wanted) / len(wanted))
    assert precision == pytest.approx(len(found & wanted) / len(found) if found else 0)
    assert hit == bool(found & wanted)
    assert ie == pytest.approx(recall * precision)


def test_a_run_is_scored_by_the_spans_of_its_passages():
    asked = [
        Question("q", "?", gold=("p",), spans=(Span("d", 0, 10),)),
        Question("without", "?", gold=("p",)),
        Question("failed", "?", spans=(Span("d", 0, 1),)),
    ]
    spans = {"p": Span("d", 5, 25), "other": Span("d", 0, 5)}
    scores = score_questions(
        asked,
        ["char_recall@1", "char_precision@1"],
        rankings={"q": ["p"], "without": ["p"], "failed": None},
        spans=spans,
    )
    assert scores["char_recall@1"].values == {"q": 0.5}
    assert scores["char_precision@1"].values == {"q": 0.25}
    assert scores["char_recall@1"].excluded == ("without",)
    assert scores["char_recall@1"].failed == ("failed",)
    with pytest.raises(ConfigError, match="spans of ranked passages"):
        score_questions(asked, ["char_recall@1"], rankings={"q": ["p"]})


def test_information_efficiency_by_hand():
    ranked, gold = ["g1", "x", "g2", "y", "z"], ["g1", "g2"]
    # recall 1/2, 1, 1; precision 1, 2/3, 2/5
    assert metric("ie@3").score(ranked, gold) == pytest.approx(2 / 3)
    assert metric("ie").score(ranked, gold) == pytest.approx((0.5 + 2 / 3 + 0.4) / 3)
    assert metric("ie").score(ranked, []) is None
