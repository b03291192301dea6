"""Every exact path gives the tree of the literal all-pairs procedure."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from psi.tree import Edges, build_tree, merge_and_collapse, pair_weights, spanning_edges, unit_rows
from psi.tree.dendrogram import bottlenecks, weakest_between
from psi.tree.device import DeviceTiles
from psi.tree.edges import maximum_spanning_forest, merged_forest, total_order
from psi.tree.oracle import all_pair_weights
from psi.tree.passes import _Pass, tile_order
from psi.tree.precision import _largest_loss, _to_tf32, operands, product_bound
from psi.tree.seed import grown_tree
from tests.tree.conftest import SHARED
from tests.tree.corpora import KINDS, corpora, corpus, expected_tree


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@settings(max_examples=60)
@given(vectors=corpora(), tile=st.sampled_from([5, 16, 64]), threads=st.sampled_from([1, 2]))
def test_tiled_pass_equals_the_oracle(small_pass, precision, vectors, tile, threads):
    edges = spanning_edges(vectors, precision=precision, tile=tile, threads=threads)
    assert merge_and_collapse(len(vectors), edges).digest() == expected_tree(vectors).digest()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 97, 300])
def test_default_settings_equal_the_oracle(kind, n):
    vectors = corpus(kind, n, 24, seed=1)
    assert build_tree(vectors, rebalance="none").digest() == expected_tree(vectors).digest()


@settings(max_examples=40)
@given(vectors=corpora(), precision=st.sampled_from(["fp32", "bf16"]))
def test_the_pass_repairs_any_spanning_tree_also_with_tensor_operations(vectors, precision):
    rows = np.unique(unit_rows(vectors), axis=0)
    rows = rows[rows.any(axis=1)]
    if len(rows) < 3:
        return
    n, chain = len(rows), np.arange(len(rows) - 1)
    start = maximum_spanning_forest(n, Edges(chain, chain + 1, pair_weights(rows, chain, chain + 1)))
    fast = operands(rows, precision, torch.device("cpu"))
    layout = bottlenecks(n, start).order
    scanner = DeviceTiles(rows, fast.rows[torch.from_numpy(layout)], 16)
    found, _ = _Pass(start, layout, fast, scanner).run(tile_order(n, 16), 1, None)
    for got, right in zip(found, grown_tree(rows), strict=True):
        np.testing.assert_array_equal(got, right)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9), st.integers(1, 5), st.sampled_from([1.0, 0.5, 1e-30, 0.0, -0.0, -0.5, -1.0, -np.inf])
        )
    )
)
def test_the_total_order_is_that_of_three_sorted_columns(pairs):
    u, step, weight = (np.array(column) for column in zip(*pairs, strict=True)) if pairs else np.empty((3, 0), int)
    edges = Edges(u, u + step, weight.astype(np.float32))
    right = np.lexsort((edges.v, edges.u, -edges.weight))
    for got, wanted in zip(edges.take(total_order(edges)), edges.take(right), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("rounding", [torch.Tensor.bfloat16, _to_tf32])
def test_the_loss_by_rounding_is_the_longest_difference(rounding):
    exact = torch.from_numpy(unit_rows(corpus("gaussian", 5000, 33, 0)))
    rounded = rounding(exact)
    differences = exact.numpy().astype(np.float64) - rounded.float().numpy()
    assert _largest_loss(exact, rounded) == pytest.approx(np.linalg.norm(differences, axis=1).max(), rel=1e-11)


@settings(max_examples=40)
@given(vectors=corpora(60))
def test_the_order_of_the_spanning_edges_is_total(vectors):
    edges = spanning_edges(vectors)
    keys = list(zip(-edges.weight, edges.u, edges.v, strict=True))
    assert len(edges.u) == len(vectors) - 1
    assert keys == sorted(keys)
    assert (edges.u < edges.v).all()
    np.testing.assert_array_equal(edges.weight, all_pair_weights(vectors)[edges.u, edges.v])


@settings(max_examples=40)
@given(vectors=corpora(40))
def test_the_defined_similarity_is_what_it_says(vectors):
    rows = unit_rows(vectors)
    u, v = np.triu_indices(len(rows))
    ours = pair_weights(rows, u, v)
    np.testing.assert_array_equal(ours, pair_weights(rows, v, u))
    np.testing.assert_array_equal(ours, all_pair_weights(vectors)[u, v])
    for a, b, weight in zip(u[:200], v[:200], ours[:200], strict=True):
        exact = math.fsum(float(x) * float(y) for x, y in zip(rows[a], rows[b], strict=True))
        assert abs(weight - exact) <= 2.0**-21


@settings(max_examples=40)
@given(vectors=corpora(40), precision=st.sampled_from(["fp32", "tf32", "bf16"]))
def test_products_keep_their_bound(vectors, precision):
    rows = unit_rows(vectors)
    fast = operands(rows, precision, torch.device("cpu"))
    exact_products = fast.rows.double() @ fast.rows.double().T
    difference = np.abs(exact_products.numpy() - all_pair_weights(vectors))
    assert difference.max() <= fast.bound
    assert fast.bound < {"bf16": 0.01, "tf32": 2e-3, "fp32": 1e-4}[precision]
    if precision == "tf32":
        assert not (fast.rows.view(torch.int32) & 0x1FFF).any()


def test_the_bound_grows_with_what_rounding_loses():
    assert product_bound(384, 0.0) < 1e-4 < product_bound(384, 0.001) < product_bound(384, 0.002)


@settings(max_examples=30)
@given(vectors=corpora(40))
def test_bottlenecks_are_the_weakest_edges_on_the_paths(vectors):
    n = len(vectors)
    if n < 2:
        return
    tree = spanning_edges(vectors)
    necks = bottlenecks(n, tree)
    rank = np.full((n, n), -1)
    members = [{x} for x in range(n)]
    for e, (u, v) in enumerate(zip(tree.u, tree.v, strict=True)):
        for x in members[u]:
            for y in members[v]:
                rank[x, y] = rank[y, x] = e
        union = members[u] | members[v]
        for x in union:
            members[x] = union
    for x in range(n):
        for y in range(x):
            assert weakest_between(necks.table, necks.place[x], necks.place[y]) == rank[x, y]


def test_merging_into_a_sorted_forest_equals_sorting_all():
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(30, 1)
    edges = Edges(u, v, rng.integers(0, 9, len(u)).astype(np.float32))
    first, second = np.arange(0, len(u), 2), np.arange(1, len(u), 2)
    forest = maximum_spanning_forest(30, edges.take(first))
    for got, right in zip(
        merged_forest(30, forest, edges.take(second)), maximum_spanning_forest(30, edges), strict=True
    ):
        np.testing.assert_array_equal(got, right)
    assert (np.diff(edges.weight[total_order(edges)]) <= 0).all()


def test_hundreds_of_copies_need_no_pairs_among_themselves():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((400, 16)).astype(np.float32)[rng.integers(0, 400, 3000)]
    vectors[rng.integers(0, 3000, 900)] = vectors[0]
    edges = spanning_edges(vectors)
    grown = grown_tree(unit_rows(vectors))
    for got, right in zip(edges, grown, strict=True):
        np.testing.assert_array_equal(got, right)


def test_tiles_cover_every_pair_once():
    seen = np.zeros((23, 23), int)
    for top, top_end, left, left_end in tile_order(23, 5):
        for i in range(top, top_end):
            seen[i, max(left, i + 1) : left_end] += 1
    np.testing.assert_array_equal(seen, np.triu(np.ones((23, 23), int), 1))


def test_two_hundred_random_corpora(small_pass):
    for seed in range(200):
        vectors = corpus(KINDS[seed % len(KINDS)], 1 + (seed * 37) % 300, (2, 8, 40)[seed % 3], seed)
        right = expected_tree(vectors).digest()
        for precision in ("fp32", "bf16"):
            edges = spanning_edges(vectors, precision=precision, tile=(32, 128)[seed % 2], threads=1 + seed % 2)
            assert merge_and_collapse(len(vectors), edges).digest() == right, (seed, precision)


def test_real_passages_equal_the_oracle():
    """The first 700 passages of 2WikiMultiHopQA, hashed words as vectors: real ties, no model needed."""
    corpus_file = SHARED / "data/2wikimultihopqa/2wikimultihopqa_corpus.json"
    if not corpus_file.exists():
        pytest.skip(f"{corpus_file} is not there")
    passages = json.loads(corpus_file.read_text(encoding="utf-8"))[:700]
    vectors = np.zeros((len(passages), 384), np.float32)
    for row, passage in enumerate(passages):
        for word in f"{passage['title']} {passage['text']}".lower().split():
            vectors[row, sum(word.encode()) * 31 % 384] += 1
    right = expected_tree(vectors).digest()
    for precision in ("fp32", "bf16"):
        assert build_tree(vectors, precision=precision, rebalance="none").digest() == right
