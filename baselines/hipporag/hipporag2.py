"""HippoRAG 2 (Gutiérrez et al., arXiv 2502.14802): facts linked to the question, then a walk to the passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveInt
from scipy.sparse import csr_matrix

from baselines.hipporag.graph import PhraseGraph, transitions, with_passages
from baselines.hipporag.knowledge import Knowledge, as_passages, knowledge_stage
from baselines.hipporag.openie import OpenIE
from baselines.hipporag.pagerank import personalised_pagerank
from baselines.hipporag.recognition import FactFilter, Kept
from baselines.hipporag.scoring import BLOCK, min_max, ranked, specificity
from psi.component import Component
from psi.corpus.records import Passages
from psi.index.embeddings import load_vectors, passage_vectors, question_vectors
from psi.models.protocols import Embedder
from psi.retrieval.cosines import cosines, on_grid
from psi.retrieval.dense import DenseIndex
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class HippoRag2(Component):
    """A walk over phrases and passages that begins at the facts nearest to the question, and a little everywhere.

    Linking: the `facts` best by inner product with the question, their scores min-max normalised over all facts; the
    filter keeps some of them. A phrase of kept facts weighs the mean of their scores, times its specificity; the
    `seeds` heaviest stay. A passage weighs `passage_weight` times its min-max normalised cosine. Personalised PageRank
    from these weights scores the passages. Where no fact is kept, passages are ranked by cosine.

    embedder: of questions, passages, facts and phrases.
    openie: finds the facts.
    filter: recognition memory; None: all linked facts are kept.
    graph: edges.
    facts, seeds: see above.
    passage_weight: see above.
    specificity: whether a phrase's weight is divided by the number of passages that hold it.
    damping: probability that a walk goes on.
    tolerance: of the PageRank, see `personalised_pagerank`.
    """

    embedder: Embedder
    openie: OpenIE
    filter: FactFilter | None = None
    graph: PhraseGraph = field(default_factory=PhraseGraph)
    facts: PositiveInt = 5
    seeds: PositiveInt = 5
    passage_weight: NonNegativeFloat = 0.05
    specificity: bool = True
    damping: Annotated[float, Field(ge=0, lt=1)] = 0.5
    tolerance: Annotated[float, Field(gt=0)] = 1e-8

    def build(self, passages: Passages, store: Store) -> HippoRag2Index:
        """Embed the corpus, extract and join its facts; or open what the store has of that.

        Raises:
            UnfinishedOpenIEError: the model failed on some passages.
        """
        vectors = load_vectors(passage_vectors(passages, self.embedder, store))
        source, knowledge = knowledge_stage(passages, self.openie, self.graph.entities, store)
        walk = None
        if knowledge.facts:
            embedded = passage_vectors(as_passages(knowledge.phrases), self.embedder, store)
            edges = self.graph.stage(source, knowledge, embedded, load_vectors(embedded), store)
            sentences = as_passages([" ".join(knowledge.triple(fact)) for fact in range(len(knowledge.facts))])
            facts = load_vectors(passage_vectors(sentences, self.embedder, store))
            matrix = transitions(with_passages(edges, knowledge.held))
            walk = _Walk(self, knowledge, DenseIndex(self.embedder, (), facts, store), matrix)
        return HippoRag2Index(self, passages, vectors, walk, store)


class _Linked(NamedTuple):
    """Facts of a question, best first, with their normalised scores."""

    facts: NDArray[np.int64]
    scores: Floats

    def only(self, kept: Kept) -> _Linked:
        places = list(kept.facts)
        return _Linked(self.facts[places], self.scores[places])


class HippoRag2Index:
    """A corpus with its graph, searched in batches."""

    def __init__(
        self, config: HippoRag2, passages: Passages, vectors: NDArray[np.float32], walk: _Walk | None, store: Store
    ):
        self._config, self._passages, self._walk, self._store = config, passages, walk, store
        self._vectors = on_grid(vectors)

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for each question; its usage is what the filter was asked.

        Raises:
            FailedSearchError: the filter's model failed on a question.
        """
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        vectors = question_vectors(questions, self._config.embedder, self._store, self._vectors.shape[1])
        linked, kept = self._linked(questions, vectors)
        rankings: list[Ranking] = []
        for start in range(0, len(questions), BLOCK):
            part = slice(start, start + BLOCK)
            scores = self._scores(linked[part], cosines(on_grid(vectors[part]), self._vectors))
            rankings += [
                ranked(row, self._passages.ids, k, each.usage) for row, each in zip(scores, kept[part], strict=True)
            ]
        return rankings

    def _linked(self, questions: Sequence[str], vectors: NDArray[np.float32]) -> tuple[list[_Linked], list[Kept]]:
        """The facts of each question that the filter leaves."""
        if self._walk is None:
            return [_Linked(np.array([], dtype=np.int64), np.array([]))] * len(questions), [Kept(())] * len(questions)
        linked = self._walk.link(vectors)
        everything = [Kept(tuple(range(len(each.facts)))) for each in linked]
        if self._config.filter is None:
            return linked, everything
        texts = [[self._walk.knowledge.triple(int(fact)) for fact in each.facts] for each in linked]
        kept = self._config.filter.keep(questions, texts)
        return [each.only(choice) for each, choice in zip(linked, kept, strict=True)], kept

    def _scores(self, linked: Sequence[_Linked], near: Floats) -> Floats:
        """(q, n) scores of the passages: of the walk, or cosines where there is no fact to begin from."""
        walked = np.array([place for place, each in enumerate(linked) if len(each.facts)], dtype=np.int64)
        scores = near.copy()
        if self._walk is not None and len(walked):
            own = near[walked]
            weights = min_max(own, own.min(axis=1, keepdims=True), own.max(axis=1, keepdims=True))
            scores[walked] = self._walk.scores([linked[place] for place in walked], weights)
        return scores


