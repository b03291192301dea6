"""Recognition memory (arXiv 2502.14802, §3.4): a model chooses, of the facts found for a question, those that help."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from baselines.hipporag.errors import FailedSearchError
from baselines.hipporag.llm_openie import usage_of
from baselines.hipporag.prompts import filter_of_facts
from psi.agent.reply import parse_reply
from psi.component import Component
from psi.errors import ModelError
from psi.models.protocols import NO_USAGE, ChatModel, Form, Usage

log = logging.getLogger(__name__)
FORM = Form(("Answer",))
_NONE = re.compile(r"(?i)\W*(none|no\b|nothing|\[\s*\])")


class Kept(NamedTuple):
    """Positions of the facts that stay, ascending, and what was asked for it."""

    facts: tuple[int, ...]
    usage: Usage = NO_USAGE


@runtime_checkable
class FactFilter(Protocol):
    """Chooses facts."""

    def keep(self, questions: Sequence[str], facts: Sequence[Sequence[tuple[str, str, str]]]) -> list[Kept]:
        """For each question, which of its facts stay."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the choice, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class RecognitionFilter(Component):
    """Asks a chat model once a question for the numbers of the facts that help.

    A reply that names no number and does not say `none` chooses nothing and leaves all facts: it is logged.

    llm: the chat model.
    """

    llm: ChatModel

    def keep(self, questions: Sequence[str], facts: Sequence[Sequence[tuple[str, str, str]]]) -> list[Kept]:
        """All questions in one batch; those without facts are not asked about.

        Raises:
            FailedSearchError: the model failed on a question.
        """
        asked = [place for place, found in enumerate(facts) if found]
        prompts = [filter_of_facts(questions[place], facts[place]) for place in asked]
        replies = dict(zip(asked, self.llm.reply(prompts, [FORM] * len(prompts)) if prompts else [], strict=True))
        failures = {questions[p]: reply for p, reply in replies.items() if isinstance(reply, ModelError)}
        if failures:
            raise FailedSearchError("the filter of facts", len(questions), failures)
        kept = [Kept(()) for _ in questions]
        unread = 0
        for place, reply in replies.items():
            assert not isinstance(reply, ModelError)
            chosen = chosen_of(reply.text, len(facts[place]))
            unread += chosen is None
            kept[place] = Kept(tuple(range(len(facts[place]))) if chosen is None else chosen, usage_of(reply))
        if unread:
            log.warning(
                "the filter of facts gave no choice for %d of %d questions: their facts stay.", unread, len(asked)
            )
        return kept


def chosen_of(reply: str, count: int) -> tuple[int, ...] | None:
    """Positions of the numbers 1..count in the answer line of a reply; None where it makes no choice.

    >>> chosen_of("Thought: both.\\nAnswer: 3, 1", 3), chosen_of("Answer: none", 3), chosen_of("Perhaps.", 3)
    ((0, 2), (), None)
    """
    found = parse_reply(reply)
    if found.kind != "answer":
        return None
    numbers = {int(number) - 1 for number in re.findall(r"\d{1,6}", found.text)}
    chosen = tuple(sorted(number for number in numbers if 0 <= number < count))
    return chosen if chosen or _NONE.match(found.text) else None
