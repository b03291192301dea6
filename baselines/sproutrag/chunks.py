"""Any benchmark with its passages as documents, cut into chunks of at most so many sentences (paper: two)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from pydantic import PositiveInt

from psi.component import Component
from psi.corpus.loader import Loader
from psi.corpus.records import Benchmark, Passage, Passages, Question, Span
from psi.corpus.splitter import sentence_starts


@dataclass(frozen=True, kw_only=True)
class SentenceChunks(Component):
    """A benchmark whose passages become documents of chunks; the gold of a question becomes all chunks of its passages.

    Chunks keep the title, are called `PASSAGE#NUMBER`, and joined are the passage's text. A question that was scoped to a
    document of several passages loses its scope.
    """

    dataset: Loader
    sentences: PositiveInt = 2

    def fingerprint(self) -> Mapping[str, str]:
        """That of the benchmark."""
        return self.dataset.fingerprint()

    def load(self) -> Benchmark:
        """Read the benchmark and cut its passages."""
        whole = self.dataset.load()
        chunks = {passage.id: self._chunks(passage) for passage in whole.passages}
        passages = Passages([chunk for own in chunks.values() for chunk in own])
        note = f"{len(whole.passages)} passages as documents of {len(passages)} chunks (sentences: {self.sentences})."
        report = dataclasses.replace(whole.report, notes=(*whole.report.notes, note))
        questions = tuple(_with_chunks(question, chunks) for question in whole.questions)
        return Benchmark(f"{whole.name}-chunks", passages, questions, report)

    def _chunks(self, passage: Passage) -> list[Passage]:
        text = passage.text
        bounds = [*sentence_starts(text)[:: self.sentences], len(text)]
        return [
            dataclasses.replace(
                passage,
                id=f"{passage.id}#{number:04d}",
                text=text[start:end],
                document=passage.id,
                span=Span(passage.id, start, end),
            )
            for number, (start, end) in enumerate(pairwise(bounds))
        ]


def _with_chunks(question: Question, chunks: Mapping[str, list[Passage]]) -> Question:
    # gold that is no passage stays as it is: missed, and reported so
    gold = [chunk for id_ in question.gold for chunk in ([c.id for c in chunks[id_]] if id_ in chunks else [id_])]
    return dataclasses.replace(question, gold=tuple(gold), document=None)
