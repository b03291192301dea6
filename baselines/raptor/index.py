"""The RAPTOR index: layer by layer, nodes are clustered, described, and embedded for the next layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from baselines.raptor.clusters import Clustering
from psi.component import Component
from psi.corpus.records import Passage, Passages
from psi.corpus.splitter import token_starts
from psi.index.abstracts import Abstracter
from psi.index.embeddings import load_vectors, passage_vectors
from psi.models.protocols import Embedder
from psi.store import Artifact, Stage, Store, read_rows, write_rows
from psi.tree import Layers

VERSION = 1
TEXTS = "abstracts.jsonl"


class RaptorIndex(NamedTuple):
    """A stored index, opened.

    The graph, (n_nodes, d) vectors, (n_leaves,) tokens of the passages, and a text an inner node, where there are any.
    """

    layers: Layers
    vectors: NDArray[np.float32]
    tokens: NDArray[np.int64]
    texts: list[str] | None


class _Layer(NamedTuple):
    """What the next layer is made from: (n, d) vectors, the texts (None: no text), and the stages that hold them."""

    vectors: NDArray[np.float32]
    texts: Passages | None
    inputs: Mapping[str, str]


class _Made(NamedTuple):
    """A layer above the leaves: its two stages."""

    clusters: Artifact
    abstracts: Artifact


@dataclass(frozen=True, kw_only=True)
class RaptorIndexer(Component):
    """Builds the layers (paper §3) until nothing is left to cluster, or there are `most_layers` above the leaves.

    Clusters and descriptions of every layer are stages of their own: another way to describe nodes keeps the clusters
    of the first layer. Every layer is described from the texts of the layer below, with one instruction.
    """

    embedder: Embedder
    abstracts: Abstracter
    clustering: Clustering = field(default_factory=Clustering)
    most_layers: PositiveInt = 5

    def build(self, passages: Passages, store: Store) -> RaptorIndex:
        """Build the index, or open what the store has of it."""
        embedded = passage_vectors(passages, self.embedder, store)
        inputs = {"embeddings": embedded.digest, "passages": passages.digest}
        below, made = _Layer(load_vectors(embedded), passages, inputs), list[_Made]()
        while len(made) < self.most_layers:
            clusters = self._clusters(below, store)
            if not clusters.facts["clusters"]:
                break
            made.append(_Made(clusters, self._described(below, clusters, store)))
            below = _opened(made[-1].abstracts)
        return load_raptor(_joined(passages, embedded, made, store).path)

    def _clusters(self, below: _Layer, store: Store) -> Artifact:
        stage = Stage("raptor_clusters", VERSION, self.clustering.identity(), below.inputs)

        def make(folder: Path) -> Mapping[str, Any]:
            tokens = None if below.texts is None else _tokens(below.texts)
            found = self.clustering.clusters(below.vectors, tokens)
            Layers.of(len(below.vectors), [found.members]).save(folder)
            sizes = [len(cluster) for cluster in found.members]
            memberships = sum(sizes) / len(below.vectors)
            return {
                "nodes": len(below.vectors), "clusters": len(sizes), "largest": max(sizes, default=0),
                "memberships_per_node": round(memberships, 4), "clusters_over_most_tokens": found.too_long,
            }  # fmt: skip

        return store.obtain(stage, make)

    def _described(self, below: _Layer, clusters: Artifact, store: Store) -> Artifact:
        config = {"abstracts": self.abstracts.identity(), "embedder": self.embedder.identity()}
        stage = Stage("raptor_abstracts", VERSION, config, {"clusters": clusters.digest, **below.inputs})

        def make(folder: Path) -> Mapping[str, Any] | None:
            pair, count = Layers.load(clusters.path), len(below.vectors)
            texts = _passages([""] * count) if below.texts is None else below.texts
            described = self.abstracts.abstracts(pair, texts, below.vectors, self.embedder, folder)
            np.save(folder / "vectors.npy", described.vectors[count:], allow_pickle=False)
            if described.texts is not None:
                write_rows(folder / TEXTS, [{"text": text} for text in described.texts])
            return described.facts

        return store.obtain(stage, make, resumable=True)


def load_raptor(folder: Path) -> RaptorIndex:
    """The index in the folder of a `raptor` stage.

    Raises:
        StoreError: its rows are damaged.
    """
    vectors = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
    tokens = np.load(folder / "tokens.npy", allow_pickle=False)
    return RaptorIndex(Layers.load(folder), vectors, tokens, _texts(folder))


def _joined(passages: Passages, embedded: Artifact, made: list[_Made], store: Store) -> Artifact:
    """The stage that holds all layers together: what searches and studies read."""
    stages = {"clusters": [each.clusters for each in made], "abstracts": [each.abstracts for each in made]}
    inputs = {f"{name}_{n}": stage.digest for name, all_ in stages.items() for n, stage in enumerate(all_, start=1)}
    stage = Stage("raptor", VERSION, {}, {"embeddings": embedded.digest, "passages": passages.digest, **inputs})

    def make(folder: Path) -> Mapping[str, Any]:
        layers = Layers.of(len(passages), [_members(each.clusters) for each in made])
        layers.save(folder)
        vectors = [load_vectors(embedded), *(load_vectors(each.abstracts) for each in made)]
        np.save(folder / "vectors.npy", np.concatenate(vectors), allow_pickle=False)
        np.save(folder / "tokens.npy", _tokens(passages), allow_pickle=False)
        texts = [_texts(each.abstracts.path) for each in made]
        nodes = iter(range(layers.n_leaves, layers.n_nodes))
        if made and None not in texts:
            rows = [{"node": next(nodes), "text": text} for layer in texts for text in layer or ()]
            write_rows(folder / TEXTS, rows)
        return {"layers": layers.layer_sizes()}

    return store.obtain(stage, make)


def _members(clusters: Artifact) -> list[NDArray[np.int64]]:
    pair = Layers.load(clusters.path)
    return [pair.children(int(node)) for node in pair.layers()[1]]


def _opened(abstracts: Artifact) -> _Layer:
    texts = _texts(abstracts.path)
    return _Layer(
        load_vectors(abstracts), None if texts is None else _passages(texts), {"abstracts": abstracts.digest}
    )  # fmt: skip


def _texts(folder: Path) -> list[str] | None:
    path = folder / TEXTS
    return [str(row["text"]) for row in read_rows(path)] if path.exists() else None


def _passages(texts: list[str]) -> Passages:
    """Texts of nodes in the place of passages, in their order."""
    return Passages([Passage(f"{number:012d}", "", text) for number, text in enumerate(texts)])


def _tokens(passages: Passages) -> NDArray[np.int64]:
    return np.array([len(token_starts(text)) for text in passages.contents], dtype=np.int64)
