"""Results tables for people and programs: console, Markdown, CSV, LaTeX, one function each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import rich.box
import rich.table
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from analysis.tables import Column, Entry, Mark, Table

_STYLES: Mapping[Mark, str] = MappingProxyType({"": "", "best": "bold", "second": "underline", "failed": "red"})
_GAP = 2
_LATEX = MappingProxyType({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--", "Ψ": r"$\Psi$",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ",
})  # fmt: skip


def to_console(table: Table) -> RenderableType:
    """A renderable for `rich.console.Console.print`: scores, then how the runs went, then the notes.

    Columns that do not fit a narrow terminal go into further grids below, beside the names of the rows again.
    """
    return _Console(table)


def to_markdown(table: Table) -> str:
    """A GitHub-flavoured Markdown table with its notes as a list."""
    columns = _shown(table.columns)
    lines = [
        [_markdown(column.label) for column in columns],
        ["---:" if column.numeric else "---" for column in columns],
        *([_emphasised(entry, _markdown, "**{}**", "<ins>{}</ins>") for entry in row] for row in _visible(table)),
    ]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return body + "\n" + "".join(f"- {_markdown(note)}\n" for note in table.notes)


def to_csv(table: Table) -> str:
    """Everything in full precision, scores as fractions: bounds, counts and status of every row; unknown is empty."""
    header = list(dict.fromkeys(name for row in table.rows for entry in row for name in entry.data))
    text = io.StringIO()
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    for row in table.rows:
        writer.writerow({name: value for entry in row for name, value in entry.data.items()})
    return text.getvalue()


def to_latex(table: Table) -> str:
    """A booktabs tabular with its notes below, for `\\usepackage{booktabs}`."""
    columns, rows = _shown(table.columns), _visible(table)
    lines = [" & ".join(_latex(column.label) for column in columns) + r" \\", r"\midrule"]
    for row, entries in enumerate(rows):
        if row and rows[row - 1][0].text != entries[0].text:
            lines.append(r"\midrule")
        lines.append(
            " & ".join(_emphasised(entry, _latex, r"\textbf{{{}}}", r"\underline{{{}}}") for entry in entries) + r" \\"
        )
    places = "".join("r" if column.numeric else "l" for column in columns)
    notes = r" \\ ".join(_latex(note) for note in table.notes)
    return "\n".join([
        rf"\begin{{tabular}}{{{places}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}",
        rf"\par\smallskip{{\footnotesize {notes}}}", "",
    ])  # fmt: skip


def _shown(columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if column.shown]


def _visible(table: Table) -> list[list[Entry]]:
    return [[entry for column, entry in zip(table.columns, row, strict=True) if column.shown] for row in table.rows]


@dataclass(frozen=True)
class _Console:
    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = _places(self.table, "row")
        for about in ("score", "run"):
            for places in _fitting(self.table, names, _places(self.table, about), options.max_width):
                yield _grid(self.table, [*names, *places])
        yield from (Text(f"• {note}", style="dim") for note in self.table.notes)


def _places(table: Table, about: str) -> list[int]:
    return [at for at, column in enumerate(table.columns) if column.shown and column.about == about]


def _fitting(table: Table, names: Sequence[int], places: Sequence[int], width: int) -> list[list[int]]:
    """The places in as many lists as it takes for each to fit beside the names; one place a list at least."""
    free = width - sum(_width(table, at) for at in names)
    lists: list[list[int]] = []
    for at in places:
        if lists and sum(_width(table, other) for other in (*lists[-1], at)) <= free:
            lists[-1].append(at)
        else:
            lists.append([at])
    return lists


def _width(table: Table, at: int) -> int:
    return max(len(table.columns[at].label), *(len(row[at].text) for row in table.rows)) + _GAP


def _grid(table: Table, places: Sequence[int]) -> rich.table.Table:
    grid = rich.table.Table(box=rich.box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    for at in places:
        column = table.columns[at]
        justify: Literal["left", "right"] = "right" if column.numeric else "left"
        grid.add_column(Text(column.label), justify=justify, no_wrap=True)
    for number, row in enumerate(table.rows, start=1):
        last = number < len(table.rows) and table.rows[number][0].text != row[0].text
        grid.add_row(*(_styled(row[at]) for at in places), end_section=last)
    return grid


def _styled(entry: Entry) -> Text:
    mean, gap, interval = entry.text.partition(" ±")
    marked = Text(mean, style=_STYLES[entry.mark])
    return marked.append(f"{gap}{interval}", style="not bold not underline dim") if gap else marked


def _emphasised(entry: Entry, escape: Callable[[str], str], best: str, second: str) -> str:
    # the mean alone is set off, so that its interval does not shout
    mean, gap, interval = entry.text.partition(" ±")
    pattern = {"best": best, "second": second}.get(entry.mark, "{}")
    return pattern.format(escape(mean)) + escape(gap + interval)


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text.replace("\n", " "))


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
