"""Top-down beam search in the abstract tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import PositiveInt

from psi.component import Component, runtime
from psi.corpus.records import Passages
from psi.index.embeddings import question_vectors
from psi.index.psi_index import PsiIndex, TreeIndexer
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store
from psi.tree import beam_search


@dataclass(frozen=True, kw_only=True)
class TreeRetriever(Component):
    """Tree retrieval (paper §3 and Algorithm 2).

    The search starts at the highest layer with at least `beam` nodes, keeps the `beam` nearest of each layer and goes
    on to their children. A wider beam trades work for recall. `device` ('auto', 'cpu', 'cuda') changes the speed only.
    """

    index: TreeIndexer
    beam: PositiveInt = 10
    device: str = runtime("auto")

    def build(self, passages: Passages, store: Store) -> TreeSearch:
        """Build the tree index, or open what the store has of it."""
        return TreeSearch(self, self.index.build(passages, store), passages.ids, store)


class TreeSearch:
    """An abstract tree, searched from above."""

    def __init__(self, config: TreeRetriever, index: PsiIndex, ids: Sequence[str], store: Store):
        self._config, self._index, self._ids, self._store = config, index, ids, store

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the leaves that the beam reaches, for each question. The beam grows to k where k is larger."""
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        queries = question_vectors(questions, self._config.index.embedder, self._store, self._index.vectors.shape[1])
        leaves, scores = beam_search(
            self._index.tree,
            self._index.vectors,
            queries,
            beam=max(self._config.beam, k),
            k=k,
            device=self._config.device,
        )
        return [
            Ranking(
                tuple(self._ids[leaf] for leaf in row if leaf >= 0),
                tuple(float(score) for leaf, score in zip(row, values, strict=True) if leaf >= 0),
            )
            for row, values in zip(leaves, scores, strict=True)
        ]
