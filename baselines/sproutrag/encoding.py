"""Chunks by one encoder pass a document: their vectors, and the attention between them by layer and head.

A chunk's vector is the mean of its token states, over all windows that hold it, scaled to length 1. The attention
between two chunks is the mean, over all pairs of a token of the one and a token of the other that stood in one window,
of the attention they pay each other, both ways. Pairs of chunks that never stood in one window are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from baselines.sproutrag.documents import Documents
from baselines.sproutrag.encoder import Encoder, Pass, Window
from psi.corpus.records import Passage
from psi.models.vectors import checked_vectors, unit_rows
from psi.store import Artifact, Stage, Store

VERSION = 1
SHARD = 256  # chunks, at least, between two points from which a killed run goes on
SHARDS = ".npz.log"  # ending of their files: what the store takes for scratch and removes at the end

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


class Encoding(NamedTuple):
    """A corpus encoded, chunks numbered as in `Documents`.

    vectors (n, d) float32, unit rows; pairs (p, 2) int32 chunks i < j of one document that stood in one window, sorted;
    attention (p, layers * heads) float32 for each pair, layer after layer; offsets (documents + 1,) of the chunks and
    pair_offsets of the pairs of each document.
    """

    vectors: Floats
    pairs: NDArray[np.int32]
    attention: Floats
    offsets: Ids
    pair_offsets: Ids


@dataclass(frozen=True)
class EncodedDocument:
    """One document: vectors (m, d); pairs (p, 2), attention (p, layers * heads); tokens passed through the encoder."""

    vectors: Floats
    pairs: NDArray[np.int32]
    attention: Floats
    tokens: int


def encoding_stage(documents: Documents, encoder: Encoder, store: Store) -> Artifact:
    """The corpus encoded, document by document; a killed run goes on after the last whole shard of documents."""
    stage = Stage("sprout_encoding", VERSION, encoder.identity(), {"passages": documents.passages.digest})

    def make(folder: Path) -> Mapping[str, Any]:
        with tqdm(total=len(documents), desc="encoding", unit="document", leave=False, disable=None) as bar:
            for first, last in _shards(documents.offsets):
                _make_shard(folder / f"{first:09d}{SHARDS}", documents, first, last, encoder)
                bar.update(last - first)
        titles = [documents.chunks(document)[0].title for document in range(len(documents))]
        facts = _join_shards(folder, documents.offsets)
        return {**facts, "titles_cut": sum(encoder.cuts_title(title) for title in titles)}

    return store.obtain(stage, make, resumable=True)


def load_encoding(artifact: Artifact) -> Encoding:
    """The arrays of an encoding stage, memory-mapped."""
    return Encoding(*(np.load(artifact.path / f"{name}.npy", mmap_mode="r") for name in Encoding._fields))


def encode_document(chunks: Sequence[Passage], encoder: Encoder) -> EncodedDocument:
    """Encode a document given as its chunks in order.

    Raises:
        BadVectorError: the encoder gave something that is not a number.
    """
    import torch

    windows = encoder.windows(chunks)
    sums, counts = np.zeros((len(chunks), encoder.width)), np.zeros(len(chunks))
    parts = []
    for start in range(0, len(windows), encoder.batch_size):
        batch = windows[start : start + encoder.batch_size]
        with torch.inference_mode():
            for window, output in zip(batch, encoder.passed(batch), strict=True):
                here, states, lengths, attention = pooled(window, output)
                sums[here] += states
                counts[here] += lengths
                parts.append(_pairs(here, lengths, attention))
    vectors = checked_vectors((sums / counts[:, None]).astype(np.float32), [chunk.id for chunk in chunks])
    tokens = sum(len(window.tokens) for window in windows)
    return EncodedDocument(unit_rows(vectors), *_mean_pairs(parts), tokens)


def pooled(window: Window, output: Pass) -> tuple[Ids, Floats, Ids, Floats]:
    """Sums over the tokens of each chunk in a window, as two products with the chunks' indicator matrix P (c, t).

    Returns:
        (c,) chunks; P·states (c, d); (c,) numbers of tokens; P·A·Pᵀ (layers * heads, c, c) of attentions A.
    """
    import torch

    here, indicator = membership(window)
    matrix = torch.from_numpy(indicator).to(output.states.device)
    layers = [torch.matmul(torch.matmul(matrix, layer.float()), matrix.T) for layer in output.attentions]
    states, attention = matrix @ output.states.float(), torch.cat(layers)
    lengths = indicator.sum(axis=1).astype(np.int64)
    return here, states.cpu().numpy(), lengths, attention.cpu().numpy()


def membership(window: Window) -> tuple[Ids, Floats]:
    """The chunks in a window (c,), and which token is of which of them: (c, t) zeros and ones."""
    here = np.unique(window.chunks[window.chunks >= 0])
    return here, (window.chunks[None, :] == here[:, None]).astype(np.float32)


class _Pairs(NamedTuple):
    """Chunks i < j, the sums of the attention between their tokens both ways (p, heads), and how many they are of."""

    i: Ids
    j: Ids
    sums: Floats
    counts: Ids


def _pairs(here: Ids, lengths: Ids, attention: Floats) -> _Pairs:
    a, b = np.triu_indices(len(here), 1)
    both = attention[:, a, b] + attention[:, b, a]
    return _Pairs(here[a], here[b], np.ascontiguousarray(both.T), 2 * lengths[a] * lengths[b])


def _mean_pairs(parts: Sequence[_Pairs]) -> tuple[NDArray[np.int32], Floats]:
    i, j, sums, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((j, i))
    pairs = np.stack([i, j], axis=1)[order]
    if not len(pairs):
        return pairs.astype(np.int32), sums
    starts = np.flatnonzero(np.r_[True, (pairs[1:] != pairs[:-1]).any(axis=1)])
    totals = np.add.reduceat(sums[order], starts, axis=0)
    numbers = np.add.reduceat(counts[order], starts)[:, None]
    return pairs[starts].astype(np.int32), (totals / numbers).astype(np.float32)


def _shards(offsets: Ids) -> Iterator[tuple[int, int]]:
    """Runs of whole documents with at least `SHARD` chunks, the last one excepted."""
    first = 0
    for last in range(1, len(offsets)):
        if offsets[last] - offsets[first] >= SHARD or last == len(offsets) - 1:
            yield first, last
            first = last


def _make_shard(path: Path, documents: Documents, first: int, last: int, encoder: Encoder) -> None:
    if path.exists():
        return
    found = [encode_document(documents.chunks(document), encoder) for document in range(first, last)]
    starts = documents.offsets[first:last]
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        np.savez(
            file,
            allow_pickle=False,
            vectors=np.concatenate([each.vectors for each in found]),
            pairs=np.concatenate([each.pairs + np.int32(s) for each, s in zip(found, starts, strict=True)]),
            attention=np.concatenate([each.attention for each in found]),
            counts=np.array([len(each.pairs) for each in found]),
            tokens=np.array([each.tokens for each in found]),
        )
    temporary.replace(path)


def _join_shards(folder: Path, offsets: Ids) -> Mapping[str, Any]:
    shards = [np.load(path, allow_pickle=False) for path in sorted(folder.glob(f"*{SHARDS}"))]
    counts = np.concatenate([shard["counts"] for shard in shards])
    sizes = {"vectors": int(offsets[-1]), "pairs": int(counts.sum()), "attention": int(counts.sum())}
    for name, rows in sizes.items():
        _concatenate(folder / f"{name}.npy", (shard[name] for shard in shards), rows)
    np.save(folder / "offsets.npy", offsets)
    np.save(folder / "pair_offsets.npy", np.cumsum([0, *counts.tolist()]))
    tokens = sum(int(shard["tokens"].sum()) for shard in shards)
    return {"documents": len(offsets) - 1, "chunks": int(offsets[-1]), "pairs": int(counts.sum()), "tokens": tokens}


def _concatenate(path: Path, parts: Iterator[NDArray[Any]], rows: int) -> None:
    """Write arrays one below the other, one in memory at a time."""
    first = next(parts)
    whole = np.lib.format.open_memmap(path, mode="w+", dtype=first.dtype, shape=(rows, first.shape[1]))
    whole[: len(first)] = first
    start = len(first)
    for part in parts:
        whole[start : start + len(part)] = part
        start += len(part)
    whole.flush()
