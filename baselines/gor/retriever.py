"""Graph of Records: queries against learned embeddings of chunks and of earlier responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.gor.graph import RecordGraph, RecordIndexer, load_graph
from baselines.gor.training import GraphTraining
from baselines.leaf_scores import best_leaves, over_ancestors
from psi.component import Component
from psi.corpus.records import Passages
from psi.index.embeddings import question_vectors
from psi.retrieval.cosines import STEP, cosines, on_grid
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Artifact, Stage, Store

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class GraphOfRecords(Component):
    """GoR (Zhang et al. 2024, arXiv 2410.11001): nodes are ranked by query · embedding, a response stands for its chunks.

    index: the graph.
    training: the embeddings of its nodes.
    """

    index: RecordIndexer
    training: GraphTraining = field(default_factory=GraphTraining)

    def build(self, passages: Passages, store: Store) -> RecordSearch:
        """Build graph and embeddings, or open what the store has of them."""
        records = self.index.build(passages, store)
        nodes = np.load(self._learned(records, store).path / "nodes.npy", allow_pickle=False)
        return RecordSearch(self, load_graph(records.path), nodes, passages.ids, store)

    def _learned(self, records: Artifact, store: Store) -> Artifact:
        stage = Stage("gor_embeddings", VERSION, self.training.identity(), {"records": records.digest})

        def make(folder: Path) -> Mapping[str, Any]:
            learned = self.training.learned(load_graph(records.path))
            np.save(folder / "nodes.npy", learned.vectors, allow_pickle=False)
            return {"contrastive_loss": learned.contrastive_loss, "ranking_loss": learned.ranking_loss}

        return store.obtain(stage, make)


class RecordSearch:
    """A graph of records with its learned embeddings, searched."""

    def __init__(
        self, config: GraphOfRecords, graph: RecordGraph, nodes: NDArray[np.float32], ids: Sequence[str], store: Store
    ):
        self._config, self._graph, self._ids, self._store = config, graph, ids, store
        self._nodes = _scaled(nodes)

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the passages for each question."""
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        queries = question_vectors(questions, self._config.index.embedder, self._store, self._nodes.shape[1])
        near = cosines(on_grid(queries), self._nodes)
        best = over_ancestors(near, self._graph.n_chunks, self._graph.child_offsets, self._graph.child_ids)
        found = [best_leaves(*pair, k) for pair in zip(best, near[:, : self._graph.n_chunks], strict=True)]
        return [Ranking(tuple(self._ids[i] for i in leaves), tuple(scores.tolist())) for leaves, scores in found]


def _scaled(nodes: NDArray[np.float32]) -> NDArray[np.float64]:
    """Embeddings over the length of the longest, on the grid of `cosines`: orders stay, and products are exact."""
    exact = nodes.astype(np.float64)
    longest = np.sqrt((exact * exact).sum(axis=1).max())
    scaled: NDArray[np.float64] = np.rint(exact / max(longest, np.finfo(np.float64).tiny) / STEP) * STEP
    return scaled
