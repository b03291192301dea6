"""What studies know of a benchmark: vectors, labels and texts of its passages, its questions, indexes over it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psi.errors import InputError
from psi.tree import Tree

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


class DescribedTree(NamedTuple):
    """A tree, the (n_nodes, d) vectors of its nodes, and a text for each inner node, where nodes have any."""

    tree: Tree
    vectors: Floats
    texts: Sequence[str] | None


@dataclass(frozen=True, eq=False)
class StudyCorpus:
    """A benchmark as arrays.

    vectors: (n, d) of unit length, a row a passage; categories: (n,) labels of the passages, None where it is not known
    of one; titles, texts: (n,); question_vectors: (q, d); questions: (q,) their texts; gold: (q,) rows of their gold
    passages; indexes: trees over all passages by the way in which their nodes are described.
    """

    name: str
    vectors: Floats
    categories: tuple[str | None, ...]
    titles: tuple[str, ...]
    texts: tuple[str, ...]
    question_vectors: Floats
    questions: tuple[str, ...]
    gold: tuple[tuple[int, ...], ...]
    indexes: Mapping[str, DescribedTree] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.vectors)

    @cached_property
    def digest(self) -> str:
        """sha256 over vectors, categories and gold: what measurements without texts depend on."""
        sha = hashlib.sha256(repr((self.vectors.shape, self.categories, self.gold)).encode())
        for array in (self.vectors, self.question_vectors):
            sha.update(np.ascontiguousarray(array).tobytes())
        return sha.hexdigest()

    def asked(self) -> list[int]:
        """Places of the questions that have a gold passage.

        Raises:
            InputError: fewer than two, of which no interval can be made.
        """
        found = [q for q, gold in enumerate(self.gold) if gold]
        if len(found) < 2:
            raise InputError(
                f"{self.name}: {len(found)} of its questions have a gold passage, and this study needs two at least. Choose a "
                "corpus with gold passages."
            )
        return found

    def labelled(self) -> StudyCorpus:
        """The passages whose category is known, with the questions that have all their gold among them.

        Raises:
            InputError: fewer than two categories are known.
        """
        rows = np.flatnonzero([category is not None for category in self.categories])
        if len({self.categories[row] for row in rows}) < 2:
            raise InputError(
                f"{self.name}: its passages are of fewer than two known categories, and this study compares categories. "
                "Choose a corpus with categories: encyclopedia, or multihoprag_chunks."
            )
        return self.part(rows)

    def part(self, rows: Ids) -> StudyCorpus:
        """These passages (m,) in this order, and the questions whose gold passages, at least one, are all among them."""
        place = {int(row): at for at, row in enumerate(rows)}
        asked = [q for q, gold in enumerate(self.gold) if gold and all(row in place for row in gold)]
        return dataclasses.replace(
            self, vectors=self.vectors[rows], categories=tuple(self.categories[row] for row in rows),
            titles=tuple(self.titles[row] for row in rows), texts=tuple(self.texts[row] for row in rows),
            question_vectors=self.question_vectors[asked], questions=tuple(self.questions[q] for q in asked),
            gold=tuple(tuple(place[row] for row in self.gold[q]) for q in asked), indexes={},
        )  # fmt: skip
