"""Run an archived run again, and compare number by number.

    python -m experiments.reproduce archive=archives/twowiki-psi-0123456789ab.tar.gz store=again
    python -m experiments.reproduce archive=FILE set=[dataset.folder=/data/2wikimultihopqa]

Prints a verdict for every score and every file. `set` changes settings of places (a folder of data, a device), none that decides
a result: such a change is refused. Exit code 0: every number is equal; 1: some differ; 2: the archive can't be used.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from omegaconf import DictConfig, OmegaConf
from pydantic import NonNegativeFloat, TypeAdapter
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from experiments.archive import CONFIG, VERSIONS, versions
from experiments.arguments import run_program, settings_from
from experiments.cell import RECORD, Cell, cell_folder, run_cell
from experiments.compose import masked, run_from
from psi.component import Component
from psi.errors import ConfigError, InputError
from psi.store import open_artifact

LARGEST = 2**30  # bytes of all files in an archive
WIDTH = 130
_OURS = re.compile(r"(psi|baselines|experiments|analysis)(\.\w+)+")  # what a configuration in an archive may name
_TIMED = "timings.jsonl"


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which archive, in which store, with which settings of places, and how far a score may be off (0: not at all)."""

    archive: str
    store: str = "reproduced"
    set: tuple[str, ...] = ()
    tolerance: NonNegativeFloat = 0.0


class Archived(NamedTuple):
    """What an archive holds: the record, the configuration, versions, and files by their place."""

    cell: Cell
    config: DictConfig
    versions: list[str]
    files: Mapping[str, bytes]


class Verdict(NamedTuple):
    """One comparison: of what, the archived and the new value, and whether they agree."""

    what: str
    archived: str
    again: str
    equal: bool


def read_archive(path: Path) -> Archived:
    """Read an archive without unpacking it to disk.

    Raises:
        InputError: it is no archive of a run, or holds what such an archive never holds.
    """
    try:
        with tarfile.open(path, "r:gz") as tar:
            entries = tar.getmembers()
            _check_entries(entries, path)
            files = {entry.name: _content(tar, entry) for entry in entries}
        cell = TypeAdapter(Cell).validate_python(json.loads(files[RECORD]))
        config = OmegaConf.create(files[CONFIG].decode("utf-8"))
        listed = files[VERSIONS].decode("utf-8").splitlines()
    except (OSError, EOFError, tarfile.TarError, KeyError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path} is no archive of a run ({why}). Make one with `python -m experiments.archive`."
        ) from error
    if not isinstance(config, DictConfig):
        raise InputError(f"{path}: {CONFIG} holds no settings.")
    _check_names(OmegaConf.to_container(config), path)
    return Archived(cell, config, listed, files)


def reproduce(archived: Archived, store: str, places: Sequence[str], tolerance: float = 0.0) -> list[Verdict]:
    """Run it again in a store, and compare scores, counts and files.

    Raises:
        ConfigError: a changed setting decides a result, or the settings are not those of this version.
    """
    config = OmegaConf.merge(archived.config, OmegaConf.from_dotlist([*places, f"store={store}"]))
    assert isinstance(config, DictConfig)
    run, before = run_from(config), archived.cell
    if cell_folder(run, before.dataset).name != before.digest:
        raise ConfigError(
            "these settings are not those of the archived run: a setting that decides a result was changed by set=, or this "
            "version of the project has other defaults. Use the version (commit) that the archive's manifests name."
        )
    cell = run_cell(run, before.dataset, masked(config))
    outcome = Verdict("status", before.status, cell.status, before.status == cell.status)
    if "scores" not in before.stages or "scores" not in cell.stages:
        return [outcome._replace(again=cell.error or cell.status)]
    return [outcome, *_scores(archived, cell, Path(store), tolerance), *_files(archived, cell, Path(store))]


