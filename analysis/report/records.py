"""What a report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.cells import CellScores
from psi.corpus.records import Passage, Question


@dataclass(frozen=True)
class ReportDataset:
    """A dataset that was run: its questions, the size of its corpus, and the passages that the page has to show."""

    name: str
    passages: int
    questions: Sequence[Question]
    shown: Sequence[Passage]


@dataclass(frozen=True)
class Outcome:
    """What a run made of one question.

    ranking: ids and scores of the first passages; metrics: scores by metric; bucket: of `analysis.failures`; trace: the
    agent's steps as text.
    """

    ranking: Sequence[tuple[str, float]] = ()
    answer: str | None = None
    status: str | None = None
    error: str | None = None
    bucket: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    trace: str | None = None


@dataclass(frozen=True)
class Visit:
    """One layer of a descent: its height, how many nodes were compared, the kept nodes with similarities, best first."""

    height: int
    compared: int
    kept: Sequence[tuple[int, float]]


@dataclass(frozen=True)
class ReportTree:
    """An abstract tree: what it is of, (n_nodes,) parents as in `psi.tree.Tree`, a label for each node.

    abstract: whether the labels of inner nodes are abstracts, or only name passages near the node's vector.
    passages: (n_leaves,) ids of the leaves.
    """

    name: str
    parents: Sequence[int]
    labels: Sequence[str]
    abstract: bool
    passages: Sequence[str]


@dataclass(frozen=True)
class ReportRun:
    """A cell: its numbers, what it made of every question, and how to make it again.

    scores: as for tables; outcomes: by question id; tree: place of its tree among those of the report; beam: of the search
    in it; descents: by question id; stages: name, digest, seconds and versions of each; settings: those that decide results.
    """

    scores: CellScores
    outcomes: Mapping[str, Outcome]
    command: str
    store: str
    digest: str
    settings: Mapping[str, Any]
    stages: Sequence[Mapping[str, Any]]
    tree: int | None = None
    beam: int | None = None
    descents: Mapping[str, Sequence[Visit]] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportFigure:
    """A picture with a title; `data`: the bytes of a PNG; `text`: what it shows, in words, for those who cannot see it."""

    title: str
    data: bytes
    text: str


@dataclass(frozen=True)
class Report:
    """Everything on the page. `notes` are sentences that stand at its top."""

    title: str
    datasets: Sequence[ReportDataset]
    runs: Sequence[ReportRun]
    trees: Sequence[ReportTree] = ()
    figures: Sequence[ReportFigure] = ()
    notes: Sequence[str] = ()
