"""The bundled embedding model."""

import dataclasses
import logging

import numpy as np
import pytest

from psi.errors import ConfigError
from psi.models.protocols import Embedder
from psi.models.sentence_transformer import SentenceTransformerEmbedder

from .embedded import embedder

STRANGE = ["", "👩‍👩‍👧 family", "北京是首都。", "<|endoftext|> <s> [MASK]", "a\u2028b", "a\x00b"]


def test_meaning_is_near_meaning() -> None:
    vectors = embedder().encode_passages(
        ["A man is eating food.", "Someone has a meal.", "The spacecraft left its orbit."]
    )
    assert (vectors.shape, vectors.dtype) == ((3, 384), np.float32)
    cosines = vectors @ vectors.T
    np.testing.assert_allclose(np.diag(cosines), 1, atol=1e-6)
    assert cosines[0, 1] > 0.5 > 0.2 > cosines[0, 2]


def test_texts_of_all_kinds_have_vectors() -> None:
    vectors = embedder().encode_questions(STRANGE)
    assert np.isfinite(vectors).all()
    assert embedder().encode_passages([]).shape == (0, 384)


def test_order_and_batch_size_do_not_matter() -> None:
    texts = [f"{'word ' * (number % 7)}number {number}" for number in range(20)]
    vectors = embedder().encode_passages(texts)
    small = dataclasses.replace(embedder(), batch_size=3)
    np.testing.assert_allclose(small.encode_passages(texts[::-1])[::-1], vectors, atol=1e-5)
    assert small.identity() == embedder().identity()


def test_prompts_and_pooling_change_vectors() -> None:
    plain = embedder().encode_questions(["capital of France"])
    prompted = dataclasses.replace(embedder(), question_prompt="query: ")
    np.testing.assert_allclose(
        prompted.encode_questions(["capital of France"]),
        embedder().encode_questions(["query: capital of France"]),
        atol=1e-6,
    )
    np.testing.assert_allclose(prompted.encode_passages(["capital of France"]), plain, atol=1e-6)
    first = dataclasses.replace(embedder(), pooling="cls").encode_questions(["capital of France"])
    assert (first @ plain.T).item() < 0.99


def test_cut_texts_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    short = dataclasses.replace(embedder(), max_tokens=16)
    with caplog.at_level(logging.WARNING, logger="psi"):
        vectors = short.encode_passages(["word " * 30, "word", "word " * 40])
    assert "2 of 3 texts are longer than 16 tokens (longest 42)" in caplog.text
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)


IDENTITY = {"model": "other", "revision": "abc", "question_prompt": "q: ", "passage_prompt": "p: ", "pooling": "cls",
            "normalize": False, "dtype": "bfloat16", "max_tokens": 9, "append_eos": True}  # fmt: skip


@pytest.mark.parametrize("setting", IDENTITY)
def test_what_changes_vectors_changes_the_identity(setting: str) -> None:
    assert dataclasses.replace(embedder(), **{setting: IDENTITY[setting]}).identity() != embedder().identity()


def test_auto_is_named_and_typos_are_refused() -> None:
    assert embedder().identity()["dtype"] == "float32"
    assert isinstance(embedder(), Embedder)
    with pytest.raises(ConfigError, match="pooling"):
        SentenceTransformerEmbedder(model="bundled", pooling="average")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="dtype"):
        SentenceTransformerEmbedder(model="bundled", dtype="fp16")  # type: ignore[arg-type]
