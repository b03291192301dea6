"""Reciprocal rank fusion of any retrievers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, PositiveInt

from psi.component import Component
from psi.corpus.records import Passages
from psi.models.protocols import NO_USAGE
from psi.retrieval.ranking import Index, Ranking, Retriever
from psi.retrieval.top_k import check_k
from psi.store import Store


def reciprocal_rank_fusion(rankings: Sequence[Ranking], k: int, constant: int = 60) -> Ranking:
    """Score passages Σ 1/(constant + rank) over the rankings that hold them (Cormack et al. 2009); keep the k best."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, passage in enumerate(ranking.ids, start=1):
            scores[passage] += 1 / (constant + rank)
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
    usage = sum((ranking.usage for ranking in rankings), NO_USAGE)
    return Ranking(tuple(passage for passage, _ in best), tuple(score for _, score in best), usage)


@dataclass(frozen=True, kw_only=True)
class Fusion(Component):
    """The hybrid step: the best `pool` passages of each retriever, fused by reciprocal rank."""

    retrievers: Annotated[tuple[Retriever, ...], Field(min_length=1)]
    pool: PositiveInt = 10
    constant: PositiveInt = 60

    def build(self, passages: Passages, store: Store) -> FusedIndex:
        """Build, or open, the index of every retriever."""
        return FusedIndex(self, [retriever.build(passages, store) for retriever in self.retrievers])


class FusedIndex:
    """Several indexes of one corpus, searched as one."""

    def __init__(self, config: Fusion, indexes: Sequence[Index]):
        self._config, self._indexes = config, indexes

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for each question. The pool grows to k where k is larger."""
        check_k(k)
        pool = max(self._config.pool, k)
        by_index = [index.search(questions, pool) for index in self._indexes]
        return [reciprocal_rank_fusion(rankings, k, self._config.constant) for rankings in zip(*by_index, strict=True)]
