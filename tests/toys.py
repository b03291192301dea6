"""The smallest real parts: an embedder from a table, an embedder that counts words, a corpus."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from psi.component import Component
from psi.corpus.records import Passage, Passages


@dataclass(frozen=True, kw_only=True)
class TableEmbedder(Component):
    """Gives each text the vector that stands for it in the table."""

    table: dict[str, tuple[float, ...]] = field(default_factory=dict)

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
