"""MultiHop-RAG (Tang and Yang 2024, arXiv 2401.15391): questions over news articles whose evidence are quoted facts."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, NotRequired

from pydantic import PositiveInt
from typing_extensions import TypedDict

from psi.corpus import sources
from psi.corpus.gold import unmapped
from psi.corpus.published import PublishedFiles, Quotes, chunked, overlapping, rows
from psi.corpus.records import Benchmark, Passage, Question, Span
from psi.errors import InputError

NULL = "null_query"


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultiHopRag(PublishedFiles):
    """The published files, or chunks of the articles that someone else has cut.

    Gold are the chunks that hold a part of an evidence fact, at its first occurrence. Facts are found by letters and digits
    alone, since marks are lost in published chunks; one that is nowhere counts as missed. Null queries have no gold, so they are
    no part of recall; they are answered, and the right answer is to say that the articles do not tell. Hops are the number of
    evidence facts.

    Attributes:
        questions_file: a list of records.
        corpus_file: a list of articles with `title`, `category` and `body`; None: take `chunks_file`.
        chunks_file: a list of strings, each a passage without a title.
        articles_file: a list of articles with `title`, `category` and `facts`: chunks that hold a fact get their category.
        chunk_tokens: most tokens of a chunk.
    """

    questions_file: str = "MultiHopRAG.json"
    corpus_file: str | None = "corpus.json"
    chunks_file: str | None = None
    articles_file: str | None = None
    chunk_tokens: PositiveInt = 100

    def files(self) -> Sequence[str]:
        """Questions, then the corpus or chunks, then perhaps articles."""
        names = (self.questions_file, self.corpus_file or self.chunks_file, self.articles_file)
        return [name for name in names if name is not None]

    def load(self) -> Benchmark:
        """Read, cut and connect articles and questions.

        Raises:
            InputError: files that are missing, altered, malformed or empty, or neither a corpus nor chunks.
        """
        if self.corpus_file is None and self.chunks_file is None:
            raise InputError(f"{self.name}: set dataset.corpus_file or dataset.chunks_file.")
        found, counts = self.read_files(), Counter[str]()
        documents = self._documents(found[1], found[2:], counts)
        passages = [passage for document in documents for passage in document.passages]
        quotes = Quotes([document.text for document in documents])
        questions = [
            _question(number, row, documents, quotes)
            for number, (_, row) in enumerate(rows(found[0], _Query, counts, lines=False))
        ]
        return self.benchmark(passages, questions, found, counts)

    def _documents(
        self, source: sources.Source, articles: Sequence[sources.Source], counts: Counter[str]
    ) -> list[_Document]:
        if self.corpus_file is not None:
            texts = rows(source, _Article, counts, lines=False)
            return [_article(number, row, self.chunk_tokens) for number, (_, row) in enumerate(texts)]
        chunks = [text for _, text in rows(source, str, counts, lines=False)]
        categories = _categories(chunks, articles, counts)
        return [_chunk(number, text, categories.get(number)) for number, text in enumerate(chunks) if text.strip()]


class _Document(NamedTuple):
    id: str
    text: str
    passages: list[Passage]


class _Article(TypedDict):
    title: str
    category: str
    body: str


class _KnownArticle(TypedDict):
    title: str
    category: str
    facts: list[str]


class _Evidence(TypedDict):
    title: str
    fact: str


class _Query(TypedDict):
    query: str
    answer: str
    question_type: str
    evidence_list: list[_Evidence]
    official_index: NotRequired[int]


def _article(number: int, row: _Article, chunk_tokens: int) -> _Document:
    id_ = f"{number:04d}"
    chunks = chunked(id_, row["title"].strip(), row["body"], chunk_tokens, category=row["category"])
    return _Document(id_, row["body"], chunks)


def _chunk(number: int, text: str, category: str | None) -> _Document:
    id_ = f"{number:05d}"
    return _Document(id_, text, [Passage(id_, "", text, None, category, Span(id_, 0, len(text)))])


def _categories(texts: Sequence[str], articles: Sequence[sources.Source], counts: Counter[str]) -> dict[int, str]:
    """The category of each chunk that holds a known fact; of several, that of the first article."""
    quotes, known = Quotes(texts), dict[int, str]()
    for source in articles:
        for _, row in rows(source, _KnownArticle, counts, lines=False):
            for number, _, _ in (place for fact in row["facts"] for place in quotes.find(fact)):
                known.setdefault(number, row["category"])
    return known


def _question(number: int, row: _Query, documents: Sequence[_Document], quotes: Quotes) -> Question:
    gold, spans = list[str](), list[Span]()
    for evidence in row["evidence_list"]:
        place = next(quotes.find(evidence["fact"]), None)
        if place is None:
            gold.append(unmapped(f"{evidence['title']}: {evidence['fact'][:60]}"))
            continue
        document, span = documents[place[0]], Span(documents[place[0]].id, *place[1:])
        gold += overlapping(document.passages, [span])
        spans.append(span)
    null = row["question_type"] == NULL
    return Question(
        id=f"{row.get('official_index', number):04d}",
        text=row["query"].strip(),
        answers=(row["answer"].strip(),),
        gold=() if null else tuple(dict.fromkeys(gold)),
        hops=None if null else len(row["evidence_list"]),
        kind=row["question_type"],
        answerable=not null,
        spans=() if null else tuple(dict.fromkeys(spans)),
    )