def _scores(archived: Archived, cell: Cell, store: Path, tolerance: float) -> Iterator[Verdict]:
    before = json.loads(archived.files[f"{archived.cell.stages['scores']}/summary.json"])
    after = json.loads((store / cell.stages["scores"] / "summary.json").read_text(encoding="utf-8"))
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        yield Verdict(name, _score(old), _score(new), _agree(old, new, tolerance))


def _agree(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, tolerance: float) -> bool:
    if old is None or new is None or old["mean"] is None or new["mean"] is None:
        return old == new
    counts = ("n", "n_failed", "n_excluded", "n_missing")
    return abs(old["mean"] - new["mean"]) <= tolerance and all(old[count] == new[count] for count in counts)


def _score(summary: Mapping[str, Any] | None) -> str:
    if summary is None or summary["mean"] is None:
        return "-"
    return f"{100 * summary['mean']:.4f} (n={summary['n']}, failed {summary['n_failed']})"


def _files(archived: Archived, cell: Cell, store: Path) -> Iterator[Verdict]:
    """Every result file by its sha256; files of times differ always."""
    for stage, place in archived.cell.stages.items():
        manifest = json.loads(archived.files[f"{place}/manifest.json"])
        again = open_artifact(store / cell.stages[stage]).manifest if stage in cell.stages else {"files": {}}
        for name, facts in manifest["files"].items():
            if name != _TIMED:
                new = again["files"].get(name, {"sha256": "-"})
                yield Verdict(
                    f"{stage}/{name}", facts["sha256"][:12], new["sha256"][:12], facts["sha256"] == new["sha256"]
                )


def _check_entries(entries: Sequence[tarfile.TarInfo], path: Path) -> None:
    for entry in entries:
        place = PurePosixPath(entry.name)
        if not entry.isreg() or place.is_absolute() or ".." in place.parts:
            raise InputError(f"{path} holds {entry.name!r}, a link, a device or a place outside: it is not read.")
    if sum(entry.size for entry in entries) > LARGEST:
        raise InputError(f"{path} holds more than 1 GiB: it is not read.")


def _content(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(entry)
    assert file is not None
    return file.read()


def _check_names(node: Any, path: Path) -> None:
    """Refuse settings that name code of others: importing it would run it."""
    if isinstance(node, dict):
        target = node.get("_target_")
        if target is not None and not _OURS.fullmatch(str(target)):
            raise InputError(f"{path}: its settings name {target!r}, which is no part of this project: not run.")
        for metric in node.get("metrics") or () if isinstance(node.get("metrics"), list) else ():
            if ":" in str(metric) and not _OURS.fullmatch(str(metric).partition(":")[0]):
                raise InputError(f"{path}: its metrics name {metric!r}, which is no part of this project: not run.")
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _check_names(item, path)


def _show(verdicts: Sequence[Verdict], archived: Archived) -> None:
    table = Table(box=SIMPLE)
    for heading in ("", "Archived", "Again", "Verdict"):
        table.add_column(heading)
    for each in verdicts:
        table.add_row(each.what, each.archived, each.again, "equal" if each.equal else "DIFFERS")
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    console.print(table)
    here = {line.partition("==")[0]: line for line in versions()}
    other = [line for line in archived.versions if "==" in line and here.get(line.partition("==")[0]) != line]
    if other:
        found = (f"{line} (here {here.get(line.partition('==')[0], 'absent').rpartition('==')[2]})" for line in other)
        console.print(f"Other versions than archived: {', '.join(found)}")


def main(arguments: Sequence[str]) -> int:
    """Reproduce what the arguments name; returns the exit code."""
    request = settings_from(arguments, Request, __doc__)
    archived = read_archive(Path(request.archive))
    verdicts = reproduce(archived, request.store, request.set, request.tolerance)
    _show(verdicts, archived)
    return 0 if all(each.equal for each in verdicts if "/" not in each.what) else 1


if __name__ == "__main__":
    run_program(main)
