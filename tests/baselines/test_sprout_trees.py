"""SproutRAG's trees, windows and search against literal oracles, on arrays alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baselines.sproutrag.aggregation import Aggregation
from baselines.sproutrag.documents import documents_of
from baselines.sproutrag.search import candidates, chosen_documents, handed_down, insert, nothing
from baselines.sproutrag.tree import inner_vectors, leaves_below, linked
from baselines.sproutrag.windows import windows_of
from psi.component import Component
from psi.corpus.records import Passage, Passages, Span
from psi.errors import ConfigError, InputError


def literal_tree(matrix):
    """Pairwise joining as the paper tells it; a relation is kept with the pair of chunks that gives it."""
    m = len(matrix)
    best = {(i, j): (-matrix[i][j], i, j) for i in range(m) for j in range(i + 1, m)}
    active, children, relation = list(range(m)), [], []
    first = {i: i for i in range(m)}
    for node in range(m, 2 * m - 1):
        a, b = min(best, key=best.get)
        children.append([a, b] if first[a] < first[b] else [b, a])
        relation.append(-best[a, b][0])
        first[node] = min(first[a], first[b])
        active = [x for x in active if x not in (a, b)]
        for x in active:
            ways = [best.pop((min(x, y), max(x, y))) for y in (a, b)]
            best[x, node] = min(ways)
        del best[a, b]
        active.append(node)
    return children, relation


def dense_pairs(matrix):
    a, b = np.triu_indices(len(matrix), 1)
    return np.stack([a, b], axis=1).astype(np.int32), matrix[a, b].astype(np.float32)


relations = st.integers(1, 9).flatmap(
    lambda m: st.lists(st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0]), min_size=m * m, max_size=m * m).map(
        lambda values: np.triu(np.array(values).reshape(m, m), 1)
    )
)


@given(relations)
def test_the_tree_is_the_one_of_pairwise_joining_ties_included(matrix):
    tree = linked(len(matrix), *dense_pairs(matrix))
    children, relation = literal_tree((matrix + matrix.T).tolist())
    assert tree.children.tolist() == children
    assert tree.relation.tolist() == relation


@given(relations)
def test_pairs_that_never_met_count_as_relation_zero(matrix):
    pairs, relation = dense_pairs(matrix)
    met = relation > 0
    sparse = linked(len(matrix), pairs[met], relation[met])
    whole = linked(len(matrix), pairs, relation)
    assert sparse.children.tolist() == whole.children.tolist()


def test_random_relations_give_the_literal_tree():
    matrix = np.random.default_rng(0).random((40, 40)).astype(np.float32)
    matrix = (matrix + matrix.T) / 2
    assert linked(40, *dense_pairs(matrix)).children.tolist() == literal_tree(matrix.tolist())[0]


def test_a_parent_is_the_mean_of_its_two_children():
    leaves = np.eye(3, dtype=np.float32)
    children = np.array([[0, 1], [3, 2]])  # ((0 1) 2)
    assert inner_vectors(leaves, children).tolist() == [[0.5, 0.5, 0], [0.25, 0.25, 0.5]]
    assert leaves_below(children, 4) == [0, 1, 2] and leaves_below(children, 3) == [0, 1]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(1, 30), st.floats(0, 0.9))
def test_windows_hold_every_token_and_never_too_many(lengths, capacity, overlap):
    windows = windows_of(lengths, capacity, overlap)
    seen = [set() for _ in lengths]
    for window in windows:
        assert 0 < sum(piece.end - piece.start for piece in window) <= capacity
        for chunk, start, end in window:
            seen[chunk] |= set(range(start, end))
            assert lengths[chunk] > capacity or (start, end) == (0, lengths[chunk])  # whole, where it fits
    assert [len(tokens) for tokens in seen] == lengths
    assert len({tuple(window) for window in windows}) == len(windows)


def test_windows_overlap_by_the_share_that_is_asked_for():
    chunks = [[piece.chunk for piece in window] for window in windows_of([10] * 10, 40, 0.5)]
    assert chunks == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7], [6, 7, 8, 9]]
    assert [[p.chunk for p in w] for w in windows_of([10] * 5, 40, 0.0)] == [[0, 1, 2, 3], [1, 2, 3, 4]]


def literal_beam(near, children, beam, threshold, leaves_only):
    m = len(children) + 1
    frontier, visited = [len(near) - 1], []
    while frontier:
        visited += frontier
        below = sorted(child for node in frontier if node >= m for child in children[node - m])
        frontier = sorted(below, key=lambda node: (-near[node], node))[:beam]
    allowed = [node for node in visited if node < m or not leaves_only]
    found = [node for node in allowed if near[node] >= threshold]
    if not found and allowed:
        found = [max(allowed, key=lambda node: near[node])]
    return {node: near[node] for node in found}


@given(relations, st.integers(1, 4), st.sampled_from([-1.0, 0.0, 0.3, 2.0]), st.booleans(), st.integers(0, 9))
def test_beam_search_is_the_literal_one(matrix, beam, threshold, leaves_only, seed):
    children = linked(len(matrix), *dense_pairs(matrix)).children
    near = np.round(np.random.default_rng(seed).uniform(-1, 1, (3, 2 * len(matrix) - 1)), 1)
    found = candidates(near, children, beam, threshold, leaves_only)
    for row, scores in zip(found, near, strict=True):
        expected = literal_beam(scores.tolist(), children.tolist(), beam, threshold, leaves_only)
        got = {node: score for node, score in enumerate(row.tolist()) if score > -np.inf}
        if expected and max(expected.values()) < threshold:  # the best of equals: either of them
            assert list(got.values()) == list(expected.values())
        else:
            assert got == expected


@given(relations, st.integers(0, 9))
def test_an_inner_node_counts_as_its_leaves_each_with_its_best_score(matrix, seed):
    children = linked(len(matrix), *dense_pairs(matrix)).children
    m = len(matrix)
    scores = np.random.default_rng(seed).choice([-np.inf, 0.1, 0.5], (2, 2 * m - 1))
    expected = np.full((2, m), -np.inf)
    for node in range(2 * m - 1):
        for leaf in leaves_below(children, node):
            expected[:, leaf] = np.maximum(expected[:, leaf], scores[:, node])
    assert handed_down(scores, children).tolist() == expected.tolist()


@given(st.integers(0, 99), st.integers(1, 5))
def test_the_best_of_many_documents_are_those_of_a_sort(seed, k):
    random = np.random.default_rng(seed)
    best, everything = nothing(2, k), [[], []]
    for document in range(4):
        ids = np.arange(3) * 4 + document
        scores, seconds = random.choice([-np.inf, 0.1, 0.2], (2, 3)), random.choice([0.0, 1.0], (2, 3))
        insert(best, np.array([0, 1]), scores, seconds, ids)
        for q in range(2):
            everything[q] += [(-s, -t, x) for s, t, x in zip(scores[q], seconds[q], ids, strict=True) if s > -np.inf]
    for q in range(2):
        assert best.row(q)[2].tolist() == [x for _, _, x in sorted(everything[q])[:k]]


def test_questions_search_the_documents_nearest_to_them():
    near = np.array([[0.1, 0.9, 0.9], [0.5, 0.2, 0.1]])
    assert [(d, rows.tolist()) for d, rows in chosen_documents(near, 1)] == [(0, [1]), (1, [0])]
    assert [(d, rows.tolist()) for d, rows in chosen_documents(near, None)] == [(0, [0, 1]), (1, [0, 1]), (2, [0, 1])]


def test_weights_of_heads():
    scalars = np.log(np.array([1.0, 1.0, 2.0, 4.0]))
    assert np.allclose(Aggregation().weights((2, 2), scalars), [1 / 8, 1 / 8, 2 / 8, 4 / 8])
    assert np.allclose(Aggregation().weights((2, 2), None), 0.25)
    assert np.allclose(Aggregation(kind="uniform").weights((2, 2), scalars), 0.25)
    assert np.allclose(Aggregation(kind="last_layer").weights((2, 2), scalars), [0, 0, 0.5, 0.5])
    with pytest.raises(ConfigError, match="another model"):
        Aggregation().weights((2, 3), scalars)
    with pytest.raises(ConfigError, match="no weights"):
        Aggregation(kind="similarity").weights((2, 2), None)
    assert isinstance(Aggregation(), Component)


def test_chunks_go_by_their_spans_and_not_by_their_ids():
    passages = Passages([
        Passage("d#10", "", "last", "d", None, Span("d", 50, 60)),
        Passage("d#9", "", "first", "d", None, Span("d", 0, 50)),
        Passage("alone", "", "by itself"),
        Passage("d2#1", "", "no span", "alone"),  # a document with the name of a passage that stands alone
    ])  # fmt: skip
    documents = documents_of(passages)
    assert [[chunk.id for chunk in documents.chunks(d)] for d in range(3)] == [["alone"], ["d#9", "d#10"], ["d2#1"]]
    assert documents.chunk_of[documents.order].tolist() == [0, 1, 2, 3]


def test_chunks_without_text_or_with_half_the_spans_are_refused_by_name():
    with pytest.raises(InputError, match="'x' is blank"):
        documents_of(Passages([Passage("x", "title", " \n", "d")]))
    with pytest.raises(InputError, match="'b' has no span"):
        documents_of(Passages([Passage("a", "", "t", "d", None, Span("d", 0, 1)), Passage("b", "", "t", "d")]))
