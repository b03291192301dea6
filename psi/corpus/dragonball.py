"""DragonBall (Zhu et al. 2024, RAGEval, arXiv 2408.01262): reports of companies, courts and hospitals, with quoted evidence."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NotRequired

from pydantic import PositiveInt
from typing_extensions import TypedDict

from psi.corpus.gold import unmapped
from psi.corpus.published import PublishedFiles, Quotes, chunked, overlapping, rows
from psi.corpus.records import Benchmark, Passage, Question, Span


@dataclasses.dataclass(frozen=True, kw_only=True)
class DragonBall(PublishedFiles):
    """Documents and queries of one language. Gold are the chunks that hold a part of a quoted reference.

    References are looked for in the documents that the query names, by letters and digits alone; one that is nowhere counts
    as missed, and so does a document that is not there. A query without references cannot be answered from the corpus.

    Attributes:
        language: en or zh.
        chunk_tokens: most tokens of a chunk.
        sentences: so many in every chunk instead (None: as many as fit).
    """

    language: Literal["en", "zh"] = "en"
    docs_file: str = "dragonball_docs.jsonl"
    queries_file: str = "dragonball_queries.jsonl"
    chunk_tokens: PositiveInt = 100
    sentences: PositiveInt | None = None

    def files(self) -> Sequence[str]:
        """Documents, then queries."""
        return [self.docs_file, self.queries_file]

    def load(self) -> Benchmark:
        """Read, cut and connect documents and queries.

        Raises:
            InputError: files that are missing, altered, malformed or empty.
        """
        found, counts = self.read_files(), Counter[str]()
        texts, chunks = dict[int, str](), dict[int, list[Passage]]()
        for _, row in rows(found[0], _Document, counts, lines=True):
            if row["language"] == self.language:
                number = row["doc_id"]
                texts[number] = row["content"]
                chunks[number] = chunked(
                    f"{number:04d}", row.get("company_name") or "", row["content"], self.chunk_tokens,
                    sentences=self.sentences, category=row["domain"],
                )  # fmt: skip
        questions = [
            _question(row, texts, chunks)
            for _, row in rows(found[1], _Row, counts, lines=True)
            if row["language"] == self.language
        ]
        passages = [passage for own in chunks.values() for passage in own]
        notes = [f"documents and queries in {self.language} alone; the others are left out."]
        return self.benchmark(passages, questions, found, counts, notes)


class _Document(TypedDict):
    doc_id: int
    language: str
    domain: str
    content: str
    company_name: NotRequired[str | None]


class _Query(TypedDict):
    query_id: int
    query_type: str
    content: str


class _Truth(TypedDict):
    doc_ids: list[int]
    content: str
    references: list[str]


class _Row(TypedDict):
    language: str
    query: _Query
    ground_truth: _Truth


def _question(row: _Row, texts: dict[int, str], chunks: dict[int, list[Passage]]) -> Question:
    truth = row["ground_truth"]
    named = [number for number in truth["doc_ids"] if number in texts]
    quotes = Quotes([texts[number] for number in named])
    gold, spans = [unmapped(f"document {number}") for number in truth["doc_ids"] if number not in texts], list[Span]()
    for reference in truth["references"]:
        place = next(quotes.find(reference), None)
        if place is None:
            gold.append(unmapped(reference[:60]))
            continue
        number = named[place[0]]
        span = Span(f"{number:04d}", *place[1:])
        gold += overlapping(chunks[number], [span])
        spans.append(span)
    return Question(
        id=f"{row['query']['query_id']:05d}",
        text=row["query"]["content"].strip(),
        answers=(truth["content"].strip(),),
        gold=tuple(dict.fromkeys(gold)),
        hops=len(truth["doc_ids"]) or None,
        kind=row["query"]["query_type"],
        answerable=bool(truth["references"]),
        spans=tuple(dict.fromkeys(spans)),
    )
