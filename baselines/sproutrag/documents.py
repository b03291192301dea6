"""A corpus as documents: which passages are chunks of one document, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from psi.corpus.records import Passage, Passages
from psi.errors import InputError

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Documents:
    """Passages grouped by document.

    `order` (n,) are passage positions, document after document, in the order of their spans inside each; `offsets`
    (documents + 1,) say where in it each document begins. Chunk i of the corpus is the passage `order[i]`.
    """

    passages: Passages
    order: Ids
    offsets: Ids

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def chunks(self, document: int) -> list[Passage]:
        """The chunks of a document, in order."""
        return [self.passages[int(i)] for i in self.order[self.offsets[document] : self.offsets[document + 1]]]

    @cached_property
    def chunk_of(self) -> Ids:
        """(n,) the chunk of each passage: the inverse of `order`."""
        inverse = np.empty_like(self.order)
        inverse[self.order] = np.arange(len(self.order))
        return inverse


def documents_of(passages: Passages) -> Documents:
    """Group a corpus. A passage without a document is one by itself; passages without a span keep the order of their ids.

    Raises:
        InputError: a passage is blank; or some chunks of a document have a span and others have none.
    """
    groups: dict[tuple[bool, str], list[int]] = {}
    for position, passage in enumerate(passages):
        if not passage.text.strip():
            raise InputError(f"passage {passage.id!r} is blank: it can't be encoded. Drop it from the corpus.")
        alone = passage.document is None
        groups.setdefault((alone, passage.id if passage.document is None else passage.document), []).append(position)
    ordered = [_in_order(passages, members) for members in groups.values()]
    offsets = np.cumsum([0, *(len(members) for members in ordered)])
    return Documents(passages, np.array([i for members in ordered for i in members], dtype=np.int64), offsets)


def _in_order(passages: Passages, members: Sequence[int]) -> list[int]:
    spans = [passages[i].span for i in members]
    if all(span is None for span in spans):
        return list(members)
    if any(span is None for span in spans):
        lacking = next(i for i, span in zip(members, spans, strict=True) if span is None)
        raise InputError(
            f"passage {passages[lacking].id!r} has no span, but other chunks of the document "
            f"{passages[lacking].document!r} have one: their order is unknown. Give all of them a span, or none."
        )
    return sorted(members, key=lambda i: (passages[i].span or (), i))
