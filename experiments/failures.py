"""Why answers are wrong: buckets, figures, and sheets of cases to be labelled by hand.

    python -m experiments.failures store=runs datasets=[twowiki] out=failures          # tables, figures, case sheets
    python -m experiments.failures store=runs metric=f1 threshold=0.5 sample=50 seed=0
    python -m experiments.failures labels=sheet.csv                                     # shares of hand-made labels
    python -m experiments.failures labels=sheet.csv second=other.csv                    # and agreement of two people

Every wrong answer goes into one bucket, by the rules of `analysis.failures`. `depth` is how far down the ranking gold passages
are looked for. Sheets hold `sample` cases of each run; fill in the column `label`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveInt

from analysis.failures import LABELS, RULES, Case, Rule, classify, counts
from analysis.renderers import to_markdown
from analysis.sheets import ALLOWED, agreement, read_labels, sample, shares, write_sheet
from analysis.tables import Column, Entry, Table
from experiments.arguments import settings_from
from experiments.cell import Cell
from experiments.labels import labels
from experiments.output import show
from experiments.selection import chosen_cells
from experiments.stages.benchmark import read_benchmark
from experiments.stages.rankings import read_rankings
from experiments.tree_paths import tree_paths
from psi.agent.trace import as_text
from psi.component import Component
from psi.corpus.records import Benchmark
from psi.errors import InputError, PsiError
from psi.store import open_artifact, read_rows, safe_name


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which runs to look into and how; or, with `labels`, which labelled sheets to evaluate."""

    store: str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metric: str = "em"
    threshold: Annotated[float, Field(gt=0, le=1)] = 1.0
    depth: PositiveInt = 5
    sample: NonNegativeInt = 50
    seed: NonNegativeInt = 0
    out: str | None = None
    labels: str | None = None
    second: str | None = None


def cases_of(store: Path, cell: Cell, rule: Rule) -> tuple[Benchmark, list[Case]]:
    """The benchmark of a run, and its cases.

    Raises:
        InputError: the run has no answers.
        StoreError: an artefact of it is missing or damaged.
    """
    if "answers" not in cell.stages:
        raise InputError(
            f"{cell.method} on {cell.dataset} has no finished answers to look into. Run it with answers, or choose other "
            "runs with methods=[...]."
        )
    benchmark = read_benchmark(open_artifact(store / cell.stages["benchmark"]))
    rankings = read_rankings(open_artifact(store / cell.stages.get("agent", cell.stages["rankings"])).path)
    rows = read_rows(open_artifact(store / cell.stages["answers"]).path / "answers.jsonl")
    sizes: dict[str | None, int] = {None: len(benchmark.passages)}
    for passage in benchmark.passages:
        if passage.document is not None:
            sizes[passage.document] = sizes.get(passage.document, 0) + 1
    ranked = {question: ranking.ids for question, ranking in rankings.items()}
    return benchmark, classify(benchmark.questions, {row["question"]: row for row in rows}, ranked, sizes, rule)


def buckets_table(runs: Sequence[tuple[str, str, Sequence[Case]]]) -> Table:
    """Counts and shares of the buckets, one row a run given as dataset, method and cases."""
    found = [counts(cases) for _, _, cases in runs]
    columns = (
        Column("Dataset", "row", numeric=False),
        Column("Method", "row", numeric=False),
        Column("n", "score"),
        *(Column(LABELS[bucket], "score", shown=any(each[bucket] for each in found)) for bucket in RULES),
    )
    rows = []
    for (dataset, method, cases), numbers in zip(runs, found, strict=True):
        judged = len(cases) - numbers["failed"]
        texts = {
            bucket: f"{n}" if bucket == "failed" or not n else f"{n} ({100 * n / judged:.1f} %)"
            for bucket, n in numbers.items()
        }
        rows.append((
            Entry(dataset, data={"dataset": dataset}), Entry(method, data={"method": method}),
            Entry(str(judged), data={"n": judged}),
            *(Entry(texts[bucket], data={bucket: numbers[bucket]}) for bucket in RULES),
        ))  # fmt: skip
    rules = "; ".join(f"{LABELS[bucket]}: {RULES[bucket]}" for bucket in RULES if any(each[bucket] for each in found))
    return Table(columns, tuple(rows), (f"Each question stands in the first that holds of: {rules}.",))


