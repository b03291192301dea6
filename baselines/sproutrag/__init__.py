"""SproutRAG: attention-guided trees over the chunks of documents, searched over all levels (arXiv 2606.18381)."""

from baselines.sproutrag.aggregation import Aggregation
from baselines.sproutrag.encoder import Encoder
from baselines.sproutrag.retriever import BeamSearch, Sprout
from baselines.sproutrag.trained import StoredTraining

__all__ = ["Aggregation", "BeamSearch", "Encoder", "Sprout", "StoredTraining"]
