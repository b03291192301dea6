"""Gold references (a title, perhaps with a text) mapped to passage ids."""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from psi.corpus.records import Passage, Question

log = logging.getLogger(__name__)

_UNMAPPED = "unmapped:"


class Reference(NamedTuple):
    """How a record names a supporting passage: by title, or by title and text."""

    title: str
    text: str | None = None

    @property
    def label(self) -> str:
        """A short name, distinct for distinct references: the title and the start of the text's sha256."""
        if self.text is None:
            return self.title
        return f"{self.title} #{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"


class GoldIndex:
    """Finds the passage that a reference means; `loose` counts matches with white space left aside."""

    def __init__(self, passages: Sequence[Passage]):
        """Index cleaned passages; references must be cleaned alike."""
        self.loose = 0
        self._by_title: defaultdict[str, list[str]] = defaultdict(list)
        self._exact: dict[tuple[str, str], str] = {}
        self._squeezed: dict[tuple[str, str], str] = {}
        for passage in passages:
            self._by_title[passage.title].append(passage.id)
            self._exact.setdefault((passage.title, passage.text), passage.id)
            self._squeezed.setdefault((_squeeze(passage.title), _squeeze(passage.text)), passage.id)

    def by_title(self, reference: Reference) -> str | None:
        """The id of the only passage of that title; where titles repeat, the text decides."""
        ids = self._by_title.get(reference.title, [])
        return ids[0] if len(ids) == 1 else self.by_text(reference)

    def by_text(self, reference: Reference) -> str | None:
        """The id of the first passage with that title and text, or else with both equal but for white space.

        None if there is none.
        """
        if reference.text is None:
            return None
        exact = self._exact.get((reference.title, reference.text))
        if exact is not None:
            return exact
        found = self._squeezed.get((_squeeze(reference.title), _squeeze(reference.text)))
        self.loose += found is not None
        return found

    def notes(self) -> tuple[str, ...]:
        """A note for people if white space had to be left aside."""
        note = f"gold references that match their passage only with white space left aside: {self.loose}."
        return (note,) if self.loose else ()


def unmapped(reference: str) -> str:
    """The id that stands in a question's gold for a passage that the corpus lacks: no ranking can hold it."""
    return _UNMAPPED + reference


def unmapped_gold(questions: Iterable[Question]) -> tuple[str, ...]:
    """Gold references without a passage, each as `question id: reference`."""
    return tuple(
        f"{question.id}: {gold.removeprefix(_UNMAPPED)}"
        for question in questions
        for gold in question.gold
        if gold.startswith(_UNMAPPED)
    )


def warn_unmapped(benchmark: str, entries: Sequence[str]) -> None:
    """Log one warning for all gold references without a passage."""
    if entries:
        log.warning(
            "%s: %d gold references match no passage of the corpus and count as missed; first: %s",
            benchmark, len(entries), entries[0],
        )  # fmt: skip


def _squeeze(text: str) -> str:
    return "".join(text.split())
