"""Insertion compared with a rebuild."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from psi.errors import InputError
from psi.tree import beam_search, build_tree, dasgupta_cost, insert_leaves, mean_vectors, unit_rows
from psi.tree import nearest as nearest_module
from psi.tree.nearest import nearest_rows, sieve_operands
from psi.tree.precision import Operands, product_bound
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


def brute_force_nearest(rows, asked, earlier):
    """Similarities by their definition, one pair at a time: products exact in float64, equal rows 1, ties to the smaller id."""
    ids, best = [], []
    for q, x in enumerate(asked):
        pool = rows[:q] if earlier else rows
        order = [
            np.float32(1) if x.any() and (y == x).all() else np.float32(np.clip(lane_sum(y, x), -1, 1)) for y in pool
        ]
        ids.append(int(np.argmax(order)) if order else -1)
        best.append(order[ids[-1]] if order else -np.inf)
    return ids, best


def lane_sum(a, b):
    """The inner product in float64 by 32 partial sums, the upper half folded on the lower."""
    products = np.zeros(-(-len(a) // 32) * 32)
    products[: len(a)] = a.astype(np.float64) * b.astype(np.float64)
    lanes = np.zeros(32)
    for part in products.reshape(-1, 32):
        lanes += part
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return lanes[0]


def sieves(asked):
    """What products may sieve with: float32, bfloat16, and what this machine would choose."""
    exact = torch.from_numpy(asked)
    rounded = Operands(exact.bfloat16(), product_bound(asked.shape[1], nearest_module.BF16_LOSS), "bf16")
    return [Operands(exact, product_bound(asked.shape[1], 0.0), "fp32"), rounded, sieve_operands(asked)]


@settings(max_examples=40)
@given(rows=corpora(40), asked=corpora(30), copies=st.booleans())
def test_nearest_rows_equal_brute_force_in_any_precision_and_cut(rows, asked, copies):
    width = max(rows.shape[1], asked.shape[1])
    rows, asked = (unit_rows(np.pad(part, ((0, 0), (0, width - part.shape[1])))) for part in (rows, asked))
    asked = np.concatenate([asked, rows[::3]]) if copies else asked
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest_module, "ROWS", 7)
        patch.setattr(nearest_module, "ASKED", 5)
        for fast in sieves(asked):
            for pool, earlier in ((rows, False), (asked, True)):
                found = nearest_rows(pool, asked, fast, earlier=earlier)
                ids, best = brute_force_nearest(pool, asked, earlier)
                assert found.ids.tolist() == ids
                assert found.similarity.tolist() == best


@pytest.mark.parametrize("scale", [0.5, 0.97, 1.03, 2.0])
def test_products_that_break_the_bound_are_made_again_in_float32(scale):
    rows = unit_rows(corpus("clusters", 300, 64, 1))
    old, asked = rows[:260], rows[260:]
    wrong = sieve_operands(asked).rows.float() * scale
    fast = Operands(wrong.bfloat16(), product_bound(64, nearest_module.BF16_LOSS), "bf16")
    found = nearest_rows(old, asked, fast)
    ids, best = brute_force_nearest(old, asked, earlier=False)
    assert found.ids.tolist() == ids
    assert found.similarity.tolist() == best


@pytest.mark.parametrize("rows_a_part", [1, 64, 1000])
def test_the_same_tree_and_vectors_for_any_number_of_threads(monkeypatch, rows_a_part):
    monkeypatch.setattr(nearest_module, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(nearest_module, "ROWS", rows_a_part)
    rows = corpus("clusters", 5000, 32, 3)
    rows[4950:] = rows[:50]  # ties between copies
    tree = build_tree(rows[:4900])
    vectors = mean_vectors(tree, rows[:4900])
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append(insert_leaves(tree, vectors, rows[4900:], how="leaves"))
    finally:
        torch.set_num_threads(before)
    assert len({result.tree.digest() for result in results}) == 1
    assert all((result.vectors == results[0].vectors).all() for result in results)


def test_vectors_opened_for_reading_only():
    rows = corpus("clusters", 300, 16, 0)
    tree = build_tree(rows)
    vectors = mean_vectors(tree, rows)
    wanted = insert_leaves(tree, vectors, rows[:5], normalised=True)
    vectors.flags.writeable = False
    found = insert_leaves(tree, vectors, rows[:5], normalised=True)
    assert found.tree.digest() == wanted.tree.digest()
    assert (found.vectors == wanted.vectors).all()


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
