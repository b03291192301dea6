"""LegalBench-RAG (Pipitone and Alami 2024, arXiv 2408.10343): questions on contracts and policies; gold is their characters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from psi.component import Component
from psi.corpus import sources
from psi.corpus.published import chunked, overlapping
from psi.corpus.records import Benchmark, LoadReport, Passage, Passages, Question, Span
from psi.errors import InputError


@dataclass(frozen=True, kw_only=True)
class LegalBenchRag(Component):
    """One subset: `folder/benchmarks/SUBSET.json`, and the documents in `folder/corpus/SUBSET`.

    A question's gold are the chunks that overlap one of its spans by at least a character. Texts stay as they are, so that
    spans hold.

    Attributes:
        subset: privacy_qa, contractnli, cuad or maud.
        folder: what holds the published folders `benchmarks` and `corpus`.
        sentences: of a chunk, at most; None: chunks of at most `chunk_tokens` tokens.
    """

    subset: Annotated[str, Field(min_length=1)]
    folder: str = field(metadata={"identity": False})  # where; `fingerprint` says what
    sentences: PositiveInt | None = 2
    chunk_tokens: PositiveInt = 100

    def fingerprint(self) -> Mapping[str, str]:
        """sha256 of the questions and of every document."""
        return {source.path.name: source.sha256 for source in [self._questions(), *self._documents().values()]}

    def load(self) -> Benchmark:
        """Read questions and documents.

        Raises:
            InputError: files are missing or malformed, or a question speaks of a document that is not there.
        """
        chunks = {name: self._chunks(name, sources.text_of(source)) for name, source in self._documents().items()}
        source = self._questions()
        try:
            tests: list[dict[str, Any]] = json.loads(sources.text_of(source))["tests"]
            questions = tuple(self._question(number, test, chunks) for number, test in enumerate(tests))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{source.path}: not a list of tests with query and snippets ({error!r}).") from error
        passages = Passages([chunk for own in chunks.values() for chunk in own])
        return Benchmark(self.subset, passages, questions, LoadReport(sources={str(source.path): source.sha256}))

    def _questions(self) -> sources.Source:
        [path] = sources.find_files([f"benchmarks/{self.subset}.json"], self.folder, None)
        return sources.read(path)

    def _documents(self) -> dict[str, sources.Source]:
        paths = sorted((Path(self.folder) / "corpus" / self.subset).glob("*.txt"))
        return {f"{self.subset}/{path.name}": sources.read(path) for path in paths}

    def _chunks(self, document: str, text: str) -> list[Passage]:
        return chunked(document, Path(document).stem, text, self.chunk_tokens, sentences=self.sentences)

    def _question(self, number: int, test: Mapping[str, Any], chunks: Mapping[str, list[Passage]]) -> Question:
        # colons of the published names can't stand in file names everywhere
        spans = tuple(Span(each["file_path"].replace(":", "_"), *each["span"]) for each in test["snippets"])
        gold = overlapping([chunk for span in spans for chunk in chunks[span.document]], spans)
        id_ = f"{self.subset}-{number:04d}"
        return Question(id_, test["query"], gold=gold, kind=self.subset, spans=spans)
