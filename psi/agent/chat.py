"""The agent's policy as published: a chat model writes a thought, then answers or asks for another retrieval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import PositiveInt

from psi.agent.dialogue import Style, conversation
from psi.agent.policy import Decision, DecisionKind, Situation
from psi.agent.reply import parse_reply
from psi.component import Component
from psi.errors import ModelError
from psi.models.protocols import ChatModel, Conversation, Form, Reply


@dataclass(frozen=True, kw_only=True)
class ChatPolicy(Component):
    """Shows each step's passages to a chat model as the next turn of one conversation, in batches.

    Passages that do not fit the model's window are left out whole: those of the oldest step first, the last first.

    llm: the chat model.
    style: length of the answer: `short` for factual questions, `medium` for a sentence, `long` for summaries.
    thought_words: longest thought that is asked for.
    """

    llm: ChatModel
    style: Style = "short"
    thought_words: PositiveInt = 60

    @property
    def self_answering(self) -> bool:
        """True: the replies hold the answers."""
        return True

    def decide(self, situations: Sequence[Situation]) -> list[Decision | ModelError]:
        """One decision a question from one batch of replies."""
        prompts = [self._fitted(situation) for situation in situations]
        replies = self.llm.reply([prompt for prompt, _ in prompts], [self._form(each) for each in situations])
        return [
            reply if isinstance(reply, ModelError) else self._decision(reply, used)
            for reply, (_, used) in zip(replies, prompts, strict=True)
        ]

    def _form(self, situation: Situation) -> Form | None:
        if self.style == "long":
            return None  # may run over several paragraphs
        return Form(("Answer", "Retrieve") if situation.retrievals_left else ("Answer",))

    def _fitted(self, situation: Situation) -> tuple[Conversation, int]:
        """The conversation with as many passages as fit, and their number."""
        limit = self.llm.prompt_limit()
        for shown in _ever_fewer([len(step.passages) for step in situation.steps]):
            prompt = conversation(situation, self.style, self.thought_words, shown)
            tokens = None if limit is None else self.llm.prompt_tokens(prompt)
            if limit is None or tokens is None or tokens <= limit:
                break
        return prompt, sum(shown)

    def _decision(self, reply: Reply, used: int) -> Decision:
        found = parse_reply(reply.text, paragraphs=self.style == "long")
        # a reply that was cut inside its directive is no reply
        kind: DecisionKind = "truncated" if reply.truncated and not found.complete else found.kind
        spent = (reply.prompt_tokens, reply.completion_tokens, reply.attempts)
        return Decision(kind, found.text, reply.text, *spent, passages_used=used)


def _ever_fewer(counts: Sequence[int]) -> Iterator[list[int]]:
    """The counts, then with one less at a time from the first that is not 0; one passage of the last stays."""
    left = list(counts)
    yield list(left)
    for number, count in enumerate(counts):
        keep = 1 if number == len(counts) - 1 else 0
        for _ in range(count - keep):
            left[number] -= 1
            yield list(left)
