"""Invariants, edge sizes, bad input, rebalancing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psi.errors import InputError
from psi.tree import (
    Edges,
    build_tree,
    mean_vectors,
    merge_and_collapse,
    rebalance_tree,
    spanning_edges,
    tree_from_parents,
    unit_rows,
)
from tests.tree.corpora import corpora, corpus


@pytest.mark.parametrize("n", [1, 2, 10, 11, 21, 50, 52])
@pytest.mark.parametrize("kind", ["gaussian", "one direction", "clusters"])
@pytest.mark.parametrize("how", ["similar", "even"])
def test_invariants(n, kind, how):
    tree = build_tree(corpus(kind, n, 8, 0), max_children=5, rebalance=how)
    tree.check(max_children=5)
    assert sorted(int(x) for x in tree.leaves_under(tree.root)) == list(range(n))
    for node in range(tree.n_leaves, tree.n_nodes):
        assert 2 <= len(tree.children(node)) <= 5
        assert all(tree.parent(int(child)) == node for child in tree.children(node))


def test_identical_rows():
    tree = build_tree(np.ones((50, 3)), max_children=5)
    tree.check(max_children=5)
    assert tree.layer_sizes() == (50, 10, 2, 1)


def test_one_row_is_leaf_and_root():
    tree = build_tree([[1.0, 2.0]])
    assert (tree.n_nodes, tree.root, tree.height, tree.layer_sizes()) == (1, 0, 0, (1,))
    assert tree.path(0).tolist() == [0]
    assert tree.leaves_under(0).tolist() == [0]


def test_a_full_node_is_not_split():
    tree = build_tree(np.eye(4, dtype=np.float32), max_children=4, rebalance="even")
    assert tree.layer_sizes() == (4, 1)


@settings(max_examples=60)
@given(vectors=corpora(), limit=st.integers(3, 9), how=st.sampled_from(["similar", "even"]))
def test_rebalancing_keeps_limit_depth_and_leaves(vectors, limit, how):
    edges = spanning_edges(vectors)
    plain = merge_and_collapse(len(vectors), edges)
    tree = rebalance_tree(plain, edges, limit, how)
    tree.check(limit)
    assert tree.n_leaves == plain.n_leaves
    if plain.child_counts().max() <= limit:
        assert tree.digest() == plain.digest()
    by_vectors = rebalance_tree(plain, mean_vectors(plain, vectors), limit, how)
    by_vectors.check(limit)


def test_even_parts_by_position():
    star = Edges(np.zeros(10, np.int64), np.arange(1, 11), np.linspace(1, 0.5, 10).astype(np.float32))
    tree = rebalance_tree(merge_and_collapse(11, star), star, 5, "even")
    assert [tree.children(int(node)).tolist() for node in tree.layers()[1]] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]


def test_similar_cuts_the_weakest_link():
    chain = Edges(np.arange(5), np.arange(1, 6), np.float32([0.99, 0.98, 0.5, 0.97, 0.96]))
    order = np.argsort(-chain.weight)
    wide = tree_from_parents(6, [6] * 6 + [-1])
    tree = rebalance_tree(wide, chain.take(order), 4, "similar")
    assert [tree.children(int(node)).tolist() for node in tree.layers()[1]] == [[0, 1, 2], [3, 4, 5]]


def test_published_cases_of_the_scan():
    """Merging, leaf collapse, then a shallow root under the matched leaf's ancestor one height above it."""
    pairs = Edges(np.array([0, 2, 0, 4, 4]), np.array([1, 3, 2, 5, 2]), np.float32([0.9, 0.8, 0.7, 0.6, 0.5]))
    tree = merge_and_collapse(6, pairs)
    assert tree.layer_sizes() == (6, 3, 1)
    late = Edges(np.array([0, 1]), np.array([1, 2]), np.float32([0.9, 0.1]))
    assert merge_and_collapse(3, late).layer_sizes() == (3, 1)


def test_bad_rows_are_named():
    rows = np.ones((5, 2), np.float32)
    rows[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3"):
        build_tree(rows)
    rows[3, 1] = np.inf
    with pytest.raises(InputError, match="row 3"):
        build_tree(rows)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.empty((0, 3), np.float32), "at least one row"),
        (np.ones(3, np.float32), r"shape \(n, d\)"),
        (np.ones((2, 0), np.float32), r"shape \(n, d\)"),
        ([["a"]], "numbers"),
    ],
)
def test_bad_shapes_are_refused(vectors, message):
    with pytest.raises(InputError, match=message):
        build_tree(vectors)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_children": 2}, "max_children=2"),
        ({"rebalance": "odd"}, "'similar', 'even' or 'none'"),
        ({"precision": "fp8"}, "'bf16'"),
        ({"precision": "tf32", "device": "cpu"}, "CUDA"),
        ({"device": "tpu"}, "'cpu'"),
        ({"builder": "magic"}, "'exact'"),
        ({"tile": 0}, "tile=0"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        build_tree(np.eye(3, dtype=np.float32), **settings)


def test_edges_that_do_not_span_are_refused():
    with pytest.raises(InputError, match="of 3 leaves"):
        merge_and_collapse(3, Edges(np.array([0]), np.array([1]), np.float32([1])))
    with pytest.raises(InputError, match=r"outside 0\.\.1"):
        merge_and_collapse(2, Edges(np.array([0]), np.array([2]), np.float32([1])))


def test_broken_parent_lists_are_refused():
    with pytest.raises(InputError):
        tree_from_parents(3, [3, 3, 4, 4, -1])
    with pytest.raises(InputError):
        tree_from_parents(2, [2, 2, 3, -1])
    with pytest.raises(InputError):
        tree_from_parents(2, [-1, -1])


def test_the_same_rows_give_the_same_digest_in_any_scale():
    rows = corpus("gaussian", 60, 8, 0)
    assert build_tree(rows).digest() == build_tree(rows * np.float32(4)).digest() == build_tree(rows.tolist()).digest()


def test_paths_layers_and_ancestors():
    tree = build_tree(corpus("clusters", 80, 8, 0), max_children=5)
    counts = tree.leaf_counts()
    assert counts[tree.root] == 80
    for leaf in (0, 17, 79):
        path = tree.path(leaf)
        assert path[0] == leaf
        assert path[-1] == tree.root
        for height, node in enumerate(path):
            assert leaf in tree.leaves_under(int(node))
            assert len(tree.leaves_under(int(node))) == counts[node]
            assert tree.ancestors([leaf], height)[0] == node
    with pytest.raises(InputError):
        tree.children(tree.n_nodes)
    with pytest.raises(InputError):
        tree.ancestors([0], tree.height + 1)


def test_mean_vectors():
    rows = corpus("zeros", 40, 8, 0)
    tree = build_tree(rows)
    vectors = mean_vectors(tree, rows)
    np.testing.assert_array_equal(vectors[:40], unit_rows(rows))
    for node in range(40, tree.n_nodes):
        mean = vectors[tree.children(node)].astype(float).mean(axis=0)
        np.testing.assert_allclose(vectors[node], mean / np.linalg.norm(mean), atol=1e-6)
    opposite = mean_vectors(build_tree([[1.0, 0], [-1, 0]]), [[1.0, 0], [-1, 0]])
    np.testing.assert_array_equal(opposite[2], [0, 0])
    with pytest.raises(InputError, match="expected 40 rows"):
        mean_vectors(tree, rows[:39])
