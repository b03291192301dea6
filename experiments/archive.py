"""A run in one file: what was asked, what came out, and with which versions, to be kept or run again elsewhere.

    python -m experiments.archive store=runs datasets=[twowiki] methods=[psi] out=archives

writes one `DATASET-METHOD-DIGEST.tar.gz` a run. `python -m experiments.reproduce FILE` runs it again and compares. An archive
holds rankings, answers, traces and scores, but neither passages nor vectors: those are made again from the data.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import io
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.arguments import run_program, settings_from
from experiments.cell import RECORD, Cell
from experiments.selection import chosen_cells
from psi.component import Component
from psi.store import safe_name, writing

VERSIONS = "versions.txt"
CONFIG = "config.yaml"
KEPT = (
    "manifest.json",
    "rankings.jsonl",
    "answers.jsonl",
    "traces.jsonl",
    "scores.jsonl",
    "summary.json",
    "timings.jsonl",
)


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which runs to pack: of which store, which datasets and methods (empty: all), into which folder."""

    store: str = "runs"
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    out: str = "archives"


def pack(store: Path, cell: Cell, out: Path) -> Path:
    """Write a run's archive; equal runs give equal bytes.

    Raises:
        StoreError: the archive can't be written.
    """
    path = out / f"{safe_name(f'{cell.dataset}-{cell.method}-{cell.digest}')}.tar.gz"
    with writing(path):
        out.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".partial")
        # no name and no time in the file: they would differ between equal runs
        with (
            temporary.open("wb") as raw,
            gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as zipped,
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for name, content in _contents(store, cell):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(content), 0o644
                tar.addfile(entry, io.BytesIO(content))
        temporary.replace(path)
    return path


def versions() -> list[str]:
    """Every installed package as `name==version`, in the order of their names."""
    found = {each.metadata["Name"].lower(): each.version for each in importlib.metadata.distributions()}
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def _contents(store: Path, cell: Cell) -> Iterator[tuple[str, bytes]]:
    (record,) = (store / "cells").glob(f"*/*/{cell.digest}/{RECORD}")
    yield RECORD, record.read_bytes()
    yield CONFIG, (record.parent / CONFIG).read_bytes()
    yield VERSIONS, ("\n".join([f"# python {sys.version.split()[0]}", *versions()]) + "\n").encode()
    for place in sorted(set(cell.stages.values())):
        for path in sorted((store / place).iterdir()):
            if path.name in KEPT:
                yield f"{place}/{path.name}", path.read_bytes()


def main(arguments: Sequence[str]) -> None:
    """Pack what the arguments ask for."""
    request = settings_from(arguments, Request, __doc__)
    for cell in chosen_cells(Path(request.store), request.datasets, request.methods):
        sys.stdout.write(f"{pack(Path(request.store), cell, Path(request.out))}\n")


if __name__ == "__main__":
    run_program(main)
