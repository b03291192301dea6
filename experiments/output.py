"""Tables of programs: on the console, and as the two files that hold one."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from analysis.renderers import to_console, to_csv, to_markdown
from analysis.tables import Table

WIDTH = 150  # of a table that goes to a file or a pipe


def console() -> Console:
    """The console of standard output, of a fixed width where that is no terminal."""
    return Console() if sys.stdout.isatty() else Console(width=WIDTH)


def show(table: Table) -> None:
    """Print a table."""
    console().print(to_console(table))


def write_table(table: Table, folder: Path, name: str) -> None:
    """Write a table into a folder as NAME.md and NAME.csv."""
    (folder / f"{name}.md").write_text(to_markdown(table), encoding="utf-8")
    (folder / f"{name}.csv").write_text(to_csv(table), encoding="utf-8")
