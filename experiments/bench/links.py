"""What links cost: seconds to index and milliseconds a question, beside BM25 and dense search, in one run.

    python -m experiments.bench.links sizes=[1000,10000,100000] questions=256

Passages are those of the generated encyclopedia. Vectors are counts of hashed words, so that no time goes into a model:
the cost of embedding passages and questions is in none of the figures, and rankings mean nothing here.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import NDArray
from omegaconf import OmegaConf
from pydantic import Field, PositiveInt

from psi.component import Component
from psi.corpus.encyclopedia import Encyclopedia
from psi.index.embeddings import passage_vectors, question_vectors
from psi.index.links import LinkIndexer
from psi.retrieval.dense import Dense
from psi.retrieval.links import Links
from psi.retrieval.ranking import Index
from psi.retrieval.sparse import BM25
from psi.retrieval.terms import obtain_terms
from psi.store import Store

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, kw_only=True)
class HashedWords(Component):
    """Counts words into `width` places by a hash and scales the vector to length 1."""

    width: PositiveInt = 384

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, width) vectors."""
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.encode()) % self.width] += 1
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors

    encode_questions = encode_passages


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bench(Component):
    """What to measure: corpora of these sizes, so many questions in one batch, the k best passages of each."""

    sizes: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1000, 10000, 100000)
    questions: PositiveInt = 256
    k: PositiveInt = 10

    def run(self, size: int) -> dict[str, object]:
        """One row: `*_index` in seconds, `*_ms` a question."""
        benchmark = Encyclopedia(passages=size, questions=self.questions).load()
        passages, questions = benchmark.passages, [question.text for question in benchmark.questions]
        embedder = HashedWords()
        links = Links(embedder=embedder)
        with Store.temporary() as store:
            passage_vectors(passages, embedder, store)
            question_vectors(questions, embedder, store, embedder.width)
            bm25_seconds, bm25 = _timed(lambda: BM25().build(passages, store))
            dense = Dense(embedder=embedder).build(passages, store)
            terms_seconds, _ = _timed(lambda: obtain_terms(passages, links.bm25, store))
            links_seconds, index = _timed(lambda: LinkIndexer().build(passages, store))
            searches: dict[str, Index] = {"bm25": bm25, "dense": dense, "links": links.build(passages, store)}
            return {
                "passages": size,
                "questions": len(questions),
                "edges": int(index.edges.nnz),
                "bm25_index": round(bm25_seconds, 2),
                "terms_index": round(terms_seconds, 2),
                "links_index": round(links_seconds, 2),
                **{f"{name}_ms": round(self._milliseconds(found, questions), 2) for name, found in searches.items()},
            }

    def _milliseconds(self, index: Index, questions: Sequence[str]) -> float:
        index.search(questions[:16], self.k)  # compiles and loads what is loaded once
        seconds, _ = _timed(lambda: index.search(questions, self.k))
        return 1000 * seconds / len(questions)


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main() -> None:
    """Print one JSON row a size."""
    given = OmegaConf.to_container(OmegaConf.from_cli())
    assert isinstance(given, dict)
    bench = Bench(**{str(key): value for key, value in given.items()})
    for size in bench.sizes:
        sys.stdout.write(json.dumps(bench.run(size)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
