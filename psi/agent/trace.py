"""Traces: everything that happened to a question, as rows and as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psi.agent.answer import Answer, lasting
from psi.agent.policy import Decision, Step
from psi.corpus.records import Passages, Question
from psi.retrieval.ranking import Ranking, ranking_row


@dataclass(frozen=True, slots=True)
class Trace:
    """A question from the first retrieval to the end: its steps, the merged ranking and the answer."""

    question: Question
    steps: tuple[Step, ...]
    ranking: Ranking
    answer: Answer


def trace_row(trace: Trace) -> dict[str, Any]:
    """The trace as JSON data, without times and calls: equal runs give equal rows."""
    return {
        "question": trace.question.id,
        "text": trace.question.text,
        "answer": lasting(asdict(trace.answer)),
        "ranking": ranking_row(trace.ranking),
        "steps": [_step_row(step) for step in trace.steps],
    }


def times_row(trace: Trace) -> dict[str, Any]:
    """The seconds of every step, and the calls made for all of them."""
    steps = [round(step.seconds, 4) for step in trace.steps]
    spent = {"seconds": round(sum(steps), 4), "calls": trace.answer.attempts}
    return {"question": trace.question.id, **spent, "steps": steps}


def as_text(row: Mapping[str, Any], passages: Passages, times: Mapping[str, Any] | None = None) -> str:
    """A row of `trace_row` (with its row of `times_row`, where that is at hand) for reading."""
    seconds: Sequence[float | None] = times["steps"] if times else [None] * len(row["steps"])
    answer = row["answer"]
    lines = [f"Question {row['question']}: {row['text']}"]
    for number, (step, spent) in enumerate(zip(row["steps"], seconds, strict=True), start=1):
        lines += ["", *_step_lines(number, step, passages, spent)]
    outcome = answer["error"] if answer["status"] == "failed" else answer["text"]
    lines += [
        "",
        f"Outcome ({answer['status']}): {'-' if outcome is None else outcome}",
        "Best passages over all steps:",
    ]
    return "\n".join([*lines, *_ranking_lines(row["ranking"], passages)])


def _step_lines(number: int, step: Mapping[str, Any], passages: Passages, seconds: float | None) -> list[str]:
    decision = step["decision"]
    costs = [] if seconds is None else [f"{seconds:.2f} s"]
    if decision is not None and decision["prompt_tokens"]:
        costs.append(f"{decision['prompt_tokens']} + {decision['completion_tokens']} tokens")
    head = f"Step {number} ({', '.join(costs)})" if costs else f"Step {number}"
    scores = dict(zip(step["passages"], step["scores"], strict=True))
    shown = [_line(id_, scores[id_], passages) for id_ in step["shown"]]
    return [f"{head}: {step['query']}", *shown, *_decision_lines(decision)]


def _decision_lines(decision: Mapping[str, Any] | None) -> list[str]:
    if decision is None:
        return ["  > the call failed"]
    said = decision["reply"] if decision["reply"] is not None else f"{decision['kind']} {decision['text']}".strip()
    return [f"  > {line}" for line in said.split("\n")]


def _ranking_lines(row: Mapping[str, Any], passages: Passages) -> list[str]:
    return [_line(id_, score, passages) for id_, score in zip(row["passages"], row["scores"], strict=True)]


def _line(id_: str, score: float, passages: Passages) -> str:
    passage = passages.by_id(id_)
    headline = re.sub(r"\s+", " ", passage.title or passage.text)
    return f"  {score:.4f}  {id_}  {headline[:80]}"


def _step_row(step: Step) -> dict[str, Any]:
    decision: Decision | None = step.decision
    return {
        "query": step.query,
        **ranking_row(step.ranking),
        "shown": [passage.id for passage in step.passages],
        "decision": None if decision is None else lasting(asdict(decision)),
    }
