"""The replayed search is the real one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.descent import descend, lost_at
from psi.tree import beam_search, build_tree, mean_vectors


@given(st.integers(1, 120), st.integers(1, 12), st.integers(0, 50))
@settings(max_examples=40)
def test_it_ends_where_the_beam_search_ends(n, beam, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (n, 4)).astype(np.float32)  # with ties and copies
    vectors[~vectors.any(axis=1), 0] = 1
    tree = build_tree(vectors, max_children=6)
    nodes = mean_vectors(tree, vectors)
    query = rng.standard_normal(4).astype(np.float32)
    levels = descend(tree, nodes, query, beam)
    ids, scores = beam_search(tree, nodes, query[None], beam=beam, k=beam)
    assert levels[-1].kept.tolist() == [leaf for leaf in ids[0] if leaf >= 0]
    assert np.array_equal(levels[-1].similarity, scores[0][ids[0] >= 0])
    assert [level.height for level in levels] == list(range(levels[0].height, -1, -1))


def test_it_tells_where_the_way_to_a_leaf_was_left():
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((200, 8)).astype(np.float32)
    tree = build_tree(vectors)
    levels = descend(tree, mean_vectors(tree, vectors), vectors[0], 2)
    reached = set(levels[-1].kept.tolist())
    for leaf in range(200):
        height = lost_at(tree, levels, leaf)
        assert (height is None) == (leaf in reached)
        if height is not None and height < levels[0].height:
            level = next(each for each in levels if each.height == height + 1)
            assert tree.ancestors([leaf], height + 1)[0] in level.kept
