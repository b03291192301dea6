"""Tables and the overview figure of everything in a store.

    python -m experiments.tables store=runs
    python -m experiments.tables store=runs out=table.md metrics=[recall@5,f1] datasets=[twowiki]
    python -m experiments.tables experiment=main_qa out=table.tex        # a prepared table: see conf/table
    python -m experiments.tables store=runs baseline=bm25                # † where a method differs significantly from it
    python -m experiments.tables store=runs published=[hipporag2.qa]     # beside published rows: see conf/published
    python -m experiments.tables store=runs by=hops                      # or kind, document (its size), category (of the gold)
    python -m experiments.tables store=runs show=trees                   # results, datasets or trees
    python -m experiments.tables store=runs figure=overview.png

The ending of `out` chooses the format: .md, .csv, .tex or .html; without `out` the table goes to the console.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from omegaconf import OmegaConf

from analysis.cells import CellScores
from analysis.published import Published, read_published
from analysis.renderers import to_csv, to_html, to_latex, to_markdown
from analysis.statistics import datasets_table, trees_table
from analysis.tables import Comparison, Table, results_table
from experiments.arguments import run_program, settings_from
from experiments.cell import Cell
from experiments.complaints import CONF
from experiments.groups import By, by_group
from experiments.labels import Label, in_order, labels
from experiments.output import show
from experiments.selection import chosen_cells
from experiments.statistics import datasets_of, trees_of
from psi.component import Component, did_you_mean
from psi.errors import ConfigError, StoreError
from psi.metrics import Summary, summarise
from psi.store import open_artifact, read_rows

FORMATS: Mapping[str, Callable[[Table], str]] = {
    ".md": to_markdown, ".csv": to_csv, ".tex": to_latex, ".html": to_html,
}  # fmt: skip
_NOT_COSTS = ("passages", "questions", "answered", "retrieved", "unmapped")  # counts that stand elsewhere
METRICS = ("recall@1", "recall@2", "recall@5", "recall@10", "em", "f1")


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """What to show: of which store, which datasets and methods (empty: all), by which metrics, where.

    experiment: a table of conf/table, whose settings stand in for those not given.
    baseline: the method that others are tested against, `best` for the best of each column; None (baseline=): no test.
    published: tables of conf/published to show beside, as FILE.TABLE.
    by: what to split each dataset's questions by (None: not at all).
    """

    experiment: str | None = None
    title: str = ""
    store: str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = METRICS
    show: Literal["results", "datasets", "trees"] = "results"
    baseline: str | None = None
    published: tuple[str, ...] = ()
    by: By | None = None
    out: str | None = None
    figure: str | None = None


def show_cells(cells: Sequence[tuple[Path, Cell]]) -> None:
    """Print the table of cells, each given with the store that holds it."""
    show(results_table(cell_scores(cells), METRICS))


def cell_scores(cells: Sequence[tuple[Path, Cell]]) -> list[CellScores]:
    """What tables need to know of each cell. Cells that differ in settings alone are told apart by those settings."""
    names = labels([cell for _, cell in cells])
    return [_scores(root, cell, name) for (root, cell), name in zip(cells, names, strict=True)]


def _scores(root: Path, cell: Cell, name: Label) -> CellScores:
    folder = open_artifact(root / cell.stages["scores"]).path if "scores" in cell.stages else None
    rows = [] if folder is None else read_rows(folder / "scores.jsonl")
    return CellScores(
        dataset=name.dataset,
        method=name.method,
        seed=cell.seed,
        status="ok" if cell.status == "ok" else "failed",
        error=cell.error.partition(":")[0] if cell.error else None,
        n_questions=int(cell.costs.get("questions", 0)),
        summaries={} if folder is None else _summaries(folder / "summary.json"),
        parts=_by_hops(rows),
        questions=_by_metric(rows),
        costs={name: value for name, value in cell.costs.items() if name not in _NOT_COSTS},
        note=_note(cell),
    )


def _by_hops(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Summary]]:
    """Retrieval metrics by the number of passages that a question needs."""
    parts: defaultdict[int, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for name in (key for key in row if "@" in key):
            parts[row["hops"] or 0][name].append(row[name])
    return {
        f"{hops} hop{'s' if hops > 1 else ''}": {name: summarise(values) for name, values in sorted(found.items())}
        for hops, found in sorted(parts.items())
        if hops
    }


def _by_metric(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    scores: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        for name in row.keys() - {"question", "kind", "hops"}:
            scores[name][row["question"]] = row[name]
    return dict(scores)


def _note(cell: Cell) -> str | None:
    if "imported" in cell.settings:
        return f"{cell.method}: predictions imported from {cell.settings['imported']['file']}, not made here."
    answering = json.dumps([cell.settings.get(part) for part in ("reader", "agent")])
    if cell.costs.get("prompt_tokens") and '"bundled"' in answering:
        return "Answers by the bundled 135M-parameter model: they show that the path works, not how good a method is."
    return None


def _summaries(path: Path) -> dict[str, Summary]:
    try:
        return {name: Summary(**values) for name, values in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{path} can't be read ({error}). Delete its folder and run the cell again.") from error


def main(arguments: Sequence[str]) -> None:
    """Write what the arguments ask for."""
    request = settings_from([*_prepared(arguments), *arguments], Request, __doc__)
    store = Path(request.store)
    cells = in_order(chosen_cells(store, request.datasets, request.methods))
    table = _table(request, store, cells)
    if request.out is None:
        show(table)
    else:
        _write(Path(request.out), table)
    if request.figure is not None:
        from analysis.figures import demo_figure  # matplotlib takes a second to import

        demo_figure(cell_scores([(store, cell) for cell in cells]), Path(request.figure))
        sys.stdout.write(f"figure: {request.figure}\n")


def _prepared(arguments: Sequence[str]) -> list[str]:
    """The settings of the table that the arguments name, as arguments that come before them."""
    name = next((each.partition("=")[2] for each in arguments if each.startswith("experiment=")), None)
    if name is None:
        return []
    path = CONF / "table" / f"{name}.yaml"
    if not path.exists():
        known = [each.stem for each in path.parent.glob("*.yaml")]
        raise ConfigError(f"experiment={name}: no table of this name in {path.parent}.{did_you_mean(name, known)}")
    settings = OmegaConf.to_container(OmegaConf.load(path))
    assert isinstance(settings, dict)
    return [f"{key!s}={json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()]


def _table(request: Request, store: Path, cells: Sequence[Cell]) -> Table:
    if request.show == "datasets":
        return datasets_table(datasets_of(store, cells), request.title)
    if request.show == "trees":
        return trees_table(trees_of(store, cells), request.title)
    scores = cell_scores([(store, cell) for cell in cells])
    if request.by is not None:
        pairs = list(zip(cells, scores, strict=True))
        scores = [part for cell, whole in pairs for part in by_group(store, cell, whole, request.by)]
    return results_table(
        scores, request.metrics, published=_published(request, cells), title=request.title,
        comparison=_comparison(scores, request) if request.baseline else None,
    )  # fmt: skip


def _comparison(scores: Sequence[CellScores], request: Request) -> Comparison:
    from experiments.comparisons import against

    assert request.baseline is not None
    return against(scores, request.metrics, request.baseline)


def _published(request: Request, cells: Sequence[Cell]) -> list[Published]:
    """Published rows of the datasets that were run; of all datasets where a paper has none of those."""
    found = [read_published(CONF / "published", name) for name in request.published]
    of_these = [each.of([cell.dataset for cell in cells]) for each in found]
    return [own if own.rows else each for own, each in zip(of_these, found, strict=True)]


def _write(path: Path, table: Table) -> None:
    if path.suffix not in FORMATS:
        raise ConfigError(
            f"out={path}: the ending {path.suffix!r} is no table format.{did_you_mean(path.suffix, FORMATS)}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FORMATS[path.suffix](table), encoding="utf-8")
    sys.stdout.write(f"table: {path}\n")


if __name__ == "__main__":
    run_program(main)
