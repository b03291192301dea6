"""Costs of rooted trees, the collapse of binary trees and the theorems, against slow definitions and known values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.studies.builders import KMeansLayers, LinkageLayers, RandomLayers, linkage_of, nested
from analysis.studies.collapse import joins
from analysis.studies.dasgupta import depth, sibling_sizes
from analysis.studies.rooted import RootedTree, from_hierarchy, from_linkage, node_costs, rooted_cost, star
from analysis.studies.theorems import SHAPES, balanced, change, change_by_trees, holds, scatter, uniform_gains
from baselines.raptor.from_vectors import RaptorLayers
from experiments.study import main
from psi.errors import InputError
from psi.tree import Layers, build_tree, build_tree_with_report, dasgupta_cost, unit_rows


def vectors(n, seed=0, width=5):
    return unit_rows(np.random.default_rng(seed).standard_normal((n, width)).astype(np.float32))


def random_tree(n, seed):
    """Leaves joined a few at a time, some nodes with one child."""
    rng = np.random.default_rng(seed)
    parents, tops, new = {}, list(range(n)), n
    while len(tops) > 1 or new == n:
        taken = rng.choice(len(tops), min(len(tops), int(rng.integers(1, 4))), replace=False)
        for at in sorted(taken.tolist(), reverse=True):
            parents[tops.pop(at)] = new
        tops.append(new)
        new += 1
    return RootedTree(n, np.array([parents.get(node, -1) for node in range(new)]))


def slow_cost(tree, weight):
    """The definition, pair by pair."""
    paths = []
    for leaf in range(tree.n_leaves):
        path = [leaf]
        while tree.parents[path[-1]] >= 0:
            path.append(int(tree.parents[path[-1]]))
        paths.append(path)
    below = [sum(node in path for path in paths) for node in range(len(tree.parents))]
    total = 0.0
    for i in range(tree.n_leaves):
        for j in range(i + 1, tree.n_leaves):
            met = next(node for node in paths[i] if node in paths[j])
            total += weight(i, j) * below[met]
    return total


@given(st.integers(1, 25), st.integers(0, 100))
@settings(max_examples=30)
def test_the_cost_of_any_rooted_tree_is_that_of_the_definition(n, seed):
    tree, rows = random_tree(n, seed), vectors(n, seed).astype(float)
    assert rooted_cost(tree, rows, "inner") == pytest.approx(slow_cost(tree, lambda i, j: rows[i] @ rows[j]), abs=1e-5)
    assert rooted_cost(tree, rows) == pytest.approx(slow_cost(tree, lambda i, j: (1 + rows[i] @ rows[j]) / 2), abs=1e-5)
    assert rooted_cost(tree, rows, "unit") == pytest.approx(slow_cost(tree, lambda i, j: 1))
    assert (node_costs(tree, rows)[:n] == 0).all()


def test_known_costs_of_four_leaves_with_unit_weights():
    rows = vectors(4)
    assert rooted_cost(star(4), rows, "unit") == 24
    chain = RootedTree(4, np.array([4, 4, 5, 6, 5, 6, -1]))
    even = RootedTree(4, np.array([4, 4, 5, 5, 6, 6, -1]))
    assert rooted_cost(chain, rows, "unit") == rooted_cost(even, rows, "unit") == 20
    assert depth(chain) == 3 and depth(even) == 2 and depth(star(4)) == 1


@pytest.mark.parametrize("parents", [[2, 2], [1, 2, -1], [3, 3, 3, 2], [3, 0, 3, -1]])
def test_what_is_no_tree_is_refused(parents):
    with pytest.raises(InputError, match="parents"):
        RootedTree(3, np.array(parents))


@given(st.integers(1, 80), st.integers(0, 20))
@settings(max_examples=20)
def test_the_abstract_tree_costs_the_same_by_either_function(n, seed):
    rows = vectors(n, seed)
    tree = build_tree(rows, max_children=5)
    assert rooted_cost(from_hierarchy(tree, rows), rows) == pytest.approx(dasgupta_cost(tree, rows, "cosine01"))


def test_a_node_with_several_parents_goes_to_the_nearest_and_several_tops_get_a_root():
    rows = unit_rows(np.array([[1, 0], [1, 0.1], [1, 1], [0, 1], [0.1, 1]], np.float32))
    layers = Layers.of(5, [[np.array([0, 1, 2]), np.array([2, 3, 4])]])
    tree = from_hierarchy(layers, rows)
    assert len(tree.parents) == 8 and tree.parents[:5].tolist()[:2] == [5, 5] and tree.parents[3] == 6
    assert tree.parents[5:].tolist() == [7, 7, -1]


@given(st.integers(2, 70), st.integers(0, 30))
@settings(max_examples=25)
def test_the_changes_of_all_joins_lead_from_the_binary_tree_to_the_abstract_tree(n, seed):
    rows = vectors(n, seed)
    tree, report = build_tree_with_report(rows, rebalance="none")
    changes = list(joins(tree, report.edges, rows))
    binary = from_linkage(linkage_of(rows, "single"))
    after = rooted_cost(from_hierarchy(tree, rows), rows)
    assert len(changes) == n - 1
    assert sum(join.change for join in changes) == pytest.approx(after - rooted_cost(binary, rows), rel=1e-6, abs=1e-6)
    assert all(join.change == 0 for join in changes if n == 2)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5), st.sampled_from(SHAPES), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_formula_of_a_moved_leaf_is_that_of_whole_trees(sizes, shape, random):
    source, target = random.sample(range(len(sizes)), 2)
    if sizes[source] == 1:
        sizes[source] += 1
    expected = change_by_trees(sizes, source, target, shape)
    assert float(change(sizes[source], sizes[target], sum(sizes), shape)) == expected


def test_the_theorem_fails_for_stars_of_sizes_2_10_3_and_holds_for_binary_trees():
    assert float(change(10, 2, 15, "star")) == -14 == change_by_trees([2, 10, 3], 1, 0, "star")
    assert not holds(10, 2, 15, "star") and holds(10, 2, 15, "binary")
    assert float(change(3, 2, 15, "star")) == 0  # one leaf more: nothing changes but the names


def test_equal_subtrees_are_not_best_where_there_are_three():
    for shape in SHAPES:
        assert not uniform_gains(5, 2, shape)
        assert uniform_gains(5, 3, shape)


@given(st.integers(3, 40), st.integers(2, 6), st.integers(0, 30))
@settings(max_examples=25)
def test_total_scatter_is_that_within_groups_and_l(n, k, seed):
    rng = np.random.default_rng(seed)
    points, groups = rng.standard_normal((n, 3)), rng.integers(0, k, n)
    found = scatter(points, groups)
    pairs = sum(((points[i] - points[j]) ** 2).sum() for i in range(n) for j in range(i + 1, n))
    assert found.total == pytest.approx(pairs)  # n times the sum of squares is the sum over all pairs
    assert found.total == pytest.approx(found.within + found.between)


def test_equal_groups_are_equal():
    points = np.random.default_rng(0).standard_normal((17, 2))
    assert sorted(np.bincount(balanced(points, points[:5])).tolist()) == [3, 3, 3, 4, 4]


def test_siblings_are_those_of_the_tree():
    tree = build_tree(vectors(60))
    triples = sibling_sizes(tree)
    assert (triples[:, 0] < triples[:, 1]).all() and (triples[:, 0] + triples[:, 1] <= triples[:, 2]).all()
    counts = tree.leaf_counts()
    slow = sorted(
        (int(min(counts[x], counts[y])), int(max(counts[x], counts[y])), int(counts[node]))
        for node in range(tree.n_leaves, tree.n_nodes)
        if tree.heights[node] > 1
        for at, x in enumerate(tree.children(node))
        for y in tree.children(node)[at + 1 :]
        if counts[x] != counts[y]
    )
    assert sorted(map(tuple, triples.tolist())) == slow


@pytest.mark.parametrize("builder", [LinkageLayers(), KMeansLayers(), RandomLayers(), RaptorLayers()])
@pytest.mark.parametrize("n", [1, 2, 90])
def test_every_builder_gives_layers_over_all_leaves(builder, n):
    rows = vectors(n, 1)
    hierarchy = builder.build(rows, 0)
    assert hierarchy.n_leaves == n
    tree = from_hierarchy(hierarchy, rows)
    assert tree.leaf_counts()[-1] == n
    again = builder.build(rows, 0)
    assert np.array_equal(hierarchy.child_ids, again.child_ids)


def test_groups_that_are_nested_become_layers():
    layers = nested([np.array([7, 7, 3, 3, 9]), np.array([1, 1, 1, 1, 0])])
    assert layers.layer_sizes() == (5, 3, 2)
    assert layers.children(5).tolist() == [0, 1] and layers.children(8).tolist() == [5, 6]


def test_the_study_ends_with_the_same_files_twice(tmp_path, capsys):
    quick = ["dataset.passages=100", "dataset.questions=10", "study.seeds=[0]", "study.moves=10", "study.grid=8"]
    for out in ("one", "two"):
        main(["study=dasgupta", f"store={tmp_path}/store", f"out={tmp_path}/{out}", *quick])
    assert "Theorem 4.4" in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert {"costs.md", "theorem41.csv", "dasgupta_theorem44.png", "dasgupta_layers.pdf"} <= names
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
