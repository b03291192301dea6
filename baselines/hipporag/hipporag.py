"""HippoRAG (Gutiérrez et al., arXiv 2405.14831): a walk over phrases alone, from what the question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.sparse import csr_matrix

from baselines.hipporag.entities import EntityFinder, Named
from baselines.hipporag.graph import PhraseGraph, transitions
from baselines.hipporag.knowledge import Knowledge, as_passages, knowledge_stage
from baselines.hipporag.openie import OpenIE
from baselines.hipporag.pagerank import personalised_pagerank
from baselines.hipporag.scoring import BLOCK, ranked, specificity
from psi.component import Component
from psi.corpus.records import Passages
from psi.index.embeddings import load_vectors, passage_vectors
from psi.models.protocols import Embedder
from psi.models.vectors import encoded
from psi.retrieval.dense import Dense, DenseIndex
from psi.retrieval.ranking import Index, Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class HippoRag(Component):
    """Personalised PageRank over phrases, begun at the phrase nearest to each entity of the question.

    A first phrase weighs its specificity (with `specificity`), else 1. A passage scores the sum over its phrases of
    how often it names them times the phrase's PageRank. A question without entities is ranked by cosine.

    embedder: of phrases and entities, and of passages and questions where there is no entity.
    openie: finds the triples.
    entities: finds what a question names.
    graph: edges between phrases.
    specificity: see above.
    damping: probability that a walk goes on.
    tolerance: of the PageRank, see `personalised_pagerank`.
    """

    embedder: Embedder
    openie: OpenIE
    entities: EntityFinder
    graph: PhraseGraph = field(default_factory=PhraseGraph)
    specificity: bool = True
    damping: Annotated[float, Field(ge=0, lt=1)] = 0.5
    tolerance: Annotated[float, Field(gt=0)] = 1e-8

    def build(self, passages: Passages, store: Store) -> Index:
        """Extract and join the phrases, or open what the store has of that; a corpus without any is left to cosines.

        Raises:
            UnfinishedOpenIEError: the model failed on some passages.
        """
        dense = Dense(embedder=self.embedder).build(passages, store)
        source, knowledge = knowledge_stage(passages, self.openie, self.graph.entities, store)
        if not knowledge.phrases:
            return dense
        embedded = passage_vectors(as_passages(knowledge.phrases), self.embedder, store)
        vectors = load_vectors(embedded)
        matrix = transitions(self.graph.stage(source, knowledge, embedded, vectors, store))
        return HippoRagIndex(self, passages, knowledge, DenseIndex(self.embedder, (), vectors, store), matrix, dense)


class HippoRagIndex:
    """A corpus with the graph of its phrases, searched in batches."""

    def __init__(
        self,
        config: HippoRag,
        passages: Passages,
        knowledge: Knowledge,
        phrases: DenseIndex,
        matrix: csr_matrix,
        dense: DenseIndex,
    ):
        self._config, self._ids, self._phrases, self._matrix, self._dense = config, passages.ids, phrases, matrix, dense
        self._named_in = csr_matrix(knowledge.held.T)
        self._weights = specificity(knowledge.held) if config.specificity else np.ones(len(knowledge.phrases))

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for each question; its usage is what finding entities was asked.

        Raises:
            FailedSearchError: the model that finds entities failed on a question.
        """
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        named = self._config.entities.find(questions)
        walked = [place for place, each in enumerate(named) if each.entities]
        others = [place for place, each in enumerate(named) if not each.entities]
        found = dict(zip(walked, self._walked([named[place] for place in walked], k), strict=True))
        by_cosine = self._dense.search([questions[place] for place in others], k)
        found |= {p: r._replace(usage=named[p].usage) for p, r in zip(others, by_cosine, strict=True)}
        return [found[place] for place in range(len(questions))]

    def _walked(self, named: Sequence[Named], k: int) -> list[Ranking]:
        reset = self._reset(named)
        rankings: list[Ranking] = []
        for start in range(0, len(named), BLOCK):
            part = slice(start, start + BLOCK)
            block = reset[:, part].toarray()
            mass = personalised_pagerank(self._matrix, block, self._config.damping, self._config.tolerance)
            scores = (self._named_in @ mass).T
            rankings += [ranked(row, self._ids, k, each.usage) for row, each in zip(scores, named[part], strict=True)]
        return rankings

    def _reset(self, named: Sequence[Named]) -> csr_matrix:
        """(phrases, q) weights of the phrases nearest to the entities, each once."""
        entities = list(dict.fromkeys(entity for each in named for entity in each.entities))
        if not entities:
            return csr_matrix((len(self._weights), 0))
        vectors = encoded(self._config.embedder.encode_passages, entities, entities)
        nearest = {
            entity: int(best[0]) for entity, best in zip(entities, self._phrases.nearest(vectors, 1)[0], strict=True)
        }
        places = [sorted({nearest[entity] for entity in each.entities}) for each in named]
        rows = np.array([place for row in places for place in row], dtype=np.int64)
        columns = np.repeat(np.arange(len(named)), [len(row) for row in places])
        return csr_matrix((self._weights[rows], (rows, columns)), shape=(len(self._weights), len(named)))
