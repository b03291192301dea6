"""Graph of Records: queries against learned embeddings of chunks and of earlier responses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.gor.graph import RecordGraph, RecordIndexer, load_graph
from baselines.gor.training import GraphTraining
from baselines.leaf_scores import best_leaves, over_ancestors
from psi.component import Component
from psi.corpus.loader import Loader
from psi.corpus.records import Passage, Passages
from psi.errors import InputError
from psi.index.embeddings import question_vectors
from psi.retrieval.cosines import STEP, cosines, on_grid
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Artifact, Stage, Store, digest

VERSION = 1
WEIGHTS = "weights.npz"


@dataclass(frozen=True, kw_only=True)
class GraphOfRecords(Component):
    """GoR (Zhang et al. 2024, arXiv 2410.11001): nodes are ranked by query · embedding, a response stands for its chunks.

    index: the graph.
    training: the network that embeds its nodes.
    train_on: documents whose graphs the network is trained on, as in the paper; None: each document's own graph alone.
    """

    index: RecordIndexer
    training: GraphTraining = field(default_factory=GraphTraining)
    train_on: Loader | None = None

    def identity(self) -> dict[str, Any]:
        """The settings, and what the documents to train on are read from."""
        sources = {} if self.train_on is None else {"train_on_sources": dict(self.train_on.fingerprint())}
        return {**super().identity(), **sources}

    def build(self, passages: Passages, store: Store) -> RecordSearch:
        """Build graph, network and embeddings, or open what the store has of them.

        Raises:
            InputError: no passage of `train_on` belongs to a document.
        """
        records = self.index.build(passages, store)
        others = [self.index.build(document, store) for document in self._documents]
        nodes = np.load(self._embedded(records, others or [records], store).path / "nodes.npy", allow_pickle=False)
        return RecordSearch(self, load_graph(records.path), nodes, passages.ids, store)

    @cached_property
    def _documents(self) -> list[Passages]:
        if self.train_on is None:
            return []
        benchmark = self.train_on.load()
        documents: defaultdict[str, list[Passage]] = defaultdict(list)
        for passage in benchmark.passages:
            if passage.document is not None:
                documents[passage.document].append(passage)
        if not documents:
            raise InputError(
                f"train_on: no passage of {benchmark.name} belongs to a document. Give a dataset of documents, or null "
                "to train on each document alone."
            )
        return [Passages(documents[name]) for name in sorted(documents)]

    def _embedded(self, records: Artifact, trained_on: Sequence[Artifact], store: Store) -> Artifact:
        network = self._network(trained_on, store)
        inputs = {"records": records.digest, "network": network.digest}
        stage = Stage("gor_embeddings", VERSION, self.training.identity(), inputs)

        def make(folder: Path) -> None:
            with np.load(network.path / WEIGHTS, allow_pickle=False) as weights:
                nodes = self.training.embedded(load_graph(records.path), weights)
            np.save(folder / "nodes.npy", nodes, allow_pickle=False)

        return store.obtain(stage, make)

    def _network(self, trained_on: Sequence[Artifact], store: Store) -> Artifact:
        digests = digest([each.digest for each in trained_on])
        stage = Stage("gor_network", VERSION, self.training.identity(), {"records": digests})

        def make(folder: Path) -> Mapping[str, Any]:
            trained = self.training.trained([load_graph(each.path) for each in trained_on])
            np.savez(folder / WEIGHTS, allow_pickle=False, **trained.weights)
            return {
                "documents": len(trained_on),
                "contrastive_loss": trained.contrastive_loss,
                "ranking_loss": trained.ranking_loss,
            }

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
