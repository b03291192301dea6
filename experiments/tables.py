"""Tables and the overview figure of everything in a store.

    python -m experiments.tables store=runs
    python -m experiments.tables store=runs out=table.md metrics=[recall@5,f1] datasets=[twowiki]
    python -m experiments.tables store=runs figure=overview.png

The ending of `out` chooses the format: .md, .csv or .tex; without `out` the table goes to the console.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from rich.console import Console

from analysis.cells import CellScores
from analysis.renderers import to_console, to_csv, to_latex, to_markdown
from analysis.tables import Table, results_table
from experiments.cell import Cell, read_cells
from experiments.labels import Label, labels
from psi.component import Component, did_you_mean, settings_of
from psi.errors import ConfigError, InputError, PsiError, StoreError
from psi.metrics import Summary, summarise
from psi.store import open_artifact, read_rows

FORMATS: Mapping[str, Callable[[Table], str]] = {".md": to_markdown, ".csv": to_csv, ".tex": to_latex}
WIDTH = 150  # of a table that goes to a file or a pipe
COSTS = {
    "index_seconds": "index_seconds",
    "index_calls": "Index calls",
    "index_prompt_tokens": "Index prompt tokens",
    "index_completion_tokens": "Index reply tokens",
    "search_ms_per_question": "Search (ms)",
    "search_calls": "Search calls",
    "search_prompt_tokens": "Search prompt tokens",
    "search_completion_tokens": "Search reply tokens",
    "agent_ms_per_question": "Agent (ms)",
    "agent_steps_per_question": "Steps",
    "answer_ms_per_question": "Answer (ms)",
    "prompt_tokens": "Prompt tokens",
}
METRICS = ("recall@1", "recall@2", "recall@5", "recall@10", "em", "f1")


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """What to show: of which store, which datasets and methods (empty: all), by which metrics, where."""

    store: str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = METRICS
    out: str | None = None
    figure: str | None = None


def show_cells(cells: Sequence[tuple[Path, Cell]]) -> None:
    """Print the table of cells, each given with the store that holds it."""
    _print(results_table(cell_scores(cells), METRICS))


def cell_scores(cells: Sequence[tuple[Path, Cell]]) -> list[CellScores]:
    """What tables need to know of each cell. Cells that differ in settings alone are told apart by those settings."""
    names = labels([cell for _, cell in cells])
    return [_scores(root, cell, name) for (root, cell), name in zip(cells, names, strict=True)]


def _scores(root: Path, cell: Cell, name: Label) -> CellScores:
    folder = open_artifact(root / cell.stages["scores"]).path if "scores" in cell.stages else None
    return CellScores(
        dataset=name.dataset,
        method=name.method,
        seed=cell.seed,
        status="ok" if cell.status == "ok" else "failed",
        error=cell.error.partition(":")[0] if cell.error else None,
        n_questions=int(cell.costs.get("questions", 0)),
        summaries={} if folder is None else _summaries(folder / "summary.json"),
        parts={} if folder is None else _by_hops(read_rows(folder / "scores.jsonl")),
        costs={label: cell.costs[name] for name, label in COSTS.items() if name in cell.costs},
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


def _note(cell: Cell) -> str | None:
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
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(__doc__)
        return
    request = _request(arguments)
    cells = [(Path(request.store), cell) for cell in _wanted(read_cells(Path(request.store)), request)]
    scores = cell_scores(cells)
    table = results_table(scores, request.metrics)
    if request.out is None:
        _print(table)
    else:
        _write(Path(request.out), table)
    if request.figure is not None:
        from analysis.figures import demo_figure  # matplotlib takes a second to import

        demo_figure(scores, Path(request.figure))
        sys.stdout.write(f"figure: {request.figure}\n")


def _print(table: Table) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    console.print(to_console(table))


def _request(arguments: Sequence[str]) -> Request:
    try:
        given = OmegaConf.to_container(OmegaConf.from_dotlist(list(arguments)))
    except Exception as error:  # of the YAML parser, in as many types as it has
        raise ConfigError(f"cannot read {' '.join(arguments)}: settings are written key=value or key=[a,b].") from error
    assert isinstance(given, dict)
    for key in given:
        if key not in settings_of(Request):
            raise ConfigError(f"unknown setting {key!r}.{did_you_mean(str(key), settings_of(Request))}")
    return Request(**{str(key): value for key, value in given.items()})


def _wanted(cells: Sequence[Cell], request: Request) -> list[Cell]:
    """The cells of the datasets and methods asked for, by their names with or without the settings in brackets."""
    if not cells:
        raise InputError(
            f"no finished run below {request.store}. Run some with `python -m experiments.run`, "
            "or name another store with store=PATH."
        )
    names = labels(cells)
    datasets = [{cell.dataset, name.dataset} for cell, name in zip(cells, names, strict=True)]
    methods = [{cell.method, name.method} for cell, name in zip(cells, names, strict=True)]
    for key, asked, known in (("datasets", request.datasets, datasets), ("methods", request.methods, methods)):
        for word in asked:
            if word not in set().union(*known):
                raise ConfigError(f"{key}: no run of {word!r} below {request.store}."
                                  f"{did_you_mean(word, set().union(*known))}")  # fmt: skip
    found = [
        cell
        for cell, dataset, method in zip(cells, datasets, methods, strict=True)
        if (not request.datasets or dataset & set(request.datasets))
        and (not request.methods or method & set(request.methods))
    ]
    if not found:
        raise InputError(f"no run below {request.store} is of one of these datasets and of one of these methods.")
    return found


def _write(path: Path, table: Table) -> None:
    if path.suffix not in FORMATS:
        raise ConfigError(
            f"out={path}: the ending {path.suffix!r} is no table format.{did_you_mean(path.suffix, FORMATS)}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FORMATS[path.suffix](table), encoding="utf-8")
    sys.stdout.write(f"table: {path}\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except PsiError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    except OSError as error:
        sys.stderr.write(
            f"cannot write {error.filename}: {error.strerror}. Choose another place with out= or figure=.\n"
        )
        raise SystemExit(2) from None
