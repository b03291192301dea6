"""The index: every document's tree, in flat arrays beside its encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.sproutrag.aggregation import Aggregation
from baselines.sproutrag.documents import Documents, documents_of
from baselines.sproutrag.encoder import Encoder
from baselines.sproutrag.encoding import Encoding, encoding_stage, load_encoding
from baselines.sproutrag.tree import BinaryTree, from_edges, inner_vectors, linked
from psi.corpus.records import Passages
from psi.store import Artifact, Stage, Store
from psi.tree import spanning_edges

VERSION = 1
Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class SproutIndex:
    """Trees of all documents. Document t of m chunks has nodes 0..2m-2: its chunks, then inner nodes, the root last.

    children (n - documents, 2), inner (n - documents, d): rows of document t begin at offsets[t] - t.
    """

    documents: Documents
    leaves: Floats
    children: Ids
    inner: Floats

    def tree(self, document: int) -> Ids:
        """(m - 1, 2) children of a document's inner nodes."""
        return self.children[self._inner_rows(document)]

    def vectors(self, document: int) -> Floats:
        """(2m - 1, d) vectors of a document's nodes."""
        first, last = self.documents.offsets[document : document + 2]
        return np.concatenate([self.leaves[first:last], self.inner[self._inner_rows(document)]])

    def _inner_rows(self, document: int) -> slice:
        first, last = self.documents.offsets[document : document + 2]
        return slice(int(first) - document, int(last) - document - 1)


def build_index(
    passages: Passages, encoder: Encoder, aggregation: Aggregation, scalars: NDArray[np.float64] | None, store: Store
) -> SproutIndex:
    """Build the index of a corpus, or open what the store has of it. Encoding and trees are stages of their own.

    scalars are the trained ones of the layers and heads (None: untrained); they belong to the encoder's weights.
    """
    documents = documents_of(passages)
    encoded = encoding_stage(documents, encoder, store)
    trees = _trees_stage(encoded, encoder, aggregation, scalars, store)
    children, inner = (np.load(trees.path / f"{name}.npy", mmap_mode="r") for name in ("children", "inner"))
    return SproutIndex(documents, load_encoding(encoded).vectors, children, inner)


def _trees_stage(
    encoded: Artifact, encoder: Encoder, aggregation: Aggregation, scalars: NDArray[np.float64] | None, store: Store
) -> Artifact:
    # scalars need no place here: they come with the encoder's weights, whose digest is in the encoding's
    stage = Stage("sprout_trees", VERSION, aggregation.identity(), {"encoding": encoded.digest})

    def make(folder: Path) -> Mapping[str, Any]:
        encoding = load_encoding(encoded)
        weights = None if aggregation.kind == "similarity" else aggregation.weights(encoder.heads, scalars)
        return _write_trees(folder, encoding, weights)

    return store.obtain(stage, make)


def _write_trees(folder: Path, encoding: Encoding, weights: NDArray[np.float64] | None) -> Mapping[str, Any]:
    count = len(encoding.offsets) - 1
    rows = len(encoding.vectors) - count
    children = np.zeros((rows, 2), np.int64)
    relation = np.zeros(rows, np.float32)
    inner = np.lib.format.open_memmap(
        folder / "inner.npy", mode="w+", dtype=np.float32, shape=(rows, encoding.vectors.shape[1])
    )
    depths = []
    for document in range(count):
        first, last = encoding.offsets[document : document + 2]
        tree = tree_of(encoding, document, weights)
        here = slice(int(first) - document, int(last) - document - 1)
        children[here], relation[here] = tree.children, tree.relation
        inner[here] = inner_vectors(np.asarray(encoding.vectors[first:last]), tree.children)
        depths.append(_depth(tree.children))
    inner.flush()
    np.save(folder / "children.npy", children)
    np.save(folder / "relation.npy", relation)
    return {"documents": count, "deepest": max(depths), "mean_depth": round(float(np.mean(depths)), 2)}


def tree_of(encoding: Encoding, document: int, weights: NDArray[np.float64] | None) -> BinaryTree:
    """The tree of one document; weights (layers * heads,) of the attentions, None: cosines instead of attention."""
    first, last = encoding.offsets[document : document + 2]
    if weights is None:
        vectors = np.asarray(encoding.vectors[first:last])
        return from_edges(len(vectors), spanning_edges(vectors, device="cpu"))
    here = slice(*encoding.pair_offsets[document : document + 2])
    # an element-wise product: its sums have one order, whatever the number of threads
    relation = (encoding.attention[here].astype(np.float64) * weights).sum(axis=1)
    return linked(int(last - first), np.asarray(encoding.pairs[here]) - np.int32(first), relation.astype(np.float32))


def _depth(children: Ids) -> int:
    """Joins on the longest way from the root to a leaf."""
    m = len(children) + 1
    height = np.zeros(m + len(children), np.int64)
    for row, pair in enumerate(children):
        height[m + row] = height[pair].max() + 1
    return int(height[-1])
