"""Answers and contexts judged by a language model, with the metrics of ragas (extra `judge`). Off unless asked for.

A judgement that fails is counted, never a number. Judges make many calls a question; the chat model's own cache keeps its
replies. Scores of different judge models cannot be compared.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from psi.component import Component
from psi.errors import ConfigError, ModelError
from psi.metrics.scoring import QuestionScores
from psi.models.protocols import NO_USAGE, ChatModel, Embedder, Message, Reply, Usage

Judge = Literal["faithfulness", "answer_correctness", "context_precision", "context_recall"]
_CLASSES: Mapping[str, str] = {
    "faithfulness": "Faithfulness", "answer_correctness": "AnswerCorrectness",
    "context_precision": "ContextPrecisionWithReference", "context_recall": "ContextRecall",
}  # fmt: skip
_READS: Mapping[str, tuple[str, ...]] = {
    "faithfulness": ("user_input", "response", "retrieved_contexts"),
    "answer_correctness": ("user_input", "response", "reference"),
    "context_precision": ("user_input", "reference", "retrieved_contexts"),
    "context_recall": ("user_input", "retrieved_contexts", "reference"),
}


class Case(NamedTuple):
    """A question with its answer (None: the row failed), the retrieved texts, best first, and gold answers, main one first."""

    question: str
    text: str
    answer: str | None
    contexts: tuple[str, ...]
    golds: tuple[str, ...]


class Judged(NamedTuple):
    """Scores by judge; kinds of the failures by judge and question; what the judge model was asked."""

    scores: Mapping[str, QuestionScores]
    errors: Mapping[str, Mapping[str, str]]
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class RagasJudges(Component):
    """The judges of ragas over any chat model; each scores from 0 to 1. Reference: Es et al., RAGAS (EACL 2024).

    faithfulness: share of the answer's claims that the contexts support. answer_correctness: F1 of claims against the main gold
    answer (weight 0.75) and cosine of both (0.25). context_precision: mean precision at the contexts that helped.
    context_recall: share of the gold answer's claims that the contexts support.

    llm: the judge.
    embedder: for the cosine in answer_correctness.
    """

    llm: ChatModel
    embedder: Embedder
    judges: tuple[Judge, ...] = ("faithfulness", "answer_correctness", "context_precision", "context_recall")

    def judge(self, cases: Sequence[Case]) -> Judged:
        """Judge every case. Cases without a gold answer are excluded, failed rows and failed judgements counted as failed.

        Raises:
            ConfigError: ragas is not installed.
        """
        llm, metrics = self._metrics()
        scores, errors = {}, {}
        for name, metric in metrics.items():
            scored = [case for case in cases if case.golds]
            found = {case.question: _judgement(name, metric, case) for case in scored}
            scores[name] = QuestionScores(
                name,
                {question: value for question, value in found.items() if isinstance(value, float)},
                tuple(question for question, value in found.items() if isinstance(value, str)),
                tuple(case.question for case in cases if not case.golds),
            )
            errors[name] = {question: value for question, value in found.items() if isinstance(value, str)}
        return Judged(scores, errors, llm.usage)

    def _metrics(self) -> tuple[Any, dict[str, Any]]:
        os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")  # else it reports every use to its makers
        try:
            from ragas.embeddings.base import BaseRagasEmbedding
            from ragas.llms.base import InstructorBaseRagasLLM
            from ragas.metrics import collections
        except ImportError as error:
            raise ConfigError(f"judges need ragas ({error}). Install it: pip install -e '.[judge]'.") from error
        chat, embedder = self.llm, self.embedder

        class Chat(InstructorBaseRagasLLM):  # type: ignore[misc]
            usage = NO_USAGE

            def generate(self, prompt: str, response_model: Any) -> Any:
                (reply,) = chat.reply([(Message("user", prompt),)])
                self.usage += _usage(reply)
                return _parsed(reply, response_model)

            async def agenerate(self, prompt: str, response_model: Any) -> Any:
                return self.generate(prompt, response_model)

        class Embedding(BaseRagasEmbedding):  # type: ignore[misc]
            def embed_text(self, text: str, **_: Any) -> list[float]:
                return [float(value) for value in embedder.encode_passages([text])[0]]

            async def aembed_text(self, text: str, **_: Any) -> list[float]:
                return self.embed_text(text)

        llm = Chat()
        more = {"answer_correctness": {"embeddings": Embedding()}}
        return llm, {name: getattr(collections, _CLASSES[name])(llm=llm, **more.get(name, {})) for name in self.judges}


def _judgement(name: str, metric: Any, case: Case) -> float | str:
    """The score, or the kind of the failure."""
    reads = _READS[name]
    if case.answer is None and "response" in reads:
        return "no_answer"
    # ragas refuses empty texts and lists; to have nothing is no failure of the judge: such a part is worth 0
    if ("response" in reads and not (case.answer or "").strip()) or (
        "retrieved_contexts" in reads and not case.contexts
    ):
        return 0.0
    given = {
        "user_input": case.text, "response": case.answer, "reference": case.golds[0],
        "retrieved_contexts": list(case.contexts),
    }  # fmt: skip
    try:
        value = float(asyncio.run(metric.ascore(**{key: given[key] for key in reads})).value)
    except ModelError as error:
        return error.kind
    return value if math.isfinite(value) else "undefined"  # no claim was found to judge


def _usage(reply: Reply | ModelError) -> Usage:
    return NO_USAGE if isinstance(reply, ModelError) else Usage(1, reply.prompt_tokens, reply.completion_tokens)


def _parsed(reply: Reply | ModelError, form: Any) -> Any:
    """The JSON object of the reply, checked against a pydantic model."""
    if isinstance(reply, ModelError):
        raise reply
    if reply.truncated:
        raise ModelError("the judge's reply was cut.", kind="truncated")
    start, end = reply.text.find("{"), reply.text.rfind("}")
    try:
        return form.model_validate_json(reply.text[start : end + 1])
    except ValueError as error:
        raise ModelError(f"the judge's reply is not of the form asked for: {error}", kind="parse_failed") from error
