"""Fusion by scores: a weighted sum of what several retrievers say, each on the scale from 0 to 1."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveInt

from psi.component import Component
from psi.corpus.records import Passages
from psi.errors import ConfigError
from psi.models.protocols import NO_USAGE
from psi.retrieval.ranking import Index, Ranking, Retriever
from psi.retrieval.top_k import check_k
from psi.store import Store


def min_max(ranking: Ranking) -> Mapping[str, float]:
    """Scores as (s − min) / (max − min) of their ranking, by passage id; 1 where all are equal."""
    if not ranking.ids:
        return {}
    low, high = min(ranking.scores), max(ranking.scores)
    if low == high:
        return dict.fromkeys(ranking.ids, 1.0)
    return {
        passage: (score - low) / (high - low) for passage, score in zip(ranking.ids, ranking.scores, strict=True)
    }  # fmt: skip


def weighted_sum(rankings: Sequence[Ranking], weights: Sequence[float], k: int) -> Ranking:
    """Score passages Σ weight · min-max score, 0 where a ranking lacks them; keep the k best.

    A convex combination where the weights sum to 1: Bruch, Gai and Ingber 2023, arXiv 2210.11934, §3.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights, strict=True):
        for passage, score in min_max(ranking).items():
            scores[passage] += weight * score
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
    usage = sum((ranking.usage for ranking in rankings), NO_USAGE)
    return Ranking(tuple(passage for passage, _ in best), tuple(score for _, score in best), usage)


@dataclass(frozen=True, kw_only=True)
class ScoreFusion(Component):
    """The best `pool` passages of each retriever, fused by a weighted sum of their min-max scores.

    Raises:
        ConfigError: there is not one weight for each retriever, or all are zero.
    """

    retrievers: Annotated[tuple[Retriever, ...], Field(min_length=1)]
    weights: tuple[NonNegativeFloat, ...]
    pool: PositiveInt = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weights) != len(self.retrievers) or not any(self.weights):
            raise ConfigError(
                f"ScoreFusion: weights={list(self.weights)} for {len(self.retrievers)} retrievers. "
                "Give one weight for each, in their order, and at least one above zero."
            )

    def build(self, passages: Passages, store: Store) -> ScoreFusedIndex:
        """Build, or open, the index of every retriever."""
        return ScoreFusedIndex(self, [retriever.build(passages, store) for retriever in self.retrievers])


class ScoreFusedIndex:
    """Several indexes of one corpus, searched as one."""

    def __init__(self, config: ScoreFusion, indexes: Sequence[Index]):
        self._config, self._indexes = config, indexes

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for each question. The pool grows to k where k is larger."""
        check_k(k)
        pool = max(self._config.pool, k)
        by_index = [index.search(questions, pool) for index in self._indexes]
        return [weighted_sum(rankings, self._config.weights, k) for rankings in zip(*by_index, strict=True)]
