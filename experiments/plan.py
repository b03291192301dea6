"""What a run would do, without doing it: the stages that are missing, and what they are expected to cost."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from experiments.cell import Cell, read_cells
from experiments.output import console
from experiments.settings import Prices, Run
from experiments.stages.agent import agent_stage
from experiments.stages.answers import answers_stage
from experiments.stages.benchmark import benchmark_stage, read_benchmark
from experiments.stages.rankings import open_index, rankings_stage
from psi.corpus.records import Benchmark
from psi.errors import StoreError
from psi.metrics import metric
from psi.retrieval.ranking import QuestionRanker
from psi.store import Artifact, Stage, Store

_NOTE = (
    "Time (h:mm:ss), calls, tokens and money are those of the earlier cell named last, in proportion to passages, questions "
    "and answers; ?: nothing like it has been run in this store. Stages that several cells share are counted in each."
)
# what an artefact that is not there can make its readers raise
_ABSENT = (OSError, StoreError, KeyError)


@dataclass(frozen=True)
class Expected:
    """Costs foreseen. None: nothing like it has been run in this store yet, so nothing is known."""

    seconds: float | None = 0.0
    calls: float | None = 0.0
    tokens: float | None = 0.0
    money: float | None = 0.0

    def __add__(self, other: Expected) -> Expected:
        pairs = zip(_values(self), _values(other), strict=True)
        return Expected(*(None if a is None or b is None else a + b for a, b in pairs))


@dataclass(frozen=True)
class Plan:
    """What one cell would do: stages by name, those of the index counted, and what they are expected to cost.

    `like` names the earlier cell that the expectation is taken from.
    """

    dataset: str
    method: str
    seed: int
    stages: tuple[str, ...] = ()
    expected: Expected = field(default_factory=Expected)
    like: str | None = None


class _Missing(Store):
    """A store that makes nothing: what is not there is noted, and stood for by an artefact without files."""

    def __init__(self, root: str):
        super().__init__(root)
        self.missing: dict[str, Stage] = {}

    def obtain(
        self, stage: Stage, make: Callable[[Path], Mapping[str, Any] | None], *, resumable: bool = False
    ) -> Artifact:
        """The artefact, or its place."""
        found = self.find(stage)
        if found is None:
            self.missing[stage.digest] = stage
            found = Artifact(self.path(stage), stage.digest, {"facts": {}, "seconds": 0.0, "stage": stage.name})
        return found


def plan(run: Run, dataset: str) -> Plan:
    """Find out what the run still has to do. The benchmark itself is loaded (and kept), everything else only looked for.

    Raises:
        InputError: the benchmark can't be read.
        StoreError: the store holds a damaged stage, or can't be written.
    """
    loaded = benchmark_stage(
        run.dataset, Store(run.store), limit=run.limit, corpus_limit=run.corpus_limit, seed=run.seed
    )
    benchmark, store = read_benchmark(loaded), _Missing(run.store)
    index = _index(run, benchmark, store)
    work = tuple(stage.name for stage in store.missing.values() if stage.digest not in {each.digest for each in index})
    names = (*_counted([stage.name for stage in index]), *work)
    known = _most_alike(run, dataset, read_cells(Path(run.store)))
    expected = _expected(run, benchmark, known, names, bool(index))
    return Plan(dataset, run.name, run.seed, names, expected, f"{known.method} on {known.dataset}" if known else None)


def _index(run: Run, benchmark: Benchmark, store: _Missing) -> list[Stage]:
    """Look for every stage of the run, in order; returns the missing ones of the index."""
    index: list[Stage] = []
    rankings = rankings_stage(benchmark, run.method.retriever, store, k=run.k)
    if rankings.digest in store.missing and not isinstance(run.method.retriever, QuestionRanker):
        looking = _Missing(run.store)
        for document in dict.fromkeys(question.document for question in benchmark.questions):
            with contextlib.suppress(*_ABSENT):
                open_index(benchmark, run.method.retriever, looking, document)
        index = list(looking.missing.values())
    if run.agent is not None:
        with contextlib.suppress(*_ABSENT):
            agent_stage(benchmark, rankings, run.method.retriever, run.agent, store, k=run.k, context=run.context)
    if _reads(run):
        with contextlib.suppress(*_ABSENT):
            answers_stage(
                benchmark, rankings, run.reader, store, context=run.context, limit=run.answers, seed=run.seed
            )  # fmt: skip
    return index


def _reads(run: Run) -> bool:
    """Whether a reader answers."""
    answering = run.answers != 0 and any(metric(name).of == "answer" for name in run.metrics)
    return answering and not (run.agent is not None and run.agent.policy.self_answering)


def _counted(names: Sequence[str]) -> list[str]:
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    return [name if count == 1 else f"{count} × {name}" for name, count in counts.items()]


def _most_alike(run: Run, dataset: str, cells: Sequence[Cell]) -> Cell | None:
    """The finished cell whose method and dataset agree best with the run's: what the expectation is taken from."""
    finished = [cell for cell in cells if cell.status == "ok" and cell.costs.get("questions")]
    settings = run.identity()

    def likeness(cell: Cell) -> tuple[bool, ...]:
        same = [cell.settings.get(key) == settings[key] for key in ("method", "agent", "reader")]
        return (cell.method == run.name, *same, cell.dataset == dataset)

    alike = [cell for cell in finished if likeness(cell)[0] or all(likeness(cell)[1:4])]
    return max(alike, key=lambda cell: (*likeness(cell), cell.digest), default=None)


