"""What the harness adds to the work itself: a retrieval sweep through stages and store, against the same work without them.

    python -m experiments.bench.overhead dataset=encyclopedia passages=3000 repeats=3

Without: every component is built and searched once, its output kept in memory-backed folders that are neither hashed, locked
nor described, and questions are scored. With: `run_cell` for every method in a new store. Both embed the corpus once. The runs
take turns, in one process; the smallest time of each counts.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import PositiveInt
from tqdm import tqdm

from experiments.arguments import run_program, settings_from
from experiments.cell import run_cell
from experiments.compose import masked, run_from
from experiments.configuration import composed
from experiments.settings import Run
from psi.component import Component
from psi.errors import PsiError
from psi.metrics import metric, score_questions
from psi.retrieval.ranking import Retriever
from psi.store import Artifact, Stage, Store

MEMORY = Path("/dev/shm")  # a folder in memory, where there is one


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """What to run: methods on the generated encyclopedia of so many passages and questions, so often."""

    methods: tuple[str, ...] = ("bm25", "dense", "rrf", "psi_tree", "psi", "links")
    passages: PositiveInt = 3000
    questions: PositiveInt = 500
    repeats: PositiveInt = 3
    out: str | None = None


class Bare(Store):
    """Keeps what was made, by its digest, and does nothing else."""

    def __init__(self, root: Path):
        super().__init__(root)
        self._made: dict[str, Artifact] = {}

    def obtain(
        self, stage: Stage, make: Callable[[Path], Mapping[str, Any] | None], *, resumable: bool = False
    ) -> Artifact:
        """Make it at the first call."""
        if stage.digest not in self._made:
            folder = self.path(stage)
            folder.mkdir(parents=True)
            self._made[stage.digest] = Artifact(
                folder, stage.digest, {"facts": dict(make(folder) or {}), "seconds": 0.0}
            )
        return self._made[stage.digest]


def runs(request: Request, store: str) -> list[Run]:
    """The cells of the sweep, models loaded anew."""
    size = [f"dataset.passages={request.passages}", f"dataset.questions={request.questions}"]
    settings = ["dataset=encyclopedia", *size, "answers=0", f"store={store}"]
    return [run_from(composed([*settings, f"method={method}"])) for method in request.methods]


def bare(sweep: Sequence[Run], folder: Path) -> float:
    """Seconds of the work itself."""
    store, began = Bare(folder), time.perf_counter()
    benchmark = sweep[0].dataset.load()
    texts = [question.text for question in benchmark.questions]
    for run in sweep:
        retriever = run.method.retriever
        assert isinstance(retriever, Retriever)
        found = retriever.build(benchmark.passages, store).search(texts, run.k)
        ranked = {q.id: ranking.ids for q, ranking in zip(benchmark.questions, found, strict=True)}
        wanted = [each for each in map(metric, run.metrics) if each.of != "answer"]
        for scores in score_questions(benchmark.questions, wanted, rankings=ranked).values():
            scores.summary()
    return time.perf_counter() - began


def harnessed(sweep: Sequence[Run], config: str) -> float:
    """Seconds of the same through the harness."""
    began = time.perf_counter()
    for run in sweep:
        cell = run_cell(run, "encyclopedia", config)
        if cell.status != "ok":
            raise PsiError(f"{run.name} failed: {cell.error}")
    return time.perf_counter() - began


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="psi-overhead-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)


def measure(request: Request) -> dict[str, Any]:
    """Let both run in turns."""
    config = masked(composed(["dataset=encyclopedia"]))
    times: dict[str, list[float]] = {"bare": [], "harness": []}
    with _folder() as folder:
        harnessed(runs(request, str(folder / "warm")), config)  # loads and compiles everything once
    for _ in tqdm(range(request.repeats), desc="repeats", disable=None):
        with _folder() as folder:
            times["bare"].append(bare(runs(request, str(folder / "x")), folder / "bare"))
        with tempfile.TemporaryDirectory(prefix="psi-overhead-") as disk:
            times["harness"].append(harnessed(runs(request, disk), config))
    best = {name: min(found) for name, found in times.items()}
    return {
        "methods": list(request.methods), "passages": request.passages, "questions": request.questions,
        "seconds": {name: [round(each, 3) for each in found] for name, found in times.items()},
        "overhead": round(best["harness"] / best["bare"] - 1, 4),
    }  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    """Measure, and tell."""
    request = settings_from(arguments, Request, __doc__)
    logging.disable(logging.WARNING)
    text = json.dumps(measure(request), indent=1)
    sys.stdout.write(text + "\n")
    if request.out is not None:
        Path(request.out).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    run_program(main)
