"""HTML and PDF files as documents."""

import io
from pathlib import Path

import pytest

from psi.corpus.documents import read_document
from psi.corpus.files import FilesBenchmark
from psi.corpus.sources import read
from psi.errors import InputError

PAGE = """<!doctype html><html><head><title> The  Old
Bridge </title><style>p {color: red}</style></head><body><!-- no --><nav>Home | About</nav>
<h1>The <em>Old</em> Bridge</h1><p>It was built in <b>1566</b>
by Hayruddin.</p><div>It fell<br>in 1993.</div><script>var x = "no";</script>
<ul><li>one arch</li><li>29 metres</li></ul><h2>Today</h2>
<table><tr><th>Year</th><td>2004</td></tr></table><pre>a
  b</pre></body></html>"""


def _pdf(*pages: str) -> bytes:
    """A PDF with one line a page, or more where the text holds line breaks."""
    pypdf = pytest.importorskip("pypdf")
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    for text in pages:
        page = writer.add_blank_page(300, 300)
        font = DictionaryObject(
            {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"),
             NameObject("/BaseFont"): NameObject("/Helvetica")}
        )  # fmt: skip
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        stream = DecodedStreamObject()
        lines = " ".join(f"({line}) Tj 0 -14 Td" for line in text.split("\n"))
        stream.set_data(f"BT /F1 12 Tf 20 200 Td {lines} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _file(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_html_is_read_as_a_browser_shows_it(tmp_path):
    pytest.importorskip("bs4")
    found = read_document(read(_file(tmp_path, "page.html", PAGE.encode())))
    assert found.title == "The Old Bridge"
    assert found.text == (
        "# The Old Bridge\n\nIt was built in 1566 by Hayruddin.\n\nIt fell\nin 1993.\n\none arch\n\n29 metres\n\n"
        "## Today\n\nYear 2004\n\na\nb"
    )


def test_html_headings_become_titles_and_the_page_title_stands_for_none(tmp_path):
    pytest.importorskip("bs4")
    _file(tmp_path, "a.html", PAGE.encode())
    _file(tmp_path, "b.htm", b"<title>Wells</title><p>Deep water.")
    _file(tmp_path, "c.html", b"<p>No title.")
    passages = FilesBenchmark(corpus=str(tmp_path), chunk_tokens=12).load().passages
    titles = {passage.id: passage.title for passage in passages}
    assert titles["a.html#0000"] == "The Old Bridge"
    assert titles["b.htm#0000"] == "Wells"
    assert passages.by_id("b.htm#0000").text == "Deep water."
    assert titles["c.html#0000"] == "c"
    assert "Today" in titles.values()


def test_html_in_another_encoding_is_read_as_it_declares(tmp_path):
    pytest.importorskip("bs4")
    page = '<meta charset="iso-8859-1"><p>Zürich'.encode("latin-1")
    assert read_document(read(_file(tmp_path, "z.html", page))).text == "Zürich"


def test_pdf_pages_follow_each_other_and_split_words_are_joined(tmp_path):
    path = _file(tmp_path, "a.PDF", _pdf("The bridge was de-\nstroyed in 1993 by a well-\nKnown", "general."))
    words = " ".join(read_document(read(path)).text.split())
    assert words == "The bridge was destroyed in 1993 by a well- Known general."


def test_a_pdf_without_text_is_reported_as_empty(tmp_path):
    _file(tmp_path, "scan.pdf", _pdf(""))
    _file(tmp_path, "note.txt", b"Text.")
    benchmark = FilesBenchmark(corpus=str(tmp_path)).load()
    assert benchmark.report.skipped_empty == ("scan.pdf#0000",)
    assert benchmark.passages.ids == ("note.txt#0000",)


def test_damaged_and_locked_pdfs_are_refused_by_name(tmp_path):
    pypdf = pytest.importorskip("pypdf")
    with pytest.raises(InputError, match=r"a\.pdf: cannot be read as PDF.*take it out of the folder"):
        read_document(read(_file(tmp_path, "a.pdf", b"x")))
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(_pdf("secret")))
    writer.encrypt("password", algorithm="RC4-128")
    locked = io.BytesIO()
    writer.write(locked)
    with pytest.raises(InputError, match=r"b\.pdf: cannot be read as PDF.*password"):
        read_document(read(_file(tmp_path, "b.pdf", locked.getvalue())))


@pytest.mark.parametrize(("name", "package"), [("a.pdf", "pypdf"), ("a.html", "bs4")])
def test_without_the_extra_the_message_says_what_to_install(tmp_path, monkeypatch, name, package):
    import importlib

    def missing(wanted, *_):
        raise ImportError(wanted) if wanted == package else AssertionError(wanted)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match=rf"needs the package {package}.*psi-bench\[documents\]"):
        read_document(read(_file(tmp_path, name, b"x")))
    assert read_document(read(_file(tmp_path, "a.txt", b"x"))).text == "x"
