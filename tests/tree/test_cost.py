"""Dasgupta's cost against its definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from psi.errors import InputError
from psi.tree import Tree, build_tree, dasgupta_cost, tree_from_parents, unit_rows
from psi.tree.dasgupta import cost_of_weights
from tests.tree.corpora import corpora

STAR = [4, 4, 4, 4, -1]
PAIRS = [4, 4, 5, 5, 6, 6, -1]


def by_definition(tree: Tree, weights) -> float:
    """Over all pairs of leaves."""
    counts = tree.leaf_counts()
    paths = [tree.path(leaf) for leaf in range(tree.n_leaves)]
    return sum(
        weights[i, j] * counts[next(node for node in paths[i] if node in paths[j])]
        for i, j in itertools.combinations(range(tree.n_leaves), 2)
    )


def test_known_values():
    ones = np.ones((4, 1))
    assert dasgupta_cost(tree_from_parents(4, STAR), ones) == pytest.approx(24)
    assert dasgupta_cost(tree_from_parents(4, PAIRS), ones) == pytest.approx(20)
    assert dasgupta_cost(build_tree([[1.0]]), [[1.0]]) == 0


def test_known_values_with_any_weights():
    weights = np.full((4, 4), 0.1)
    weights[0, 1] = weights[1, 0] = weights[2, 3] = weights[3, 2] = 1
    wrong = tree_from_parents(4, [4, 5, 4, 5, 6, 6, -1])
    assert cost_of_weights(tree_from_parents(4, PAIRS), weights) == pytest.approx(5.6)
    assert cost_of_weights(wrong, weights) == pytest.approx(9.2)
    assert cost_of_weights(tree_from_parents(4, STAR), weights) == pytest.approx(9.6)


@settings(max_examples=30)
@given(vectors=corpora(40))
def test_linear_time_equals_the_definition(vectors):
    tree = build_tree(vectors, max_children=4)
    units = unit_rows(vectors).astype(np.float64)
    inner = units @ units.T
    scale = len(vectors) ** 3 + 1.0
    assert dasgupta_cost(tree, vectors) == pytest.approx(by_definition(tree, inner), abs=1e-9 * scale)
    assert dasgupta_cost(tree, vectors, "cosine01") == pytest.approx(
        by_definition(tree, (1 + inner) / 2), abs=1e-9 * scale
    )
    assert cost_of_weights(tree, inner) == pytest.approx(by_definition(tree, inner), abs=1e-9 * scale)


def test_bad_calls_are_named():
    tree = build_tree(np.eye(3, dtype=np.float32))
    with pytest.raises(InputError, match="'cosine01'"):
        dasgupta_cost(tree, np.eye(3), "cosine")
    with pytest.raises(InputError, match="expected 3 rows"):
        dasgupta_cost(tree, np.eye(2))
    with pytest.raises(InputError, match=r"\(3, 3\)"):
        cost_of_weights(tree, np.eye(2))
