"""Are the numbers still what they were? Recompute expected scores and compare.

    python -m experiments.check                                   # everything that can be run here
    python -m experiments.check names=[released] data=../shared store=runs/check

Expected scores stand in conf/expected, one file a theme. Predictions are imported from `data`/predictions; methods are run on
the bundled data and on `data`/data (or $PSI_DATA), where they are not found finished in the store. OK: within the tolerance of
the row; OKish: within three; FAIL: further off; not run: the files are not there, or something is not installed. Exit code 1 if
any row FAILs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import Field
from tqdm import tqdm
from yaml import YAMLError

from analysis.renderers import to_markdown
from analysis.tables import Column, Entry, Table
from experiments.arguments import run_program, settings_from
from experiments.cell import Cell, run_cell
from experiments.complaints import CONF, explained
from experiments.compose import masked, run_from
from experiments.configuration import composed
from experiments.import_predictions import Request as Import
from experiments.import_predictions import import_predictions
from experiments.output import show
from psi.component import Component, did_you_mean
from psi.errors import ConfigError, MissingFileError, PsiError
from psi.store import open_artifact

Verdict = Literal["OK", "OKish", "FAIL", "not run"]
EXPECTED = CONF / "expected"


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """Which files of expected scores (empty: all), where benchmarks and predictions are, where to run, where to write a table."""

    names: tuple[str, ...] = ()
    data: str = "../shared"
    store: str = "runs/check"
    expected: str = str(EXPECTED)
    out: str | None = None


@dataclass(frozen=True, kw_only=True)
class Expected(Component):
    """One expected score, in percent: of predictions in a file, or of a method with settings.

    published: what the source says of the same; note: why it differs from `value`.
    """

    dataset: str
    metric: str
    value: float
    tolerance: Annotated[float, Field(gt=0)]
    source: str
    predictions: str | None = None
    method: str | None = None
    settings: tuple[str, ...] = ()
    published: float | None = None
    note: str = ""

    @property
    def run(self) -> tuple[str, str, tuple[str, ...]]:
        """What gives the number: dataset, file or method, settings."""
        return self.dataset, self.predictions or self.method or "", self.settings


class Checked(NamedTuple):
    """A row, what was found (None: not run), and the verdict with its reason."""

    row: Expected
    found: float | None
    verdict: Verdict
    reason: str = ""


def read_expected(folder: Path, names: Sequence[str]) -> list[Expected]:
    """The rows of these files, or of all.

    Raises:
        ConfigError: no such file, or a row that is not of this form; the message names it.
    """
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    for name in names:
        if name not in known:
            raise ConfigError(f"names: nothing is expected of {name!r}.{did_you_mean(name, known)}")
    return [row for name in names or known for row in _rows(folder / f"{name}.yaml")]


def _rows(path: Path) -> Iterator[Expected]:
    try:
        rows = OmegaConf.to_container(OmegaConf.load(path))
    except (YAMLError, OmegaConfBaseException) as error:
        raise ConfigError(f"{path}: not YAML: {error}. Correct the file.") from error
    for number, row in enumerate(rows or ()):  # type: ignore[arg-type]
        try:
            yield Expected(**row)
        except (PsiError, TypeError) as error:
            raise ConfigError(f"{path}, row {number}: {error}") from error


def check(rows: Sequence[Expected], request: Request) -> Iterator[Checked]:
    """Run what gives the numbers, each run once with all the metrics that are asked of it."""
    runs: dict[tuple[str, str, tuple[str, ...]], list[Expected]] = {}
    for row in rows:
        runs.setdefault(row.run, []).append(row)
    for own in tqdm(runs.values(), desc="checking", unit="run", disable=None):
        try:
            scores = _scores(_cell(own, request), Path(request.store))
        except (MissingFileError, ImportError) as error:  # to be fetched, or a package of an extra
            yield from (Checked(row, None, "not run", _first_sentence(error)) for row in own)
        except HydraException as error:
            yield from (Checked(row, None, "FAIL", explained(error, ())) for row in own)
        except PsiError as error:
            yield from (Checked(row, None, "FAIL", _first_sentence(error)) for row in own)
        else:
            yield from (_compared(row, scores) for row in own)


def _cell(rows: Sequence[Expected], request: Request) -> Cell:
    first = rows[0]
    metrics = sorted({row.metric for row in rows})
    settings = [f"dataset={first.dataset}", f"metrics=[{','.join(metrics)}]", *first.settings]
    if first.predictions is not None:
        run = run_from(composed(settings))
        file = str(Path(request.data) / "predictions" / first.predictions)
        if not Path(file).exists():
            raise MissingFileError(f"{file} is not there. Name the folder above it with data=.")
        source = Import(file=file, method=first.predictions.partition(".")[0], store=request.store)
        return import_predictions(source, first.dataset, run)
    config = composed([*settings, f"method={first.method}", "answers=0", f"store={request.store}"])
    cell = run_cell(run_from(config), first.dataset, masked(config))
    if cell.status != "ok":
        error = cell.error or "failed"
        raise MissingFileError(error) if error.startswith(MissingFileError.__name__) else PsiError(error)
    return cell


def _scores(cell: Cell, store: Path) -> Mapping[str, Any]:
    path = open_artifact(store / cell.stages["scores"]).path / "summary.json"
    summaries: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return summaries


def _compared(row: Expected, scores: Mapping[str, Any]) -> Checked:
    mean = scores.get(row.metric, {}).get("mean")  # none at all where a file holds fewer passages than the metric sees
    if mean is None:
        return Checked(row, None, "FAIL", "no question was scored")
    off = abs(100 * mean - row.value)
    close = off <= row.tolerance + 1e-9
    return Checked(row, 100 * mean, "OK" if close else "OKish" if off <= 3 * row.tolerance + 1e-9 else "FAIL")


def _first_sentence(error: Exception) -> str:
    return str(error).partition("; ")[0][:160]


def table(checked: Sequence[Checked], *, whole: bool) -> Table:
    """What was found and the verdicts; the whole also has the published numbers, and why they differ."""
    columns = [Column(label, "row", numeric=False) for label in ("Dataset", "What", "Metric")]
    columns += [Column(label, "score", numeric=label != "Verdict") for label in ("Expected", "Found", "Verdict")]
    columns += [Column(label, "run", numeric=False, shown=whole) for label in ("Published", "Source", "Why")]
    return Table(tuple(columns), tuple(_entries(each) for each in checked))


def _entries(checked: Checked) -> tuple[Entry, ...]:
    row = checked.row
    texts = (
        row.dataset,
        " ".join([row.predictions or row.method or "", *row.settings]),
        row.metric,
        f"{row.value:g} ±{row.tolerance:g}",
        "–" if checked.found is None else f"{checked.found:.2f}",
        f"{checked.verdict}: {checked.reason}" if checked.reason else checked.verdict,
        "" if row.published is None else f"{row.published:g}",
        row.source,
        row.note,
    )
    return tuple(Entry(text) for text in texts)


def main(arguments: Sequence[str]) -> int:
    """Check, print and count."""
    request = settings_from(arguments, Request, __doc__)
    os.environ.setdefault("PSI_DATA", str(Path(request.data) / "data"))
    checked = list(check(read_expected(Path(request.expected), request.names), request))
    show(table(checked, whole=False))
    if request.out is not None:
        Path(request.out).write_text(to_markdown(table(checked, whole=True)), encoding="utf-8")
    counts = {
        verdict: sum(each.verdict == verdict for each in checked) for verdict in ("OK", "OKish", "FAIL", "not run")
    }
    sys.stdout.write(", ".join(f"{verdict} {count}" for verdict, count in counts.items()) + "\n")
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    run_program(main)
