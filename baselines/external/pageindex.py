"""PageIndex: trees that the package `pageindex` made of documents, searched by a chat model that reads their outline.

https://github.com/VectifyAI/PageIndex. The package turns PDF and Markdown files into trees and answers through an agent of
its own; it ranks no passages. Here its trees are read from JSON, and the tree search that it describes (the model sees
titles and summaries, and names the nodes that should hold the answer) is asked of our chat model with a prompt of our own.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, PositiveInt

from baselines.hipporag.errors import FailedSearchError
from psi.component import Component
from psi.corpus.records import Passage, Passages
from psi.errors import InputError, ModelError
from psi.models.protocols import ChatModel, Conversation, Message, Reply, Usage
from psi.models.thinking import without_thinking
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Store, digest, file_digest

log = logging.getLogger(__name__)
LEAST = 0.5  # share of a passage's words that a node must hold where none holds the passage as it stands
SYSTEM = (
    "You look for the parts of documents that answer a question. You see an outline: each line is one part, with its "
    "number, its title and sometimes a summary; indented parts lie inside the part above them. Reply with the numbers of "
    "the parts that should hold the answer, best first, one a line, and nothing else."
)


class Node(NamedTuple):
    """A part of a document: its depth in the tree (0: top), title, summary ('' where there is none) and text."""

    depth: int
    title: str
    summary: str
    text: str


@dataclass(frozen=True, kw_only=True)
class PageIndex(Component):
    """Trees in `folder`, one `.json` file a document, as the package writes them: `{"doc_name", "structure"}`.

    A document is that of the passages whose `document` (or title, where they have none) is the `doc_name`. Its nodes must
    hold their texts (`if_add_node_text`), by which passages find their nodes.

    most: nodes that count of those the model names.
    """

    llm: ChatModel
    folder: Annotated[str, Field(min_length=1)]
    most: PositiveInt = 5

    def identity(self) -> dict[str, Any]:
        """The settings, with what the files hold in place of where they are."""
        files = [[path.name, file_digest(path)] for path in self._files]
        return {**super().identity(), "folder": digest(files)}

    def build(self, passages: Passages, store: Store) -> PageIndexSearch:
        """Read the trees and find the node of every passage.

        Raises:
            InputError: the folder holds no tree, one can't be read, or no passage is in any.
        """
        if not self._files:
            raise InputError(f"{self.folder} holds no .json file: it must hold the trees that PageIndex wrote.")
        trees = dict(map(read_tree, self._files))
        nodes: list[Node] = []
        held: list[list[str]] = []
        lost = len(passages)
        for name, own in _by_document(passages).items():
            placed = placed_passages(own, trees.get(name, []))
            nodes += trees.get(name, [])
            held += placed
            lost -= sum(map(len, placed))
        if lost == len(passages):
            raise InputError(
                f"no passage of this corpus is in a tree of {self.folder}: it has the documents "
                f"{', '.join(sorted(trees)[:5])}, the corpus has {', '.join(sorted(_by_document(passages))[:5])}."
            )
        if lost:
            log.warning("%d of %d passages are in no node of a tree and will not be found.", lost, len(passages))
        return PageIndexSearch(self, nodes, held)

    @cached_property
    def _files(self) -> list[Path]:
        return sorted(Path(self.folder).glob("*.json"))


class PageIndexSearch:
    """Outlines of the corpus's documents, for a model to choose from."""

    def __init__(self, config: PageIndex, nodes: Sequence[Node], held: Sequence[Sequence[str]]):
        self._config, self._held = config, held
        self._outline = "\n".join(_line(number, node) for number, node in enumerate(nodes, start=1))

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """The passages of the nodes that the model names: nodes in its order, passages of a node in theirs.

        Raises:
            FailedSearchError: the model failed, or the outline did not fit its window.
        """
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        replies = [_whole(reply) for reply in self._config.llm.reply([self._asked(text) for text in questions])]
        failures = {
            question: reply for question, reply in zip(questions, replies, strict=True) if isinstance(reply, ModelError)
        }
        if failures:
            raise FailedSearchError("reading outlines", len(questions), failures)
        return [self._ranking(reply, k) for reply in replies if isinstance(reply, Reply)]

    def _asked(self, question: str) -> Conversation:
        return Message("system", SYSTEM), Message("user", f"Outline:\n{self._outline}\n\nQuestion: {question}")

    def _ranking(self, reply: Reply, k: int) -> Ranking:
        chosen = [number for number in numbers_of(reply.text) if number <= len(self._held)][: self._config.most]
        ids = list(dict.fromkeys(passage for number in chosen for passage in self._held[number - 1]))[:k]
        usage = Usage(1, reply.prompt_tokens, reply.completion_tokens)
        return Ranking(tuple(ids), tuple(1 / rank for rank in range(1, len(ids) + 1)), usage)


