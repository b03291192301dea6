"""Published numbers: read from YAML with their source, shown beside measured ones and never among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

from omegaconf import OmegaConf
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic reads typing's own only from Python 3.12 on

from psi.component import did_you_mean
from psi.errors import ConfigError


class PublishedRow(NamedTuple):
    """What a paper reports of a method on a dataset: metrics in percent, costs in the units of our own."""

    dataset: str
    method: str
    metrics: dict[str, float]
    costs: dict[str, float]


@dataclass(frozen=True, slots=True)
class Published:
    """One table of a paper: where it stands, how it was measured, its rows."""

    citation: str
    arxiv: str
    source: str
    setting: str
    rows: tuple[PublishedRow, ...] = field(default=())

    @property
    def title(self) -> str:
        """The source in a line."""
        return f"Published, not measured here: {self.citation} (arXiv {self.arxiv}), {self.source}"

    def of(self, datasets: Sequence[str]) -> Published:
        """The rows of these datasets alone."""
        rows = tuple(row for row in self.rows if row.dataset in datasets)
        return Published(self.citation, self.arxiv, self.source, self.setting, rows)


class _Table(TypedDict, total=False):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    source: Annotated[str, Field(min_length=1)]
    setting: str
    datasets: list[str]
    metrics: list[str]
    costs: list[str]
    rows: dict[str, list[list[float | None]]]


class _File(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    citation: str
    arxiv: str
    tables: dict[str, _Table]


_FILE = TypeAdapter(_File)


def read_published(folder: Path, name: str) -> Published:
    """The table `FILE.TABLE` of the folder, such as `hipporag2.qa`.

    Raises:
        ConfigError: there is no such table, or the file is malformed.
    """
    stem, _, table = name.partition(".")
    path = folder / f"{stem}.yaml"
    if not path.exists():
        raise ConfigError(
            f"published={name}: no file {path}.{did_you_mean(stem, [p.stem for p in folder.glob('*.yaml')])}"
        )
    try:
        content = _FILE.validate_python(OmegaConf.to_container(OmegaConf.load(path)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ConfigError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from None
    if table not in content["tables"]:
        raise ConfigError(f"published={name}: {path} has no table {table!r}.{did_you_mean(table, content['tables'])}")
    found = content["tables"][table]
    return Published(
        content["citation"], content["arxiv"], found["source"], found.get("setting", ""), _rows(found, path, table)
    )


def _rows(table: _Table, path: Path, name: str) -> tuple[PublishedRow, ...]:
    metrics, costs = table.get("metrics", []), table.get("costs", [])
    rows = []
    for method, by_dataset in table["rows"].items():
        if [len(values) for values in by_dataset] != [len(metrics) + len(costs)] * len(table["datasets"]):
            raise ConfigError(
                f"{path}: tables.{name}.rows.{method}: one list for each of the datasets is needed, a number or null for each "
                "of metrics and costs."
            )
        for dataset, values in zip(table["datasets"], by_dataset, strict=True):
            known = {name: value for name, value in zip([*metrics, *costs], values, strict=True) if value is not None}
            if known:
                rows.append(PublishedRow(
                    dataset, method,
                    {name: value for name, value in known.items() if name in metrics},
                    {name: value for name, value in known.items() if name in costs},
                ))  # fmt: skip
    return tuple(sorted(rows, key=lambda row: table["datasets"].index(row.dataset)))
