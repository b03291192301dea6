"""Reranking: the best passages of some retrievers in the order of a model that reads question and passage together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from psi.component import Component
from psi.corpus.records import Passages
from psi.errors import InputError
from psi.models.protocols import NO_USAGE
from psi.retrieval.ranking import Index, Ranking, Retriever
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store


@runtime_checkable
class Reranker(Protocol):
    """A model that scores a passage for a question, seeing both."""

    def score(self, questions: Sequence[str], passages: Sequence[str]) -> NDArray[np.float32]:
        """(n,) scores of the pairs (questions[i], passages[i]), comparable within a question; higher: more relevant."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the scores, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class Reranked(Component):
    """The hybrid step with a reranker (paper, appendix C.2): the best `pool` passages of each retriever, scored anew.

    pool: passages taken from each retriever; it grows to k where k is larger.
    """

    retrievers: Annotated[tuple[Retriever, ...], Field(min_length=1)]
    reranker: Reranker
    pool: PositiveInt = 10

    def build(self, passages: Passages, store: Store) -> RerankedIndex:
        """Build, or open, the index of every retriever."""
        return RerankedIndex(self, [retriever.build(passages, store) for retriever in self.retrievers], passages)


class RerankedIndex:
    """Several indexes of one corpus, searched as one and put in the reranker's order."""

    def __init__(self, config: Reranked, indexes: Sequence[Index], passages: Passages):
        self._config, self._indexes, self._passages = config, indexes, passages

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the pooled passages for each question; all pairs of all questions go to the reranker at once.

        Raises:
            InputError: the reranker gave a score that is not a finite number.
        """
        check_k(k)
        check_questions(tuple(questions))
        pool = max(self._config.pool, k)
        by_index = [index.search(questions, pool) for index in self._indexes]
        pooled = [_union(rankings) for rankings in zip(*by_index, strict=True)]
        usages = [sum((r.usage for r in rankings), NO_USAGE) for rankings in zip(*by_index, strict=True)]
        scores = self._scores([
            (question, self._passages.by_id(id_).content)
            for question, ids in zip(questions, pooled, strict=True)
            for id_ in ids
        ])  # fmt: skip
        return [
            self._ranked(question, ids, scores, k)._replace(usage=usage)
            for question, ids, usage in zip(questions, pooled, usages, strict=True)
        ]

    def _ranked(self, question: str, ids: Sequence[str], scores: Mapping[tuple[str, str], float], k: int) -> Ranking:
        found = {id_: scores[question, self._passages.by_id(id_).content] for id_ in ids}
        best = sorted(ids, key=lambda id_: (-found[id_], id_))[:k]
        return Ranking(tuple(best), tuple(found[id_] for id_ in best))

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
        # equal pairs are scored once: through their batches two copies could differ in the last digit, and not tie
        distinct = list(dict.fromkeys(pairs))
        if not distinct:
            return {}
        scores = self._config.reranker.score([pair[0] for pair in distinct], [pair[1] for pair in distinct])
        if len(scores) != len(distinct):
            raise InputError(f"the reranker gave {len(scores)} scores for {len(distinct)} pairs: check its model.")
        if not np.isfinite(scores).all():
            question, passage = distinct[int(np.flatnonzero(~np.isfinite(scores))[0])]
            raise InputError(
                f"the reranker's score of {passage[:60]!r} for {question!r} is not a finite number. Check its model "
                "and number format (dtype=float32)."
            )
        return {pair: float(score) for pair, score in zip(distinct, scores, strict=True)}


def _union(rankings: Sequence[Ranking]) -> list[str]:
    return sorted({id_ for ranking in rankings for id_ in ranking.ids})
