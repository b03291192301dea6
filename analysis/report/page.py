"""One HTML file: markup, style, program and packed data; it loads nothing from anywhere."""

from __future__ import annotations

import base64
import gzip
import html
import json
from importlib import resources
from typing import Any

from analysis.report.records import Report
from analysis.report.sections import sections

# in this order: later files use what earlier ones define
PROGRAM = ("core.js", "results.js", "questions.js", "compare.js", "failures.js", "trees.js", "reproduce.js", "main.js")


def report_page(report: Report) -> str:
    """The page; equal reports give equal text."""
    data = "\n".join(
        f'<script type="application/octet-stream" id="data-{name}">{_packed(content)}</script>'
        for name, content in sections(report)
    )
    figures = "\n".join(_figure(at, each.title, each.data, each.text) for at, each in enumerate(report.figures))
    fields = {
        "TITLE": html.escape(report.title),
        "STYLE": _static("page.css"),
        "PROGRAM": "\n".join(_static(name) for name in PROGRAM),
        "FIGURES": figures,
        "DATA": data,
    }
    page = _static("page.html")
    for name, text in fields.items():
        page = page.replace(f"<!--{name}-->", text)
    return page.encode("utf-8", "replace").decode("utf-8")  # half a character of a wrong encoding fits into no file


def _packed(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode("ascii")


def _figure(number: int, title: str, data: bytes, text: str) -> str:
    source = f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
    return (
        f'<figure id="figure-{number}"><figcaption>{html.escape(title)}</figcaption>'
        f'<img src="{source}" alt="{html.escape(text, quote=True)}" loading="lazy"></figure>'
    )


def _static(name: str) -> str:
    return (resources.files("analysis.report") / "static" / name).read_text(encoding="utf-8")
