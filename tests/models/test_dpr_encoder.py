"""DPR's two encoders on tiny models with random weights."""

import dataclasses
import logging

import numpy as np
import pytest
import torch
from transformers import BertTokenizerFast, DPRConfig, DPRContextEncoder, DPRQuestionEncoder

from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError
from psi.models.dpr_encoder import DprEmbedder, titled
from psi.models.protocols import Embedder
from psi.retrieval.dense import Dense
from psi.store import Store

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "paris", "rome", "france", "italy", "is", "in", "capital", "the",
         "of", "what", "city", "?", "."]  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("dpr")
    (root / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    for name, kind, projection in (
        ("questions", DPRQuestionEncoder, 0), ("passages", DPRContextEncoder, 0), ("projected", DPRContextEncoder, 8),
    ):  # fmt: skip
        torch.manual_seed(len(name))
        config = DPRConfig(
            vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
            max_position_embeddings=64, projection_dim=projection,
        )  # fmt: skip
        kind(config).save_pretrained(root / name)
        BertTokenizerFast(vocab=str(root / "vocab.txt")).save_pretrained(root / name)
    return root


@pytest.fixture(scope="module")
def dpr(folders):
    return DprEmbedder(
        question_model=str(folders / "questions"), passage_model=str(folders / "passages"), device="cpu"
    )  # fmt: skip


def by_hand(kind, folder, *texts):
    """The state of [CLS] as the model itself gives it, every token of segment 0."""
    tokenizer, model = BertTokenizerFast.from_pretrained(folder), kind.from_pretrained(folder).eval()
    ids = tokenizer(*texts, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        out = model(input_ids=ids, output_hidden_states=True)
    assert torch.equal(out.pooler_output, out.hidden_states[-1][:, 0])
    return out.pooler_output.numpy()[0]


def test_vectors_are_the_states_of_cls(dpr, folders):
    passages = dpr.encode_passages(["Paris\nParis is the capital of France.", "rome in italy"])
    assert (passages.shape, passages.dtype) == ((2, 16), np.float32)
    pair = by_hand(DPRContextEncoder, folders / "passages", "Paris", "Paris is the capital of France.")
    np.testing.assert_allclose(passages[0], pair, atol=1e-5)
    alone = by_hand(DPRContextEncoder, folders / "passages", "rome in italy")
    np.testing.assert_allclose(passages[1], alone, atol=1e-5)
    question = by_hand(DPRQuestionEncoder, folders / "questions", "capital of France?")
    np.testing.assert_allclose(dpr.encode_questions(["capital of France?"])[0], question, atol=1e-5)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Paris\nIs in France.", ("Paris", "Is in France.")),
        ("Paris\nIs in\nFrance.", ("Paris", "Is in\nFrance.")),
        ("Is in France.", "Is in France."),
        ("\nIs in France.", "\nIs in France."),
        ("Paris\n", "Paris\n"),
    ],
)
def test_the_first_line_is_the_title(content, expected):
    assert titled(content) == expected
    assert titled(Passage("p", "Paris", "Is in France.").content) == ("Paris", "Is in France.")


def test_order_and_batch_size_do_not_matter(dpr):
    texts = ["paris " * (i % 7 + 1) for i in range(20)]
    vectors = dpr.encode_questions(texts)
    small = dataclasses.replace(dpr, batch_size=3)
    np.testing.assert_allclose(small.encode_questions(texts[::-1])[::-1], vectors, atol=1e-5)
    assert small.identity() == dpr.identity()
    assert isinstance(dpr, Embedder)


def test_vectors_are_not_normalised_unless_asked_for(dpr):
    texts = ["paris", "rome is in italy"]
    lengths = np.linalg.norm(dpr.encode_passages(texts), axis=1)
    assert (np.abs(lengths - 1) > 0.1).all()
    unit = dataclasses.replace(dpr, normalize=True)
    np.testing.assert_allclose(np.linalg.norm(unit.encode_passages(texts), axis=1), 1, atol=1e-6)
    assert unit.identity() != dpr.identity()


def test_passages_are_ranked_by_inner_product(dpr, tmp_path):
    passages = Passages([Passage(f"p{i}", word, f"{word} is in france") for i, word in enumerate(WORDS[5:9])])
    found = Dense(embedder=dpr).build(passages, Store(tmp_path)).search(["what city is in france ?"], 4)[0]
    products = dpr.encode_passages(passages.contents) @ dpr.encode_questions(["what city is in france ?"])[0]
    assert found.ids == tuple(f"p{i}" for i in np.argsort(-products))
    assert found.scores == pytest.approx(sorted(products, reverse=True), rel=1e-5)


def test_cut_texts_are_counted(dpr, caplog):
    short = dataclasses.replace(dpr, max_tokens=8)
    with caplog.at_level(logging.WARNING, logger="psi"):
        vectors = short.encode_passages(["paris\n" + "rome " * 30, "paris", "paris\n" + "rome " * 40])
    assert "2 of 3 texts are longer than 8 tokens (longest 44) and were cut." in caplog.text
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)


def test_strange_texts_and_empty_batches(dpr):
    assert np.isfinite(dpr.encode_passages(["", "\n", "👩‍👩‍👧", "[CLS] [SEP]", "北京\n首都"])).all()
    assert dpr.encode_passages([]).shape == (0, 16)
    assert dpr.encode_questions([]).shape == (0, 16)


def test_a_projection_sets_the_width(dpr, folders):
    projected = dataclasses.replace(dpr, passage_model=str(folders / "projected"))
    assert projected.encode_passages(["paris"]).shape == (1, 8)
    assert projected.encode_passages([]).shape == (0, 8)


def test_models_in_each_others_place_are_refused(folders):
    swapped = DprEmbedder(
        question_model=str(folders / "passages"), passage_model=str(folders / "questions"), device="cpu"
    )  # fmt: skip
    with pytest.raises(ConfigError, match=r"is no DPRContextEncoder: it lacks \d+ weights"):
        swapped.encode_passages(["paris"])
    with pytest.raises(ConfigError, match="is no DPRQuestionEncoder"):
        swapped.encode_questions(["paris"])


@pytest.mark.parametrize("setting", ["question_model", "passage_model", "question_revision", "passage_revision"])
def test_what_changes_vectors_changes_the_identity(setting, dpr):
    assert dataclasses.replace(dpr, **{setting: "other"}).identity() != dpr.identity()


def test_folders_of_the_released_kind_are_read(dpr, folders, tmp_path):
    """A vocabulary file, weights under torch's own format, and a pooler that the model does not use."""
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true}', encoding="utf-8")
    (tmp_path / "config.json").write_bytes((folders / "passages" / "config.json").read_bytes())
    weights = DPRContextEncoder.from_pretrained(folders / "passages").state_dict()
    weights["ctx_encoder.bert_model.pooler.dense.weight"] = torch.zeros(16, 16)
    torch.save(weights, tmp_path / "pytorch_model.bin")
    released = dataclasses.replace(dpr, passage_model=str(tmp_path))
    texts = ["Paris\nParis is in France.", "rome"]
    np.testing.assert_allclose(released.encode_passages(texts), dpr.encode_passages(texts), atol=1e-6)
