"""A benchmark of documents cut into training, validation and test parts that share no document."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt

from psi.component import Component
from psi.corpus.loader import Loader
from psi.corpus.records import Benchmark, Passage, Passages, Question
from psi.errors import ConfigError, InputError

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = ("train", "validation", "test")
Share = Annotated[float, Field(gt=0, lt=1)]


@dataclass(frozen=True, kw_only=True)
class DocumentSplit(Component):
    """One part of a benchmark: its documents, in the order of a hash, are dealt out by `shares`, at least one to each.

    A question belongs to the part that has all its gold; questions without gold, or with gold in several parts, are left
    out.

    shares: of training, validation and test, in sum 1.
    seed: of the hash; it is not the seed of a run: parts stay the same over the seeds of an experiment.
    """

    dataset: Loader
    part: Part = "test"
    shares: tuple[Share, Share, Share] = (0.5, 0.1, 0.4)
    seed: NonNegativeInt = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(sum(self.shares) - 1) > 1e-9:
            raise ConfigError(f"DocumentSplit: shares={list(self.shares)} sum to {sum(self.shares)}, not to 1.")

    def of(self, part: Part) -> DocumentSplit:
        """Another part of the same split."""
        return dataclasses.replace(self, part=part)

    def fingerprint(self) -> Mapping[str, str]:
        """That of the whole benchmark."""
        return self.dataset.fingerprint()

    def load(self) -> Benchmark:
        """Read the benchmark and keep one part.

        Raises:
            InputError: it has fewer than three documents.
        """
        whole = self.dataset.load()
        part_of = self._parts({_document(passage) for passage in whole.passages}, whole.name)
        passages = Passages([each for each in whole.passages if part_of[_document(each)] == self.part])
        homes = {each.id: part_of[_document(each)] for each in whole.passages}
        questions = tuple(each for each in whole.questions if _parts_of(each, homes) == {self.part})
        torn = sum(len(_parts_of(each, homes)) > 1 for each in whole.questions)
        note = (
            f"part {self.part} of a split by document: {len({_document(p) for p in passages})} of "
            f"{len(set(part_of))} documents, {len(questions)} of {len(whole.questions)} questions; "
            f"{torn} questions with gold in several parts are left out."
        )
        report = dataclasses.replace(whole.report, unmapped_gold=(), notes=(*whole.report.notes, note))
        return Benchmark(f"{whole.name}-{self.part}", passages, questions, report)

    def _parts(self, documents: set[str], name: str) -> dict[str, Part]:
        if len(documents) < len(PARTS):
            raise InputError(f"{name}: {len(documents)} documents can't be dealt out to {len(PARTS)} parts.")
        ordered = sorted(documents, key=lambda document: (_rank(document, self.seed), document))
        first = min(max(1, round(self.shares[0] * len(ordered))), len(ordered) - 2)
        second = min(max(1, round(self.shares[1] * len(ordered))), len(ordered) - first - 1)
        sizes = (first, second, len(ordered) - first - second)
        parts = [part for part, size in zip(PARTS, sizes, strict=True) for _ in range(size)]
        return dict(zip(ordered, parts, strict=True))


def _document(passage: Passage) -> str:
    return passage.document or passage.id


def _parts_of(question: Question, homes: Mapping[str, Part]) -> set[Part]:
    return {homes[id_] for id_ in question.gold if id_ in homes}


def _rank(document: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{document}".encode()).digest()
