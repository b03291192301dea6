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

from baselines.raptor.index import RaptorIndex, RaptorIndexer
from psi.component import Component
from psi.corpus.records import Passages
from psi.index.embeddings import question_vectors
from psi.retrieval.cosines import cosines, on_grid
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions, top_k
from psi.store import Store

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
QUESTIONS = 256  # searched at once


@runtime_checkable
class NodeSearch(Protocol):
    """A way from the cosines of all nodes to a ranking of leaves."""

    def leaves(self, index: RaptorIndex, near: Floats, k: int) -> tuple[Ids, Floats]:
        """At most k leaves, best first, and scores that fall in that order, from (n_nodes,) cosines to a question."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the rankings, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class CollapsedTree(Component):
    """All nodes are ranked by cosine together, and an inner node is replaced by those leaves below it not yet listed.

    Those leaves stand in the order of their own cosines. So a leaf's score is the largest cosine among itself and the
    nodes above it, and at equal scores its own cosine decides.

    tokens: a ranking ends before the passage with which its text would exceed so many tokens (the first passage is
        always in it); None: no limit. The paper's limit is on the texts of nodes, as it hands those to the reader.
    """

    tokens: PositiveInt | None = 2000

    def leaves(self, index: RaptorIndex, near: Floats, k: int) -> tuple[Ids, Floats]:
        """The leaves below the best nodes."""
        own = near[: index.layers.n_leaves]
        best = _over_ancestors(index, near)
        candidates = np.flatnonzero(best >= best[top_k(best, k)[-1]])
        order = candidates[np.lexsort((-own[candidates], -best[candidates]))][:k]
        if self.tokens is not None:
            fitting = int((np.cumsum(index.tokens[order]) <= self.tokens).sum())
            order = order[: max(1, fitting)]
        return order, _falling(best[order], own[order])


@dataclass(frozen=True, kw_only=True)
class TreeTraversal(Component):
    """From the topmost layer downwards: the `beam` nearest nodes of a layer are kept, then the nearest of their children.

    Ranked are the leaves at the end, by their own cosines. The beam grows to k where k is larger.
    """

    beam: PositiveInt = 10

    def leaves(self, index: RaptorIndex, near: Floats, k: int) -> tuple[Ids, Floats]:
        """The leaves that the beam reaches."""
        layers = index.layers
        reached = layers.layers()[-1]
        for _ in layers.layers()[1:]:
            kept = reached[top_k(near[reached], max(self.beam, k))]
            reached = np.unique(np.concatenate([layers.children(int(node)) for node in kept]))
        best = reached[top_k(near[reached], k)]
        return best, near[best]


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
            for near in cosines(queries[start : start + QUESTIONS], self._vectors):
                leaves, scores = self._config.search.leaves(self._index, near, k)
                yield Ranking(tuple(self._ids[leaf] for leaf in leaves), tuple(scores.tolist()))


def _over_ancestors(index: RaptorIndex, near: Floats) -> Floats:
    """(n_leaves,) the largest cosine among a leaf and all nodes above it."""
    layers, best = index.layers, near.copy()
    for layer in reversed(layers.layers()[1:]):
        span = slice(layers.child_offsets[layer[0]], layers.child_offsets[layer[-1] + 1])
        owners = np.repeat(layer, np.diff(layers.child_offsets[layer[0] : layer[-1] + 2]))
        np.maximum.at(best, layers.child_ids[span], best[owners])
    return best[: layers.n_leaves]


def _falling(best: Floats, own: Floats) -> Floats:
    """The scores, lowered by the least that a float allows wherever the leaf's own cosine decided between equal ones."""
    scores = best.copy()
    for place in range(1, len(best)):
        if best[place] == best[place - 1] and own[place] == own[place - 1]:
            scores[place] = scores[place - 1]
        else:
            scores[place] = min(best[place], np.nextafter(scores[place - 1], -np.inf))
    return scores
