"""A token trie: candidates that begin alike share the work of scoring their common beginning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TokenTrie:
    """The distinct prefixes of some token sequences, parents before children.

    `tokens`, `parents` and `depths` describe the n nodes: the last token of a prefix, the node it continues (-1: none)
    and its length. `ends[i]` is the node at which sequence i is complete.
    """

    tokens: NDArray[np.int64]
    parents: NDArray[np.int64]
    depths: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]]) -> TokenTrie:
        """Build the trie of non-empty token sequences (equal ones share their end)."""
        nodes: dict[tuple[int, int], int] = {}
        depths: list[int] = []
        ends = []
        for sequence in sequences:
            node = -1
            for depth, token in enumerate(sequence, start=1):
                child = nodes.setdefault((node, token), len(nodes))
                if child == len(depths):
                    depths.append(depth)
                node = child
            ends.append(node)
        pairs = np.array(list(nodes), dtype=np.int64).reshape(-1, 2)
        return cls(pairs[:, 1], pairs[:, 0], np.array(depths, dtype=np.int64), np.array(ends, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.tokens)

    def ancestors(self) -> NDArray[np.bool_]:
        """(n, n) matrix: row i is True at node i and at every node above it."""
        above = np.eye(len(self), dtype=np.bool_)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                above[node] |= above[parent]
        return above

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) sums of one value a node over the path from the top down to each node, that node included."""
        total = np.asarray(values, dtype=np.float64).copy()
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                total[node] += total[parent]
        return total
