"""What runs cost, stage by stage: time, calls, tokens, memory, money; a table, and a figure for each dataset.

    python -m experiments.efficiency store=runs/efficiency
    python -m experiments.efficiency store=runs/efficiency prices=example metric=f1 out=efficiency

prices: of conf/prices. Into the folder `out` go stages.md, stages.csv, and a figure for each dataset. A stage that several
methods share, such as the embeddings of a corpus, is counted for each of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from analysis.cells import CellScores
from analysis.efficiency import Phase, Quality, StageCost, stages_table
from experiments.arguments import run_program, settings_from
from experiments.cell import Cell
from experiments.complaints import CONF
from experiments.labels import in_order
from experiments.output import show, write_table
from experiments.selection import chosen_cells
from experiments.settings import Prices
from experiments.tables import cell_scores
from psi.component import Component, did_you_mean
from psi.errors import ConfigError, InputError, StoreError
from psi.metrics import metric
from psi.store import Artifact, open_artifact, read_rows, safe_name, writing


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which runs, at which prices, by which metric their quality is shown, and where results go (None: the console)."""

    store: str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    prices: str = "free"
    metric: str = "recall@5"
    out: str | None = None


def main(arguments: Sequence[str]) -> None:
    """Tell what the runs cost."""
    request = settings_from(arguments, Request, __doc__)
    label = metric(request.metric).label
    store, prices = Path(request.store), prices_of(request.prices)
    cells = in_order(chosen_cells(store, request.datasets, request.methods))
    scores = cell_scores([(store, cell) for cell in cells])
    costs = [cost for cell, each in zip(cells, scores, strict=True) for cost in stage_costs(store, cell, each, prices)]
    if not costs:
        raise InputError(f"no run below {store} has finished a stage, so there is nothing to count.")
    table = stages_table(costs)
    show(table)
    if request.out is not None:
        folder = Path(request.out)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_table(table, folder, "stages")
            _draw(costs, _quality(scores, request.metric), label, folder)


def prices_of(name: str) -> Prices:
    """The prices of conf/prices.

    Raises:
        ConfigError: there are none of this name.
    """
    path = CONF / "prices" / f"{name}.yaml"
    if not path.exists():
        known = [each.stem for each in path.parent.glob("*.yaml")]
        raise ConfigError(f"prices={name}: no prices of this name in {path.parent}.{did_you_mean(name, known)}")
    settings = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(path)))
    return Prices(**{key: value for key, value in settings.items() if key != "_target_"})


def stage_costs(store: Path, cell: Cell, scores: CellScores, prices: Prices) -> Iterator[StageCost]:
    """What each finished stage of a run took: those of its index, then searching, the agent, answering."""
    questions = int(cell.costs.get("questions", 0))
    stages = {name: open_artifact(store / place) for name, place in cell.stages.items()}
    if "rankings" not in stages:
        return
    rankings = stages["rankings"]
    for used in rankings.facts.get("indexes", ()):
        try:
            index = open_artifact(store / "stages" / used["stage"] / used["digest"][:16])
        except StoreError:  # cleaned away since
            continue
        yield _cost(scores, "index", used["stage"], index, index.facts, index.seconds, 0, prices)
    facts = {**rankings.facts.get("search_usage", {}), "resumed": rankings.facts.get("resumed")}
    yield _cost(scores, "search", "rankings", rankings, facts, rankings.facts["search_seconds"], questions, prices)
    done = set()
    answering: tuple[Phase, ...] = ("agent", "answers")
    for phase in answering:
        artifact = stages.get(phase)
        if artifact is not None and artifact.digest not in done:  # an agent that answers is both
            done.add(artifact.digest)
            number = sum(artifact.facts["statuses"].values())
            facts = {**artifact.facts, "calls": _calls(artifact)}
            yield _cost(
                scores, phase, phase, artifact, facts, artifact.facts["seconds"], number, prices
            )  # fmt: skip


def _calls(artifact: Artifact) -> int:
    """Calls made: those whose replies were in the cache are none."""
    path = artifact.path / "timings.jsonl"
    return sum(int(row.get("calls", 0)) for row in read_rows(path)) if path.exists() else 0


def _cost(
    scores: CellScores, phase: Phase, stage: str, artifact: Artifact, facts: Mapping[str, Any], seconds: float,
    questions: int, prices: Prices,
) -> StageCost:  # fmt: skip
    prompt, completion = int(facts.get("prompt_tokens", 0)), int(facts.get("completion_tokens", 0))
    return StageCost(
        dataset=scores.dataset, method=scores.method, phase=phase, stage=stage, seconds=float(seconds), questions=questions,
        calls=int(facts.get("calls", 0)), prompt_tokens=prompt, completion_tokens=completion,
        memory=artifact.memory.get("main"), gpu=artifact.memory.get("gpu"),
        price=prices.of(float(seconds), prompt, completion), resumed=bool(facts.get("resumed")),
    )  # fmt: skip


def _quality(scores: Sequence[CellScores], name: str) -> list[Quality]:
    found = [(each, each.summaries[name]) for each in scores if name in each.summaries]
    return [
        Quality(
            dataset=each.dataset, method=each.method, mean=summary.mean, low=summary.mean if summary.low is None else summary.low,
            high=summary.mean if summary.high is None else summary.high,
        )
        for each, summary in found
        if summary.mean is not None
    ]  # fmt: skip


def _draw(costs: Sequence[StageCost], quality: Sequence[Quality], label: str, folder: Path) -> None:
    from analysis.efficiency import efficiency_figure  # matplotlib takes a second to import

    for dataset in dict.fromkeys(cost.dataset for cost in costs):
        own = [cost for cost in costs if cost.dataset == dataset]
        of = [each for each in quality if each.dataset == dataset]
        png, *_ = efficiency_figure(own, of, label, folder / f"efficiency_{safe_name(dataset)}")
        sys.stdout.write(f"figure: {png}\n")


if __name__ == "__main__":
    run_program(main)
