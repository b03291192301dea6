"""Scores of parts of the questions: by hops, by the benchmark's own types, by size of document, by category of the gold."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from analysis.cells import CellScores
from experiments.cell import Cell
from experiments.stages.benchmark import read_benchmark
from psi.errors import InputError
from psi.metrics import Summary, summarise
from psi.store import open_artifact, read_rows

By = Literal["hops", "kind", "document", "category"]
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)  # words: upper bounds of the groups of documents
_Row = Mapping[str, Any]


def by_group(store: Path, cell: Cell, scores: CellScores, by: By) -> Iterator[CellScores]:
    """The scores of a cell, group by group; the group stands after the dataset's name.

    Raises:
        InputError: some of its questions failed, so that its groups would lack them; or nothing is known to group by.
    """
    if any(summary.n_failed for summary in scores.summaries.values()):
        raise InputError(
            f"{scores.dataset}, {scores.method}: some questions failed. Run the cell again before grouping them."
        )
    if "scores" not in cell.stages:
        return
    rows = read_rows(open_artifact(store / cell.stages["scores"]).path / "scores.jsonl")
    group_of = _GROUPS[by](store, cell) if by in _GROUPS else _labels(by)
    groups: defaultdict[tuple[int, str], list[_Row]] = defaultdict(list)
    for row in rows:
        groups[group_of(row)].append(row)
    if len(groups) == 1 and next(iter(groups))[1] == "unknown":
        raise InputError(f"{scores.dataset}: by={by} is not known of its questions.")
    for (_, name), own in sorted(groups.items()):
        yield _part(scores, name, own, len(rows))


def _labels(by: By) -> Callable[[_Row], tuple[int, str]]:
    def label(row: _Row) -> tuple[int, str]:
        value = row[by]
        if not value:
            return 10**9, "unknown"
        return (int(value), f"{value} hop{'s' if value > 1 else ''}") if by == "hops" else (0, str(value))

    return label


def _documents(store: Path, cell: Cell) -> Callable[[_Row], tuple[int, str]]:
    """By the words of the document that a question is about, in the classes of SIZES."""
    benchmark = read_benchmark(open_artifact(store / cell.stages["benchmark"]))
    words: Counter[str | None] = Counter()
    for passage in benchmark.passages:
        words[passage.document] += len(passage.text.split())
    document = {question.id: question.document for question in benchmark.questions}

    def size(row: _Row) -> tuple[int, str]:
        own = document[row["question"]]
        if own is None:
            return 10**9, "unknown"
        bound = next((bound for bound in SIZES if words[own] <= bound), None)
        return (bound, f"up to {bound:,} words") if bound else (10**8, f"more than {SIZES[-1]:,} words")

    return size


def _categories(store: Path, cell: Cell) -> Callable[[_Row], tuple[int, str]]:
    """By the category of a question's gold passages, where they are all of one."""
    benchmark = read_benchmark(open_artifact(store / cell.stages["benchmark"]))
    category = {passage.id: passage.category for passage in benchmark.passages}
    found = {question.id: {category.get(id_) for id_ in question.gold} for question in benchmark.questions}

    def label(row: _Row) -> tuple[int, str]:
        own = found[row["question"]]
        if not own or None in own:
            return 10**9, "unknown"
        return (0, str(next(iter(own)))) if len(own) == 1 else (1, "several categories")

    return label


_GROUPS: Mapping[str, Callable[[Path, Cell], Callable[[_Row], tuple[int, str]]]] = MappingProxyType(
    {"document": _documents, "category": _categories}
)


def _part(scores: CellScores, group: str, rows: list[_Row], asked: int) -> CellScores:
    ids = {row["question"] for row in rows}
    questions = {name: {q: v for q, v in found.items() if q in ids} for name, found in scores.questions.items()}
    summaries = {
        name: _summary(list(questions.get(name, {}).values()), len(rows), whole, asked)
        for name, whole in scores.summaries.items()
    }
    return dataclasses.replace(
        scores, dataset=f"{scores.dataset}: {group}", n_questions=len(rows), summaries=summaries, questions=questions, parts={},
        costs={},
    )  # fmt: skip


def _summary(values: list[float], rows: int, whole: Summary, asked: int) -> Summary:
    """Of one group; questions without a score are excluded ones, where all were asked."""
    all_asked = whole.n + whole.n_excluded == asked
    return summarise(values, n_excluded=rows - len(values) if all_asked else 0)
