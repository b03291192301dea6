"""The generating reader: a chat model reads the passages and writes a short answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import PositiveInt

from psi.agent.answer import Answer, Status, failed_answer
from psi.agent.prompts import reading_conversation
from psi.agent.reply import parse_reply
from psi.component import Component, runtime
from psi.corpus.records import Passage, Question
from psi.errors import ModelError
from psi.models.protocols import ChatModel, Conversation, Form, Reply

FORM = Form(("Answer",))


@dataclass(frozen=True, kw_only=True)
class GenerateReader(Component):
    """Asks a chat model once a question, in batches.

    Passages that do not fit the model's window are dropped whole, the last first; the answer tells how many were used.
    Where only the server knows the window (HTTP), all are sent.

    llm: the chat model.
    batch_size: questions in one call of the model.
    """

    llm: ChatModel
    batch_size: PositiveInt = runtime(16)

    def answer(self, questions: Sequence[Question], contexts: Sequence[Sequence[Passage]]) -> Iterator[Answer]:
        """One answer a question, in order, each batch as soon as it is done."""
        for start in range(0, len(questions), self.batch_size):
            rows = slice(start, start + self.batch_size)
            prompts = [self._fitted(*pair) for pair in zip(questions[rows], contexts[rows], strict=True)]
            replies = self.llm.reply([conversation for conversation, _ in prompts], [FORM] * len(prompts))
            for question, (_, used), reply in zip(questions[rows], prompts, replies, strict=True):
                yield _answer(question.id, reply, used)

    def _fitted(self, question: Question, passages: Sequence[Passage]) -> tuple[Conversation, int]:
        """The conversation with as many of the first passages as fit, and their number."""
        limit = self.llm.prompt_limit()
        for used in range(len(passages), -1, -1):
            conversation = reading_conversation(question.text, passages[:used])
            tokens = None if limit is None else self.llm.prompt_tokens(conversation)
            if used <= 1 or limit is None or tokens is None or tokens <= limit:
                break
        return conversation, used


_STATUS: dict[str, Status] = {"answer": "ok", "empty": "empty"}  # all else is no answer in a single pass


def _answer(question: str, reply: Reply | ModelError, used: int) -> Answer:
    if isinstance(reply, ModelError):
        return failed_answer(question, reply, passages_used=used)
    found = parse_reply(reply.text)
    cut = reply.truncated and not (found.kind == "answer" and found.complete)
    status: Status = "truncated" if cut else _STATUS.get(found.kind, "parse_failed")
    return Answer(
        question=question,
        status=status,
        text={"ok": found.text, "empty": ""}.get(status),
        raw=reply.text,
        attempts=reply.attempts,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        passages_used=used,
    )
