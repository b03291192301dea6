"""How well and at what cost a tree is searched: what the studies of trees measure of each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.descent import descend
from analysis.studies.corpus import StudyCorpus
from psi.metrics import summarise
from psi.tree import Tree, mean_vectors


def tree_recall(corpus: StudyCorpus, tree: Tree, beam: int, k: int) -> dict[str, Any]:
    """Recall@k of beam searches over the means of the nodes, with its interval, and nodes compared a question.

    Over the questions with gold passages; `questions` says how many.
    """
    nodes, asked = mean_vectors(tree, corpus.vectors), corpus.asked()
    levels = [descend(tree, nodes, corpus.question_vectors[q], max(beam, k)) for q in asked]
    recall = [
        len({*found[-1].kept[:k].tolist()} & {*corpus.gold[q]}) / len(corpus.gold[q])
        for found, q in zip(levels, asked, strict=True)
    ]
    found = summarise(recall)
    return {
        "recall": found.mean, "recall_low": found.low, "recall_high": found.high, "questions": found.n,
        "compared": float(np.mean([sum(level.compared for level in each) for each in levels])),
    }  # fmt: skip


def tree_shape(tree: Tree) -> dict[str, Any]:
    """Layers, inner nodes, height, most children."""
    return {
        "layers": "/".join(map(str, tree.layer_sizes())), "inner_nodes": tree.n_nodes - tree.n_leaves, "height": tree.height,
        "most_children": int(tree.child_counts().max()),
    }  # fmt: skip
