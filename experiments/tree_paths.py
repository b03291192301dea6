"""Where passages hang in the trees of a finished run, read from its store: no index is built for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from experiments.cell import Cell
from psi.corpus.records import Benchmark, Passages
from psi.errors import StoreError
from psi.store import open_artifact, read_rows
from psi.tree import Tree, load_tree

ABSTRACT = 60  # characters of an abstract that are shown


def tree_paths(store: Path, cell: Cell, benchmark: Benchmark) -> dict[str, str]:
    """For each passage the nodes above it, up to the root; empty for methods without an abstract tree."""
    corpora = {corpus.digest: corpus for corpus in _corpora(benchmark)}
    paths: dict[str, str] = {}
    for described, inputs in _described(store, cell):
        if inputs.get("passages") in corpora and (hung := _tree(store, inputs)) is not None:
            texts = _texts(described)
            paths |= {id_: _path(hung, at, texts) for at, id_ in enumerate(corpora[inputs["passages"]].ids)}
    return paths


def _corpora(benchmark: Benchmark) -> Iterator[Passages]:
    """The whole corpus, or the passages of each document that questions are asked of."""
    documents = {question.document for question in benchmark.questions}
    if None in documents:
        yield benchmark.passages
    for document in sorted(document for document in documents if document is not None):
        yield Passages([passage for passage in benchmark.passages if passage.document == document])


def _described(store: Path, cell: Cell) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """The abstracts that the run's rankings were made with, and what those were made of."""
    for used in open_artifact(store / cell.stages["rankings"]).facts.get("indexes", ()):
        path = store / "stages" / used["stage"] / used["digest"][:16]
        if used["stage"] == "abstracts" and path.exists():
            yield path, open_artifact(path).manifest["inputs"]


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
