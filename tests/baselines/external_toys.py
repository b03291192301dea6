"""A chat model that answers the prompts of the wrapped packages by rule: capitalised words are the entities."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from baselines.external.graphrag import GraphRag
from baselines.external.lightrag import LightRag
from psi.component import Component, runtime
from psi.corpus.records import Passage, Passages
from psi.errors import ModelError
from psi.models.protocols import Conversation, Form, Reply
from psi.store import Store
from tests.toys import WordEmbedder

PASSAGES = Passages([
    Passage("a", "", "Paris lies in France."),
    Passage("b b", "", "Rome lies in Italy near Genoa."),
    Passage("北京", "Oslo", "Oslo is in Norway."),
    Passage("c", "", "Paris lies in France."),
    Passage("d", "", "Genoa has a harbour in Italy."),
])  # fmt: skip


def names(text: str) -> list[str]:
    return sorted(set(re.findall(r"\b[A-Z][a-z]+\b", text)))


def light_rag(prompt: str) -> str:
    if "high_level_keywords" in prompt:
        found = names(prompt.split("User Query:")[1].split("---Output---")[0])
        return json.dumps({"high_level_keywords": ["place"], "low_level_keywords": found})
    if "---Input Text---" not in prompt:
        return "<|COMPLETE|>"
    found = names(prompt.split("---Input Text---")[-1].split("---Output---")[0].split("```")[1])
    rows = [f"entity<|#|>{name}<|#|>location<|#|>{name} is a place." for name in found]
    rows += [f"relation<|#|>{a}<|#|>{b}<|#|>place<|#|>{a} and {b}." for a, b in pairwise(found)]
    return "\n".join([*rows, "<|COMPLETE|>"])


def graph_rag(prompt: str) -> str:
    if "entity_name" in prompt:
        found = [name.upper() for name in names(prompt.rsplit("Text:", 1)[-1].split("#####")[0])]
        rows = [f'("entity"<|>{name}<|>GEO<|>{name} is a place)' for name in found]
        rows += [f'("relationship"<|>{a}<|>{b}<|>{a}, {b}<|>5)' for a, b in pairwise(found)]
        return "##".join(rows) + "<|COMPLETE|>"
    if "finding" in prompt:
        return json.dumps({
            "title": "Places", "summary": "Places.", "rating": 5.0, "rating_explanation": "Places.",
            "findings": [{"summary": "Places.", "explanation": "Places."}],
        })  # fmt: skip
    return "<|COMPLETE|>"


@dataclass(frozen=True, kw_only=True)
class RuleChat(Component):
    """Fails as long as the file `broken` exists."""

    rule: str
    broken: str = runtime("")

    def reply(
        self, conversations: Sequence[Conversation], forms: Sequence[Form | None] | None = None
    ) -> list[Reply | ModelError]:
        if self.broken and Path(self.broken).exists():
            return [ModelError("the server is down", kind="connection") for _ in conversations]
        rule = {"light_rag": light_rag, "graph_rag": graph_rag}[self.rule]
        return [Reply(rule(conversation[-1].content), 10, 2) for conversation in conversations]

    def prompt_tokens(self, conversation: Conversation) -> int | None:
        return None

    def prompt_limit(self) -> int | None:
        return None


RETRIEVERS = {
    "lightrag": LightRag(embedder=WordEmbedder(), llm=RuleChat(rule="light_rag")),
    "graphrag": GraphRag(embedder=WordEmbedder(), llm=RuleChat(rule="graph_rag"), largest_component=False),
}
__all__ = ["PASSAGES", "RETRIEVERS", "RuleChat", "Store"]
