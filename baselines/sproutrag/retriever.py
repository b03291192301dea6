"""SproutRAG's retrieval (arXiv 2606.18381): trees over the chunks of each document, searched over all their levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from baselines.leaf_scores import best_leaves
from baselines.sproutrag.aggregation import Aggregation
from baselines.sproutrag.encoder import Encoder
from baselines.sproutrag.index import SproutIndex, build_index
from baselines.sproutrag.search import candidates, chosen_documents, handed_down, insert, nothing
from baselines.sproutrag.trained import TrainedSource
from baselines.sproutrag.tree import leaves_below
from psi.component import Component, runtime
from psi.corpus.records import Passages
from psi.errors import InputError
from psi.index.embeddings import question_vectors
from psi.retrieval.cosines import cosines, on_grid
from psi.retrieval.ranking import Ranking
from psi.retrieval.rerank import Reranker
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store

Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BeamSearch(Component):
    """How the trees are searched.

    beam: nodes kept at each step; 1: greedy.
    threshold: least cosine of a candidate (δ); None: the one chosen in training, 0 without training.
    collect: `all_levels`: every visited node can be a candidate; `leaves`: visited leaves only; `flat`: all leaves of
        the searched documents, without tree or threshold.
    documents: how many documents are searched for a question, those nearest to it; None: all.
    document_vector: what stands for a document there: `mean` of its chunks' vectors, or its `root`.
    within: which of a node's passages comes first: by `position` in the corpus, or by its own `cosine`.
    """

    beam: PositiveInt = 5
    threshold: Annotated[float, Field(ge=-1, le=1)] | None = None
    collect: Literal["all_levels", "leaves", "flat"] = "all_levels"
    documents: PositiveInt | None = None
    document_vector: Literal["mean", "root"] = "mean"
    within: Literal["position", "cosine"] = "position"


@dataclass(frozen=True, kw_only=True)
class Sprout(Component):
    """SproutRAG as a retriever; no chat model is called.

    trained: where trained weights of encoder and heads come from; None: the encoder as it is published, all heads alike.
    reranker: puts the `pool` best candidates of a question, each with the text of all its chunks in order, in another
        order; None: they are ranked by cosine.
    """

    encoder: Encoder
    aggregation: Aggregation = field(default_factory=Aggregation)
    search: BeamSearch = field(default_factory=BeamSearch)
    trained: TrainedSource | None = None
    reranker: Reranker | None = None
    pool: PositiveInt = 20
    questions_at_once: PositiveInt = runtime(256)

    def build(self, passages: Passages, store: Store) -> SproutSearch:
        """Build the index, or open what the store has of it; train first where the weights are not there yet."""
        encoder, scalars, threshold = self.encoder, None, 0.0
        if self.trained is not None:
            with store.unrecorded():  # training is paid once for all corpora: it stays out of this index's time
                weights = self.trained.obtain(self.encoder, store)
            encoder, scalars, threshold = weights.encoder, weights.scalars, weights.threshold
        index = build_index(passages, encoder, self.aggregation, scalars, store)
        given = self.search.threshold
        return SproutSearch(self, index, encoder, threshold if given is None else given, store)


class SproutSearch:
    """Trees of documents, searched from above."""

    def __init__(self, config: Sprout, index: SproutIndex, encoder: Encoder, threshold: float, store: Store):
        self._config, self._index, self._encoder = config, index, encoder
        self._threshold, self._store = threshold, store
        self._documents = _document_vectors(index, config.search.document_vector)

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank passages for each question. A found inner node stands for its leaves, each with its best node's score."""
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        vectors = on_grid(question_vectors(questions, self._encoder, self._store, self._index.leaves.shape[1]))
        size = self._config.questions_at_once
        parts = [self._batch(questions[i : i + size], vectors[i : i + size], k) for i in range(0, len(questions), size)]
        return [ranking for part in parts for ranking in part]

    def _batch(self, questions: Sequence[str], vectors: Doubles, k: int) -> list[Ranking]:
        if self._config.reranker is not None:
            return self._reranked(self._config.reranker, questions, vectors, k)
        best = nothing(len(vectors), k)
        for document, rows, near, found in self._found(vectors):
            children = self._index.tree(document)
            own = near[:, : len(children) + 1]
            seconds = own if self._config.search.within == "cosine" else np.zeros_like(own)
            insert(best, rows, handed_down(found, children), seconds, self._passages_of(document))
        return [self._ranking(*best.row(question)) for question in range(len(vectors))]

    def _found(self, vectors: Doubles) -> Iterator[tuple[int, NDArray[np.int64], Doubles, Doubles]]:
        """Document by document: the questions that search it, and (questions, nodes) cosines of nodes and candidates."""
        how = self._config.search
        for document, rows in chosen_documents(cosines(vectors, self._documents), how.documents):
            children = self._index.tree(document)
            near = np.ascontiguousarray(cosines(vectors[rows], on_grid(self._index.vectors(document))))
            if how.collect == "flat":
                found = near.copy()
                found[:, len(children) + 1 :] = -np.inf
            else:
                found = candidates(near, children, how.beam, self._threshold, how.collect == "leaves")
            yield document, rows, near, found

    def _reranked(self, reranker: Reranker, questions: Sequence[str], vectors: Doubles, k: int) -> list[Ranking]:
        """Rank by the reranker's scores of the best candidates. A node is known by its document's first chunk and itself."""
        pool = nothing(len(vectors), self._config.pool)
        documents = self._index.documents
        for document, rows, _, found in self._found(vectors):
            nodes = 2 * documents.offsets[document] - document + np.arange(found.shape[1])
            insert(pool, rows, found, np.zeros_like(found), nodes)
        nodes_of = [pool.row(question)[2] for question in range(len(vectors))]
        below = {int(node): self._leaves(int(node)) for nodes in nodes_of for node in nodes}
        pairs = [(q, int(node)) for q, nodes in enumerate(nodes_of) for node in nodes]
        texts = [" ".join(documents.passages[i].text.strip() for i in below[node]) for _, node in pairs]
        scores = np.asarray(reranker.score([questions[q] for q, _ in pairs], texts), dtype=np.float64)
        if len(scores) != len(pairs) or not np.isfinite(scores).all():
            raise InputError("the reranker's scores are not one finite number a candidate. Check its model and dtype.")
        best = nothing(len(vectors), k)
        leaf_scores: dict[tuple[int, int], float] = {}
        for (q, node), score in zip(pairs, scores.tolist(), strict=True):
            for passage in below[node]:
                leaf_scores[q, passage] = max(score, leaf_scores.get((q, passage), -np.inf))
        for (q, passage), score in leaf_scores.items():
            insert(best, np.array([q]), np.array([[score]]), np.zeros((1, 1)), np.array([passage]))
        return [self._ranking(*best.row(question)) for question in range(len(vectors))]

    def _leaves(self, node: int) -> list[int]:
        """Passages below a node that is numbered over all documents, in document order."""
        documents = self._index.documents
        starts = 2 * documents.offsets[:-1] - np.arange(len(documents))
        document = int(np.searchsorted(starts, node, side="right")) - 1
        below = leaves_below(self._index.tree(document), node - int(starts[document]))
        return [int(i) for i in self._passages_of(document)[below]]

    def _passages_of(self, document: int) -> NDArray[np.int64]:
        """Passage positions of a document's chunks."""
        offsets = self._index.documents.offsets
        return self._index.documents.order[offsets[document] : offsets[document + 1]]

    def _ranking(self, scores: Doubles, seconds: Doubles, passages: NDArray[np.int64]) -> Ranking:
        ids = self._index.documents.passages.ids
        if len(passages) and self._config.search.within == "cosine":
            by_position = np.argsort(passages)
            order, scores = best_leaves(scores[by_position], seconds[by_position], len(passages))
            passages = passages[by_position][order]
        return Ranking(tuple(ids[i] for i in passages), tuple(scores.tolist()))


def _document_vectors(index: SproutIndex, kind: Literal["mean", "root"]) -> Doubles:
    """(documents, d) unit vectors."""
    offsets = index.documents.offsets
    if kind == "mean":
        rows = np.add.reduceat(np.asarray(index.leaves, dtype=np.float64), offsets[:-1], axis=0)
    else:
        rows = np.stack([index.vectors(document)[-1] for document in range(len(index.documents))])
    return on_grid(rows.astype(np.float32))
