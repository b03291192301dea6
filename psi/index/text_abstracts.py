"""Abstracts that a language model writes: a summary or keywords for every inner node, from the leaves upwards."""

from __future__ import annotations

import abc
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from tqdm import tqdm

from psi.component import Component, runtime
from psi.corpus.records import Passages
from psi.errors import ConfigError, ModelError, PsiError
from psi.index.abstract_replies import keywords_of, summary_of
from psi.index.abstracts import NodeAbstracts
from psi.index.fitting import Fitted, fitted
from psi.models.protocols import ChatModel, Conversation, Embedder, Message, Reply
from psi.models.vectors import checked_vectors
from psi.store import RowLog, write_rows
from psi.tree import Hierarchy

log = logging.getLogger(__name__)
CALLS = "calls.jsonl"
BYTES_PER_TOKEN = 3  # of models that count for themselves alone: English has about 4, so this errs to the safe side

SUMMARISE_PASSAGES = (
    "Summarise the texts below in one paragraph of at most {limit} words. Name the people, places, works, "
    "organisations, dates and numbers that matter, so that a reader can tell which questions these texts answer. Say "
    "only what the texts say, in their language. Reply with the paragraph alone."
)
SUMMARISE_SUMMARIES = (
    "Each text below summarises one group of documents. Write one paragraph of at most {limit} words about all groups "
    "together: first what they have in common, then what is particular to each, with its names. Say only what the "
    "texts say, in their language. Reply with the paragraph alone."
)
KEYWORDS_OF_PASSAGES = (
    "Name what the texts below are about by at most {limit} keywords or short phrases: the topics they share first, "
    "from the most general on, then the names of people, places and works in them. Use the language of the texts. "
    "Reply with one line of keywords, separated by commas."
)
KEYWORDS_OF_KEYWORDS = (
    "Each text below lists the keywords of one group of documents. Find at most {limit} keywords or short phrases that "
    "describe all groups together, the most general first; keep a name only where it stands for a whole group. Use the "
    "language of the texts. Reply with one line of keywords, separated by commas."
)


class UnfinishedAbstractsError(PsiError):
    """Nodes whose abstract could not be had; the others are kept, and a second start asks for these again."""

    def __init__(self, height: int, size: int, failures: Mapping[int, ModelError]):
        node, first = next(iter(failures.items()))
        kinds = ", ".join(
            f"{kind} {count}" for kind, count in sorted(Counter(e.kind for e in failures.values()).items())
        )
        super().__init__(
            f"{len(failures)} of the {size} abstracts of layer {height} failed ({kinds}), so there is no index; first "
            f"node {node}: {first} Start again to ask for these again: the finished ones are kept."
        )
        self.failures = failures


class _Prompt(NamedTuple):
    conversation: Conversation
    input: Fitted


