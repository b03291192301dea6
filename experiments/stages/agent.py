"""The agent's work on every question: its answers, the rankings merged over its steps, and full traces."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.stages.progress import progress
from experiments.stages.rankings import open_index, read_rankings
from psi.agent.loop import Agent, Search
from psi.agent.trace import times_row, trace_row
from psi.corpus.records import Benchmark, Question
from psi.errors import ConfigError, PsiError
from psi.models.protocols import NO_USAGE
from psi.retrieval.ranking import Index, QuestionRanker, Ranking, Retriever, ranking_of
from psi.store import Artifact, RowLog, Stage, Store, digest, read_rows, write_rows

VERSION = 3


class UnfinishedAgentError(PsiError):
    """Questions on which a model call failed: the others are kept, and a second start works on these again.

    `rows` are the traces of all questions by id, the failed ones included.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]):
        kinds = sorted({str(row["answer"]["error_type"]) for row in rows.values() if _status(row) == "failed"})
        super().__init__(
            f"the agent failed on {_failed(rows)} of {len(rows)} questions ({', '.join(kinds)}). "
            "Start again to work on those again."
        )
        self.rows = rows


@dataclass(frozen=True)
class AgentRun:
    """Traces by question id, and where they are kept (None: some failed, so the stage is not finished)."""

    rows: Mapping[str, Mapping[str, Any]]
    artifact: Artifact | None

    @property
    def answers(self) -> dict[str, Mapping[str, Any]]:
        """Answers by question id, as rows."""
        return {question: row["answer"] for question, row in self.rows.items()}

    @property
    def rankings(self) -> dict[str, Ranking | None]:
        """Merged rankings by question id; None where the question failed."""
        return {question: _ranking(row) for question, row in self.rows.items()}

    def finished(self) -> Artifact:
        """Where the traces are kept.

        Raises:
            UnfinishedAgentError: some questions failed.
        """
        if self.artifact is None:
            raise UnfinishedAgentError(self.rows)
        return self.artifact

    @cached_property
    def digest(self) -> str:
        """What the rankings are known by."""
        return digest(self.rows) if self.artifact is None else self.artifact.digest


def agent_stage(
    benchmark: Benchmark,
    rankings: Artifact,
    retriever: Retriever | QuestionRanker,
    agent: Agent,
    store: Store,
    *,
    k: int,
    context: int,
) -> AgentRun:
    """Let the agent work on every question, beginning with its ranking.

    Rows in the order of the questions: `answers.jsonl`, `rankings.jsonl` (as of the rankings stage), `traces.jsonl`;
    times apart, in `timings.jsonl`. The index is opened where a question is searched again.

    Raises:
        ConfigError: the method has no index to search.
    """
    if isinstance(retriever, QuestionRanker):
        raise ConfigError(
            f"{type(retriever).__name__} ranks from the benchmark's gold and cannot search for an agent's queries: "
            "set agent=none or take another method."
        )
    stage = Stage(
        "agent", VERSION, {"agent": agent.identity(), "k": k, "context": context}, {"rankings": rankings.digest}
    )
    search = _Searcher(benchmark, retriever, store)

    def make(folder: Path) -> Mapping[str, Any]:
        return _Work(benchmark, read_rankings(rankings.path), agent, search, k, context).write(folder)

    try:
        artifact = store.obtain(stage, make, resumable=True)
    except UnfinishedAgentError as unfinished:
        return AgentRun(unfinished.rows, None)
    return AgentRun({row["question"]: row for row in read_rows(artifact.path / "traces.jsonl")}, artifact)


