"""Scoring a run question by question, with rules for what is missing, failed or not to be scored.

A question with nothing to be scored against (no gold passages for a ranking metric, no gold answers for an
answer metric) is excluded. One whose row failed is counted as failed: an error is not an answer. One that the
run lacks scores 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from psi.component import did_you_mean
from psi.corpus.records import Span
from psi.errors import ConfigError, InputError
from psi.metrics.registry import Metric, metric
from psi.metrics.summary import Bootstrap, Summary, summarise

_TARGETS = {"ranking": "gold", "spans": "spans", "answer": "answers"}
_INPUTS = {"ranking": "rankings", "spans": "spans of ranked passages", "answer": "answers"}
FAILED = "failed"
STATUSES = ("ok", "empty", "parse_failed", "max_steps", "no_progress", "truncated", FAILED)


class QuestionLike(Protocol):
    """What scoring reads of a question."""

    @property
    def id(self) -> str:
        """Its id, a string."""

    @property
    def answers(self) -> tuple[str, ...]:
        """Accepted answers; none: left out of answer metrics."""

    @property
    def gold(self) -> tuple[str, ...]:
        """Ids of supporting passages; none: left out of ranking metrics."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """Supporting characters; none: left out of span metrics, which alone read them."""


class AnswerLike(Protocol):
    """What scoring reads of an answer."""

    @property
    def text(self) -> str | None:
        """The short answer; None or '' where nothing usable was said."""

    @property
    def status(self) -> str:
        """How the row ended: one of STATUSES."""


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """One metric over a run, question by question.

    `values` holds every scored question in the order asked, those in `missing` with 0; `failed` and
    `excluded` are the ids of the others.
    """

    metric: str
    values: dict[str, float]
    failed: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def summary(self, bootstrap: Bootstrap | None = None) -> Summary:
        """Mean, interval and counts."""
        return summarise(
            tuple(self.values.values()),
            n_failed=len(self.failed),
            n_excluded=len(self.excluded),
            n_missing=len(self.missing),
            bootstrap=bootstrap,
        )


def score_questions(
    questions: Sequence[QuestionLike],
    metrics: Sequence[str | Metric],
    *,
    rankings: Mapping[str, Sequence[str] | None] | None = None,
    spans: Mapping[str, Span] | None = None,
    answers: Mapping[str, AnswerLike] | None = None,
) -> dict[str, QuestionScores]:
    """Score every question by every metric: metric name -> scores.

    `rankings` maps question ids to passage ids, best first (None: retrieval failed); `spans` maps passage ids to the
    characters that they hold, for metrics over characters; `answers` maps question ids to answers. Ids of questions
    that are not asked about are ignored, so that a run can be scored on some of its questions.

    >>> from psi.corpus.records import Question
    >>> asked, run = [Question("q1", "Who?", gold=("B",))], {"q1": ["A", "B"]}
    >>> score_questions(asked, ["recall@2"], rankings=run)["recall@2"].values
    {'q1': 1.0}

    Raises:
        ConfigError: unknown metric, or one whose input (rankings or answers) is not given.
        InputError: ids that are not strings, a run without any of the questions, an unknown row status.
    """
    chosen = [metric(each) if isinstance(each, str) else each for each in metrics]
    asked = _checked_ids((question.id for question in questions), "questions")
    for question in questions:
        _checked_ids(question.gold, f"gold of question {question.id!r}")
    ranked = _ranked(asked, rankings)
    of_spans = _as_spans(ranked, spans) if any(each.of == "spans" for each in chosen) else None
    outputs = {"ranking": ranked, "spans": of_spans, "answer": _answered(asked, answers)}
    for each in chosen:
        if outputs[each.of] is None:
            raise ConfigError(
                f"metric {each.name!r} scores {_INPUTS[each.of]}, but none were given. Pass them, or leave it out."
            )
    return {each.name: _score(questions, each, outputs[each.of] or {}) for each in chosen}


def _score(questions: Sequence[QuestionLike], chosen: Metric, outputs: Mapping[str, Any]) -> QuestionScores:
    values: dict[str, float] = {}
    failed, excluded, missing = [], [], []
    for question in questions:
        target: Any = getattr(question, _TARGETS[chosen.of])
        nothing: Any = "" if chosen.of == "answer" else ()
        output = outputs.get(question.id, nothing)
        score = chosen.score(nothing if output is None else output, target)
        if score is None:
            excluded.append(question.id)
        elif question.id not in outputs:
            missing.append(question.id)
            values[question.id] = 0.0
        elif output is None:
            failed.append(question.id)
        else:
            values[question.id] = score
    return QuestionScores(chosen.name, values, tuple(failed), tuple(excluded), tuple(missing))


def _ranked(
    asked: Sequence[str], rankings: Mapping[str, Sequence[str] | None] | None
) -> Mapping[str, Sequence[str] | None] | None:
    if rankings is None:
        return None
    _check_overlap(asked, rankings, "rankings")
    for question, ranked in rankings.items():
        _checked_ids(() if ranked is None else ranked, f"ranking of question {question!r}")
    return rankings


def _as_spans(
    rankings: Mapping[str, Sequence[str] | None] | None, spans: Mapping[str, Span] | None
) -> Mapping[str, Sequence[Span] | None] | None:
    if rankings is None or spans is None:
        return None
    return {
        question: None if ranked is None else [spans[passage] for passage in ranked if passage in spans]
        for question, ranked in rankings.items()
    }


def _answered(asked: Sequence[str], answers: Mapping[str, AnswerLike] | None) -> dict[str, str | None] | None:
    if answers is None:
        return None
    _check_overlap(asked, answers, "answers")
    return {question: _text(question, answer) for question, answer in answers.items()}


def _text(question: str, answer: AnswerLike) -> str | None:
    if answer.status not in STATUSES:
        raise InputError(f"answer to question {question!r}: unknown status {answer.status!r}."
                         f"{did_you_mean(str(answer.status), STATUSES)}")  # fmt: skip
    return None if answer.status == FAILED else answer.text or ""


def _check_overlap(asked: Sequence[str], run: Mapping[str, Any], what: str) -> None:
    known = set(_checked_ids(run, what))
    if asked and known and known.isdisjoint(asked):
        raise InputError(
            f"{what}: none of the {len(known)} question ids of the run (such as {min(known)!r}) is among the "
            f"{len(asked)} questions (such as {asked[0]!r}). Score a run with the benchmark it was made on."
        )


def _checked_ids(ids: Iterable[str], where: str) -> list[str]:
    if isinstance(ids, str):
        raise InputError(f"{where}: {ids!r} is one string where a sequence of ids is needed.")
    found = list(ids)
    for each in found:
        if not isinstance(each, str):
            raise InputError(
                f"{where}: the id {each!r} is of type {type(each).__name__}; ids must be strings, or nothing "
                "would match. Convert them where the data is read."
            )
    return found
