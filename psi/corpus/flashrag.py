"""Questions in the layout of FlashRAG (Jin et al. 2024, arXiv 2405.13576), over a corpus of passages: WebQuestions and others."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from typing_extensions import TypedDict

from psi.corpus.clean import OnEmpty, without_empty
from psi.corpus.published import PublishedFiles, rows
from psi.corpus.records import Benchmark, Passage, Question


@dataclasses.dataclass(frozen=True, kw_only=True)
class FlashRag(PublishedFiles):
    """Questions `{id, question, golden_answers}`, passages `{id, contents}` whose first line is the title. No gold passages.

    Attributes:
        questions_file: JSON Lines of questions.
        corpus_file: JSON Lines of passages, in the same folder.
        on_empty: leave passages without a text out and report them (`skip`), or refuse the corpus (`refuse`).
    """

    questions_file: str
    corpus_file: str
    on_empty: OnEmpty = "skip"

    def files(self) -> Sequence[str]:
        """Questions, then the corpus."""
        return [self.questions_file, self.corpus_file]

    def load(self) -> Benchmark:
        """Read questions and passages.

        Raises:
            InputError: files that are missing, altered, malformed or empty.
        """
        found, counts = self.read_files(), Counter[str]()
        passages = [_passage(row) for _, row in rows(found[1], _Passage, counts, lines=True)]
        kept, skipped = without_empty(passages, self.on_empty, str(found[1].path))
        questions = [_question(row) for _, row in rows(found[0], _Question, counts, lines=True)]
        return self.benchmark(kept, questions, found, counts, skipped=skipped)


class _Passage(TypedDict):
    id: str | int
    contents: str


class _Question(TypedDict):
    id: str
    question: str
    golden_answers: list[str]


def _passage(row: _Passage) -> Passage:
    title, _, text = row["contents"].partition("\n")
    id_ = f"{row['id']:09d}" if isinstance(row["id"], int) else row["id"]
    return Passage(id_, title.strip().strip('"'), text.strip()) if text.strip() else Passage(id_, "", title.strip())


def _question(row: _Question) -> Question:
    answers = dict.fromkeys(answer.strip() for answer in row["golden_answers"] if answer.strip())
    return Question(row["id"], row["question"].strip(), tuple(answers))