def _expected(run: Run, benchmark: Benchmark, known: Cell | None, stages: Sequence[str], index: bool) -> Expected:
    """Costs of the missing stages, in proportion to passages, questions and answers of the cell that is alike."""
    if not stages:
        return Expected()
    if known is None:
        return Expected(None, None, None, None)
    costs = known.costs
    asked = len(benchmark.questions)
    answered = asked if run.answers is None else min(run.answers, asked)
    per_question = asked / costs["questions"]
    total = Expected()
    if index:
        share = len(benchmark.passages) / costs["passages"]
        total += _part(costs, run.prices, "index_", share, costs["index_seconds"] * share)
    if "rankings" in stages:
        total += _part(costs, run.prices, "search_", per_question, costs["search_ms_per_question"] * asked / 1000)
    if "agent" in stages or "answers" in stages:
        worked = asked * costs.get("agent_ms_per_question", 0.0) + answered * costs.get("answer_ms_per_question", 0.0)
        replied = costs["questions"] if "agent" in stages else costs.get("answered")
        scale = (asked if "agent" in stages else answered) / replied if replied else None
        total += (
            Expected(None, None, None, None) if scale is None else _part(costs, run.prices, "", scale, worked / 1000)
        )
    return total


def _part(costs: Mapping[str, float], prices: Prices, prefix: str, scale: float, seconds: float) -> Expected:
    prompt, reply = (scale * costs.get(f"{prefix}{kind}_tokens", 0) for kind in ("prompt", "completion"))
    money = prices.of(seconds, prompt, reply)
    return Expected(seconds, scale * costs.get(f"{prefix}calls", 0), prompt + reply, money)


def _values(expected: Expected) -> tuple[float | None, ...]:
    return (expected.seconds, expected.calls, expected.tokens, expected.money)


def show_plans(plans: Sequence[Plan]) -> None:
    """Print a table of plans and their sum; nothing where there is none."""
    if not plans:
        return
    table = Table(box=SIMPLE, caption_justify="left", caption=_NOTE)
    for heading in ("Dataset", "Method", "Seed", "Still to do"):
        table.add_column(heading)
    for heading in ("Time", "Calls", "Tokens", "Money"):
        table.add_column(heading, justify="right")
    table.add_column("As in")
    for each in plans:
        stages = ", ".join(each.stages) or "nothing"
        table.add_row(each.dataset, each.method, str(each.seed), stages, *_shown(each.expected), each.like or "-")
    total = sum((each.expected for each in plans), Expected())
    table.add_section()
    table.add_row("", "", "", f"{len(plans)} cells", *_shown(total))
    console().print(table)


def _shown(expected: Expected) -> tuple[str, str, str, str]:
    calls, tokens = ("?" if each is None else f"{math.ceil(each):,}" for each in (expected.calls, expected.tokens))
    money = "?" if expected.money is None else f"{expected.money:,.2f}"
    return "?" if expected.seconds is None else _time(expected.seconds), calls, tokens, money


def _time(seconds: float) -> str:
    whole = math.ceil(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
