"""Scores: every question by every metric, and their means with intervals and counts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from experiments.stages.agent import AgentRun
from experiments.stages.answers import Answers
from experiments.stages.rankings import read_rankings
from psi.corpus.records import Benchmark, Passages, Question
from psi.metrics import QuestionScores, metric, score_questions
from psi.retrieval.ranking import Ranking
from psi.store import Artifact, Stage, Store, digest, write_rows

VERSION = 1


def scores_stage(
    benchmark: Benchmark,
    rankings: Artifact,
    answers: Answers,
    metrics: Sequence[str],
    store: Store,
    *,
    agent: AgentRun | None = None,
) -> Artifact:
    """Scores as rows (`scores.jsonl`: one a question) and in sum (`summary.json`: metric -> mean, interval, counts).

    Ranking metrics are over all questions asked, answer metrics over those that were answered. An agent's rankings
    stand in place of those that it began with.
    """
    inputs = {
        "rankings": rankings.digest if agent is None else agent.digest, "questions": benchmark.questions_digest,
        "answers": digest([[row["question"], row["status"], row["text"]] for row in answers.rows.values()]),
    }  # fmt: skip
    stage = Stage("scores", VERSION, {"metrics": list(metrics)}, inputs)

    def make(folder: Path) -> None:
        ranked = read_rankings(rankings.path) if agent is None else agent.rankings
        scores = _scores(benchmark.passages, benchmark.questions, ranked, answers, metrics)
        write_rows(folder / "scores.jsonl", _rows(benchmark.questions, scores))
        summaries = {name: asdict(each.summary()) for name, each in scores.items()}
        (folder / "summary.json").write_text(json.dumps(summaries, indent=1), encoding="utf-8")

    return store.obtain(stage, make)


def _scores(
    passages: Passages,
    questions: Sequence[Question],
    rankings: Mapping[str, Ranking | None],
    answers: Answers,
    metrics: Sequence[str],
) -> dict[str, QuestionScores]:
    chosen = [metric(name) for name in metrics]
    of_rankings = [each for each in chosen if each.of != "answer"]
    ranked = {question: ranking and ranking.ids for question, ranking in rankings.items()}
    spans = {passage.id: passage.span for passage in passages if passage.span is not None}
    scores = score_questions(questions, of_rankings, rankings=ranked, spans=spans)
    if answers.rows:
        of_answers = [each for each in chosen if each.of == "answer"]
        answered = [question for question in questions if question.id in answers.rows]
        rows = {i: SimpleNamespace(text=row["text"], status=row["status"]) for i, row in answers.rows.items()}
        scores |= score_questions(answered, of_answers, answers=rows)
    return scores


def _rows(questions: Sequence[Question], scores: Mapping[str, QuestionScores]) -> list[dict[str, Any]]:
    return [
        {
            "question": question.id, "kind": question.kind, "hops": question.hops,
            **{name: each.values[question.id] for name, each in scores.items() if question.id in each.values},
        }
        for question in questions
    ]  # fmt: skip
