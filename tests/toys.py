"""The smallest real parts: an embedder from a table, an embedder that counts words, a corpus."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psi.agent.answer import Answer
from psi.component import Component, runtime
from psi.corpus.records import Benchmark, Passage, Passages, Question
from psi.errors import ModelError
from psi.metrics import Metric
from psi.retrieval.ranking import Ranking
from psi.store import Store


@dataclass(frozen=True, kw_only=True)
class TableEmbedder(Component):
    """Gives each text the vector that stands for it in the table."""

    table: dict[str, tuple[float, ...]] = field(default_factory=dict, metadata={"identity": False})  # may hold NaN

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.table[text] for text in texts], dtype=np.float32)

    encode_questions = encode_passages


@dataclass(frozen=True, kw_only=True)
class WordEmbedder(Component):
    """Counts words into `width` places by a hash: texts that share words are near, with no model."""

    width: int = 64

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.strip(".,?").encode()) % self.width] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

    encode_questions = encode_passages


def corpus(*texts: str) -> Passages:
    """Passages `p0`, `p1`, ... without titles."""
    return Passages([Passage(f"p{number}", "", text) for number, text in enumerate(texts)])


@dataclass(frozen=True, kw_only=True)
class FragileEmbedder(WordEmbedder):
    """Fails as long as the file `broken` exists."""

    broken: str = runtime("")

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if Path(self.broken).exists():
            raise ModelError("the embedding server is down", kind="connection")
        return super().encode_passages(texts)

    encode_questions = encode_passages


@dataclass(frozen=True, kw_only=True)
class ToyReader(Component):
    """Answers with the first word of the first passage; notes every call in the file `calls`.

    Every fourth question fails as long as the file `failing` exists.
    """

    calls: str = runtime("")
    delay: float = runtime(0.0)
    batch_size: int = runtime(1)
    failing: str | None = runtime(None)

    def answer(self, questions: Sequence[Question], contexts: Sequence[Sequence[Passage]]) -> Iterator[Answer]:
        for question, passages in zip(questions, contexts, strict=True):
            time.sleep(self.delay)
            with Path(self.calls).open("a") as file:
                file.write(f"{question.id}\n")
            if self.failing and Path(self.failing).exists() and zlib.crc32(question.id.encode()) % 4 == 0:
                yield Answer(question=question.id, status="failed", error_type="http_500", error="server error")
            else:
                yield Answer(
                    question=question.id, status="ok", text=(passages[0].text.split() or [""])[0] if passages else ""
                )


@dataclass(frozen=True, kw_only=True)
class ToyLoader(Component):
    """Three passages and two questions."""

    def fingerprint(self) -> dict[str, str]:
        return {}

    def load(self) -> Benchmark:
        questions = (
            Question("q0", "Which city is in France?", ("Paris",), ("p0",), 1),
            Question("q1", "Which city is in Italy?", ("Rome",), ("p1",), 1),
        )
        return Benchmark("toy", corpus("Paris is in France", "Rome is in Italy", "Nothing is here"), questions)


@dataclass(frozen=True, kw_only=True)
class ToyRetriever(Component):
    """Ranks passages by the number of words they share with the question."""

    def build(self, passages: Passages, store: Store) -> ToyIndex:
        return ToyIndex(passages)


class ToyIndex:
    def __init__(self, passages: Passages):
        self._passages = passages

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        return [self._ranking(set(question.strip("?").split()), k) for question in questions]

    def _ranking(self, words: set[str], k: int) -> Ranking:
        shared = {passage.id: float(len(words & set(passage.text.split()))) for passage in self._passages}
        best = sorted(shared, key=lambda id_: (-shared[id_], id_))[:k]
        return Ranking(tuple(best), tuple(shared[id_] for id_ in best))


ANSWER_LENGTH = Metric("answer_length", "Length", "answer", lambda prediction, gold: float(len(prediction)))
