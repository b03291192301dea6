"""Approximate nearest neighbours through faiss: inverted lists and small-world graphs, for corpora too large to scan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from psi.component import Component
from psi.index.embeddings import load_vectors
from psi.store import Artifact, Stage, Store

VERSION = 1
FEWEST = 39  # vectors a list below which faiss finds its centroids ill-founded


@runtime_checkable
class Neighbours(Protocol):
    """A kind of index for vectors, with its settings."""

    def settings(self) -> Mapping[str, Any]:
        """What the stored index depends on, as JSON data; settings of the search are no part of it."""
        ...

    def made(self, vectors: NDArray[np.float32]) -> Any:
        """A faiss index of (n, d) vectors by Euclidean distance."""
        ...

    def prepare(self, index: Any, pool: int) -> None:
        """Set an opened index up for searches of `pool` vectors each."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes what is found, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class InvertedLists(Component):
    """IVF: k-means cuts the corpus into lists, a question is compared with those nearest to it (Sivic and Zisserman 2003).

    lists: None is 4·√n, the least that faiss's guide advises; never more than one for 39 passages.
    probes: lists looked into for a question.
    """

    lists: PositiveInt | None = None
    probes: PositiveInt = 64

    def settings(self) -> Mapping[str, Any]:
        """The number of lists."""
        return {"kind": "ivf", "lists": self.lists}

    def made(self, vectors: NDArray[np.float32]) -> Any:
        """Train and fill the lists; faiss's k-means has a fixed seed."""
        import faiss

        n, width = vectors.shape
        lists = max(1, min(self.lists or round(4 * math.sqrt(n)), n // FEWEST))
        index = faiss.index_factory(width, f"IVF{lists},Flat", faiss.METRIC_L2)
        index.train(vectors)
        index.add(vectors)
        return index

    def prepare(self, index: Any, pool: int) -> None:
        """Set the number of probes."""
        index.nprobe = min(self.probes, index.nlist)


@dataclass(frozen=True, kw_only=True)
class SmallWorld(Component):
    """HNSW: a navigable graph in layers (Malkov and Yashunin 2020).

    links: neighbours kept of a passage, twice as many in the lowest layer.
    build_width, search_width: candidates followed while building and while searching. Wider is slower and misses less.
    """

    links: PositiveInt = 32
    build_width: PositiveInt = 200
    search_width: PositiveInt = 128

    def settings(self) -> Mapping[str, Any]:
        """The graph's size."""
        return {"kind": "hnsw", "links": self.links, "build_width": self.build_width}

    def made(self, vectors: NDArray[np.float32]) -> Any:
        """Insert the vectors in their order; faiss draws layers from a fixed seed."""
        import faiss

        index = faiss.IndexHNSWFlat(vectors.shape[1], self.links, faiss.METRIC_L2)
        index.hnsw.efConstruction = self.build_width
        index.add(vectors)
        return index

    def prepare(self, index: Any, pool: int) -> None:
        """Set the width of the search, at least the pool's size."""
        index.hnsw.efSearch = max(self.search_width, pool)


class Pools:
    """An opened index: for each question the places of vectors that are likely to have its largest inner products."""

    def __init__(self, kind: Neighbours, vectors: Artifact, store: Store):
        stage = Stage("neighbours", VERSION, kind.settings(), {"vectors": vectors.digest})
        artifact = store.obtain(stage, lambda folder: _make(kind, vectors, folder))
        self._kind, self._path = kind, artifact.path / "index.faiss"

    @cached_property
    def _index(self) -> Any:
        import faiss

        return faiss.read_index(str(self._path))

    def find(self, queries: NDArray[np.float32], size: int) -> list[NDArray[np.int64]]:
        """At most `size` places a query; one query at a time, so that a batch can't change what is found."""
        from psi.tree.hnsw import faiss_threads

        size = min(size, self._index.ntotal)
        self._kind.prepare(self._index, size)
        longer = np.hstack([queries, np.zeros((len(queries), 1), dtype=np.float32)])
        with faiss_threads(1):
            found = [self._index.search(row[None], size)[1][0] for row in longer]
        return [places[places >= 0] for places in found]  # faiss gives -1 where it reached fewer


def _make(kind: Neighbours, vectors: Artifact, folder: Path) -> Mapping[str, Any]:
    import faiss

    from psi.tree.hnsw import faiss_threads

    with faiss_threads(1):  # sums and insertions in one order: the same bytes with any number of threads
        index = kind.made(_lengthened(load_vectors(vectors)))
    faiss.write_index(index, str(folder / "index.faiss"))
    return {"vectors": index.ntotal, "lists": getattr(index, "nlist", 1)}


def _lengthened(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """One coordinate more, which makes all vectors equally long: nearest is then largest inner product.

    Bachrach et al. 2014, "Speeding up the Xbox recommender system", §3; used for DPR too. Queries get a zero there.
    """
    squares = (vectors.astype(np.float64) ** 2).sum(axis=1)
    missing = np.sqrt(squares.max() - squares)[:, None]
    return np.ascontiguousarray(np.hstack([vectors, missing]), dtype=np.float32)
