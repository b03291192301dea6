"""BERTScore against its definition, written out in loops over the same states."""

import numpy as np
import pytest

from psi.metrics import metric
from psi.models.bertscore import MINILM, _encoder, _states
from psi.models.sentence_transformer import BUNDLED


def by_definition(prediction, gold):
    encoder = _encoder(BUNDLED, None, "cpu")
    x, y = (_states(encoder, text, -1).numpy() for text in (prediction, gold))
    precision = np.mean([max(float(a @ b) for b in y) for a in x])
    recall = np.mean([max(float(a @ b) for a in x) for b in y])
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("prediction", "gold"), [("the cat sat on a mat", "a cat was on the mat"), ("Paris", "the capital of France")]
)
def test_equals_the_definition(prediction, gold):
    assert MINILM.score(prediction, [gold]) == pytest.approx(by_definition(prediction, gold), abs=1e-6)


def test_the_same_text_scores_one_and_a_paraphrase_more_than_another_subject():
    assert MINILM.score("A dog runs.", ["A dog runs."]) == pytest.approx(1)
    near, far = (MINILM.score(text, ["A dog runs."]) for text in ("The hound is running.", "Prices fell in May."))
    assert far < near < 1


def test_the_best_reference_counts_and_nothing_is_nothing():
    assert MINILM.score("Paris", ["Rome", "Paris"]) == pytest.approx(1)
    assert MINILM.score("", ["Paris"]) == 0
    assert MINILM.score("Paris", ["", " "]) is None


def test_texts_beyond_the_window_are_cut():
    assert MINILM.score("word " * 5000, ["word"]) > 0


def test_configurations_name_it():
    assert metric("psi.models.bertscore:MINILM").label == "BERTScore F (MiniLM)"
