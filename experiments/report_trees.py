"""The trees of a report, and the searches in them, done again from the vectors that the store has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.descent import descend
from analysis.report.records import ReportTree, Visit
from experiments.cell import Cell
from experiments.stages.rankings import CHUNK
from experiments.tree_paths import StoredTree
from psi.corpus.records import Benchmark, Passage, Question
from psi.index.embeddings import stored_question_vectors
from psi.store import Store
from psi.tree import unit_rows

NEAREST = 3  # passages that name a node without an abstract
LONGEST = 70  # characters of a passage without a title that stand for one
SEARCH = "psi.retrieval.tree.TreeRetriever"


class Replays(NamedTuple):
    """The beam of the searches, and what each layer kept, by question id."""

    beam: int
    descents: Mapping[str, Sequence[Visit]]


def tree_record(tree: StoredTree, dataset: str, method: str) -> ReportTree:
    """A tree with a label for each node: titles of passages, abstracts, or the passages nearest to a node's vector."""
    leaves = [_title(passage) for passage in tree.passages]
    abstract = bool(tree.texts)
    inner = _abstracts(tree) if abstract else _nearest(tree, leaves)
    name = f"{dataset}: {tree.document}" if tree.document else f"{dataset}, {method}"
    return ReportTree(name, tree.tree.parents.tolist(), [*leaves, *inner], abstract, tree.passages.ids)


def replays(store: Path, cell: Cell, benchmark: Benchmark, trees: Sequence[StoredTree]) -> Replays | None:
    """Each search of a run in its one tree; None where there are several trees, or vectors of questions are not kept."""
    beam = _beam(cell.settings)
    if beam is None or len(trees) != 1:
        return None
    tree, found = trees[0], dict[str, Sequence[Visit]]()
    vectors = tree.vectors
    for batch in _batches(benchmark.questions):
        asked = stored_question_vectors([question.text for question in batch], tree.embedder, Store(store))
        if asked is not None:
            for question, query in zip(batch, asked, strict=True):
                found[question.id] = _visits(tree, vectors, query, beam)
    return Replays(beam, found) if found else None


def _visits(tree: StoredTree, vectors: NDArray[np.float32], query: NDArray[np.float32], beam: int) -> list[Visit]:
    return [
        Visit(level.height, level.compared, list(zip(level.kept.tolist(), level.similarity.tolist(), strict=True)))
        for level in descend(tree.tree, vectors, query, beam)
    ]


def _beam(settings: Any) -> int | None:
    """The beam of the first tree search among the settings."""
    if isinstance(settings, Mapping):
        if settings.get("component") == SEARCH:
            return int(settings["beam"])
        settings = list(settings.values())
    if isinstance(settings, list):
        return next((beam for each in settings if (beam := _beam(each)) is not None), None)
    return None


def _batches(questions: Sequence[Question]) -> Iterator[Sequence[Question]]:
    """As the rankings stage embeds them, where all questions are asked of the whole corpus."""
    for start in range(0, len(questions), CHUNK):
        yield questions[start : start + CHUNK]


def _abstracts(tree: StoredTree) -> list[str]:
    return [" ".join(tree.texts.get(node, "").split()) for node in range(tree.tree.n_leaves, tree.tree.n_nodes)]


def _nearest(tree: StoredTree, leaves: Sequence[str]) -> list[str]:
    """For each inner node the passages below it that are nearest to its vector."""
    shape, vectors = tree.tree, unit_rows(tree.vectors)
    labels: list[str] = []
    above = np.arange(shape.n_leaves)
    for height in range(1, shape.height + 1):
        above = shape.parents[above]
        similarity = np.einsum("ij,ij->i", vectors[: shape.n_leaves], vectors[above])
        order = np.lexsort((np.arange(shape.n_leaves), -similarity, above))
        first = np.searchsorted(above[order], np.arange(shape.layer_offsets[height], shape.layer_offsets[height + 1]))
        ends = [*first[1:], shape.n_leaves]
        labels += [
            "; ".join(dict.fromkeys(leaves[leaf] for leaf in order[start : min(end, start + NEAREST)]))
            for start, end in zip(first, ends, strict=True)
        ]
    return labels


def _title(passage: Passage) -> str:
    text = " ".join((passage.title or passage.text).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
