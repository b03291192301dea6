"""One page with everything about the runs of some stores, to be opened in a browser; it needs no network.

    python -m analysis.report runs=runs out=report.html
    python -m analysis.report runs=[runs/demo,runs/other] datasets=[twowiki] methods=[bm25,psi] metric=f1 threshold=0.5
    python -m analysis.report runs=runs figures=[studies/skew]           # and the figures in these folders

Tables that can be sorted and filtered, every question with what was retrieved and answered, two runs side by side, why answers
are wrong, the abstract trees with replays of searches, figures, and the commands that make each number again.

depth: how far down rankings are shown and looked at for gold; metric, threshold: when an answer counts as right; trees: how many
trees of one run are kept, where every document has its own.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, NonNegativeInt, PositiveInt

from analysis.cells import CellScores
from analysis.failures import Rule
from analysis.report.page import report_page
from analysis.report.records import Outcome, Report, ReportDataset, ReportFigure, ReportRun, ReportTree
from experiments.arguments import settings_from
from experiments.cell import Cell
from experiments.failures import cases_of
from experiments.labels import in_order
from experiments.report_trees import LONGEST, Replays, replays, tree_record
from experiments.selection import chosen_cells
from experiments.stages.benchmark import read_benchmark
from experiments.stages.rankings import read_rankings
from experiments.tables import cell_scores
from experiments.tree_paths import StoredTree, stored_trees
from psi.agent.trace import as_text
from psi.component import Component
from psi.corpus.records import Benchmark, Passage
from psi.errors import InputError
from psi.store import Artifact, open_artifact, read_rows, writing


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which runs of which stores go into the page, and what else."""

    runs: Annotated[tuple[str, ...], Field(min_length=1)] | str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    out: str = "report.html"
    title: str = ""
    figures: tuple[str, ...] = ()
    depth: PositiveInt = 10
    metric: str = "em"
    threshold: Annotated[float, Field(gt=0, le=1)] = 1.0
    trees: NonNegativeInt = 5

    @property
    def stores(self) -> tuple[str, ...]:
        """The stores, also where one was given as a word."""
        return (self.runs,) if isinstance(self.runs, str) else self.runs


@dataclass
class _Gathered:
    """What the runs share, while they are gone through: datasets by name, trees by digest."""

    benchmarks: dict[str, Benchmark] = field(default_factory=dict)
    shown: dict[str, dict[str, None]] = field(default_factory=dict)  # ids of passages, in the order of their appearance
    trees: dict[str, ReportTree] = field(default_factory=dict)

    def name_of(self, benchmark: Benchmark, scores: CellScores) -> str:
        """The dataset's name on the page; the same name for other passages or questions, of another seed, is told apart."""
        numbered = (f"{scores.dataset} ({number})" for number in itertools.count(2))
        names = itertools.chain([scores.dataset, f"{scores.dataset} (seed {scores.seed})"], numbered)
        return next(
            name for name in names if _content(self.benchmarks.setdefault(name, benchmark)) == _content(benchmark)
        )


def _content(benchmark: Benchmark) -> tuple[str, str]:
    return benchmark.passages.digest, benchmark.questions_digest


def main(arguments: Sequence[str]) -> None:
    """Write the page that the arguments ask for."""
    request = settings_from(arguments, Request, __doc__)
    page = report_page(gathered(request))
    path = Path(request.out)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    sys.stdout.write(f"report: {path} ({path.stat().st_size / 1e6:.1f} MB)\n")


def gathered(request: Request) -> Report:
    """Everything about the runs.

    Raises:
        InputError: a store holds no run.
        StoreError: an artefact is missing or damaged.
    """
    found = [
        (Path(store), cell)
        for store in request.stores
        for cell in in_order(chosen_cells(Path(store), request.datasets, request.methods))
    ]
    shared = _Gathered()
    scores = cell_scores(found)
    runs = [_run(store, cell, each, request, shared) for (store, cell), each in zip(found, scores, strict=True)]
    datasets = [_dataset(name, benchmark, shared.shown[name]) for name, benchmark in shared.benchmarks.items()]
    known = {each.name for each in datasets}
    lost = [each.scores for each in runs if each.scores.dataset not in known]
    datasets += [ReportDataset(name, 0, (), ()) for name in dict.fromkeys(each.dataset for each in lost)]
    return Report(
        title=request.title or f"Runs of {', '.join(request.stores)}", datasets=datasets, runs=runs,
        trees=list(shared.trees.values()), figures=[*_overviews(found), *_pictures(request.figures)],
        notes=list(_notes(request)),
    )  # fmt: skip


def _run(store: Path, cell: Cell, scores: CellScores, request: Request, shared: _Gathered) -> ReportRun:
    stages = {name: open_artifact(store / place) for name, place in cell.stages.items()}
    bare = ReportRun(
        scores=scores, outcomes={}, command=cell.command, store=str(store), digest=cell.digest, settings=cell.settings,
        stages=[_stage(name, artifact) for name, artifact in stages.items()],
    )  # fmt: skip
    if "benchmark" not in stages or "rankings" not in stages:
        return bare
    benchmark = read_benchmark(stages["benchmark"])
    name = shared.name_of(benchmark, scores)
    scores = replace(scores, dataset=name)
    bare = replace(bare, scores=scores)
    outcomes = _outcomes(store, cell, stages, benchmark, request)
    shown = shared.shown.setdefault(scores.dataset, {})
    known = benchmark.passages.position
    shown.update(dict.fromkeys(id_ for question in benchmark.questions for id_ in question.gold if id_ in known))
    shown.update(dict.fromkeys(id_ for outcome in outcomes.values() for id_, _ in outcome.ranking))
    trees = list(stored_trees(store, cell, benchmark))[: request.trees]
    replayed = replays(store, cell, benchmark, trees)
    return _with_tree(bare, outcomes, trees, replayed, benchmark, shared)


