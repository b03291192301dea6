"""Time and memory of every tree builder against the number of passages, with the machine's matrix-product roofline.

    python -m experiments.bench.tree                         # about half an hour on two cores: JSON and figure
    python -m experiments.bench.tree --quick                 # a few minutes, small sizes
    python -m experiments.bench.tree --update --builders     # equality, search, insertion, agreement once more
    python -m experiments.bench.tree --device cuda --sizes 100000 1000000 2000000

Each measurement runs in its own process; rooflines are timed in it before and after the builder, and the faster one
counts. On 2WikiMultiHopQA's passages (--wiki) it also checks every exact path against the literal procedure.
"""

import argparse
import json
import logging
import multiprocessing
import platform
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.logging import RichHandler
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments.bench.tree_cells import Cell, measure
from experiments.bench.tree_checks import (
    approximate_agreement,
    equal_to_oracle,
    generated_checks,
    insertion,
    search_speed,
    wiki_vectors,
)
from experiments.bench.tree_figure import draw

SIZES = [1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 100_000, 200_000]
# the largest size each builder gets: beyond, it needs too long or too much memory for a bench
LARGEST = {
    "exact bf16": 10**9,
    "exact fp32": 100_000,
    "buckets": 10**9,
    "buckets+hnsw": 60_000,
    "hnsw": 20_000,
    "fastcluster": 10_000,
    "scikit-learn": 10_000,
    "literal procedure": 2_000,
}
CORPUS = Path("../shared/data/2wikimultihopqa/2wikimultihopqa_corpus.json")

log = logging.getLogger("bench.tree")


def main(arguments: list[str] | None = None) -> None:
    """Measure, write JSON after every measurement, draw at the end."""
    options = _options(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[RichHandler(show_path=False)])
    target = options.out / "tree_builders.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    if options.redraw:
        draw(json.loads(target.read_text(encoding="utf-8"))["cells"], target.with_suffix(".png"))
        return
    result: dict[str, Any] = {"machine": _machine(), "cells": [], "checks": {}}
    if options.update:
        result = {**json.loads(target.read_text(encoding="utf-8")), "machine": _machine()}
    cells = _cells(options)
    log.info("%d measurements, results in %s", len(cells), target)
    with _progress() as progress:
        bar = progress.add_task("tree bench", total=len(cells) + len(_checks(options)))
        for name, check, given in _checks(options):
            progress.update(bar, description=name)
            result["checks"][name] = _in_own_process(check, *given)
            _write(target, result)
            log.info("%s: %s", name, result["checks"][name])
            progress.advance(bar)
        for cell in cells:
            progress.update(bar, description=f"{cell.builder}, {cell.kind}, n={cell.n:,}")
            measured = _in_own_process(measure, asdict(cell))
            same = [
                old for old in result["cells"] if all(old[key] == measured[key] for key in ("builder", "kind", "n"))
            ]
            result["cells"] = [old for old in result["cells"] if old not in same] + [measured]
            _write(target, result)
            _tell(measured)
            progress.advance(bar)
    draw(result["cells"], target.with_suffix(".png"))
    log.info("figure in %s", target.with_suffix(".png"))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.bench.tree", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of passages")
    parser.add_argument("--builders", nargs="*", choices=list(LARGEST), default=list(LARGEST))
    parser.add_argument("--isotropic", type=int, nargs="*", default=[10_000, 60_000], help="sizes of the worst case")
    parser.add_argument("--repeats", type=int, default=2, help="the best of so many counts")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda")
    parser.add_argument("--wiki", type=Path, default=CORPUS, help="2wikimultihopqa_corpus.json, skipped if absent")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "psi-bench" / "2wiki-minilm.npy")
    parser.add_argument("--checks-size", type=int, default=60_000, help="for search and insertion; 0: no checks")
    parser.add_argument("--update", action="store_true", help="keep what the JSON in --out has and is not measured now")
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    parser.add_argument("--redraw", action="store_true", help="only draw the figure from the JSON in --out")
    parser.add_argument("--quick", action="store_true", help="sizes to 10,000 and small checks")
    options = parser.parse_args(arguments)
    if options.quick:
        options.sizes = [size for size in options.sizes if size <= 10_000]
        options.isotropic = []
        options.checks_size = min(options.checks_size, 10_000)
    return options


def _cells(options: argparse.Namespace) -> list[Cell]:
    cells: list[Cell] = []
    if options.wiki.exists() or options.cache.exists():
        rows = wiki_vectors(options.wiki, options.cache)
        builders = [builder for builder in options.builders if builder != "literal procedure"]
        cells = [
            Cell(builder, "2wiki", len(rows), repeats=max(3, options.repeats), vectors_file=str(options.cache))
            for builder in builders
        ]
    else:
        log.warning("%s is not there: no measurements on real passages", options.wiki)
    cells += [
        Cell(builder, "clustered", n, repeats=options.repeats, device=options.device)
        for builder in options.builders
        for n in sorted(options.sizes)
        if n <= LARGEST[builder]
    ]
    cells += [
        Cell(builder, "isotropic", n, repeats=options.repeats, device=options.device)
        for n in options.isotropic
        for builder in ("exact bf16", "exact fp32")
        if builder in options.builders
    ]
    return cells


def _checks(options: argparse.Namespace) -> list[tuple[str, Any, tuple[Any, ...]]]:
    checks: list[tuple[str, Any, tuple[Any, ...]]] = []
    if options.cache.exists() and options.checks_size:
        rows = np.load(options.cache, allow_pickle=False)
        checks = [
            ("2wiki: exact paths against the literal procedure, first 2,000", equal_to_oracle, (rows[:2000],)),
            ("2wiki: search", search_speed, (rows,)),
            ("2wiki: insertion", insertion, (rows,)),
            ("2wiki: agreement of approximate builders", approximate_agreement, (rows, 1024)),
        ]
    if options.checks_size:
        checks.append((f"clustered {options.checks_size}", generated_checks, (options.checks_size,)))
    return checks


def _in_own_process(work: Any, *given: Any) -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["experiments.bench.tree_cells", "experiments.bench.tree_checks"])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *given).result()


def _machine() -> dict[str, Any]:
    return {
        "processor": platform.processor() or platform.machine(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "amx": bool(torch.cpu._is_amx_tile_supported()),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def _tell(cell: dict[str, Any]) -> None:
    share = cell["seconds"] / cell["fp32_pass_seconds"] if cell["fp32_pass_seconds"] else None
    log.info(
        "%s, %s, n=%s: %.2f s, %.2f ns of processor time a pair%s, %.0f MB",
        cell["builder"],
        cell["kind"],
        f"{cell['n']:,}",
        cell["seconds"],
        cell["processor_seconds"] / cell["n"] ** 2 * 2e9,
        f" = {share:.3f} of one fp32 pass" if share else "",
        cell["peak_mb"],
    )


def _write(path: Path, result: dict[str, Any]) -> None:
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    )


if __name__ == "__main__":
    main()
