"""Terms by passages: BM25's weights as one sparse matrix, for scores of whole batches and for coverage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from psi.corpus.records import Passages
from psi.index.arrays import load_csr, save_csr
from psi.retrieval.sparse import BM25
from psi.store import Stage, Store

VERSION = 1


@dataclass(frozen=True)
class Terms:
    """The terms of a corpus.

    `number` gives a term's row; `weights` is (terms, n): what a term adds to the BM25 score of a passage, stored
    exactly where the passage holds the term; `idf` (terms,) is log(1 + (n − df + 0.5) / (df + 0.5)).
    """

    number: Mapping[str, int]
    weights: csr_matrix
    idf: NDArray[np.float64]


def obtain_terms(passages: Passages, bm25: BM25, store: Store) -> Terms:
    """Tokenize and weigh the corpus, or open what the store has."""
    stage = Stage("terms", VERSION, bm25.identity(), {"passages": passages.digest})
    artifact = store.obtain(stage, lambda folder: _make(passages, bm25, folder))
    vocabulary = json.loads((artifact.path / "vocabulary.json").read_text(encoding="utf-8"))
    weights = load_csr(artifact.path, "weights")
    found_in = np.diff(weights.indptr)
    idf = np.log1p((len(passages) - found_in + 0.5) / (found_in + 0.5))
    return Terms({term: row for row, term in enumerate(vocabulary)}, weights, idf)


def _make(passages: Passages, bm25: BM25, folder: Path) -> Mapping[str, Any]:
    import bm25s

    tokens = bm25.tokens(passages.contents)
    vocabulary = sorted({token for text in tokens for token in text})
    weights = csr_matrix(np.zeros((0, len(passages)), dtype=np.float32))
    if vocabulary:
        number = {term: row for row, term in enumerate(vocabulary)}
        model = bm25s.BM25(k1=bm25.k1, b=bm25.b, method=bm25.variant)  # type: ignore[no-untyped-call]
        model.index(([[number[token] for token in text] for text in tokens], number), show_progress=False)
        found = model.scores
        weights = csr_matrix((found["data"], found["indices"], found["indptr"]), shape=(len(vocabulary), len(passages)))
    save_csr(folder, "weights", weights)
    (folder / "vocabulary.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    return {"terms": len(vocabulary), "entries": int(weights.nnz)}
