"""Numbers about the datasets and trees of finished runs, read from their store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.statistics import DatasetFacts, TreeFacts, dataset_facts, tree_facts
from experiments.cell import Cell
from experiments.labels import labels
from experiments.stages.benchmark import read_benchmark
from psi.errors import InputError
from psi.store import open_artifact
from psi.tree import load_tree


def datasets_of(store: Path, cells: Sequence[Cell]) -> list[tuple[str, DatasetFacts]]:
    """Each dataset that was run, once.

    Raises:
        InputError: no run has loaded its dataset.
    """
    found = {}
    for cell, name in zip(cells, labels(cells), strict=True):
        if name.dataset not in found and "benchmark" in cell.stages:
            found[name.dataset] = dataset_facts(read_benchmark(open_artifact(store / cell.stages["benchmark"])))
    if not found:
        raise InputError("no run has loaded its dataset: there is nothing to count.")
    return list(found.items())


def trees_of(store: Path, cells: Sequence[Cell]) -> list[tuple[str, str, TreeFacts]]:
    """Each run whose index holds abstract trees.

    Raises:
        InputError: there is none.
    """
    rows = []
    for cell, name in zip(cells, labels(cells), strict=True):
        artifacts = [open_artifact(path) for path in _tree_folders(store, cell)]
        if artifacts:
            trees = [load_tree(artifact.path / "tree").tree for artifact in artifacts]
            rows.append((name.dataset, name.method, tree_facts(trees, sum(each.seconds for each in artifacts))))
    if not rows:
        raise InputError("no run has an abstract tree. Run a method that builds one, such as method=psi_tree.")
    return rows


def _tree_folders(store: Path, cell: Cell) -> Iterator[Path]:
    if "rankings" not in cell.stages:
        return
    for used in open_artifact(store / cell.stages["rankings"]).facts.get("indexes", ()):
        if used["stage"] == "tree":
            yield store / "stages" / "tree" / used["digest"][:16]
