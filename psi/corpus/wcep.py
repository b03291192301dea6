"""WCEP (Gholipour Ghalandari et al. 2020, arXiv 2005.10070): summaries of news events, each from its cluster of articles."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from pydantic import NonNegativeInt, PositiveInt
from typing_extensions import TypedDict

from psi.corpus.published import PublishedFiles, chunked, rows
from psi.corpus.records import Benchmark, Passage, Question
from psi.errors import InputError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wcep(PublishedFiles):
    """JSON Lines of `{document: [article, ...], summary}`. A cluster is what a question searches; the summary is its answer.

    Attributes:
        file: name of the file.
        least_words: clusters with fewer words are left out and counted; the Ψ-RAG paper keeps those over 6,000.
        question: what is asked of every cluster.
        chunk_tokens: most tokens of a chunk.
    """

    file: str = "wcep.jsonl"
    least_words: NonNegativeInt = 6000
    question: str = "Summarize the news event that these articles report."
    chunk_tokens: PositiveInt = 100

    def files(self) -> Sequence[str]:
        """The one file of clusters."""
        return [self.file]

    def load(self) -> Benchmark:
        """Read and cut the clusters.

        Raises:
            InputError: a file that is missing, altered, malformed or empty, or no cluster long enough.
        """
        found, counts = self.read_files(), Counter[str]()
        passages, questions, short = list[Passage](), list[Question](), 0
        for number, (_, row) in enumerate(rows(found[0], _Cluster, counts, lines=True)):
            if sum(len(article.split()) for article in row["document"]) < self.least_words:
                short += 1
                continue
            cluster = f"cluster-{number:05d}"
            for place, article in enumerate(row["document"]):
                passages += chunked(f"{cluster}/{place:03d}", "", article, self.chunk_tokens, scope=cluster)
            questions.append(Question(cluster, self.question, (row["summary"].strip(),), document=cluster))
        if not questions:
            raise InputError(
                f"{found[0].path}: none of {short} clusters has {self.least_words} words (dataset.least_words)."
            )
        notes = [f"clusters with fewer than {self.least_words} words, left out: {short}."] if short else []
        return self.benchmark(passages, questions, found, counts, notes)


class _Cluster(TypedDict):
    document: list[str]
    summary: str
