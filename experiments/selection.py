"""Runs of a store by the names of their datasets and methods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.cell import Cell, read_cells
from experiments.labels import labels
from psi.component import did_you_mean
from psi.errors import ConfigError, InputError


def chosen_cells(store: Path, datasets: Sequence[str], methods: Sequence[str]) -> list[Cell]:
    """The runs of these datasets and methods (empty: all), by their names with or without the settings in brackets.

    Raises:
        InputError: the store holds no such run.
        ConfigError: a name that no run has.
        StoreError: a record can't be read.
    """
    cells = read_cells(store)
    if not cells:
        raise InputError(
            f"no finished run below {store}. Run some with `python -m experiments.run`, or name another store with store=PATH."
        )
    names = labels(cells)
    called = {
        "datasets": [{cell.dataset, name.dataset} for cell, name in zip(cells, names, strict=True)],
        "methods": [{cell.method, name.method} for cell, name in zip(cells, names, strict=True)],
    }
    asked = {"datasets": set(datasets), "methods": set(methods)}
    for key, words in asked.items():
        known = set().union(*called[key])
        for word in sorted(words - known):
            raise ConfigError(f"{key}: no run of {word!r} below {store}.{did_you_mean(word, known)}")
    found = [
        cell
        for place, cell in enumerate(cells)
        if all(not words or called[key][place] & words for key, words in asked.items())
    ]
    if not found:
        raise InputError(f"no run below {store} is of one of these datasets and of one of these methods.")
    return found
