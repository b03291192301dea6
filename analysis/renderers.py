"""Results tables for people and programs: console, Markdown, CSV, LaTeX, HTML, one function each."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import rich.box
import rich.table
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from analysis.tables import Block, Column, Entry, Mark, Table

_STYLES: Mapping[Mark, str] = MappingProxyType({"": "", "best": "bold", "second": "underline", "failed": "red"})
_GAP = 2
_CSS = (
    "body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;margin:2rem}main{max-width:80rem;margin:auto}"
    ".wide{overflow-x:auto}table{border-collapse:collapse}caption{font-weight:bold;text-align:left;padding:.5rem 0}"
    "th,td{padding:.25rem .6rem;text-align:left;font-weight:normal;white-space:nowrap}"
    "thead th{font-weight:bold;border-bottom:2px solid #1a1a1a}tbody{border-bottom:1px solid #767676}"
    ".number{text-align:right;font-variant-numeric:tabular-nums}.block th{font-style:italic;background:#f0f0f0}"
    ".failed{color:#a00000}ul{padding-left:1.2rem;color:#444}"
)
_LATEX = MappingProxyType({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--", "†": r"$^{\dagger}$", "Ψ": r"$\Psi$",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ",
})  # fmt: skip


def to_console(table: Table) -> RenderableType:
    """A renderable for `rich.console.Console.print`: scores, then how the runs went, then the notes.

    Columns that do not fit a narrow terminal go into further grids below, beside the names of the rows again.
    """
    return _Console(table)


def to_markdown(table: Table) -> str:
    """A GitHub-flavoured Markdown table with its notes as a list; blocks are tables of their own below it."""
    title = f"**{_markdown(table.title)}**\n\n" if table.title else ""
    tables = [_markdown_table(table.columns, table.rows)]
    for block in table.blocks:
        note = f" {_markdown(block.note)}." if block.note else ""
        tables.append(f"*{_markdown(block.title)}.{note}*\n\n{_markdown_table(_of_block(table, block), block.rows)}")
    return title + "\n".join(tables) + "\n" + "".join(f"- {_markdown(note)}\n" for note in table.notes)


def _markdown_table(columns: Sequence[Column], rows: Sequence[Sequence[Entry]]) -> str:
    shown = _shown(columns)
    lines = [
        [_markdown(column.label) for column in shown],
        ["---:" if column.numeric else "---" for column in shown],
        *(
            [_emphasised(entry, _markdown, "**{}**", "<ins>{}</ins>") for entry in row]
            for row in _visible(columns, rows)
        ),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def to_csv(table: Table) -> str:
    """Everything in full precision, scores as fractions: bounds, counts and status of every row; unknown is empty.

    Rows of blocks come last; where there are any, a column `published` holds their source and is empty for measured rows.
    """
    rows = [*table.rows, *(row for block in table.blocks for row in block.rows)]
    header = list(dict.fromkeys(name for row in rows for entry in row for name in entry.data))
    text = io.StringIO()
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: value for entry in row for name, value in entry.data.items()})
    return text.getvalue()


def to_latex(table: Table) -> str:
    """A booktabs tabular with its notes below, for `\\usepackage{booktabs}`; blocks follow under headings of their own."""
    columns = _shown(table.columns)
    lines = [
        " & ".join(_latex(column.label) for column in columns) + r" \\",
        r"\midrule",
        *_latex_rows(table, table.rows),
    ]
    for block in table.blocks:
        heading = rf"\multicolumn{{{len(columns)}}}{{l}}{{\emph{{{_latex(block.title)}}}}} \\"
        lines += [r"\midrule", heading, r"\midrule", *_latex_rows(table, block.rows)]
    places = "".join("r" if column.numeric else "l" for column in columns)
    notes = r" \\ ".join(_latex(note) for note in [*_block_notes(table), *table.notes])
    title = [rf"\textbf{{{_latex(table.title)}}}\par\smallskip"] if table.title else []
    return "\n".join([
        *title, rf"\begin{{tabular}}{{{places}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}",
        rf"\par\smallskip{{\footnotesize {notes}}}", "",
    ])  # fmt: skip


def _latex_rows(table: Table, rows: Sequence[Sequence[Entry]]) -> list[str]:
    lines = []
    for at, entries in enumerate(_visible(table.columns, rows)):
        if at and rows[at - 1][0].text != entries[0].text:
            lines.append(r"\midrule")
        lines.append(
            " & ".join(_emphasised(entry, _latex, r"\textbf{{{}}}", r"\underline{{{}}}") for entry in entries) + r" \\"
        )
    return lines


def to_html(table: Table) -> str:
    """A page that needs nothing else: one table with a caption, headings that belong to their cells, and notes.

    Best and second are told by `strong` and `u`, not by colour; blocks are row groups with headings of their own.
    """
    columns = _shown(table.columns)
    heads = "".join(f'<th scope="col"{_align(column)}>{html.escape(column.label)}</th>' for column in columns)
    bodies = [f"<tbody>{_html_rows(table, table.rows)}</tbody>"]
    for block in table.blocks:
        heading = (
            f'<tr class="block"><th scope="rowgroup" colspan="{len(columns)}">{html.escape(block.title)}</th></tr>'
        )
        bodies.append(f'<tbody class="published">{heading}{_html_rows(table, block.rows)}</tbody>')
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in [*_block_notes(table), *table.notes])
    title = html.escape(table.title or "Results")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_CSS}</style></head>\n<body><main>'
        f'<div class="wide" role="region" aria-labelledby="caption" tabindex="0"><table><caption id="caption">{title}</caption>'
        f"<thead><tr>{heads}</tr></thead>\n"
        + "\n".join(bodies)
        + f"</table></div>\n<ul>{notes}</ul></main></body></html>\n"
    )


def _html_rows(table: Table, rows: Sequence[Sequence[Entry]]) -> str:
    columns = _shown(table.columns)
    lines = []
    for entries in _visible(table.columns, rows):
        cells = [
            f'<th scope="row">{_html(entry)}</th>'
            if column.label == "Method"
            else f"<td{_align(column)}>{_html(entry)}</td>"
            for column, entry in zip(columns, entries, strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(lines)


def _html(entry: Entry) -> str:
    text = _emphasised(entry, html.escape, "<strong>{}</strong>", "<u>{}</u>")
    return f'<span class="failed">{text}</span>' if entry.mark == "failed" else text


def _align(column: Column) -> str:
    return ' class="number"' if column.numeric else ""


def _shown(columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if column.shown]


def _visible(columns: Sequence[Column], rows: Sequence[Sequence[Entry]]) -> list[list[Entry]]:
    return [[entry for column, entry in zip(columns, row, strict=True) if column.shown] for row in rows]


def _of_block(table: Table, block: Block) -> tuple[Column, ...]:
    """The table's columns, shown only where the block has something in them."""
    return tuple(
        replace(column, shown=column.shown and any(row[at].text not in ("", "–") for row in block.rows))
        for at, column in enumerate(table.columns)
    )


def _block_notes(table: Table) -> list[str]:
    return [f"{block.title}: {block.note}." for block in table.blocks if block.note]


@dataclass(frozen=True)
class _Console:
    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.table.title:
            yield Text(self.table.title, style="bold")
        yield from self._grids(self.table, options.max_width)
        for block in self.table.blocks:
            yield Text(f"{block.title}. {block.note}", style="italic")
            columns = _of_block(self.table, block)
            yield from self._grids(replace(self.table, columns=columns, rows=block.rows), options.max_width)
        yield from (Text(f"• {note}", style="dim") for note in self.table.notes)

    @staticmethod
    def _grids(table: Table, width: int) -> Iterator[rich.table.Table]:
        names = _places(table, "row")
        for about in ("score", "run"):
            for places in _fitting(table, names, _places(table, about), width):
                yield _grid(table, [*names, *places])


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
    return max([len(table.columns[at].label), *(len(row[at].text) for row in table.rows)]) + _GAP


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
