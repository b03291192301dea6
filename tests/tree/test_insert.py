"""Insertion compared with a rebuild."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psi.errors import InputError
from psi.tree import beam_search, build_tree, dasgupta_cost, insert_leaves, mean_vectors, unit_rows
from tests.tree.corpora import corpora, corpus


@settings(max_examples=60)
@given(old=corpora(40), new=corpora(30), how=st.sampled_from(["auto", "leaves", "subtree"]))
def test_invariants_vectors_and_origins(old, new, how):
    width = max(old.shape[1], new.shape[1])
    old, new = (np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (old, new))
    tree = build_tree(old, max_children=4)
    vectors = mean_vectors(tree, old)
    result = insert_leaves(tree, vectors, new, how=how, max_children=4, normalised=True)
    rows = np.concatenate([old, new])
    result.tree.check(4)
    assert result.tree.n_leaves == len(rows)
    np.testing.assert_allclose(result.vectors, mean_vectors(result.tree, rows), atol=1e-6)
    unchanged = np.setdiff1d(np.arange(result.tree.n_leaves, result.tree.n_nodes), result.changed)
    for node in unchanged:
        before = tree.leaves_under(int(result.origin[node]))
        np.testing.assert_array_equal(result.tree.leaves_under(int(node)), before)
    np.testing.assert_array_equal(result.origin[: len(old)], np.arange(len(old)))
    assert (result.origin[len(old) : len(rows)] == -1).all()


def test_one_percent_costs_little_quality():
    rows = corpus("clusters", 3000, 32, 0)
    old, new = rows[:2970], rows[2970:]
    tree = build_tree(old)
    inserted = insert_leaves(tree, mean_vectors(tree, old), new)
    rebuilt = build_tree(rows)
    ratio = dasgupta_cost(inserted.tree, rows, "cosine01") / dasgupta_cost(rebuilt, rows, "cosine01")
    assert 0.99 < ratio < 1.01
    found, _ = beam_search(inserted.tree, inserted.vectors, new, beam=16, k=1, normalised=True)
    assert (found[:, 0] == np.arange(2970, 3000)).mean() > 0.9


def test_beside_the_most_similar_leaf():
    rows = corpus("clusters", 200, 16, 0)
    tree = build_tree(rows, rebalance="none")
    new = rows[[17]] * np.float32(3)
    result = insert_leaves(tree, mean_vectors(tree, rows), new, rebalance="none")
    assert result.tree.parent(200) == result.tree.parent(17)
    assert set(result.changed.tolist()) == set(result.tree.path(200)[1:].tolist())


def test_an_unlike_batch_comes_as_a_subtree():
    rows = np.pad(corpus("clusters", 300, 8, 0), ((0, 0), (0, 8)))
    strange = np.pad(corpus("clusters", 20, 8, 1), ((0, 0), (8, 0)))
    tree = build_tree(rows, rebalance="none")
    result = insert_leaves(tree, mean_vectors(tree, rows), strange, rebalance="none")
    inside = build_tree(strange, rebalance="none")
    top = result.tree.ancestors(np.arange(300, 320), inside.height)
    assert len(np.unique(top)) == 1
    assert result.tree.leaves_under(int(top[0])).tolist() == list(range(300, 320))


def test_nothing_to_insert_and_bad_calls():
    rows = np.eye(4, dtype=np.float32)
    tree = build_tree(rows)
    vectors = mean_vectors(tree, rows)
    assert insert_leaves(tree, vectors, np.empty((0, 4), np.float32)).tree is tree
    with pytest.raises(InputError, match="expected 4, got 3"):
        insert_leaves(tree, vectors, np.ones((1, 3)))
    with pytest.raises(InputError, match="row 0"):
        insert_leaves(tree, vectors, [[np.nan, 0, 0, 0]])
    with pytest.raises(InputError, match="'subtree'"):
        insert_leaves(tree, vectors, unit_rows(rows), how="maybe")
    with pytest.raises(InputError, match="one a node"):
        insert_leaves(tree, rows, rows)