class _Searcher:
    """Searches for queries in the corpus of each question: the whole one, or the document that it is scoped to."""

    def __init__(self, benchmark: Benchmark, retriever: Retriever, store: Store):
        self._benchmark, self._retriever, self._store = benchmark, retriever, store
        self._indexes: dict[str | None, Index] = {}

    def __call__(self, questions: Sequence[Question], queries: Sequence[str], k: int) -> list[Ranking]:
        scopes: defaultdict[str | None, list[int]] = defaultdict(list)
        for place, question in enumerate(questions):
            scopes[question.document].append(place)
        found: dict[int, Ranking] = {}
        for document, places in scopes.items():
            rankings = self._index(document).search([queries[place] for place in places], k)
            found.update(zip(places, rankings, strict=True))
        return [found[place] for place in range(len(questions))]

    def _index(self, document: str | None) -> Index:
        if document not in self._indexes:
            self._indexes[document] = open_index(self._benchmark, self._retriever, self._store, document)
        return self._indexes[document]


@dataclass(frozen=True)
class _Work:
    benchmark: Benchmark
    first: Mapping[str, Ranking]
    agent: Agent
    search: Search
    k: int
    context: int

    def write(self, folder: Path) -> Mapping[str, Any]:
        questions = self.benchmark.questions
        with RowLog(folder / "agent.log") as log, RowLog(folder / "timings.jsonl") as timings:
            done = sum(question.id in log.rows for question in questions)
            with progress("answering", len(questions), done=done) as bar:
                for batch in self._todo(log):
                    self._run(batch, log, timings)
                    bar.update(len(batch))
                    bar.set_postfix(failed=_failed(log.rows), refresh=False)
            rows = {question.id: log.rows[question.id] for question in questions}
        if _failed(rows):
            raise UnfinishedAgentError(rows)
        _write_files(folder, rows)
        return _facts(rows, timings.rows)

    def _todo(self, log: RowLog) -> Iterator[Sequence[Question]]:
        """Batches to work on: whole where a kill left a part of one, so that it ends with the same bytes; else the
        questions that failed."""
        questions, size = self.benchmark.questions, self.agent.batch_size
        for start in range(0, len(questions), size):
            batch = questions[start : start + size]
            if any(question.id not in log.rows for question in batch):
                yield batch
            elif failed := [q for q in batch if _status(log.rows[q.id]) == "failed"]:
                yield failed

    def _run(self, batch: Sequence[Question], log: RowLog, timings: RowLog) -> None:
        rankings = [self.first[question.id] for question in batch]
        traces = self.agent.run(batch, rankings, self.search, self.benchmark.passages, k=self.k, context=self.context)
        timings.append([times_row(trace) for trace in traces])
        log.append([trace_row(trace) for trace in traces])


def _write_files(folder: Path, rows: Mapping[str, Mapping[str, Any]]) -> None:
    write_rows(folder / "traces.jsonl", rows.values())
    write_rows(folder / "answers.jsonl", (row["answer"] for row in rows.values()))
    write_rows(folder / "rankings.jsonl", ({"question": id_, **row["ranking"]} for id_, row in rows.items()))


def _facts(rows: Mapping[str, Mapping[str, Any]], timings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    steps = [len(row["steps"]) for row in rows.values()]
    return {
        "statuses": dict(sorted(Counter(_status(row) for row in rows.values()).items())),
        "steps": {str(count): number for count, number in sorted(Counter(steps).items())},
        "mean_steps": round(sum(steps) / len(steps), 4),
        "prompt_tokens": sum(row["answer"]["prompt_tokens"] for row in rows.values()),
        "completion_tokens": sum(row["answer"]["completion_tokens"] for row in rows.values()),
        "search_usage": asdict(sum((ranking_of(row["ranking"]).usage for row in rows.values()), NO_USAGE)),
        "seconds": round(sum(row["seconds"] for row in timings.values()), 3),
    }


def _ranking(row: Mapping[str, Any]) -> Ranking | None:
    found = row["ranking"]
    return None if _status(row) == "failed" else ranking_of(found)


def _status(row: Mapping[str, Any]) -> str:
    return str(row["answer"]["status"])


def _failed(rows: Mapping[str, Mapping[str, Any]]) -> int:
    return sum(_status(row) == "failed" for row in rows.values())
