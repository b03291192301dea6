"""Your own data: a folder of documents or a JSONL file of passages, and perhaps a JSONL file of questions."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic reads typing's own only from Python 3.12 on

from psi.component import Component, did_you_mean, runtime
from psi.corpus import sources
from psi.corpus.clean import OnEmpty, clean, clean_json, repeated_texts, without_empty
from psi.corpus.documents import SUFFIXES, read_document
from psi.corpus.gold import unmapped, unmapped_gold, warn_unmapped
from psi.corpus.records import Benchmark, LoadReport, Passage, Passages, Question
from psi.corpus.splitter import Chunk, split
from psi.errors import ConfigError, InputError

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclasses.dataclass(frozen=True, kw_only=True)
class FilesBenchmark(Component):
    """A benchmark of your own files.

    A folder is searched for .txt, .md, .html and .pdf files (the last two need the extra `documents`), subfolders
    included, hidden ones not. Each file is a document, named by its path below the folder, and cut into chunks
    `path#0000`, `path#0001`, ... (these ids are what gold refers to). A chunk's title is the heading that it begins
    under (Markdown, HTML), or else the document's own title, or the file's name without its ending.

    A JSONL file has one passage a line: `id`, `text`, and perhaps `title`, `document`, `category`. Passages are
    taken as they are. Questions, one a line: `question`, and perhaps `id` (else the question's number, from 0),
    `answers`, `gold` (passage ids), `hops`, `kind`, `document` (the only one to search) and `answerable`.

    Attributes:
        name: what tables call the benchmark.
        corpus: the folder or the .jsonl file of passages.
        questions: the .jsonl file of questions (None: a corpus to search, nothing to measure).
        chunk_tokens: most tokens in a chunk of a document (`splitter.token_starts` says what a token is).
        chunk_overlap: how many of them repeat the end of the chunk before.
        on_empty: leave passages without a text out and report them (`skip`), or refuse the corpus (`refuse`).
    """

    name: str = "files"
    corpus: str = dataclasses.field(metadata={"identity": False})  # where; `fingerprint` says what
    questions: str | None = runtime(None)
    chunk_tokens: PositiveInt = 100
    chunk_overlap: NonNegativeInt = 0
    on_empty: OnEmpty = "skip"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chunk_overlap >= self.chunk_tokens:
            raise ConfigError(
                f"{type(self).__name__}: chunk_overlap={self.chunk_overlap} must be smaller than "
                f"chunk_tokens={self.chunk_tokens}."
            )

    def fingerprint(self) -> Mapping[str, str]:
        """sha256 of every file, by `corpus/PATH` and `questions/NAME`.

        Raises:
            InputError: a path that does not exist or cannot be read.
        """
        found = {f"corpus/{name}": source.sha256 for name, source in self._corpus_files().items()}
        questions = self._questions_file()
        return found | ({f"questions/{questions.path.name}": questions.sha256} if questions else {})

    def load(self) -> Benchmark:
        """Read, clean, chunk and connect the files.

        Raises:
            InputError: files that are missing, malformed or empty.
        """
        counts: Counter[str] = Counter()
        kept, skipped = without_empty(self._passages(counts), self.on_empty, self.corpus)
        source = self._questions_file()
        questions = _questions(source, kept, counts) if source else ()
        missed = unmapped_gold(questions)
        warn_unmapped(self.name, missed)
        report = LoadReport(
            cleaned=dict(sorted(counts.items())),
            skipped_empty=skipped,
            unmapped_gold=missed,
            notes=self._left_out() + repeated_texts(kept),
            sources=dict(self.fingerprint()),
        )
        return Benchmark(self.name, Passages(kept), questions, report)

    def _passages(self, counts: Counter[str]) -> list[Passage]:
        files = self._corpus_files()
        if not Path(self.corpus).is_dir():
            return [passage for source in files.values() for passage in _json_passages(source, counts)]
        return [
            passage
            for name, source in files.items()
            for passage in _chunked(name, source, self.chunk_tokens, self.chunk_overlap, counts)
        ]

    def _corpus_files(self) -> dict[str, sources.Source]:
        path = Path(self.corpus)
        if path.is_file() and path.suffix.lower() != ".jsonl":
            raise InputError(
                f"{path}: the corpus must be a folder of documents ({', '.join(SUFFIXES)}), or one .jsonl file."
            )
        if not path.is_dir():
            return {path.name: sources.read(path)}
        files = (file for file in _visible_files(path) if file.suffix.lower() in SUFFIXES)
        return {file.relative_to(path).as_posix(): sources.read(file) for file in files}

    def _questions_file(self) -> sources.Source | None:
        return sources.read(Path(self.questions)) if self.questions is not None else None

    def _left_out(self) -> tuple[str, ...]:
        path = Path(self.corpus)
        if not path.is_dir():
            return ()
        other = sum(file.suffix.lower() not in SUFFIXES for file in _visible_files(path))
        return (f"files that are none of {', '.join(SUFFIXES)}, left out: {other}.",) if other else ()


def _visible_files(folder: Path) -> list[Path]:
    """Files below a folder, hidden ones aside, in the order of their paths as POSIX strings."""
    found = (
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _chunked(
    name: str, source: sources.Source, max_tokens: int, overlap: int, counts: Counter[str]
) -> Iterator[Passage]:
    document = clean(name)
    found = read_document(source)
    text = clean(found.text, counts)
    titles = _Titles(text if found.markdown else "", clean(found.title) or clean(source.path.stem))
    chunks = split(text, max_tokens, overlap) or [Chunk("", 0, 0)]  # a blank file is an empty passage, not nothing
    for number, chunk in enumerate(chunks):  # padded: passages stand in the order of their ids
        yield Passage(f"{document}#{number:04}", titles.at(chunk.start), chunk.text.strip(), document)


class _Titles:
    """The heading that a place in a Markdown text stands under; headings in fenced code are none."""

    def __init__(self, text: str, fallback: str):
        self._offsets, self._titles = [-1], [fallback]
        offset, fenced = 0, False
        for line in text.split("\n"):
            fenced ^= _FENCE.match(line) is not None
            heading = _HEADING.match(line)
            if heading and heading[1] and not fenced:
                self._offsets.append(offset)
                self._titles.append(heading[1])
            offset += len(line) + 1

    def at(self, offset: int) -> str:
        return self._titles[bisect_right(self._offsets, offset) - 1]


# numbers are common as ids; gold refers to them the same way
_Id = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]


class _PassageRow(TypedDict):
    id: _Id
    text: str
    title: NotRequired[str | None]
    document: NotRequired[_Id | None]
    category: NotRequired[str | None]


class _QuestionRow(TypedDict):
    question: str
    id: NotRequired[_Id]
    answers: NotRequired[list[str]]
    gold: NotRequired[list[_Id]]
    hops: NotRequired[PositiveInt | None]
    kind: NotRequired[str | None]
    document: NotRequired[_Id | None]
    answerable: NotRequired[bool]


def _json_passages(source: sources.Source, counts: Counter[str]) -> list[Passage]:
    passages = []
    lines: dict[str, int] = {}
    for line, row in _rows(source, _PassageRow, counts):
        where = f"{source.path}, line {line}"
        _check_new(row["id"], line, lines, where)
        title, category = row.get("title") or "", row.get("category") or None
        passages.append(Passage(row["id"], title, row["text"], row.get("document") or None, category))
    return passages


def _questions(source: sources.Source, passages: Sequence[Passage], counts: Counter[str]) -> tuple[Question, ...]:
    ids = {passage.id for passage in passages}
    documents = {passage.document for passage in passages}
    questions: list[Question] = []
    lines: dict[str, int] = {}
    for line, row in _rows(source, _QuestionRow, counts):
        where = f"{source.path}, line {line}"
        question = _question(row, len(questions), ids, where)
        _check_new(question.id, line, lines, where)
        if question.document is not None and question.document not in documents:
            raise InputError(f"{where}: no passage belongs to the document {question.document!r}.")
        questions.append(question)
    return tuple(questions)


def _question(row: _QuestionRow, number: int, ids: set[str], where: str) -> Question:
    if not row["question"]:
        raise InputError(f"{where}: the question is blank. Write one or remove the line.")
    gold = [id_ if id_ in ids else unmapped(id_) for id_ in row.get("gold", [])]
    return Question(
        id=row.get("id", str(number)),
        text=row["question"],
        answers=tuple(dict.fromkeys(answer for answer in row.get("answers", []) if answer)),
        gold=tuple(dict.fromkeys(gold)),
        hops=row.get("hops"),
        kind=row.get("kind") or "",
        document=row.get("document") or None,
        answerable=row.get("answerable", True),
    )


def _check_new(id_: str, line: int, lines: dict[str, int], where: str) -> None:
    if not id_:
        raise InputError(f"{where}: the id is blank. Give it one.")
    if id_ in lines:
        raise InputError(f"{where}: duplicate id {id_!r}, first on line {lines[id_]}: ids must be unique.")
    lines[id_] = line


def _rows(source: sources.Source, layout: Any, counts: Counter[str]) -> Iterator[tuple[int, Any]]:
    """Cleaned and validated rows of a JSONL file with their line numbers."""
    adapter = TypeAdapter(layout)
    for line, row in sources.json_lines(source):
        where = f"{source.path}, line {line}"
        if not isinstance(row, dict):
            raise InputError(f"{where}: expected a JSON object, found {type(row).__name__}.")
        for key in row:
            if key not in layout.__annotations__:
                raise InputError(f"{where}: unknown key {key!r}.{did_you_mean(key, layout.__annotations__)}")
        try:
            # strict: "2" is no number of hops, "no" is not false
            yield line, adapter.validate_python(clean_json(row, counts), strict=True)
        except ValidationError as error:
            raise InputError(f"{where}: {sources.invalid(error)}. Correct that line.") from None
        except RecursionError:
            raise InputError(f"{where}: {sources.TOO_DEEP}.") from None
