"""RAPTOR's two ways to search (paper §3): all nodes at once, or layer by layer from above.

What is ranked are passages, so that rankings can be compared with those of other systems: an inner node that is found
stands for the passages below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from baselines.leaf_scores import best_leaves, over_ancestors
from baselines.raptor.index import RaptorIndex, RaptorIndexer
from psi.component import Component
from psi.corpus.records import Passages
from psi.index.embeddings import question_vectors
from psi.retrieval.cosines import cosines, on_grid
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions, top_k
from psi.store import Store
from psi.tree import Layers

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
QUESTIONS = 256  # searched at once


@runtime_checkable
class NodeSearch(Protocol):
    """A way from the cosines of all nodes to a ranking of leaves."""

    def leaves(self, index: RaptorIndex, near: Floats, k: int) -> Iterator[tuple[Ids, Floats]]:
        """At most k leaves a question, best first, and scores that fall in that order, from (q, n_nodes) cosines."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the rankings, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class CollapsedTree(Component):
    """All nodes are ranked by cosine together, and an inner node is replaced by those leaves below it not yet listed.

    Those leaves stand in the order of their own cosines (see `baselines.leaf_scores`).

    tokens: a ranking ends before the passage with which its text would exceed so many tokens (the first passage is
        always in it); None: no limit. The paper's limit is on the texts of nodes, as it hands those to the reader.
    """

    tokens: PositiveInt | None = 2000

    def leaves(self, index: RaptorIndex, near: Floats, k: int) -> Iterator[tuple[Ids, Floats]]:
        """The leaves below the best nodes."""
        layers = index.layers
        best = over_ancestors(near, layers.n_leaves, layers.child_offsets, layers.child_ids)
        for row, own in zip(best, near[:, : layers.n_leaves], strict=True):
            leaves, scores = best_leaves(row, own, k)
            size = self._fitting(index.tokens[leaves])
            yield leaves[:size], scores[:size]

    def _fitting(self, tokens: Ids) -> int:
        return len(tokens) if self.tokens is None else max(1, int((np.cumsum(tokens) <= self.tokens).sum()))


@dataclass(frozen=True, kw_only=True)
class TreeTraversal(Component):
    """From the topmost layer downwards: the `beam` nearest nodes of a layer are kept, then the nearest of their children.

    Ranked are the leaves at the end, by their own cosines. The beam grows to k where k is larger.
    """

    beam: PositiveInt = 10

    def leaves(self, index: RaptorIndex, near: Floats, k: int) -> Iterator[tuple[Ids, Floats]]:
        """The leaves that the beam reaches."""
        for row in near:
            best = self._reached(index.layers, row, k)
            yield best, row[best]

    def _reached(self, layers: Layers, near: Floats, k: int) -> Ids:
        reached = layers.layers()[-1]
        for _ in layers.layers()[1:]:
            kept = reached[top_k(near[reached], max(self.beam, k))]
            reached = np.unique(np.concatenate([layers.children(int(node)) for node in kept]))
        return reached[top_k(near[reached], k)]


@dataclass(frozen=True, kw_only=True)
class Raptor(Component):
    """RAPTOR (Sarthi et al. 2024, arXiv 2401.18059)."""

    index: RaptorIndexer
    search: CollapsedTree | TreeTraversal = CollapsedTree()

    def build(self, passages: Passages, store: Store) -> RaptorSearch:
        """Build the index, or open what the store has of it."""
        return RaptorSearch(self, self.index.build(passages, store), passages.ids, store)


class RaptorSearch:
    """A layered index, searched."""

    def __init__(self, config: Raptor, index: RaptorIndex, ids: Sequence[str], store: Store):
        self._config, self._index, self._ids, self._store = config, index, ids, store
        self._vectors = on_grid(index.vectors)

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the passages for each question."""
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        vectors = question_vectors(questions, self._config.index.embedder, self._store, self._vectors.shape[1])
        return list(self._rankings(on_grid(vectors), k))

    def _rankings(self, queries: Floats, k: int) -> Iterator[Ranking]:
        for start in range(0, len(queries), QUESTIONS):
            near = cosines(queries[start : start + QUESTIONS], self._vectors)
            for leaves, scores in self._config.search.leaves(self._index, near, k):
                yield Ranking(tuple(self._ids[leaf] for leaf in leaves), tuple(scores.tolist()))
