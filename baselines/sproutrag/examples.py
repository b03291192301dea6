"""What training learns from: questions with their supporting chunks, and chunks that only look like it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from baselines.sproutrag.documents import Documents, documents_of
from baselines.sproutrag.encoder import Encoder, Window
from psi.corpus.records import Benchmark, Question
from psi.retrieval.dense import Dense
from psi.retrieval.ranking import Ranking
from psi.retrieval.sparse import BM25
from psi.store import Store


class Place(NamedTuple):
    """A window of a document: benchmark, document, window."""

    benchmark: int
    document: int
    window: int


class Example(NamedTuple):
    """A question and one window with chunks that support it.

    positives: chunks of that window that support it, numbered inside their document.
    negatives: hard negatives: a window each, and the chunk in it.
    gold: all chunks of the corpus that support it, as (document, chunk): never negatives.
    """

    question: str
    place: Place
    positives: tuple[int, ...]
    negatives: tuple[tuple[Place, int], ...]
    gold: frozenset[tuple[int, int]]

    @property
    def pairs(self) -> int:
        """Pairs of chunks that support the question together."""
        return len(self.positives) * (len(self.positives) - 1) // 2


@dataclass
class Corpus:
    """A benchmark with the windows of its documents, made when they are asked for."""

    benchmark: Benchmark
    documents: Documents
    encoder: Encoder
    _windows: dict[int, list[Window]] = field(default_factory=dict)

    def windows(self, document: int) -> list[Window]:
        """The windows of a document."""
        if document not in self._windows:
            self._windows[document] = self.encoder.windows(self.documents.chunks(document))
        return self._windows[document]

    def place(self, passage: str) -> tuple[int, int]:
        """A passage as (document, chunk inside it)."""
        chunk = int(self.documents.chunk_of[self.documents.passages.position[passage]])
        document = int(np.searchsorted(self.documents.offsets, chunk, side="right")) - 1
        return document, chunk - int(self.documents.offsets[document])

    def window_of(self, document: int, chunks: Sequence[int]) -> int:
        """The first window with the most of these chunks."""
        held = [len(set(chunks) & set(window.chunks.tolist())) for window in self.windows(document)]
        return int(np.argmax(held))


def corpus_of(benchmark: Benchmark, encoder: Encoder) -> Corpus:
    """A benchmark ready to be learnt from."""
    return Corpus(benchmark, documents_of(benchmark.passages), encoder)


def examples_of(corpora: Sequence[Corpus], hard_negatives: int, store: Store) -> list[Example]:
    """One example for each question and each document that supports it.

    Hard negatives are the passages of the question's own benchmark that BM25 and the untrained encoder rank first and
    that do not support it, taken from the two in turn.
    """
    return [
        example
        for number, corpus in enumerate(corpora)
        for question, negatives in zip(
            corpus.benchmark.questions, _hard_negatives(corpus, hard_negatives, store), strict=True
        )
        for example in _examples(number, corpus, question, negatives)
    ]


def _examples(number: int, corpus: Corpus, question: Question, negatives: Sequence[str]) -> Iterator[Example]:
    gold = frozenset(
        corpus.place(passage) for passage in question.gold if passage in corpus.documents.passages.position
    )
    hard = []
    for document, chunk in (corpus.place(passage) for passage in negatives):
        hard.append((Place(number, document, corpus.window_of(document, [chunk])), chunk))
    for document in sorted({document for document, _ in gold}):
        own = sorted(chunk for where, chunk in gold if where == document)
        window = corpus.window_of(document, own)
        held = set(corpus.windows(document)[window].chunks.tolist())
        positives = tuple(chunk for chunk in own if chunk in held)
        yield Example(question.text, Place(number, document, window), positives, tuple(hard), gold)


def _hard_negatives(corpus: Corpus, count: int, store: Store) -> list[list[str]]:
    questions = corpus.benchmark.questions
    if not count or not questions:
        return [[] for _ in questions]
    texts = [question.text for question in questions]
    depth = count + max(len(question.gold) for question in questions)
    passages = corpus.benchmark.passages
    lexical = BM25().build(passages, store).search(texts, depth)
    dense = Dense(embedder=corpus.encoder).build(passages, store).search(texts, depth)
    return [
        _taken_in_turn([_wrong(ranking, question, corpus) for ranking in rankings], count)
        for question, *rankings in zip(questions, lexical, dense, strict=True)
    ]


def _wrong(ranking: Ranking, question: Question, corpus: Corpus) -> list[str]:
    """Passages of a ranking that do not support the question; copies of those that do are not wrong either."""
    passages = corpus.benchmark.passages
    right = {passages.by_id(id_).text for id_ in question.gold if id_ in passages.position}
    return [id_ for id_ in ranking.ids if passages.by_id(id_).text not in right]


def _taken_in_turn(lists: Sequence[Sequence[str]], count: int) -> list[str]:
    found: dict[str, None] = {}
    for place in range(max(map(len, lists))):
        for each in lists:
            if place < len(each) and len(found) < count:
                found.setdefault(each[place])
    return list(found)