@dataclass(frozen=True, kw_only=True)
class TextAbstracts(Component, abc.ABC):
    """What the kinds of text have in common.

    The nodes of a layer are described together: those above the leaves from the passages' texts, the others from their
    children's abstracts. Finished ones are rows in the stage's folder, so a start after a failure asks for the missing
    ones alone. An abstract that failed, or is empty, fails the index: it never becomes text.

    llm: the chat model; its own limit ends a reply.
    input_tokens: most tokens of a prompt where the model does not know its window (HTTP servers), estimated as a third
        of the bytes.
    leaf_instruction, branch_instruction: what is asked of passages, and of abstracts; `{limit}` stands for the limit.
    batch_size: nodes in one call of the model, and between two points from which a killed run goes on.
    """

    llm: ChatModel
    leaf_instruction: str
    branch_instruction: str
    input_tokens: PositiveInt = 3000
    batch_size: PositiveInt = runtime(512)

    def abstracts(
        self, tree: Hierarchy, passages: Passages, leaf_vectors: NDArray[np.float32], embedder: Embedder, folder: Path
    ) -> NodeAbstracts:
        """Write layer by layer, then embed.

        Raises:
            UnfinishedAbstractsError: the model failed, or had nothing to say, for some nodes.
            ConfigError: the model's window is too small for the instruction and one short text.
        """
        path = folder / "abstracts.log"
        inner = range(tree.n_leaves, tree.n_nodes)
        with RowLog(path, key="node") as rows, _bar(len(inner), len(rows.rows)) as bar:
            for height, layer in enumerate(tree.layers()[1:], start=1):
                self._write_layer(tree, height, layer.tolist(), passages, rows, bar.update)
            calls = [rows.rows[str(node)] for node in inner]
        texts = [str(row["text"]) for row in calls]
        vectors = np.array(leaf_vectors, dtype=np.float32)
        if texts:
            vectors = np.concatenate([vectors, checked_vectors(embedder.encode_passages(texts))])
        facts = _facts(calls)
        # attempts differ between two ways to the same abstracts: they stay in the facts
        write_rows(folder / CALLS, [{k: v for k, v in row.items() if k not in ("text", "attempts")} for row in calls])
        return NodeAbstracts(vectors, texts, facts)

    @abc.abstractmethod
    def _limit(self) -> int:
        """The number that the instructions name."""

    @abc.abstractmethod
    def _parsed(self, reply: Reply) -> str:
        """The abstract in a reply; "" where there is none."""

    def _write_layer(
        self,
        tree: Hierarchy,
        height: int,
        nodes: list[int],
        passages: Passages,
        rows: RowLog,
        told: Callable[[int], object],
    ) -> None:
        failures: dict[int, ModelError] = {}
        for batch in _batches([node for node in nodes if str(node) not in rows.rows], self.batch_size):
            prompts = [self._prompt(_children_texts(tree, node, passages, rows), height) for node in batch]
            replies = self.llm.reply([prompt.conversation for prompt in prompts])
            outcomes = {n: self._outcome(n, p, r) for n, p, r in zip(batch, prompts, replies, strict=True)}
            written = [row for row in outcomes.values() if not isinstance(row, ModelError)]
            rows.append(written)
            told(len(written))
            failures |= {node: row for node, row in outcomes.items() if isinstance(row, ModelError)}
            if not written:
                break  # nothing works: the server is down, say
        if failures:
            raise UnfinishedAbstractsError(height, len(nodes), failures)

    def _prompt(self, texts: Sequence[str], height: int) -> _Prompt:
        instruction = self.leaf_instruction if height == 1 else self.branch_instruction
        instruction = instruction.replace("{limit}", str(self._limit()))
        found = fitted(texts, lambda part: self._fits(_conversation(instruction, part)))
        if found is None:
            raise ConfigError(
                f"{type(self).__name__}: the language model's window is too small for the instruction and one short "
                "text. Raise its context (llm.context_tokens), or input_tokens, or shorten the instructions."
            )
        return _Prompt(_conversation(instruction, found.texts), found)

    def _fits(self, conversation: Conversation) -> bool:
        limit, tokens = self.llm.prompt_limit(), self.llm.prompt_tokens(conversation)
        if limit is not None and tokens is not None:
            return tokens <= limit
        size = sum(len(message.content.encode(errors="replace")) for message in conversation)
        return size <= BYTES_PER_TOKEN * (self.input_tokens if limit is None else limit)

    def _outcome(self, node: int, prompt: _Prompt, reply: Reply | ModelError) -> dict[str, Any] | ModelError:
        if isinstance(reply, ModelError):
            return reply
        text = self._parsed(reply)
        if not text:
            kind = "truncated" if reply.truncated else "empty"
            return ModelError(f"no abstract in the reply {reply.text[:80]!r}.", kind=kind, attempts=reply.attempts)
        return {
            "node": str(node), "text": text, "texts": len(prompt.input.texts), "shortened": prompt.input.shortened,
            "dropped": prompt.input.dropped, "truncated": reply.truncated, "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens, "attempts": reply.attempts,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SummaryAbstracts(TextAbstracts):
    """One paragraph of at most `words` words a node."""

    leaf_instruction: str = SUMMARISE_PASSAGES
    branch_instruction: str = SUMMARISE_SUMMARIES
    words: PositiveInt = 100

    def _limit(self) -> int:
        return self.words

    def _parsed(self, reply: Reply) -> str:
        return summary_of(reply.text, self.words, truncated=reply.truncated)


@dataclass(frozen=True, kw_only=True)
class KeywordAbstracts(TextAbstracts):
    """At most `keywords` keywords a node, the most general first."""

    leaf_instruction: str = KEYWORDS_OF_PASSAGES
    branch_instruction: str = KEYWORDS_OF_KEYWORDS
    keywords: PositiveInt = 20

    def _limit(self) -> int:
        return self.keywords

    def _parsed(self, reply: Reply) -> str:
        return keywords_of(reply.text, self.keywords, truncated=reply.truncated)


def _conversation(instruction: str, texts: Sequence[str]) -> Conversation:
    parts = [f"Text {number}:\n{text}" for number, text in enumerate(texts, start=1)]
    return (Message("user", "\n\n".join([instruction, *parts])),)


def _children_texts(tree: Hierarchy, node: int, passages: Passages, rows: RowLog) -> list[str]:
    return [
        passages[child].content if child < tree.n_leaves else rows.rows[str(child)]["text"]
        for child in tree.children(node).tolist()
    ]


def _batches(nodes: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(nodes), size):
        yield nodes[start : start + size]


def _bar(total: int, done: int) -> Any:
    return tqdm(total=total, initial=done, desc="abstracts", unit="node", leave=False, disable=None)


def _facts(calls: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    cut = sum(bool(row["shortened"] or row["dropped"]) for row in calls)
    if cut:
        log.warning("%d of %d nodes have more text than the language model reads at once: it was cut.", cut, len(calls))
    counted = ("shortened", "dropped", "truncated", "prompt_tokens", "completion_tokens", "attempts")
    return {
        "abstracts": len(calls),
        "calls": len(calls),
        "nodes_cut": cut,
        **{name: sum(row[name] for row in calls) for name in counted},
    }
