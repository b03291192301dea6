"""Retrieval along links: what the best passages name, and what shares a rare phrase with them, joins the ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveInt
from scipy.sparse import csr_matrix

from psi.component import Component
from psi.corpus.records import Passages
from psi.errors import ConfigError
from psi.index.embeddings import load_vectors, passage_vectors, question_vectors
from psi.index.links import LinkIndex, LinkIndexer
from psi.index.mentions import words
from psi.models.protocols import Embedder
from psi.retrieval.cosines import cosines, on_grid
from psi.retrieval.coverage import Coverage
from psi.retrieval.ranking import Index, Ranking, Retriever
from psi.retrieval.sparse import BM25
from psi.retrieval.terms import Terms, obtain_terms
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
CELLS = 2**20  # questions times passages worked on at once
MOST = 256  # questions worked on at once


@dataclass(frozen=True, kw_only=True)
class Links(Component):
    """Dense vectors and BM25, then links between passages. No language model, at index time or later.

    Base: s(j) = (max(0, (cos − mean)/(max − mean)) + lexical·bm25/max)/(1 + lexical), mean and maxima over the corpus;
    named·w/√m is added for a passage that the question names with weight w, m being the keys in the question; the
    whole is divided by its maximum.

    Spread: from each of the `seeds` best passages i, score(j) = s(j) + max over i of spread·s(i)·u(i, j)·cov(i ∪ j),
    with u the edges of the index and cov the share of the question's idf that passages hold.

    Order: first the passages with s ≥ margin·max s, at most `leaders` of them: what only a link brings comes after
    what the base can't tell from its best. Then greedily, among the `pool` best, by score/max plus gain times the
    coverage that the passage adds to the ones already chosen; then the others by score.

    embedder: the vectors of the base.
    bm25: the lexical part of the base; its terms are those of coverage.
    index: which links there are.
    hybrid: where given, the base counts only for its best `hits` passages, those that the question names, and those
        that links reach from the seeds. None: for all passages.
    hits: see `hybrid`.
    lexical: weight of BM25 against the cosine.
    named: weight of a passage that the question names.
    seeds: passages from which links are followed.
    spread: share of a seed's score that a link of weight 1 hands on.
    margin, leaders: see above; margin 1 and leaders 1: the base's best passage alone goes first; leaders 0: none.
    pool: passages ordered with regard to one another.
    gain: weight of coverage against score in the order.
    walk: weight of a random walk with restart over the `walkers` best, added to the scores before the order: 0 is none.
    walkers: see `walk`.
    """

    embedder: Embedder
    bm25: BM25 = field(default_factory=lambda: BM25(k1=1.2))
    index: LinkIndexer = field(default_factory=LinkIndexer)
    hybrid: Retriever | None = None
    hits: PositiveInt = 10
    lexical: NonNegativeFloat = 0.5
    named: NonNegativeFloat = 0.8
    seeds: PositiveInt = 10
    spread: NonNegativeFloat = 2.0
    margin: Annotated[float, Field(ge=0, le=1)] = 0.9
    leaders: Annotated[int, Field(ge=0)] = 2
    pool: PositiveInt = 20
    gain: NonNegativeFloat = 0.5
    walk: NonNegativeFloat = 0.0
    walkers: PositiveInt = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bm25.variant != "lucene":
            raise ConfigError(
                f"Links: bm25.variant={self.bm25.variant!r}: the sparse products need a variant that gives nothing "
                "to passages without the term and something to all others. Set variant=lucene."
            )

    def build(self, passages: Passages, store: Store) -> LinkSearch:
        """Build, or open, the vectors, the terms and the links."""
        vectors = load_vectors(passage_vectors(passages, self.embedder, store))
        terms = obtain_terms(passages, self.bm25, store)
        links = self.index.build(passages, store)
        hybrid = None if self.hybrid is None else self.hybrid.build(passages, store)
        return LinkSearch(self, passages, vectors, terms, links, hybrid, store)


class LinkSearch:
    """A corpus with its links, searched in batches."""

    def __init__(
        self,
        config: Links,
        passages: Passages,
        vectors: NDArray[np.float32],
        terms: Terms,
        links: LinkIndex,
        hybrid: Index | None,
        store: Store,
    ):
        self._config, self._passages, self._terms = config, passages, terms
        self._links, self._hybrid, self._store = links, hybrid, store
        self._vectors, self._weights = on_grid(vectors), terms.weights.astype(np.float64)

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for each question."""
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        vectors = question_vectors(questions, self._config.embedder, self._store, self._vectors.shape[1])
        size = min(MOST, max(1, CELLS // len(self._passages)))
        chunks = [slice(start, start + size) for start in range(0, len(questions), size)]
        return [ranking for part in chunks for ranking in self._chunk(questions[part], vectors[part], k)]

    def _chunk(self, questions: Sequence[str], vectors: NDArray[np.float32], k: int) -> Iterator[Ranking]:
        config, tokens = self._config, self._config.bm25.tokens(questions)
        rows = [[self._terms.number[token] for token in text if token in self._terms.number] for text in tokens]
        coverage = Coverage(self._terms, rows)
        named = self._named(questions)
        base = _over_maximum(self._base(rows, vectors) + config.named * named)
        scope = self._scope(questions, named)
        near = np.where(scope, base, 0.0)
        steps = self._steps(best_of_rows(near, config.seeds), coverage)
        steps = steps.only(near[steps.questions, steps.sources] > 0)
        scope[steps.questions, steps.targets] = True
        base = _over_maximum(np.where(scope, base, 0.0))
        scores = _over_maximum(base + self._spread(base, steps))
        if config.walk:
            scores = _over_maximum(scores + config.walk * self._walk(scores, coverage))
        order, values = self._order(base, np.where(scope, scores, -np.inf), coverage, k)
        return (self._ranking(*row) for row in zip(order, values, strict=True))

    def _base(self, rows: Sequence[Sequence[int]], vectors: NDArray[np.float32]) -> Floats:
        near = cosines(on_grid(vectors), self._vectors)
        above = near - near.mean(axis=1, keepdims=True)
        lexical = (_counts(rows, len(self._terms.number)) @ self._weights).toarray()
        both = np.maximum(0.0, _over_maximum(above)) + self._config.lexical * _over_maximum(lexical)
        return both / (1 + self._config.lexical)

    def _named(self, questions: Sequence[str]) -> Floats:
        """(q, n) weights of the passages that the questions name."""
        found = [sorted(set(self._links.trie.find(words(question)))) for question in questions]
        named = np.zeros((len(questions), len(self._passages)))
        rows = np.repeat(np.arange(len(questions)), [len(keys) for keys in found])
        picked = csr_matrix(self._links.named[[key for keys in found for key in keys]])
        entries = np.repeat(np.arange(len(rows)), np.diff(picked.indptr))
        share = picked.data / np.sqrt(np.array([len(keys) for keys in found]))[rows[entries]]
        _raise_to(named, rows[entries], picked.indices, share)
        return named

    def _scope(self, questions: Sequence[str], named: Floats) -> NDArray[np.bool_]:
        """(q, n) the passages for which the base counts from the start."""
        if self._hybrid is None:
            return np.ones(named.shape, dtype=bool)
        scope = named > 0
        for row, ranking in enumerate(self._hybrid.search(questions, self._config.hits)):
            scope[row, [self._passages.position[passage] for passage in ranking.ids]] = True
        return scope

    def _steps(self, sources: Integers, coverage: Coverage) -> _Steps:
        """All edges out of (q, m) passages."""
        flat = sources.ravel()
        edges = csr_matrix(self._links.edges[flat])
        entries = np.repeat(np.arange(len(flat)), np.diff(edges.indptr))
        questions, places = np.divmod(entries, sources.shape[1])
        held = coverage.held(questions, flat[entries]) | coverage.held(questions, edges.indices)
        return _Steps(questions, places, flat[entries], edges.indices, edges.data, coverage.share(questions, held))

    def _spread(self, base: Floats, steps: _Steps) -> Floats:
        brought = np.zeros(base.shape)
        values = self._config.spread * base[steps.questions, steps.sources] * steps.weights * steps.coverage
        _raise_to(brought, steps.questions, steps.targets, values)
        return brought

    def _walk(self, scores: Floats, coverage: Coverage) -> Floats:
        """(q, n) fourth roots of a short personalised PageRank (restart 1/2, three steps), its maximum being 1."""
        pool = best_of_rows(scores, self._config.walkers)
        rows = np.arange(len(pool))[:, None]
        place = np.full(scores.shape, -1)
        place[rows, pool] = np.arange(pool.shape[1])
        steps = self._steps(pool, coverage)
        to = place[steps.questions, steps.targets]
        inside = to >= 0
        matrix = np.zeros((len(pool), pool.shape[1], pool.shape[1]))
        matrix[steps.questions[inside], steps.places[inside], to[inside]] = (steps.weights * steps.coverage**2)[inside]
        matrix = _over(matrix, matrix.sum(axis=2, keepdims=True))
        start = ((scores[rows, pool] ** 2) ** 2) ** 2
        start = _over(start, start.sum(axis=1, keepdims=True))
        mass = start
        for _ in range(3):
            mass = 0.5 * start + 0.5 * np.einsum("qi,qij->qj", mass, matrix)
        walked = np.zeros(scores.shape)
        walked[rows, pool] = np.sqrt(np.sqrt(_over_maximum(mass)))
        return walked

    def _order(self, base: Floats, scores: Floats, coverage: Coverage, k: int) -> tuple[Integers, Floats]:
        """(q, ≤ k) passages, best first, and values that fall in that order."""
        config, rows = self._config, np.arange(len(base))[:, None]
        leaders = best_of_rows(base, config.leaders) if config.leaders else np.zeros((len(base), 0), dtype=np.int64)
        leads = base[rows, leaders] >= config.margin
        # leaders stand before all others and keep the order of the base: other values can't exceed 1 + gain
        places = (2 + config.gain) * np.arange(config.leaders, 0, -1)[: leaders.shape[1]] + base[rows, leaders]
        raised = scores.copy()
        raised[np.nonzero(leads)[0], leaders[leads]] = places[leads]
        best = best_of_rows(raised, max(k, config.pool))
        values = raised[rows, best]
        pool = min(config.pool, best.shape[1])
        head, head_values = _greedy(best[:, :pool], values[:, :pool], coverage, config.gain)
        order = np.concatenate([head, best[:, pool:]], axis=1)
        return order[:, :k], np.concatenate([head_values, values[:, pool:]], axis=1)[:, :k]

    def _ranking(self, order: Integers, values: Floats) -> Ranking:
        kept = int(np.isfinite(values).sum())  # what is out of scope stands last
        return Ranking(tuple(self._passages.ids[place] for place in order[:kept]), tuple(values[:kept].tolist()))


class _Steps(NamedTuple):
    """Edges walked for a batch, one an entry.

    The question, the source's place among the question's sources, source, target, the edge's weight, and the coverage
    of source and target together.
    """

    questions: Integers
    places: Integers
    sources: Integers
    targets: Integers
    weights: Floats
    coverage: Floats

    def only(self, kept: NDArray[np.bool_]) -> _Steps:
        """The edges where `kept` holds."""
        return _Steps(*(part[kept] for part in self))  # type: ignore[arg-type]


def best_of_rows(scores: Floats, k: int) -> Integers:
    """(q, min(k, n)) positions of the k best of each row, best first, equal scores by position."""
    k = min(k, scores.shape[1])
    threshold = np.partition(scores, scores.shape[1] - k, axis=1)[:, scores.shape[1] - k]
    rows, columns = np.nonzero(scores >= threshold[:, None])
    order = np.lexsort((columns, -scores[rows, columns], rows))
    rows, columns = rows[order], columns[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, np.arange(len(scores)))[rows]
    return columns[rank < k].reshape(len(scores), k)


def _greedy(pool: Integers, values: Floats, coverage: Coverage, gain: float) -> tuple[Integers, Floats]:
    """Reorder (q, m) passages: at each step the one with the largest value plus gain times the coverage it adds.

    Coverage added shrinks as more is chosen, so the sums at which passages are chosen fall.
    """
    rows = np.arange(len(pool))
    held = coverage.held(rows[:, None], pool)
    covered = np.zeros((len(pool), coverage.width), dtype=bool)
    left = np.ones(pool.shape, dtype=bool)
    chosen, sums = np.empty_like(pool), np.empty_like(values)
    for step in range(pool.shape[1]):
        total = values + gain * coverage.share(rows[:, None], held & ~covered[:, None])
        total[~left] = -np.inf
        tied = total == total.max(axis=1, keepdims=True)
        pick = np.where(tied & left, pool, np.iinfo(pool.dtype).max).argmin(axis=1)
        chosen[:, step], sums[:, step] = pool[rows, pick], total[rows, pick]
        left[rows, pick] = False
        covered |= held[rows, pick]
    return chosen, sums


def _counts(rows: Sequence[Sequence[int]], width: int) -> csr_matrix:
    starts = np.cumsum([0] + [len(row) for row in rows])
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(rows), width))


def _raise_to(matrix: Floats, rows: Integers, columns: Integers, values: Floats) -> None:
    """Raise entries of a matrix to the largest of the values given for them."""
    np.maximum.at(matrix.reshape(-1), rows.astype(np.int64) * matrix.shape[1] + columns, values)


def _over(values: Floats, divisor: Floats) -> Floats:
    """Values over a divisor, zero where it is not positive."""
    return np.divide(values, divisor, out=np.zeros_like(values), where=divisor > 0)


def _over_maximum(values: Floats) -> Floats:
    """Rows over their maxima, zero where those are not positive."""
    return _over(values, np.broadcast_to(values.max(axis=1, keepdims=True), values.shape))
