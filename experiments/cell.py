"""One cell of a sweep: all stages of one run, and a record that says how it went and where everything is."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from experiments.deadline import deadline
from experiments.settings import Run
from experiments.stages.agent import AgentRun, agent_stage
from experiments.stages.answers import Answers, answers_stage
from experiments.stages.benchmark import benchmark_stage, read_benchmark
from experiments.stages.rankings import rankings_stage
from experiments.stages.scores import scores_stage
from psi.corpus.records import Benchmark
from psi.corpus.subset import subset
from psi.errors import InputError, PsiError, StoreError
from psi.metrics import metric
from psi.store import Artifact, Store, digest, safe_name, writing

log = logging.getLogger(__name__)
RECORD = "cell.json"
Place = Annotated[str, Field(pattern=r"^stages/[\w.-]+/[0-9a-f]+$")]  # a folder below the store, nothing outside


@dataclass(frozen=True)
class Cell:
    """What is kept of a run, as `cell.json`.

    `status` is `ok`, or `failed` with `error` (`type: message`). `stages` maps stage names to folders relative to the
    store; `costs` holds seconds, tokens and counts; `command` runs it again (empty: it is not known).
    """

    dataset: str
    method: str
    seed: int
    digest: str
    status: str
    error: str | None = None
    stages: Mapping[str, Place] = field(default_factory=dict)
    costs: Mapping[str, int | float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""


_CELL = TypeAdapter(Cell)


def cell_folder(run: Run, dataset: str) -> Path:
    """Where the record of this run is kept: the same run is always in the same folder, another one never."""
    name = f"{safe_name(dataset)}/{safe_name(run.name)}"
    return Path(run.store) / "cells" / name / digest([dataset, run.name, run.identity()])[:12]


def run_cell(run: Run, dataset: str, config: str, command: str = "") -> Cell:
    """Run all stages that are not done yet and keep the record. A failure is recorded and returned, not raised.

    Args:
        run: what to run.
        dataset: the dataset's name in tables.
        config: the resolved configuration as YAML, secrets masked, kept beside the record.
        command: what runs it again, kept in the record.

    Raises:
        StoreError: the same run is going on in another process, or the store can't be written.
    """
    store, folder = Store(run.store, locks=run.locks), cell_folder(run, dataset)
    with store.lock(f"cell-{folder.name}", wait=False):
        cell = dataclasses.replace(_attempted(run, dataset, folder.name, store), command=command)
        with writing(folder):
            write_record(folder, cell, config)
    return cell


def read_cells(root: Path) -> list[Cell]:
    """All records below a store's folder, in the order of their paths.

    Raises:
        StoreError: a record can't be read.
    """
    cells = []
    for path in sorted((root / "cells").glob(f"*/*/*/{RECORD}")):
        try:
            cells.append(_CELL.validate_python(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError) as error:
            why = str(error).splitlines()[0]
            raise StoreError(f"{path} is not a run's record ({why}). Delete its folder and run it again.") from error
    return cells


def _attempted(run: Run, dataset: str, name: str, store: Store) -> Cell:
    facts: dict[str, Any] = {
        "dataset": dataset,
        "method": run.name,
        "seed": run.seed,
        "digest": name,
        "settings": run.identity(),
    }
    try:
        with deadline(run.max_hours):
            stages, costs, failed = _stages(run, store)
    except Exception as error:  # whatever stops one cell must not stop the others of the sweep
        log.error("%s on %s failed: %s", run.name, dataset, error, exc_info=not isinstance(error, PsiError))
        return Cell(**facts, status="failed", error=_sentence(error))
    if failed is not None:
        log.error("%s on %s: %s", run.name, dataset, failed)
    status = "ok" if failed is None else "failed"
    places = {stage: artifact.path.relative_to(store.root).as_posix() for stage, artifact in stages.items()}
    return Cell(**facts, status=status, error=failed, stages=places, costs=costs)


def _stages(run: Run, store: Store) -> tuple[dict[str, Artifact], dict[str, Any], str | None]:
    loaded = benchmark_stage(
        run.dataset, store, limit=run.limit, corpus_limit=run.corpus_limit, seed=run.seed
    )  # fmt: skip
    benchmark = read_benchmark(loaded)
    if not benchmark.questions:
        raise InputError(
            f"{benchmark.name} has no questions, so there is nothing to measure. Give it some (dataset.questions=FILE "
            "for files of your own), or ask yours with `python -m experiments.ask`."
        )
    _tell(benchmark, warned=loaded.made)
    rankings = rankings_stage(benchmark, run.method.retriever, store, k=run.k)
    agent = _agent(run, benchmark, rankings, store)
    answers = _answers(run, benchmark, rankings, agent, store)
    scores = scores_stage(benchmark, rankings, answers, run.metrics, store, agent=agent)
    worked = {"agent": agent.artifact if agent else None, "answers": answers.artifact}
    stages = {"benchmark": loaded, "rankings": rankings, "scores": scores}
    stages |= {name: artifact for name, artifact in worked.items() if artifact is not None}
    failed = _too_many_failures(agent.answers if agent else answers.rows, run.max_fail_rate)
    return stages, _costs(benchmark, stages), failed or _too_many_failures(answers.rows, run.max_fail_rate)


def _agent(run: Run, benchmark: Benchmark, rankings: Artifact, store: Store) -> AgentRun | None:
    if run.agent is None:
        return None
    return agent_stage(
        benchmark, rankings, run.method.retriever, run.agent, store, k=run.k, context=run.context
    )  # fmt: skip


def _answers(run: Run, benchmark: Benchmark, rankings: Artifact, agent: AgentRun | None, store: Store) -> Answers:
    if run.answers == 0 or not any(metric(name).of == "answer" for name in run.metrics):
        return Answers({}, None)
    if run.agent is not None and agent is not None:
        if run.agent.policy.self_answering:
            asked = subset(benchmark, run.answers, None, run.seed).questions
            return Answers({question.id: agent.answers[question.id] for question in asked}, agent.artifact)
        rankings = agent.finished()
    return answers_stage(
        benchmark, rankings, run.reader, store, context=run.context, limit=run.answers, seed=run.seed
    )  # fmt: skip


def _too_many_failures(rows: Mapping[str, Mapping[str, Any]], most: float) -> str | None:
    kinds = [str(row["error_type"]) for row in rows.values() if row["status"] == "failed"]
    if len(kinds) <= most * len(rows):
        return None
    return (
        f"{len(kinds)} of {len(rows)} answers failed ({', '.join(sorted(set(kinds)))}), "
        f"more than max_fail_rate={most}. Start again to ask for those again."
    )


def _costs(benchmark: Benchmark, stages: Mapping[str, Artifact]) -> dict[str, Any]:
    facts = stages["rankings"].facts
    costs: dict[str, Any] = {
        "passages": len(benchmark.passages), "questions": len(benchmark.questions),
        "index_seconds": facts["index_seconds"],
        "search_ms_per_question": round(1000 * facts["search_seconds"] / len(benchmark.questions), 3),
    }  # fmt: skip
    searched = stages.get("agent", stages["rankings"]).facts["search_usage"]  # an agent's searches begin with the first
    for when, usage in (("index", facts["index_usage"]), ("search", searched)):
        costs |= {f"{when}_{what}": count for what, count in usage.items() if usage["calls"]}
    worked = {name: stages[name] for name in ("agent", "answers") if name in stages}
    if "agent" in worked:
        costs["agent_ms_per_question"] = _ms(worked["agent"])
        costs["agent_steps_per_question"] = worked["agent"].facts["mean_steps"]
    if "answers" in worked:
        costs["answer_ms_per_question"] = _ms(worked["answers"])
        costs["answered"] = sum(worked["answers"].facts["statuses"].values())
    if worked:
        once = {work.digest: work for work in worked.values()}.values()  # an agent that answers is both
        costs |= {tokens: sum(work.facts[tokens] for work in once) for tokens in ("prompt_tokens", "completion_tokens")}
    return costs


def _ms(work: Artifact) -> float:
    questions = sum(work.facts["statuses"].values())
    return round(1000 * float(work.facts["seconds"]) / int(questions), 1)


def _tell(benchmark: Benchmark, *, warned: bool) -> None:
    report = benchmark.report
    log.info("%s: %d passages, %d questions", benchmark.name, len(benchmark.passages), len(benchmark.questions))
    if report.unmapped_gold and not warned:  # loading has warned of them
        log.warning(
            "%s: %d gold references match no passage and count as missed, such as %s",
            benchmark.name, len(report.unmapped_gold), report.unmapped_gold[0],
        )  # fmt: skip
    for note in report.notes:
        log.info("%s: %s", benchmark.name, note)


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else "".join(traceback.format_exception_only(error)).strip()


def write_record(folder: Path, cell: Cell, config: str) -> None:
    """Keep the record of a run in its folder, with the configuration that it came of beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    temporary = folder / f"{RECORD}.{os.getpid()}"
    temporary.write_text(json.dumps(asdict(cell), indent=1, ensure_ascii=False), encoding="utf-8")
    temporary.replace(folder / RECORD)