def numbers_of(reply: str) -> list[int]:
    """The numbers at the beginnings of a reply's lines, each once; of its only line, all.

    >>> numbers_of("<think>1 or 7?</think>3\\n- 12. Travel in 2020\\n3")
    [3, 12]
    >>> numbers_of("[4, 2]")
    [4, 2]
    """
    lines = without_thinking(reply).strip().splitlines()
    if len(lines) == 1:
        found = re.findall(r"\d+", lines[0])
    else:
        found = [match[1] for line in lines if (match := re.match(r"[^\w\n]*(\d+)", line))]
    return [number for number in dict.fromkeys(map(int, found)) if number > 0]


def read_tree(path: Path) -> tuple[str, list[Node]]:
    """A document's name, without the ending of a file, and its nodes, parents before their children.

    Raises:
        InputError: the file is no tree of PageIndex with texts.
    """
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        name, nodes = Path(tree["doc_name"]).stem, list(_nodes(tree["structure"], 0))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is no tree of PageIndex ({type(error).__name__}: {error}). It must be JSON with doc_name and structure."
        ) from error
    if not any(node.text for node in nodes):
        raise InputError(f"{path} has no texts. Make it anew with if_add_node_text='yes'.")
    return name, nodes


def placed_passages(passages: Sequence[Passage], nodes: Sequence[Node]) -> list[list[str]]:
    """Ids of the passages in each node; a passage is in the shortest node that holds it, or most of its words."""
    held: list[list[str]] = [[] for _ in nodes]
    texts = [_words(node.text) for node in nodes]
    bags = [Counter(text.split()) for text in texts]
    for passage in passages:
        text = _words(passage.text)
        whole = [place for place, each in enumerate(texts) if text and text in each]
        best = min(whole, key=lambda place: len(texts[place])) if whole else _most_alike(text, bags)
        if best is not None:
            held[best].append(passage.id)
    return held


def _most_alike(text: str, bags: Sequence[Counter[str]]) -> int | None:
    words = Counter(text.split())
    shares = [(words & bag).total() / max(1, words.total()) for bag in bags]
    best = max(range(len(shares)), key=lambda place: (shares[place], -bags[place].total()), default=None)
    return best if best is not None and shares[best] >= LEAST else None


def _nodes(structure: Sequence[Mapping[str, Any]], depth: int) -> Iterator[Node]:
    for node in structure:
        summary = node.get("summary") or node.get("prefix_summary") or ""
        yield Node(depth, str(node["title"]), str(summary), str(node.get("text") or ""))
        yield from _nodes(node.get("nodes") or [], depth + 1)


def _by_document(passages: Passages) -> dict[str, list[Passage]]:
    documents: dict[str, list[Passage]] = {}
    for passage in passages:
        documents.setdefault(Path(passage.document or passage.title).stem, []).append(passage)
    return documents


def _line(number: int, node: Node) -> str:
    summary = f": {_words(node.summary)}" if node.summary.strip() else ""
    return f"{'  ' * node.depth}{number} {_words(node.title)}{summary}"


def _whole(reply: Reply | ModelError) -> Reply | ModelError:
    if isinstance(reply, Reply) and reply.truncated and not reply.text.strip():
        return ModelError(
            "the outline does not fit the model's window. Scope questions to documents, or choose a larger model.",
            kind="truncated",
        )
    return reply


def _words(text: str) -> str:
    return " ".join(text.split())
