"""The Ψ index: an abstract tree over the passages' vectors, and a vector for every node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from psi.component import Component, runtime
from psi.corpus.records import Passages
from psi.index.abstracts import Abstracter
from psi.index.embeddings import load_vectors, passage_vectors
from psi.models.protocols import Embedder
from psi.store import Artifact, Stage, Store, read_rows, write_rows
from psi.tree import Tree, build_tree_with_report, load_tree, save_tree

TREE_VERSION = 1
ABSTRACTS_VERSION = 1


@dataclass(frozen=True)
class PsiIndex:
    """A stored index, opened: the tree, (n_nodes, d) vectors and, where there are texts, one per inner node."""

    tree: Tree
    vectors: NDArray[np.float32]
    texts: list[str] | None


@dataclass(frozen=True, kw_only=True)
class TreeIndexer(Component):
    """Builds the abstract tree by merging and collapse (paper §3) and describes its nodes.

    max_children: no node has more; larger ones are split by rebalancing, `even` by position as published, `similar`
        where the children's own spanning tree is weakest, `none` not at all.
    """

    embedder: Embedder
    abstracts: Abstracter
    max_children: Annotated[int, Field(ge=2)] = 40
    rebalance: Literal["similar", "even", "none"] = "similar"
    device: str = runtime("auto")

    def build(self, passages: Passages, store: Store) -> PsiIndex:
        """Build the index, or open what the store has of it. The tree and the abstracts are stages of their own."""
        embedded = passage_vectors(passages, self.embedder, store)
        tree = self._tree(embedded, store)
        return self._described(tree, embedded, passages, store)

    def _tree(self, embedded: Artifact, store: Store) -> Artifact:
        config = {"max_children": self.max_children, "rebalance": self.rebalance}
        stage = Stage("tree", TREE_VERSION, config, {"embeddings": embedded.digest})

        def make(folder: Path) -> Mapping[str, Any]:
            tree, report = build_tree_with_report(
                load_vectors(embedded), max_children=self.max_children, rebalance=self.rebalance, device=self.device
            )
            save_tree(folder / "tree", tree)
            return {
                "layers": tree.layer_sizes(),
                "layers_before_rebalancing": report.layer_sizes_before_rebalancing,
                "spanning": asdict(report.spanning),
            }

        return store.obtain(stage, make)

    def _described(self, tree: Artifact, embedded: Artifact, passages: Passages, store: Store) -> PsiIndex:
        config = {"abstracts": self.abstracts.identity(), "embedder": self.embedder.identity()}
        stage = Stage("abstracts", ABSTRACTS_VERSION, config, {"tree": tree.digest, "passages": passages.digest})

        def make(folder: Path) -> Mapping[str, Any] | None:
            built = load_tree(tree.path / "tree").tree
            described = self.abstracts.abstracts(built, passages, load_vectors(embedded), self.embedder, folder)
            np.save(folder / "vectors.npy", described.vectors, allow_pickle=False)
            if described.texts is not None:
                nodes = range(built.n_leaves, len(built.parents))
                write_rows(folder / "abstracts.jsonl", _rows(nodes, described.texts))
            return described.facts

        return _open(tree, store.obtain(stage, make, resumable=True))


def _rows(nodes: range, texts: list[str]) -> list[dict[str, Any]]:
    return [{"node": node, "text": text} for node, text in zip(nodes, texts, strict=True)]


def _open(tree: Artifact, abstracts: Artifact) -> PsiIndex:
    vectors = np.load(abstracts.path / "vectors.npy", mmap_mode="r", allow_pickle=False)
    path = abstracts.path / "abstracts.jsonl"
    texts = [row["text"] for row in read_rows(path)] if path.exists() else None
    return PsiIndex(load_tree(tree.path / "tree").tree, vectors, texts)
