"""Beam search: equal to a plain walk, and to flat search when the beam is wide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psi.errors import InputError
from psi.tree import Tree, beam_search, build_tree, mean_vectors, starting_layer, unit_rows
from psi.tree.oracle import pair_similarity
from tests.tree.corpora import corpora, corpus


def plain_walk(tree: Tree, vectors, query, beam: int, k: int) -> list[tuple[float, int]]:
    """One question at a time, in Python."""
    layers = [layer.tolist() for layer in tree.layers()]
    level = max((h for h, layer in enumerate(layers) if len(layer) >= beam), default=0)
    candidates = layers[level]
    while True:
        ranked = sorted((-float(pair_similarity(vectors[c], query)), c) for c in candidates)
        if level == 0:
            return ranked[:k]
        candidates = [child for _, node in ranked[:beam] for child in tree.children(node).tolist()]
        level -= 1


@settings(max_examples=40)
@given(vectors=corpora(60), beam=st.integers(1, 12), k=st.integers(1, 12), seed=st.integers(0, 99))
def test_batched_equals_one_at_a_time(vectors, beam, k, seed):
    tree = build_tree(vectors, max_children=4)
    nodes = mean_vectors(tree, vectors)
    queries = np.random.default_rng(seed).standard_normal((5, vectors.shape[1])).astype(np.float32)
    queries[3] = vectors[0]
    queries[4] = 0
    ids, scores = beam_search(tree, nodes, queries, beam=beam, k=k)
    assert ids.shape == (5, min(k, len(vectors)))
    units, asked = unit_rows(nodes), unit_rows(queries)
    for row, query in enumerate(asked):
        right = plain_walk(tree, units, query, beam, k)
        found = [(-float(s), int(i)) for i, s in zip(ids[row], scores[row], strict=True) if i >= 0]
        assert found == right
        assert (ids[row, len(right) :] == -1).all()
        assert np.isneginf(scores[row, len(right) :]).all()


@settings(max_examples=30)
@given(vectors=corpora(60), seed=st.integers(0, 99))
def test_a_beam_as_wide_as_the_layers_equals_flat_search(vectors, seed):
    tree = build_tree(vectors, max_children=4)
    queries = np.random.default_rng(seed).standard_normal((4, vectors.shape[1])).astype(np.float32)
    ids, scores = beam_search(
        tree, mean_vectors(tree, vectors), queries, beam=tree.n_nodes, k=10, start_layer=tree.height
    )
    for row, query in enumerate(unit_rows(queries)):
        flat = sorted((-float(pair_similarity(leaf, query)), i) for i, leaf in enumerate(unit_rows(vectors)))[:10]
        assert [(-float(s), int(i)) for i, s in zip(ids[row], scores[row], strict=True)] == flat


def test_more_asked_than_there_are():
    tree = build_tree(np.eye(3, dtype=np.float32))
    ids, scores = beam_search(tree, mean_vectors(tree, np.eye(3)), [[1.0, 0, 0]], k=10)
    assert ids.tolist() == [[0, 1, 2]]
    assert scores.tolist() == [[1, 0, 0]]


def test_zero_question_and_zero_row():
    rows = np.float32([[0, 0], [1, 0], [0, 1]])
    tree = build_tree(rows)
    ids, scores = beam_search(tree, mean_vectors(tree, rows), [[0.0, 0.0], [1.0, 0.0]], k=3)
    assert ids.tolist() == [[0, 1, 2], [1, 0, 2]]
    assert scores.tolist() == [[0, 0, 0], [1, 0, 0]]


def test_one_leaf():
    tree = build_tree([[1.0, 0.0]])
    ids, scores = beam_search(tree, [[1.0, 0.0]], [[2.0, 0.0]])
    assert (ids.tolist(), scores.tolist()) == ([[0]], [[1.0]])


def test_start_layer():
    tree = build_tree(corpus("clusters", 200, 8, 0), max_children=6)
    sizes = tree.layer_sizes()
    assert sizes[starting_layer(tree, 10)] >= 10
    assert all(size < 10 for size in sizes[starting_layer(tree, 10) + 1 :])
    assert starting_layer(tree, 1000) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam": 0}, "beam=0"),
        ({"k": -1}, "k=-1"),
        ({"start_layer": 9}, "start_layer=9"),
        ({"queries": [[1.0, 0, 0, 0]]}, "expected 3, got 4"),
        ({"queries": [[np.nan, 0, 0]]}, "row 0"),
        ({"node_vectors": np.eye(3)}, "one a node"),
    ],
)
def test_bad_calls_are_named(changes, message):
    tree = build_tree(np.eye(3, dtype=np.float32))
    call = {"node_vectors": mean_vectors(tree, np.eye(3)), "queries": [[1.0, 0, 0]], **changes}
    with pytest.raises(InputError, match=message):
        beam_search(tree, **call)


def test_no_questions():
    tree = build_tree(np.eye(3, dtype=np.float32))
    ids, scores = beam_search(tree, mean_vectors(tree, np.eye(3)), np.empty((0, 3), np.float32), k=2)
    assert ids.shape == scores.shape == (0, 2)
