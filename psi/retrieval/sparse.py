"""BM25 through bm25s, with a Snowball stemmer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from psi.component import Component, did_you_mean
from psi.corpus.records import Passages
from psi.errors import ConfigError
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_questions, top_k
from psi.store import Stage, Store

VERSION = 1
Stopwords = Literal[
    "en", "en_plus", "de", "nl", "fr", "es", "pt", "it", "ru", "sv", "no", "zh", "tr", "ko", "da",
    "english", "english_plus", "german", "dutch", "french", "spanish", "portuguese", "italian", "russian", "swedish",
    "norwegian", "chinese", "turkish", "korean", "danish",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class BM25(Component):
    """BM25 (Robertson and Zaragoza 2009) in the variant of Lucene, whose idf is never negative.

    `stemmer` is a Snowball algorithm or None; `stopwords` a list that bm25s knows or None. Defaults are those of
    bm25s, which the published BM25 rows used.

    Raises:
        ConfigError: a setting is out of range, or a name unknown.
    """

    k1: Annotated[float, Field(ge=0)] = 1.5
    b: Annotated[float, Field(ge=0, le=1)] = 0.75
    variant: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = "lucene"
    stemmer: str | None = "english"
    stopwords: Stopwords | None = "en"

    def __post_init__(self) -> None:
        super().__post_init__()
        import Stemmer

        algorithms = Stemmer.algorithms()
        if self.stemmer is not None and self.stemmer not in algorithms:
            raise ConfigError(f"BM25: stemmer={self.stemmer!r} is unknown.{did_you_mean(self.stemmer, algorithms)}")

    def build(self, passages: Passages, store: Store) -> BM25Index:
        """Tokenize and count the corpus, or open the counts that the store has."""
        stage = Stage("bm25", VERSION, self.identity(), {"passages": passages.digest})
        artifact = store.obtain(stage, lambda folder: self._make(passages, folder))
        return BM25Index(self, passages.ids, artifact.path)

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Stemmed tokens of each text, stop words removed."""
        import bm25s
        import Stemmer

        stem = Stemmer.Stemmer(self.stemmer) if self.stemmer else None
        tokens: list[list[str]] = bm25s.tokenize(
            list(texts), stopwords=self.stopwords or [], stemmer=stem, return_ids=False, show_progress=False
        )
        return tokens

    def _make(self, passages: Passages, folder: Path) -> Mapping[str, Any]:
        import bm25s

        tokens = self.tokens(passages.contents)
        facts = {"passages": len(passages), "tokens": sum(map(len, tokens))}
        if facts["tokens"]:  # a corpus of stop words alone has no counts to store: nothing will ever match
            model = bm25s.BM25(k1=self.k1, b=self.b, method=self.variant)
            model.index(_numbered(tokens), show_progress=False)
            model.save(str(folder / "index"), show_progress=False)
        (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
        return facts


def _numbered(tokens: Sequence[Sequence[str]]) -> tuple[list[list[int]], dict[str, int]]:
    """Tokens as numbers, and the vocabulary; bm25s would number them in the order of a set, anew in each process."""
    vocabulary = {term: number for number, term in enumerate(sorted({term for text in tokens for term in text}))}
    return [[vocabulary[term] for term in text] for text in tokens], vocabulary


class BM25Index:
    """A corpus counted for BM25. Passages that share no term with the question are not returned."""

    def __init__(self, config: BM25, ids: Sequence[str], folder: Path):
        import bm25s

        self._config, self._ids = config, ids
        path = folder / "index"
        self._model = bm25s.BM25.load(str(path), mmap=True, allow_pickle=False) if path.exists() else None

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for each question."""
        check_questions(tuple(questions))
        return [self._ranking(self.scores(terms), k) for terms in self._config.tokens(questions)]

    def scores(self, terms: list[str]) -> NDArray[np.float32]:
        """(n,) scores of all passages for one question's terms."""
        known = [term for term in terms if self._model is not None and term in self._model.vocab_dict]
        if self._model is None or not known:
            return np.zeros(len(self._ids), dtype=np.float32)
        scores: NDArray[np.float32] = self._model.get_scores(known)
        return scores

    def _ranking(self, scores: NDArray[np.float32], k: int) -> Ranking:
        best = [int(i) for i in top_k(scores, k) if scores[i] > 0]
        return Ranking(tuple(self._ids[i] for i in best), tuple(float(scores[i]) for i in best))
