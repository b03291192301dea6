"""Texts of single files: plain text and Markdown, and with the extra `documents` HTML and PDF."""

from __future__ import annotations

import importlib
import io
import re
from typing import Any, NamedTuple

from psi.corpus import sources
from psi.errors import InputError

SUFFIXES = (".txt", ".md", ".html", ".htm", ".pdf")
_BLOCKS = [
    "address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "footer",
    "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "summary",
    "table", "tr", "ul",
]  # fmt: skip
_UNREAD = ["script", "style", "template", "noscript", "nav", "svg", "head", "title"]
_HEADING = re.compile(r"h([1-6])$")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])(?=[a-zà-ÿ])")


class Document(NamedTuple):
    """A file's text and the title that it gives itself ("": none). `markdown`: lines that begin with # are headings."""

    text: str
    title: str = ""
    markdown: bool = False


def read_document(source: sources.Source) -> Document:
    """The text of a file, read as its ending says.

    Raises:
        InputError: the file is damaged or locked, or the library for its kind is not installed.
    """
    suffix = source.path.suffix.lower()
    if suffix == ".pdf":
        return _pdf(source)
    if suffix in (".html", ".htm"):
        return _html(source)
    return Document(sources.text_of(source), markdown=suffix == ".md")


def _pdf(source: sources.Source) -> Document:
    """Page after page; words that were split at a line's end are joined again. A page that is a picture has no text."""
    pypdf = _library("pypdf", source)
    try:
        pages = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(source.data)).pages]
    except Exception as error:  # damaged files fail in as many ways as there are
        raise InputError(
            f"{source.path}: cannot be read as PDF ({type(error).__name__}: {error}). Open it in a viewer: if "
            "that asks for a password or fails too, save it anew without one, or take it out of the folder."
        ) from error
    return Document(_HYPHENATED.sub("", "\n".join(pages)))


def _html(source: sources.Source) -> Document:
    """What a browser shows, without navigation; headings as Markdown writes them."""
    bs4 = _library("bs4", source)
    page = bs4.BeautifulSoup(source.data, "html.parser")
    title = " ".join(page.title.get_text().split()) if page.title else ""
    for element in page(_UNREAD):
        element.decompose()
    for text in page.find_all(string=True):
        if type(text) is bs4.NavigableString and text.find_parent("pre") is None:  # not a comment or doctype
            text.replace_with(re.sub(r"\s+", " ", text))
    for element in page.find_all("br"):
        element.replace_with("\n")
    for element in page.find_all(_BLOCKS):
        level = _HEADING.match(element.name)
        element.insert_before("\n\n" + "#" * int(level[1]) + " " if level else "\n\n")
        element.insert_after("\n\n")
    for cell in page.find_all(["td", "th"]):
        cell.insert_after(" ")
    lines = (line.strip() for line in page.get_text().split("\n"))
    return Document(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip(), title, markdown=True)


def _library(name: str, source: sources.Source) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            f"{source.path}: reading {source.path.suffix} files needs the package {name}. Install it with "
            "`pip install 'psi-bench[documents]'`, or take the file out of the folder."
        ) from error
