"""Abstracts of tree nodes that need no language model, and the protocol that every kind of abstract follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_matrix, diags_array

from psi.component import Component
from psi.corpus.records import Passages
from psi.index.phrases import distinct_phrases, phrase_counts
from psi.models.protocols import Embedder
from psi.models.vectors import checked_vectors
from psi.tree import Hierarchy, mean_vectors


class NodeAbstracts(NamedTuple):
    """(n_nodes, d) vectors of all nodes, leaves first, and the text of each inner node (None: the kind has no text).

    `facts` go into the manifest: counts, tokens.
    """

    vectors: NDArray[np.float32]
    texts: list[str] | None
    facts: Mapping[str, Any] | None = None


@runtime_checkable
class Abstracter(Protocol):
    """A way to describe an inner node by a vector, with or without a text."""

    def abstracts(
        self, tree: Hierarchy, passages: Passages, leaf_vectors: NDArray[np.float32], embedder: Embedder, folder: Path
    ) -> NodeAbstracts:
        """Describe every inner node. `folder` holds what an attempt that was stopped left, and becomes the artefact."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the abstracts, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class MeanAbstracts(Component):
    """No text: a node is the normalised mean of its children."""

    def abstracts(
        self, tree: Hierarchy, passages: Passages, leaf_vectors: NDArray[np.float32], embedder: Embedder, folder: Path
    ) -> NodeAbstracts:
        """Average bottom-up."""
        return NodeAbstracts(mean_vectors(tree, leaf_vectors), None)


@dataclass(frozen=True, kw_only=True)
class ExtractiveAbstracts(Component):
    """Keywords by class-based TF-IDF (Grootendorst 2022) over a node's leaves, the nodes of a layer being the classes.

    A phrase p of node c weighs tf(p, c)·log(1 + A / f(p)), with f(p) its count in the corpus and A the mean number of
    phrases a node. The `keywords` heaviest that do not repeat one another are kept, the most general (found in the
    largest share of the leaves) first, and embedded as one text.
    """

    keywords: PositiveInt = 20
    longest: PositiveInt = 2

    def abstracts(
        self, tree: Hierarchy, passages: Passages, leaf_vectors: NDArray[np.float32], embedder: Embedder, folder: Path
    ) -> NodeAbstracts:
        """Extract keywords layer by layer and embed them."""
        counts, vocabulary = phrase_counts(passages.contents, self.longest)
        texts: dict[int, str] = {}
        for layer in tree.layers()[1:]:
            members = _membership(tree, layer)
            texts.update(zip(layer.tolist(), self._keywords(members, counts, vocabulary), strict=True))
        inner = [texts[node] for node in range(tree.n_leaves, tree.n_nodes)]
        vectors = np.array(leaf_vectors, dtype=np.float32)
        if inner:
            vectors = np.concatenate([vectors, checked_vectors(embedder.encode_passages(inner))])
        return NodeAbstracts(vectors, inner)

    def _keywords(self, members: csr_matrix, counts: csr_matrix, vocabulary: Sequence[str]) -> list[str]:
        by_node = csr_matrix(members @ counts)
        spread = csr_matrix(members @ counts.sign())
        frequency = np.asarray(counts.sum(axis=0)).ravel()
        average = by_node.sum() / by_node.shape[0]
        weights = csr_matrix(by_node @ diags_array(np.log1p(average / np.maximum(frequency, 1))))
        return [
            ", ".join(self._of_node(_row(weights, node), _row(spread, node), vocabulary))
            for node in range(by_node.shape[0])
        ]

    def _of_node(
        self,
        weights: tuple[NDArray[Any], NDArray[Any]],
        spread: tuple[NDArray[Any], NDArray[Any]],
        words: Sequence[str],
    ) -> list[str]:
        terms, values = weights
        heaviest = terms[np.lexsort((terms, -values))]
        chosen = distinct_phrases((words[term] for term in heaviest), self.keywords)
        leaves = {words[term]: count for term, count in zip(*spread, strict=True)}
        return sorted(chosen, key=lambda phrase: (-leaves[phrase], chosen.index(phrase)))


def _membership(tree: Hierarchy, layer: NDArray[np.int64]) -> csr_matrix:
    """(nodes of the layer, n leaves) 0/1: which leaves lie under which node."""
    leaves = [tree.leaves_under(int(node)) for node in layer]
    starts = np.concatenate([[0], np.cumsum([len(under) for under in leaves])])
    columns = np.concatenate(leaves)
    return csr_matrix((np.ones(len(columns), dtype=np.float32), columns, starts), shape=(len(layer), tree.n_leaves))


def _row(matrix: csr_matrix, row: int) -> tuple[NDArray[Any], NDArray[Any]]:
    span = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[span], matrix.data[span]
