"""What every reader returns for a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from psi.errors import ModelError

Status = Literal["ok", "empty", "parse_failed", "max_steps", "no_progress", "truncated", "failed"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome for one question. A failure is a status, never text that could be scored as an answer.

    `question` is the question's id. `text` is the answer ("" where the model answered with nothing, None where there is
    no answer). `confidence` is the reader's own measure, comparable between its answers only. `raw` is the model's
    reply as it came. `error_type` and `error` describe a failure, `attempts` counts the calls made. Tokens are sums
    over all calls. `passages_used` is how many of the passages, from the first on, fitted the prompt.
    """

    question: str
    status: Status
    text: str | None = None
    confidence: float | None = None
    raw: str | None = None
    error_type: str | None = None
    error: str | None = None
    attempts: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    passages_used: int = 0


def failed_answer(question: str, error: ModelError, *, passages_used: int = 0) -> Answer:
    """The row of a question whose model call failed for good."""
    return Answer(
        question=question,
        status="truncated" if error.kind == "truncated" else "failed",
        error_type=error.kind,
        error=str(error),
        attempts=error.attempts,
        passages_used=passages_used,
    )


def lasting(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of an answer or a decision without what another run of the same need not repeat: how many calls were made."""
    return {key: value for key, value in row.items() if key != "attempts"}
