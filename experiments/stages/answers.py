"""Answers: what a reader makes of the retrieved passages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.stages.progress import progress
from experiments.stages.rankings import read_rankings
from psi.agent.answer import Answer, lasting
from psi.agent.reader import Reader
from psi.corpus.records import Benchmark, Passage, Question
from psi.corpus.subset import subset
from psi.errors import PsiError
from psi.store import Artifact, RowLog, Stage, Store, digest, read_rows, write_rows

VERSION = 2


class UnfinishedError(PsiError):
    """Answers that could not be had: the others are kept, and a second start asks for these again.

    `rows` are all rows by question id, the failed ones included.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]):
        super().__init__(f"{len(_failed(rows))} of {len(rows)} answers failed. Start again to ask for them again.")
        self.rows = rows


@dataclass(frozen=True)
class Answers:
    """Answers by question id, and where they are kept (None: some failed, so the stage is not finished)."""

    rows: Mapping[str, Mapping[str, Any]]
    artifact: Artifact | None


def answers_stage(
    benchmark: Benchmark,
    rankings: Artifact,
    reader: Reader,
    store: Store,
    *,
    context: int,
    limit: int | None,
    seed: int,
) -> Answers:
    """Answers as rows (`answers.jsonl`, in the order of the questions); apart, in `timings.jsonl`, seconds and calls made.

    Calls depend on what the cache held at that moment, as seconds do on the machine: equal runs give equal answers.

    Rows whose call failed keep the stage from being finished: the next start asks for those again and for no other.
    """
    questions = subset(benchmark, limit, None, seed).questions
    config = {"reader": reader.identity(), "context": context, "asked": digest([question.id for question in questions])}
    stage = Stage("answers", VERSION, config, {"rankings": rankings.digest})

    def make(folder: Path) -> Mapping[str, Any]:
        return _write_answers(questions, _contexts(benchmark, rankings, questions, context), reader, folder)

    try:
        artifact = store.obtain(stage, make, resumable=True)
    except UnfinishedError as unfinished:
        return Answers(unfinished.rows, None)
    return Answers({row["question"]: row for row in read_rows(artifact.path / "answers.jsonl")}, artifact)


def _contexts(
    benchmark: Benchmark, rankings: Artifact, questions: Sequence[Question], size: int
) -> dict[str, list[Passage]]:
    by_question = read_rankings(rankings.path)
    return {q.id: [benchmark.passages.by_id(i) for i in by_question[q.id].ids[:size]] for q in questions}


def _write_answers(
    questions: Sequence[Question], contexts: Mapping[str, Sequence[Passage]], reader: Reader, folder: Path
) -> Mapping[str, Any]:
    with RowLog(folder / "answers.log") as rows, RowLog(folder / "timings.jsonl") as timings:
        failing = _failed(rows.rows)
        todo = [q for q in questions if q.id not in rows.rows or q.id in failing]
        with progress("answering", len(questions), done=len(questions) - len(todo)) as bar:
            for answer, seconds in _timed(reader.answer(todo, [contexts[q.id] for q in todo])):
                spent = {"seconds": round(seconds, 4), "calls": answer.attempts}
                timings.append([{"question": answer.question, **spent}])
                rows.append([asdict(answer)])
                (failing.add if answer.status == "failed" else failing.discard)(answer.question)
                bar.update()
                bar.set_postfix(failed=len(failing), refresh=False)
        answered = {question.id: rows.rows[question.id] for question in questions}
    if _failed(answered):
        raise UnfinishedError(answered)
    write_rows(folder / "answers.jsonl", map(lasting, answered.values()))
    return _answer_facts(answered, timings.rows)


def _answer_facts(rows: Mapping[str, Mapping[str, Any]], timings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    statuses = [row["status"] for row in rows.values()]
    return {
        "statuses": {status: statuses.count(status) for status in sorted(set(statuses))},
        "prompt_tokens": sum(row["prompt_tokens"] for row in rows.values()),
        "completion_tokens": sum(row["completion_tokens"] for row in rows.values()),
        "seconds": round(sum(row["seconds"] for row in timings.values()), 3),
    }


def _failed(rows: Mapping[str, Mapping[str, Any]]) -> set[str]:
    return {question for question, row in rows.items() if row["status"] == "failed"}


def _timed(answers: Iterator[Answer]) -> Iterator[tuple[Answer, float]]:
    start = time.perf_counter()
    for answer in answers:
        yield answer, time.perf_counter() - start
        start = time.perf_counter()
