"""The bundled models, loaded once for all tests of a process."""

import functools

from psi.models.sentence_transformer import SentenceTransformerEmbedder
from psi.models.transformers_chat import TransformersChat
from psi.models.transformers_scorer import TransformersScorer


@functools.cache
def embedder() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(model="bundled", device="cpu")


@functools.cache
def scorer() -> TransformersScorer:
    return TransformersScorer(model="bundled", dtype="float32", device="cpu")


def chat(**settings: object) -> TransformersChat:
    """A chat model on the scorer's weights: loading them once is enough."""
    model = TransformersChat(model="bundled", dtype="float32", device="cpu", **settings)  # type: ignore[arg-type]
    vars(model)["_network"] = scorer()._network
    return model
