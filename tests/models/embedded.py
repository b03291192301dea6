"""The bundled models, loaded once for all tests of a process."""

import functools

from psi.models.sentence_transformer import SentenceTransformerEmbedder
from psi.models.transformers_scorer import TransformersScorer


@functools.cache
def embedder() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(model="bundled", device="cpu")


@functools.cache
def scorer() -> TransformersScorer:
    return TransformersScorer(model="bundled", device="cpu")
