"""Beam search: equal to a plain walk, and to flat search when the beam is wide."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from psi.errors import InputError
from psi.tree import Tree, beam_search, build_tree, device_search, mean_vectors, starting_layer, unit_rows
from psi.tree.device_search import search_on_device
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


def on_torch(tree: Tree, nodes, queries, beam: int, k: int, layer: int):
    """`beam_search` as a GPU does it, with tensors on the CPU."""
    asked = unit_rows(queries)
    ids = np.full((len(asked), min(k, tree.n_leaves)), -1, np.int64)
    scores = np.full(ids.shape, -np.inf, np.float32)
    search_on_device(unit_rows(nodes), asked, tree, layer, beam, ids, scores, torch.device("cpu"))
    return ids, scores


@settings(max_examples=60)
@given(
    vectors=corpora(60),
    beam=st.integers(1, 80),
    k=st.integers(1, 70),
    seed=st.integers(0, 99),
    questions=st.integers(0, 7),
    most=st.sampled_from([2, 40]),
)
def test_tensor_operations_give_the_same_answer(vectors, beam, k, seed, questions, most):
    tree = build_tree(vectors, max_children=4, rebalance="similar" if seed % 2 else "none")
    nodes = mean_vectors(tree, vectors)
    rng = np.random.default_rng(seed)
    queries = rng.standard_normal((questions, vectors.shape[1])).astype(np.float32)
    queries[:1] = vectors[0]
    queries[1:2] = 0
    queries[2:3] = nodes[-1]
    for layer in {0, tree.height, starting_layer(tree, beam)}:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(device_search, "MOST_QUESTIONS", most)
            patch.setattr(device_search, "PAIRS", 5 * most)
            patch.setattr(device_search, "WEIGHED_TOGETHER", most)
            ids, scores = on_torch(tree, nodes, queries, beam, k, layer)
        expected_ids, expected_scores = beam_search(tree, nodes, queries, beam, k, layer, device="cpu")
        assert np.array_equal(ids, expected_ids)
        assert np.array_equal(scores, expected_scores)


def test_tensor_operations_on_many_questions():
    vectors = corpus("clusters", 3000, 64, 1)
    tree = build_tree(vectors)
    nodes = mean_vectors(tree, vectors)
    queries = corpus("near copies", 700, 64, 2) + vectors[:700]
    ids, scores = on_torch(tree, nodes, queries, 10, 10, starting_layer(tree, 10))
    expected_ids, expected_scores = beam_search(tree, nodes, queries, device="cpu")
    assert np.array_equal(ids, expected_ids)
    assert np.array_equal(scores, expected_scores)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_gives_the_same_answer():
    vectors = corpus("clusters", 20_000, 96, 3)
    tree = build_tree(vectors)
    nodes = mean_vectors(tree, vectors)
    for beam in (1, 10, 200):
        found = beam_search(tree, nodes, vectors[:5000], beam, device="cuda")
        expected = beam_search(tree, nodes, vectors[:5000], beam, device="cpu")
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


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
        ({"device": "tpu0"}, "device='tpu0'"),
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
