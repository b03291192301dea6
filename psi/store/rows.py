"""Row files: JSON lines that grow by whole rows and survive a kill at any byte."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from psi.errors import StoreError

Row = Mapping[str, Any]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All rows of a finished row file.

    Raises:
        StoreError: the file is missing, a line is not a JSON object, or the last line is cut.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}. Run the stage that writes it again.") from error
    if data and not data.endswith(b"\n"):
        raise StoreError(f"{path}: the last line is cut. Delete the folder {path.parent} and run the stage again.")
    return _parse(path, data)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a whole row file at once (callers write it inside a stage's folder, which is renamed when complete)."""
    with path.open("wb") as file:
        for row in rows:
            file.write(_line(row))


class RowLog:
    """A growing row file: opens with the rows that a killed run left, appends and flushes whole rows.

    A half-written last line is dropped on opening. Rows are found by the value of `key`; a later row replaces an
    earlier one with the same key (a retried failure).
    """

    def __init__(self, path: Path, key: str = "question"):
        self._path, self._key = path, key
        data = path.read_bytes() if path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        self._file = path.open("ab")
        self._file.truncate(len(whole))
        self.rows: dict[str, dict[str, Any]] = {row[key]: row for row in _parse(path, whole)}

    def append(self, rows: Sequence[Row]) -> None:
        """Add rows in one write and force them to disk."""
        self._file.write(b"".join(_line(row) for row in rows))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.rows.update({row[self._key]: dict(row) for row in rows})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> RowLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"


def _parse(path: Path, data: bytes) -> list[dict[str, Any]]:
    # split on the newline byte alone: str.splitlines would also cut at U+2028 inside a text
    rows = []
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise StoreError(
                f"{path}, line {number}: not a JSON object. The file was altered: "
                f"delete the folder {path.parent} and run the stage again."
            )
        rows.append(row)
    return rows
