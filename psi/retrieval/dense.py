"""Dense retrieval: exact nearest passages by cosine, through faiss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psi.component import Component
from psi.corpus.records import Passages
from psi.index.embeddings import load_vectors, passage_vectors, question_vectors
from psi.models.protocols import Embedder
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store

# twice the worst error of a float32 inner product of unit vectors, by far: passages this close to the last of a pool
# may belong in front of it
MARGIN = 1e-5


@dataclass(frozen=True, kw_only=True)
class Dense(Component):
    """A bi-encoder: passages and questions become vectors, the nearest passages by inner product are returned."""

    embedder: Embedder

    def build(self, passages: Passages, store: Store) -> DenseIndex:
        """Embed the corpus, or open the vectors that the store has."""
        vectors = load_vectors(passage_vectors(passages, self.embedder, store))
        return DenseIndex(self.embedder, passages.ids, vectors, store)


class DenseIndex:
    """A corpus as vectors, searched without approximation."""

    def __init__(self, embedder: Embedder, ids: Sequence[str], vectors: NDArray[np.float32], store: Store):
        import faiss

        self._embedder, self._ids, self._vectors, self._store = embedder, ids, vectors, store
        self._flat = faiss.IndexFlatIP(vectors.shape[1])
        self._flat.add(np.ascontiguousarray(vectors))

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for each question."""
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        vectors = question_vectors(questions, self._embedder, self._store, self._vectors.shape[1])
        positions, scores = self.nearest(vectors, k)
        return [
            Ranking(tuple(self._ids[i] for i in row), tuple(float(score) for score in values))
            for row, values in zip(positions, scores, strict=True)
        ]

    def nearest(
        self, queries: NDArray[np.float32], k: int
    ) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float32]]]:
        """Exact top k of each query vector: inner products to full precision, ties by position.

        faiss finds a pool with fast products; the pool is scored again in float64 and accepted where its last member
        is provably worse than the k-th. Elsewhere (many near-equal passages) the pool is doubled.
        """
        k = min(k, len(self._vectors))
        found: dict[int, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}
        open_rows, size = np.arange(len(queries)), k + 16
        while len(open_rows):
            size = min(size, len(self._vectors))
            fast, pools = self._flat.search(np.ascontiguousarray(queries[open_rows], dtype=np.float32), size)
            for row, worst, pool in zip(open_rows, fast[:, -1], pools, strict=True):
                best, scores = self._rescored(queries[row], pool, k)
                if size == len(self._vectors) or scores[-1] > worst + MARGIN:
                    found[int(row)] = best, scores
            open_rows = np.array([row for row in open_rows if int(row) not in found], dtype=np.int64)
            size *= 2
        rows = range(len(queries))
        return [found[row][0] for row in rows], [found[row][1] for row in rows]

    def _rescored(
        self, query: NDArray[np.float32], pool: NDArray[np.int64], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        pool = np.sort(pool)
        # one row at a time through a fixed-order sum: equal vectors get equal scores wherever they stand
        products = self._vectors[pool].astype(np.float64) * query.astype(np.float64)
        scores = products.sum(axis=1).astype(np.float32)
        order = np.argsort(-scores, kind="stable")[:k]
        return pool[order], scores[order]