def _look_into(request: Request) -> None:
    store = Path(request.store)
    cells = [
        cell
        for cell in chosen_cells(store, request.datasets, request.methods)
        if request.methods or "answers" in cell.stages
    ]
    if not cells:
        raise InputError(f"no run below {store} has finished answers to look into.")
    rule = Rule(request.metric, request.threshold, request.depth)
    names = labels(cells)
    looked = [cases_of(store, cell, rule) for cell in cells]
    table = buckets_table([(n.dataset, n.method, cases) for n, (_, cases) in zip(names, looked, strict=True)])
    show(table)
    if request.out is None:
        return
    out = Path(request.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "failures.md").write_text(to_markdown(table), encoding="utf-8")
    for cell, name, (benchmark, cases) in zip(cells, names, looked, strict=True):
        base = out / safe_name(f"{name.dataset}-{name.method}")
        _write_cases(base.with_name(f"{base.name}-cases.csv"), cases)
        chosen = sample(cases, request.sample, request.seed)
        paths = tree_paths(store, cell, benchmark)
        write_sheet(
            base.with_name(f"{base.name}-sheet.csv"), chosen, benchmark.passages, _traces(store, cell, benchmark), paths
        )
    _draw(out, [(*name, cases) for name, (_, cases) in zip(names, looked, strict=True)], request.depth)
    sys.stdout.write(f"tables, figures and sheets: {out}\n")


def _draw(out: Path, runs: Sequence[tuple[str, str, Sequence[Case]]], depth: int) -> None:
    from analysis.failure_figures import RunCases, overview_figure, parts_figure  # matplotlib takes a second to import

    drawn = [RunCases(*run) for run in runs]
    overview_figure(drawn, out / "overview.png")
    for run in drawn:
        parts_figure(run, out / f"{safe_name(f'{run.dataset}-{run.method}')}.png", depth=depth)


def _write_cases(path: Path, cases: Sequence[Case]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            (
                "question",
                "bucket",
                "evidence",
                "gold_rank",
                "hops",
                "kind",
                "index_size",
                "status",
                "answer",
                "gold_answers",
            )
        )
        for case in cases:
            q = case.question
            writer.writerow(
                (q.id, case.bucket, case.evidence, case.gold_rank, q.hops, q.kind, case.index_size, case.status, case.text,
                 " | ".join(q.answers))
            )  # fmt: skip


def _traces(store: Path, cell: Cell, benchmark: Benchmark) -> Mapping[str, str]:
    if "agent" not in cell.stages:
        return {}
    rows = read_rows(open_artifact(store / cell.stages["agent"]).path / "traces.jsonl")
    return {row["question"]: as_text(row, benchmark.passages) for row in rows}


def _evaluate(path: str, second: str | None) -> None:
    """Print the shares of the labels, their agreement with the rules, and that of two people."""
    given = read_labels(Path(path))
    if not given:
        raise InputError(f"{path} holds no label. Fill in its column 'label' with one of: {', '.join(ALLOWED)}.")
    write = sys.stdout.write
    write(f"{len(given)} labelled cases\n")
    for row in shares(given):
        write(f"  {row.label:<18} {row.n:>4}  {100 * row.share:5.1f} % [{100 * row.low:.1f}, {100 * row.high:.1f}]\n")
    others = {"the rules": read_labels(Path(path), column="bucket")}
    others |= {second: read_labels(Path(second))} if second else {}
    for name, other in others.items():
        found = agreement(given, other)
        kappa = "-" if found.kappa is None else f"{found.kappa:.2f}"
        write(f"with {name}: {100 * found.observed:.1f} % of {found.n} cases alike, Cohen's kappa {kappa}\n")
        for (left, right), count in found.pairs.items():
            if left != right:
                write(f"  {count:>3}  {left} for {right}\n")


def main(arguments: Sequence[str]) -> None:
    """Look into runs, or evaluate labels."""
    request = settings_from(arguments, Request, __doc__)
    if request.labels is None:
        _look_into(request)
    else:
        _evaluate(request.labels, request.second)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except PsiError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    except OSError as error:
        sys.stderr.write(f"cannot write {error.filename}: {error.strerror}. Choose another place with out=.\n")
        raise SystemExit(2) from None
