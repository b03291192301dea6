"""How fast a report opens in a browser: methods x datasets x questions, and a tree of about 100,000 nodes.

    python -m experiments.bench.report                          # 5 methods, 3 datasets, 500 questions, 100,000 nodes
    python -m experiments.bench.report questions=2000 leaves=200000 chromium=/usr/bin/chromium

Needs Chromium and the package playwright (extra dev). Every time is the median over `repeats` fresh browsers; the outline of
the tree is also opened and scrolled, to see the slowest frame.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import PositiveInt
from rich.console import Console

from analysis.cells import CellScores
from analysis.descent import descend
from analysis.report.page import report_page
from analysis.report.records import Outcome, Report, ReportDataset, ReportRun, ReportTree, Visit
from experiments.arguments import run_program, settings_from
from experiments.bench.generated import generated_vectors
from psi.component import Component
from psi.corpus.records import Passage, Question
from psi.metrics import summarise
from psi.tree import build_tree, mean_vectors

WORDS = ("river", "bridge", "opened", "year", "after", "long", "dispute", "over", "cost", "town", "paid", "most")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """How large the report is, how often it is opened, in which browser."""

    methods: PositiveInt = 5
    datasets: PositiveInt = 3
    questions: PositiveInt = 500
    passages: PositiveInt = 5000
    leaves: PositiveInt = 90_000
    repeats: PositiveInt = 5
    chromium: str = "/usr/bin/chromium"


def main(arguments: Sequence[str]) -> None:
    """Make the report, open it, print the times."""
    request = settings_from(arguments, Request, __doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        report = generated_report(request)
        nodes = len(report.trees[0].parents)
        path.write_text(report_page(report), encoding="utf-8")
        found = [_opened(path, request.chromium) for _ in range(request.repeats)]
        size = path.stat().st_size / 1e6
    console = Console(width=110)
    what = f"{request.methods} methods x {request.datasets} datasets x {request.questions} questions"
    console.print(f"{size:.1f} MB: {what}, a tree of {nodes:,} nodes")
    for what in found[0]:
        times = [each[what] for each in found]
        console.print(f"{what}: median {statistics.median(times):.3f}, worst {max(times):.3f} s")


def generated_report(request: Request) -> Report:
    """A report of this size from a seeded generator."""
    rng = np.random.default_rng(0)
    datasets = [_dataset(f"dataset {number}", request, rng) for number in range(request.datasets)]
    tree, descents = _tree(request.leaves, datasets[0].questions, rng)
    runs = [
        _run(dataset, f"method {number}", rng, descents if number == 0 and dataset is datasets[0] else None)
        for dataset in datasets
        for number in range(request.methods)
    ]
    return Report("A generated report", datasets, runs, [tree])


def _text(rng: np.random.Generator, words: int) -> str:
    return " ".join(rng.choice(WORDS, words))


def _dataset(name: str, request: Request, rng: np.random.Generator) -> ReportDataset:
    passages = [Passage(f"p{at:05d}", _text(rng, 3), _text(rng, 90)) for at in range(request.passages)]
    questions = [
        Question(
            f"q{at}",
            _text(rng, 14),
            (_text(rng, 2),),
            tuple(f"p{g:05d}" for g in rng.integers(0, request.passages, 2)),
            2,
        )
        for at in range(request.questions)
    ]
    return ReportDataset(name, request.passages, questions, passages)


def _run(
    dataset: ReportDataset, method: str, rng: np.random.Generator, descents: dict[str, list[Visit]] | None
) -> ReportRun:
    outcomes = {question.id: _outcome(dataset, question, rng) for question in dataset.questions}
    names = ("recall@2", "recall@5", "em", "f1")
    summaries = {name: summarise([each.metrics[name] for each in outcomes.values()]) for name in names}
    scores = CellScores(dataset=dataset.name, method=method, summaries=summaries, n_questions=len(outcomes))
    return ReportRun(
        scores, outcomes, f"python -m experiments.run method={method!r}", "runs", "0" * 12, {}, [],
        tree=0 if descents else None, beam=10 if descents else None, descents=descents or {},
    )  # fmt: skip


def _outcome(dataset: ReportDataset, question: Question, rng: np.random.Generator) -> Outcome:
    found = rng.integers(0, len(dataset.shown), 10)
    ranking = [
        (dataset.shown[at].id, float(score)) for at, score in zip(found, sorted(rng.random(10))[::-1], strict=True)
    ]
    metrics = {name: float(rng.integers(0, 3) / 2) for name in ("recall@2", "recall@5", "em", "f1")}
    bucket = "correct" if metrics["em"] == 1 else "reader_miss"
    return Outcome(ranking, _text(rng, 3), "ok", None, bucket, metrics, _text(rng, 120))


def _tree(
    leaves: int, questions: Sequence[Question], rng: np.random.Generator
) -> tuple[ReportTree, dict[str, list[Visit]]]:
    vectors = generated_vectors("clustered", leaves, 32)
    tree = build_tree(vectors)
    nodes = mean_vectors(tree, vectors)
    labels = [f"{_text(rng, 4)} {node}" for node in range(tree.n_nodes)]
    record = ReportTree("a generated tree", tree.parents.tolist(), labels, True, [f"p{at:05d}" for at in range(leaves)])
    asked = vectors[rng.integers(0, leaves, len(questions))]
    return record, {
        question.id: [
            Visit(level.height, level.compared, list(zip(level.kept.tolist(), level.similarity.tolist(), strict=True)))
            for level in descend(tree, nodes, query, 10)
        ]
        for question, query in zip(questions, asked, strict=True)
    }


@contextmanager
def browser_page(path: Path, chromium: str) -> Iterator[Any]:
    """A page of a fresh browser, not yet opened."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=list(FLAGS))
        try:
            yield browser.new_page(viewport={"width": 1400, "height": 950})
        finally:
            browser.close()


def _opened(path: Path, chromium: str) -> dict[str, float]:
    times = {}
    with browser_page(path, chromium) as page:
        page.on("pageerror", lambda error: (_ for _ in ()).throw(RuntimeError(str(error))))
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        times["open"] = time.perf_counter() - start
        for view, ready in (("questions", "table"), ("compare", "table"), ("failures", "table"), ("trees", "canvas")):
            start = time.perf_counter()
            page.click(f"#tab-{view}")
            page.wait_for_selector(f"#view-{view} {ready}")
            times[view] = time.perf_counter() - start
        times["tree: search"] = _searched(page)
        times["tree: slowest of 60 frames while scrolling the outline"] = page.evaluate(_SCROLL)
        start = time.perf_counter()
        page.click("text=Replay a search in this tree")
        page.wait_for_selector("text=nodes compared")
        times["tree: replay"] = time.perf_counter() - start
    return times


def _searched(page: Any) -> float:
    start = time.perf_counter()
    page.fill("#view-trees input[type=search]", "bridge town")
    page.wait_for_selector("text=higher ones first")
    return time.perf_counter() - start


# opens the root's children, then scrolls through everything that is open
_SCROLL = """async () => {
  const box = document.querySelector('.tree');
  box.focus();
  let slowest = 0, before = performance.now();
  for (let step = 0; step < 60; step++) {
    box.dispatchEvent(new KeyboardEvent('keydown', { key: step % 2 ? 'ArrowDown' : 'ArrowRight' }));
    box.scrollTop += 500;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    slowest = Math.max(slowest, now - before);
    before = now;
  }
  return slowest / 1000;
}"""


if __name__ == "__main__":
    run_program(main)
