"""Scoring spans in one pass, against one pass a span."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psi.errors import ModelError
from psi.models.protocols import SpanScorer
from psi.models.transformers_scorer import PromptTooLongError, TransformersScorer

from .embedded import scorer

PREFIX = (
    "Answer the question.\n\nPassage: Tom was born in Riga in 1950.\nQuestion: Where was Tom born?\nAnswer: Riga\n\n"
)
PROMPT = "Passage: Ann Lee was born in Oslo on 3 May 1971.\nQuestion: When was Ann born?\nAnswer:"
SPANS = ["3 May 1971", "3 May", "Oslo", "Ann Lee", "Ann", "1971", "Łódź", "3 May"]


def one_at_a_time(model: TransformersScorer, text: str, span: str) -> tuple[float, float]:
    """The textbook way: a whole pass over prompt and span, softmax at every place."""
    import torch

    before = model._tokens(text)
    ids = model._tokens(f"{text} {span}\n")
    with torch.inference_mode():
        log_p = model._network(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    steps = [float(log_p[place - 1, ids[place]]) for place in range(len(before), len(ids))]
    return sum(steps[:-1]), steps[-1]


@pytest.fixture(scope="module")
def model(tiny: str) -> TransformersScorer:
    return TransformersScorer(model=tiny, dtype="float32", device="cpu")


@pytest.mark.parametrize("prefix", [PREFIX, "", "Answer the question.\n\n"])
def test_the_trie_gives_the_scores_of_one_pass_a_span(model: TransformersScorer, prefix: str) -> None:
    scores = model.score(prefix, PROMPT, SPANS)
    expected = [one_at_a_time(model, prefix + PROMPT, span) for span in SPANS]
    np.testing.assert_allclose(scores.log_p, [span for span, _ in expected], atol=1e-4)
    np.testing.assert_allclose(scores.log_end, [end for _, end in expected], atol=1e-4)


WORDS = st.lists(st.sampled_from(["Oslo", "1971", "May", "Ann", "of", "é", "北京"]), min_size=1, max_size=4).map(
    " ".join
)


@given(st.lists(WORDS, min_size=1, max_size=12))
@settings(max_examples=10, deadline=None)
def test_so_it_does_for_any_spans(model: TransformersScorer, spans: list[str]) -> None:
    scores = model.score(PREFIX, PROMPT, spans)
    expected = [sum(one_at_a_time(model, PREFIX + PROMPT, span)) for span in spans]
    np.testing.assert_allclose(scores.log_p + scores.log_end, expected, atol=1e-4)


def test_a_span_scores_the_same_in_any_company(model: TransformersScorer) -> None:
    together = model.score(PREFIX, PROMPT, SPANS)
    for place, span in enumerate(SPANS):
        np.testing.assert_allclose(together.log_p[place], model.score(PREFIX, PROMPT, [span]).log_p[0], atol=1e-4)
    assert together.log_p[1] == together.log_p[7]


def test_the_bundled_model_finds_the_date_in_one_pass_as_span_by_span() -> None:
    scores = scorer().score(PREFIX, PROMPT, SPANS)
    assert SPANS[int(np.argmax(scores.log_p + scores.log_end))] == "3 May 1971"
    assert scores.tokens[2] == 1
    assert scores.prompt_tokens == len(scorer()._tokens(PREFIX + PROMPT))
    # bfloat16 rounds logits to about 0.1, at every token
    assert abs(scores.log_p[0] - one_at_a_time(scorer(), PREFIX + PROMPT, SPANS[0])[0]) < 1.0


def test_too_much_text_is_refused_with_numbers(model: TransformersScorer) -> None:
    small = dataclasses.replace(model, context_tokens=50)
    with pytest.raises(PromptTooLongError, match=r"need \d+ tokens, the window has 50") as caught:
        small.score(PREFIX, PROMPT, SPANS)
    assert isinstance(caught.value, ModelError)
    assert caught.value.kind == "truncated"


def test_no_spans_no_scores(model: TransformersScorer) -> None:
    assert len(model.score(PREFIX, PROMPT, []).log_p) == 0


def test_the_number_format_is_part_of_the_identity(model: TransformersScorer) -> None:
    assert isinstance(model, SpanScorer)
    auto = dataclasses.replace(model, dtype="auto")
    assert auto.identity()["dtype"] == "bfloat16"
    assert auto.identity() != model.identity()
    assert "device" not in auto.identity()