class _Walk:
    """The graph of a corpus that has facts."""

    def __init__(self, config: HippoRag2, knowledge: Knowledge, facts: DenseIndex, matrix: csr_matrix):
        self._config, self.knowledge, self._facts, self._matrix = config, knowledge, facts, matrix
        self._ends = np.array([(fact.subject, fact.object) for fact in knowledge.facts], dtype=np.int64)
        self._importance = specificity(knowledge.held) if config.specificity else np.ones(len(knowledge.phrases))

    def link(self, vectors: NDArray[np.float32]) -> list[_Linked]:
        """The facts nearest to each question."""
        places, best = self._facts.nearest(vectors, self._config.facts)
        _, worst = self._facts.nearest(-vectors, 1)
        return [
            _Linked(facts, min_max(scores.astype(np.float64), -low.astype(np.float64), scores[:1].astype(np.float64)))
            for facts, scores, low in zip(places, best, worst, strict=True)
        ]

    def scores(self, linked: Sequence[_Linked], near: Floats) -> Floats:
        """(q, n) walks to the passages from facts and from (q, n) normalised cosines."""
        phrases = np.array([self._seeds(each) for each in linked]).T
        reset = np.concatenate([phrases, self._config.passage_weight * near.T])
        empty = reset.sum(axis=0) == 0
        reset[:, empty] = 1.0  # no seed has a weight: a walk that begins everywhere
        mass = personalised_pagerank(self._matrix, reset, self._config.damping, self._config.tolerance)
        return mass[len(self.knowledge.phrases) :].T

    def _seeds(self, linked: _Linked) -> Floats:
        """(phrases,) weights of the phrases of facts, all but the heaviest at 0."""
        # a phrase counts once in a fact that says something of itself
        pairs = sorted({(n, int(end)) for n, ends in enumerate(self._ends[linked.facts]) for end in ends})
        facts, ends = np.array(pairs, dtype=np.int64).T
        phrases, place = np.unique(ends, return_inverse=True)
        means = np.bincount(place, linked.scores[facts]) / np.bincount(place)
        weights = means * self._importance[phrases]
        heaviest = np.argsort(-weights, kind="stable")[: self._config.seeds]
        seeds = np.zeros(len(self._importance))
        seeds[phrases[heaviest]] = weights[heaviest]
        return seeds
