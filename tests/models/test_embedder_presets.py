"""The embedding models that presets name: each with the prompts and the pooling of its model card."""

import pytest
from omegaconf import OmegaConf

from experiments.complaints import CONF

# model, prompt of questions, prompt of passages, pooling (None: the model's own), unit vectors
CARDS = {
    "contriever": ("facebook/contriever", None, None, "mean", False),
    "gtr": ("sentence-transformers/gtr-t5-base", None, None, None, True),
    "bge": ("BAAI/bge-base-en-v1.5", "Represent this sentence for searching relevant passages: ", "", "cls", True),
    "bge_m3": ("BAAI/bge-m3", None, None, "cls", True),
    "e5": ("intfloat/e5-base-v2", "query: ", "passage: ", "mean", True),
    "e5_mistral": (
        "intfloat/e5-mistral-7b-instruct",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
        "",
        None,
        True,
    ),
    "qwen3_embedding": ("Qwen/Qwen3-Embedding-0.6B", "query", "", None, True),
    "nv_embed_v2": (
        "nvidia/NV-Embed-v2",
        "Instruct: Given a question, retrieve passages that answer the question\nQuery: ",
        "",
        None,
        True,
    ),
}


@pytest.mark.parametrize("name", CARDS)
def test_presets_follow_model_cards(name):
    preset = OmegaConf.load(CONF / "embedder" / f"{name}.yaml")
    given = (preset.model, preset.question_prompt, preset.passage_prompt, preset.pooling, preset.normalize)
    assert given == CARDS[name]
    assert preset.append_eos == preset.trust_remote_code == (name == "nv_embed_v2")


def test_dpr_is_searched_by_inner_product():
    preset = OmegaConf.load(CONF / "embedder" / "dpr.yaml")
    assert (preset.normalize, preset.max_tokens) == (False, 256)
