"""An answer and its sources as text: passages, and where they hang in the tree."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from psi.agent.answer import Answer
from psi.component import Component
from psi.corpus.records import Passage, Passages
from psi.index.psi_index import PsiIndex, TreeIndexer
from psi.retrieval.ranking import Ranking
from psi.store import Store

SNIPPET = 3  # lines of a passage that are shown
INDENT = "     "


@dataclass(frozen=True)
class TreePaths:
    """Where the passages of a corpus hang in the abstract tree of a method."""

    index: PsiIndex
    passages: Passages

    @classmethod
    def of(cls, retriever: Any, passages: Passages, store: Store) -> TreePaths | None:
        """The paths in the first tree among the parts of a retriever; None where it has none."""
        indexer = next((part for part in _parts(retriever) if isinstance(part, TreeIndexer)), None)
        return None if indexer is None else cls(indexer.build(passages, store), passages)

    def above(self, passage: str) -> Iterator[str]:
        """A line for each node above a passage, from its parent to the root: its abstract, its number of passages."""
        tree, texts = self.index.tree, self.index.texts
        counts = tree.leaf_counts()
        for node in tree.path(self.passages.position[passage])[1:].tolist():
            text = f": {texts[node - tree.n_leaves]}" if texts is not None else ""
            root = ", all" if node == tree.root else ""
            yield f"height {tree.heights[node]}, {counts[node]} passages{root}{text}"


def answer_lines(answer: Answer, width: int) -> Iterator[str]:
    """The answer with its status and confidence, or why there is none."""
    if answer.text:
        sure = "" if answer.confidence is None else f" (confidence {answer.confidence:.2f})"
        yield from textwrap.wrap(f"Answer{sure}: {answer.text}", width, subsequent_indent="  ")
    if answer.status == "failed":
        yield from textwrap.wrap(f"No answer, the call failed ({answer.error_type}): {answer.error}", width)
    elif answer.status != "ok":
        yield f"Status: {answer.status.replace('_', ' ')}"


def source_lines(ranking: Ranking, passages: Passages, paths: TreePaths | None, width: int) -> Iterator[str]:
    """The passages, best first, each with its place in the tree where there is one."""
    yield ""
    yield "Sources:" if ranking.ids else "No passage was found."
    for number, (id_, score) in enumerate(zip(ranking.ids, ranking.scores, strict=True), start=1):
        yield from _passage_lines(number, passages.by_id(id_), score, width)
        for depth, line in enumerate(paths.above(id_) if paths else ()):
            yield _fitted(f"{INDENT}{'  ' * depth}└ {line}", width)


def _passage_lines(number: int, passage: Passage, score: float, width: int) -> Iterator[str]:
    yield f"{number:>3}. {passage.title or passage.id}  [{passage.id}]  {score:.4f}"
    text = " ".join(passage.text.split())
    yield from textwrap.wrap(
        text, width, initial_indent=INDENT, subsequent_indent=INDENT, max_lines=SNIPPET, placeholder=" …"
    )


def _fitted(line: str, width: int) -> str:
    flat = line.replace("\n", " ")
    return flat if len(flat) <= width else f"{flat[: width - 2]} …"


def _parts(part: Any) -> Iterator[Component]:
    """A component and all components in its settings, outermost first."""
    if isinstance(part, (tuple, list)):
        for item in part:
            yield from _parts(item)
    elif isinstance(part, Component):
        yield part
        for field in dataclasses.fields(part):
            yield from _parts(getattr(part, field.name))
