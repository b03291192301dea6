"""The trees of a finished run and where its passages hang in them, read from its store: no index is built for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.cell import Cell
from psi.corpus.records import Benchmark, Passages
from psi.errors import StoreError
from psi.store import open_artifact, read_rows
from psi.tree import Tree, load_tree

ABSTRACT = 60  # characters of an abstract that are shown


class StoredTree(NamedTuple):
    """An abstract tree that a run searched: over which passages (of one document, or None: of all), how it is described.

    texts: by inner node, empty where nodes have none; folder: of the stage that holds the nodes' vectors; digest: of that
    stage; embedder: the identity of what made the vectors.
    """

    passages: Passages
    document: str | None
    tree: Tree
    texts: Mapping[int, str]
    folder: Path
    digest: str
    embedder: Mapping[str, Any]

    @property
    def vectors(self) -> NDArray[np.float32]:
        """(n_nodes, d), memory-mapped."""
        found: NDArray[np.float32] = np.load(self.folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
        return found


def stored_trees(store: Path, cell: Cell, benchmark: Benchmark) -> Iterator[StoredTree]:
    """The abstract trees that a run searched: none for methods without, several where each document has its own."""
    corpora = {passages.digest: (passages, document) for passages, document in _corpora(benchmark)}
    for used in open_artifact(store / cell.stages["rankings"]).facts.get("indexes", ()):
        folder = store / "stages" / used["stage"] / used["digest"][:16]
        if used["stage"] != "abstracts" or not folder.exists():
            continue
        manifest = open_artifact(folder).manifest
        inputs = manifest["inputs"]
        if inputs.get("passages") in corpora and (tree := _tree(store, inputs)) is not None:
            passages, document = corpora[inputs["passages"]]
            embedder = manifest["config"]["embedder"]
            yield StoredTree(passages, document, tree, _texts(folder), folder, used["digest"], embedder)


def tree_paths(store: Path, cell: Cell, benchmark: Benchmark) -> dict[str, str]:
    """For each passage the nodes above it, up to the root; empty for methods without an abstract tree."""
    return {
        id_: _path(found.tree, at, found.texts)
        for found in stored_trees(store, cell, benchmark)
        for at, id_ in enumerate(found.passages.ids)
    }


def _corpora(benchmark: Benchmark) -> Iterator[tuple[Passages, str | None]]:
    """The whole corpus, or the passages of each document that questions are asked of."""
    documents = {question.document for question in benchmark.questions}
    if None in documents:
        yield benchmark.passages, None
    for document in sorted(document for document in documents if document is not None):
        yield Passages([passage for passage in benchmark.passages if passage.document == document]), document


def _tree(store: Path, inputs: Mapping[str, str]) -> Tree | None:
    path = store / "stages" / "tree" / str(inputs.get("tree"))[:16] / "tree"
    try:
        return load_tree(path).tree
    except StoreError:  # another method's layers, or cleaned away
        return None


def _texts(described: Path) -> dict[int, str]:
    path = described / "abstracts.jsonl"
    return {row["node"]: row["text"] for row in read_rows(path)} if path.exists() else {}


def _path(tree: Tree, leaf: int, texts: Mapping[int, str]) -> str:
    return " < ".join(_node(tree, node, texts) for node in tree.path(leaf)[1:].tolist())


def _node(tree: Tree, node: int, texts: Mapping[int, str]) -> str:
    text = " ".join(texts.get(node, "").split())
    short = text if len(text) <= ABSTRACT else f"{text[: ABSTRACT - 1]}…"
    return f"node {node} (height {tree.heights[node]}, {len(tree.leaves_under(node))} passages){': ' if short else ''}{short}"
