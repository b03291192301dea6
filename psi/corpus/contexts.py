"""Questions that come each with a long document of its own: ∞Bench's books, LongBench's contexts."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NotRequired

from pydantic import PositiveInt
from typing_extensions import TypedDict

from psi.corpus.published import PublishedFiles, chunked, rows
from psi.corpus.records import Benchmark, Passage, Question
from psi.errors import InputError

Layout = Literal["infinitebench", "longbench"]
_ANSWERS: dict[Layout, str] = {"infinitebench": "answer", "longbench": "answers"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ContextBenchmark(PublishedFiles):
    """JSON Lines of `context`, `input` and answers. Equal contexts are one document; a question searches its own alone.

    Gold passages are not known.

    Attributes:
        file: name of the file.
        records: ∞Bench (arXiv 2402.13718: `answer`, `id`) or LongBench (arXiv 2308.14508: `answers`, `_id`).
        chunk_tokens: most tokens of a chunk.
    """

    file: str
    records: Layout
    chunk_tokens: PositiveInt = 100

    def files(self) -> Sequence[str]:
        """The one file."""
        return [self.file]

    def load(self) -> Benchmark:
        """Read and cut the contexts.

        Raises:
            InputError: a file that is missing, altered, malformed or empty, or rows without their context or answers.
        """
        found, counts = self.read_files(), Counter[str]()
        documents, passages, questions = dict[str, str](), list[Passage](), list[Question]()
        for number, (where, row) in enumerate(rows(found[0], _Row, counts, lines=True)):
            if "context" not in row or "input" not in row:
                raise InputError(
                    f"{where}: no `context` and `input`: these are predictions or answers alone. Get the file with the texts "
                    f"(see docs/benchmarks.md) and set dataset.folder to its folder."
                )
            text = row["context"]
            key = hashlib.sha256(text.encode()).hexdigest()
            if key not in documents:
                documents[key] = f"document-{len(documents):04d}"
                passages += chunked(documents[key], "", text, self.chunk_tokens)
            questions.append(self._question(number, row, documents[key], where))
        return self.benchmark(passages, questions, found, counts)

    def _question(self, number: int, row: _Row, document: str, where: str) -> Question:
        answers = row.get("answers") if self.records == "longbench" else row.get("answer")
        if answers is None:
            raise InputError(f"{where}: no `{_ANSWERS[self.records]}`. Check that `records` names the file's layout.")
        said = [answers] if isinstance(answers, str) else answers
        id_ = row.get("_id", row.get("id", number))
        return Question(
            id=f"{id_:04d}" if isinstance(id_, int) else id_,
            text=row["input"].strip(),
            answers=tuple(dict.fromkeys(answer.strip() for answer in said if answer.strip())),
            kind=row.get("dataset", ""),
            document=document,
        )


class _Row(TypedDict):
    input: NotRequired[str]
    context: NotRequired[str]
    answer: NotRequired[str | list[str]]
    answers: NotRequired[str | list[str]]
    id: NotRequired[int | str]
    _id: NotRequired[str]
    dataset: NotRequired[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GoldAnswers(PublishedFiles):
    """Gold answers alone (`id`, `ground_truth`), to score predictions with where the texts are not at hand.

    The corpus is one passage that says so: nothing can be retrieved.

    Attributes:
        file: name of the file.
        first: so many of its rows (None: all).
    """

    file: str
    first: PositiveInt | None = None

    def files(self) -> Sequence[str]:
        """The one file."""
        return [self.file]

    def load(self) -> Benchmark:
        """Read the answers.

        Raises:
            InputError: a file that is missing, altered, malformed or empty.
        """
        found, counts = self.read_files(), Counter[str]()
        every = [row for _, row in rows(found[0], _Answered, counts, lines=True)]
        answered = every[: self.first]
        notes = [f"rows after the first {self.first}, left out: {len(every) - len(answered)}."] if self.first else []
        questions = [
            Question(f"{row['id']:04d}", f"Question {row['id']}", tuple(dict.fromkeys(row["ground_truth"])))
            for row in answered
        ]
        return self.benchmark([Passage("none", "", "The texts are not at hand.")], questions, found, counts, notes)


class _Answered(TypedDict):
    id: int
    ground_truth: list[str]