def _with_tree(
    run: ReportRun, outcomes: Mapping[str, Outcome], trees: Sequence[StoredTree], replayed: Replays | None,
    benchmark: Benchmark, shared: _Gathered,
) -> ReportRun:  # fmt: skip
    for tree in trees:
        if tree.digest not in shared.trees:
            shared.trees[tree.digest] = tree_record(tree, run.scores.dataset, run.scores.method)
    first = list(shared.trees).index(trees[0].digest) if len(trees) == 1 else None
    return ReportRun(
        **{**vars(run), "outcomes": outcomes, "tree": first, "beam": replayed.beam if replayed else None,
           "descents": replayed.descents if replayed else {}},
    )  # fmt: skip


def _outcomes(
    store: Path, cell: Cell, stages: Mapping[str, Artifact], benchmark: Benchmark, request: Request
) -> dict[str, Outcome]:
    rankings = read_rankings(stages.get("agent", stages["rankings"]).path)
    answers = _by_question(stages, "answers", "answers.jsonl")
    scored = _by_question(stages, "scores", "scores.jsonl")
    traces = _by_question(stages, "agent", "traces.jsonl")
    buckets = _buckets(store, cell, request)
    found = {}
    for question in benchmark.questions:
        id_, row = question.id, answers.get(question.id, {})
        ranking = rankings.get(id_)
        found[id_] = Outcome(
            ranking=[] if ranking is None else list(zip(ranking.ids, ranking.scores, strict=True))[: request.depth],
            answer=row.get("text"), status=row.get("status"), error=row.get("error_type"), bucket=buckets.get(id_),
            metrics={name: value for name, value in scored.get(id_, {}).items() if name not in ("question", "kind", "hops")},
            trace=as_text(traces[id_], benchmark.passages) if id_ in traces else None,
        )  # fmt: skip
    return found


def _by_question(stages: Mapping[str, Artifact], stage: str, file: str) -> dict[str, Mapping[str, Any]]:
    if stage not in stages or not (stages[stage].path / file).exists():
        return {}
    return {row["question"]: row for row in read_rows(stages[stage].path / file)}


def _buckets(store: Path, cell: Cell, request: Request) -> dict[str, str]:
    """What became of the answers; nothing where there is none that could be judged."""
    if "answers" not in cell.stages:
        return {}
    try:
        _, cases = cases_of(store, cell, Rule(request.metric, request.threshold, min(request.depth, 5)))
    except InputError:
        return {}
    return {case.question.id: case.bucket for case in cases}


def _stage(name: str, artifact: Artifact) -> dict[str, Any]:
    manifest = artifact.manifest
    commit = (manifest.get("code") or {}).get("commit")
    dirty = (manifest.get("code") or {}).get("dirty")
    return {
        "stage": name, "digest": artifact.digest[:16], "seconds": round(artifact.seconds, 2),
        "commit": f"{commit[:12]}{' (with changes)' if dirty else ''}" if commit else None,
        "device": manifest.get("device"), "packages": manifest.get("packages", {}),
    }  # fmt: skip


def _dataset(name: str, benchmark: Benchmark, shown: Mapping[str, None]) -> ReportDataset:
    passages = benchmark.passages
    kept = [passages.by_id(id_) if id_ in passages.position else _foreign(id_) for id_ in shown]
    return ReportDataset(name, len(passages), benchmark.questions, kept)


def _foreign(id_: str) -> Passage:
    """What stands for a text that imported predictions have retrieved and the corpus does not hold."""
    return Passage(id_, f"{id_[:LONGEST]}{'…' if len(id_) > LONGEST else ''}", "No passage of this corpus.")


def _notes(request: Request) -> Iterator[str]:
    yield f"Rankings are shown to place {request.depth}."
    yield f"An answer counts as right where {request.metric} is at least {request.threshold:g}."


def _overviews(found: Sequence[tuple[Path, Cell]]) -> Iterator[ReportFigure]:
    """The overview figure of each dataset."""
    from tempfile import TemporaryDirectory

    from analysis.figures import demo_figure  # matplotlib takes a second to import

    scores = cell_scores(found)
    for dataset in dict.fromkeys(each.dataset for each in scores):
        own = [each for each in scores if each.dataset == dataset]
        with TemporaryDirectory() as folder:
            try:
                png, *_ = demo_figure(own, Path(folder) / "overview.png")
            except InputError:  # nothing was scored
                continue
            names = ", ".join(dict.fromkeys(each.method for each in own))
            text = f"Recall at several depths, by kind of question, and answers, of {names}; see the table of results."
            yield ReportFigure(f"{dataset}: how well the methods find the evidence", png.read_bytes(), text)


def _pictures(folders: Sequence[str]) -> Iterator[ReportFigure]:
    for folder in folders:
        paths = sorted(Path(folder).glob("*.png"))
        if not paths:
            raise InputError(f"figures={folder}: no .png file there. Name folders of `python -m experiments.study`.")
        for path in paths:
            text = (
                f"{path.stem.replace('_', ' ')}; the numbers in it stand in {path.with_suffix('.csv').name} beside it."
            )
            yield ReportFigure(f"{Path(folder).name}: {path.stem}", path.read_bytes(), text)
