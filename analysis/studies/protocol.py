"""What a study is, and how its measurements are kept so that a killed study goes on where it stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from tqdm import tqdm

from analysis.studies.corpus import StudyCorpus
from analysis.tables import Table
from psi.store import Stage, Store, read_rows, write_rows

Rows = list[dict[str, Any]]
Item = TypeVar("Item")


@dataclass(frozen=True)
class StudyResult:
    """What a study ends with: tables by the name of their file, and the figures that it wrote, all formats of each."""

    tables: Mapping[str, Table]
    figures: tuple[Path, ...]


@runtime_checkable
class Study(Protocol):
    """A question about trees or corpora that is answered by tables and figures.

    `described` names the choices of conf/abstracts whose trees the study needs of every corpus (`StudyCorpus.indexes`).
    """

    @property
    def described(self) -> tuple[str, ...]:
        """See above."""
        ...

    def run(self, corpora: Sequence[StudyCorpus], store: Store, folder: Path) -> StudyResult:
        """Measure, keeping every measurement in the store, and draw; figures go into the folder.

        Raises:
            InputError: a corpus lacks what the study compares.
        """
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the result, as JSON data."""
        ...


def measured(
    store: Store,
    name: str,
    version: int,
    settings: Mapping[str, Any],
    inputs: Mapping[str, str],
    make: Callable[[], Rows],
) -> Rows:
    """Rows of one measurement: found in the store, or made and kept there.

    `settings` and `inputs` (digests) must hold all that the rows depend on; raise `version` when `make` changes.
    """
    stage = Stage(f"study_{name}", version, settings, inputs)

    def write(folder: Path) -> None:
        write_rows(folder / "rows.jsonl", make())

    return list(read_rows(store.obtain(stage, write).path / "rows.jsonl"))


def bar(items: Sequence[Item], what: str, unit: str) -> tqdm[Item]:
    """The items under a progress bar on standard error, which leaves nothing behind; in a file, a line a minute at most."""
    live = sys.stderr.isatty()
    return tqdm(
        items,
        desc=what,
        unit=unit,
        dynamic_ncols=True,
        leave=False,
        mininterval=0.5 if live else 60,
        delay=0 if live else 60,
    )
