"""Passage and question vectors as stages: every method that uses one embedder on one corpus shares them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from psi.corpus.records import Passages
from psi.models.protocols import Embedder
from psi.models.vectors import checked_vectors, encoded
from psi.store import Artifact, Stage, Store, digest

log = logging.getLogger(__name__)
VERSION = 1
SHARD = 2048  # passages between two points from which a killed run goes on
SHARDS = ".npy.log"  # ending of their files: what the store takes for scratch and removes at the end
FEWEST_STORED = 16  # smaller question batches cost less to embed than to keep


def passage_vectors(passages: Passages, embedder: Embedder, store: Store) -> Artifact:
    """The stage that holds the corpus as (n, d) float32, one row a passage in the corpus's order."""
    stage = Stage("embeddings", VERSION, embedder.identity(), {"passages": passages.digest})
    make = _maker(passages.contents, passages.ids, embedder.encode_passages)
    return store.obtain(stage, make, resumable=True)


def question_vectors(questions: Sequence[str], embedder: Embedder, store: Store, width: int) -> NDArray[np.float32]:
    """(q, width) float32 vectors of a batch of questions; batches worth it are kept in the store.

    Raises:
        BadVectorError: a vector is not finite or not `width` wide, as the passages' are.
    """
    if len(questions) < FEWEST_STORED:
        return checked_vectors(embedder.encode_questions(questions), questions, width)
    stage = _questions_stage(questions, embedder.identity())
    stored = load_vectors(store.obtain(stage, _maker(questions, questions, embedder.encode_questions), resumable=True))
    return checked_vectors(stored, questions, width)


def stored_question_vectors(
    questions: Sequence[str], embedder: Mapping[str, Any], store: Store
) -> NDArray[np.float32] | None:
    """The (q, d) vectors of a batch of questions that `question_vectors` has kept, by the embedder's identity; or None."""
    found = store.find(_questions_stage(questions, embedder))
    return None if found is None else load_vectors(found)


def _questions_stage(questions: Sequence[str], embedder: Mapping[str, Any]) -> Stage:
    return Stage("question_embeddings", VERSION, embedder, {"questions": digest(list(questions))})


def load_vectors(artifact: Artifact) -> NDArray[np.float32]:
    """The vectors of an embedding stage, memory-mapped."""
    vectors: NDArray[np.float32] = np.load(artifact.path / "vectors.npy", mmap_mode="r", allow_pickle=False)
    return vectors


def _maker(
    texts: Sequence[str], ids: Sequence[str], encode: Callable[[Sequence[str]], NDArray[np.float32]]
) -> Callable[[Path], Mapping[str, Any]]:
    def make(folder: Path) -> Mapping[str, Any]:
        with tqdm(total=len(texts), desc="embedding", unit="text", leave=False, disable=None) as bar:
            for start in range(0, len(texts), SHARD):
                part = slice(start, start + SHARD)
                _make_shard(folder / f"{start:09d}{SHARDS}", texts[part], ids[part], encode)
                bar.update(len(texts[part]))
        return _join_shards(folder)

    return make


def _make_shard(
    path: Path, texts: Sequence[str], ids: Sequence[str], encode: Callable[[Sequence[str]], NDArray[np.float32]]
) -> None:
    if path.exists():
        return
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        np.save(file, encoded(encode, texts, ids), allow_pickle=False)
    temporary.replace(path)


def _join_shards(folder: Path) -> Mapping[str, Any]:
    paths = sorted(folder.glob(f"*{SHARDS}"))
    shards = [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]
    rows, width = sum(len(shard) for shard in shards), shards[0].shape[1]
    whole = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float32, shape=(rows, width))
    np.concatenate(shards, out=whole)
    whole.flush()
    return {"vectors": rows, "dimensions": width}
