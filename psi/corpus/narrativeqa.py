"""NarrativeQA (Kočiský et al. 2018, arXiv 1712.07040) as HippoRAG 2 uses it: ten documents cut into passages."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from psi.corpus.clean import OnEmpty, without_empty
from psi.corpus.published import PublishedFiles, rows
from psi.corpus.records import Benchmark, Passage, Question
from psi.errors import InputError


@dataclasses.dataclass(frozen=True, kw_only=True)
class NarrativeQa(PublishedFiles):
    """Passages `{idx, title, text}`, idx being the document's id, `_` and a number; a question searches its own document alone.

    Gold passages are not known; every reference answer counts.

    Attributes:
        on_empty: leave passages without a text out and report them (`skip`), or refuse the corpus (`refuse`).
    """

    questions_file: str = "narrativeqa_dev_10_doc.json"
    corpus_file: str = "narrativeqa_dev_10_doc_corpus.json"
    on_empty: OnEmpty = "skip"

    def files(self) -> Sequence[str]:
        """Questions, then passages."""
        return [self.questions_file, self.corpus_file]

    def load(self) -> Benchmark:
        """Read passages and questions.

        Raises:
            InputError: files that are missing, altered, malformed or empty, or a question about a document that is not there.
        """
        found, counts = self.read_files(), Counter[str]()
        passages = [_passage(row, where) for where, row in rows(found[1], _Passage, counts, lines=False)]
        kept, skipped = without_empty(passages, self.on_empty, str(found[1].path))
        documents = {passage.document for passage in kept}
        questions = [
            _question(number, row, documents, where)
            for number, (where, row) in enumerate(rows(found[0], _Question, counts, lines=False))
        ]
        return self.benchmark(kept, questions, found, counts, skipped=skipped)


class _Passage(TypedDict):
    idx: str
    title: str
    text: str


class _Document(TypedDict):
    id: str


class _Question(TypedDict):
    question: str
    answer: list[str]
    document: _Document
    id: NotRequired[str | int]


def _passage(row: _Passage, where: str) -> Passage:
    document, _, number = row["idx"].rpartition("_")
    if not document or not number.isdigit():
        raise InputError(f"{where}: idx={row['idx']!r} is not DOCUMENT_NUMBER.")
    return Passage(f"{document}#{int(number):05d}", row["title"].strip(), row["text"].strip(), document)


def _question(number: int, row: _Question, documents: set[str | None], where: str) -> Question:
    document = row["document"]["id"]
    if document not in documents:
        raise InputError(f"{where}: no passage belongs to the document {document!r}.")
    answers = dict.fromkeys(answer.strip() for answer in row["answer"] if answer.strip())
    return Question(str(row.get("id", f"{number:04d}")), row["question"].strip(), tuple(answers), document=document)
