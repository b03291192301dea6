"""Dense retrieval: nearest passages by inner product, through faiss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psi.component import Component
from psi.corpus.records import Passages
from psi.index.embeddings import load_vectors, passage_vectors, question_vectors
from psi.models.protocols import Embedder
from psi.retrieval.neighbours import Neighbours, Pools
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store

# twice the worst error of a float32 inner product of unit vectors, by far: passages this close to the last of a pool
# may belong in front of it
MARGIN = 1e-5
SPARE = 16  # candidates beyond k, so that ties and near ties can be put in order


@dataclass(frozen=True, kw_only=True)
class Dense(Component):
    """A bi-encoder: passages and questions become vectors, passages with the largest inner products are returned.

    Of unit vectors that is the cosine; an embedder that does not normalise is searched by the product it was trained for.

    neighbours: an approximate index to find candidates with; None: all passages are compared. Scores are exact either way.
    """

    embedder: Embedder
    neighbours: Neighbours | None = None

    def build(self, passages: Passages, store: Store) -> DenseIndex:
        """Embed the corpus, or open the vectors that the store has."""
        artifact = passage_vectors(passages, self.embedder, store)
        pools = None if self.neighbours is None else Pools(self.neighbours, artifact, store)
        return DenseIndex(self.embedder, passages.ids, load_vectors(artifact), store, pools)


class DenseIndex:
    """A corpus as vectors, searched whole, or by an approximate index where there is one."""

    def __init__(
        self,
        embedder: Embedder,
        ids: Sequence[str],
        vectors: NDArray[np.float32],
        store: Store,
        pools: Pools | None = None,
    ):
        self._embedder, self._ids, self._vectors, self._store = embedder, ids, vectors, store
        self._pools = pools

    @cached_property
    def _flat(self) -> Any:
        import faiss

        flat = faiss.IndexFlatIP(self._vectors.shape[1])
        flat.add(np.ascontiguousarray(self._vectors))
        return flat

    @cached_property
    def _longest(self) -> float:
        return float(np.sqrt((self._vectors.astype(np.float64) ** 2).sum(axis=1).max()))

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
        """Top k of each query vector: inner products to full precision, ties by position.

        Exact without an approximate index: faiss finds a pool with fast products; the pool is scored again in float64 and
        accepted where its last member is provably worse than the k-th. Elsewhere (many near-equal passages) the pool
        is doubled.
        """
        k = min(k, len(self._vectors))
        if self._pools is not None:
            pools = self._pools.find(queries, k + SPARE)
            best = [self._rescored(query, pool, k) for query, pool in zip(queries, pools, strict=True)]
            return [positions for positions, _ in best], [scores for _, scores in best]
        return self._exact(queries, k)

    def _exact(self, queries: NDArray[np.float32], k: int) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float32]]]:
        margins = MARGIN * self._longest * np.sqrt((queries.astype(np.float64) ** 2).sum(axis=1))
        found: dict[int, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}
        open_rows, size = np.arange(len(queries)), k + SPARE
        while len(open_rows):
            size = min(size, len(self._vectors))
            fast, pools = self._flat.search(np.ascontiguousarray(queries[open_rows], dtype=np.float32), size)
            for row, worst, pool in zip(open_rows, fast[:, -1], pools, strict=True):
                best, scores = self._rescored(queries[row], pool, k)
                if size == len(self._vectors) or scores[-1] > worst + margins[row]:
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
