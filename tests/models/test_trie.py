"""The token trie."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from psi.models.trie import TokenTrie

SEQUENCES = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=20)


def path(trie: TokenTrie, node: int) -> list[int]:
    tokens: list[int] = []
    while node >= 0:
        tokens.insert(0, int(trie.tokens[node]))
        node = int(trie.parents[node])
    return tokens


@given(SEQUENCES)
def test_every_sequence_ends_at_its_own_path(sequences: list[list[int]]) -> None:
    trie = TokenTrie.of(sequences)
    assert [path(trie, end) for end in trie.ends] == sequences
    assert trie.depths[trie.ends].tolist() == [len(sequence) for sequence in sequences]


@given(SEQUENCES)
def test_common_beginnings_are_stored_once(sequences: list[list[int]]) -> None:
    prefixes = {tuple(sequence[:length]) for sequence in sequences for length in range(1, len(sequence) + 1)}
    trie = TokenTrie.of(sequences)
    assert len(trie) == len(prefixes)
    assert all(parent < node for node, parent in enumerate(trie.parents))


@given(SEQUENCES)
def test_a_node_sees_its_path_and_sums_over_it(sequences: list[list[int]]) -> None:
    trie = TokenTrie.of(sequences)
    above = trie.ancestors()
    assert above.sum(axis=1).tolist() == trie.depths.tolist()
    values = np.arange(1.0, len(trie) + 1)
    np.testing.assert_allclose(trie.sums(values), above @ values)


def test_an_example() -> None:
    trie = TokenTrie.of([[1, 2], [1, 3], [4], [1, 2]])
    assert trie.tokens.tolist() == [1, 2, 3, 4]
    assert trie.parents.tolist() == [-1, 0, 0, -1]
    assert trie.ends.tolist() == [1, 2, 3, 1]
    assert trie.ancestors().astype(int).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]
