"""Benchmarks in the HippoRAG layout: `NAME.json` (questions), `NAME_corpus.json` (a list of `{title, text}`).

A passage's id is its position in the corpus file, padded with zeros to at least five digits, so that ids sort
as the passages stand: `00042`. Which passages are gold and which answers count follows the released code of
HippoRAG 2 (OSU-NLP-Group/HippoRAG, `main.py`), except that PopQA's aliases are parsed, not compared as one
JSON string (`popqa_as_published` does that).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic reads typing's own only from Python 3.12 on

from psi.corpus import sources
from psi.corpus.clean import OnEmpty, clean, clean_json, without_empty
from psi.corpus.gold import GoldIndex, Reference, unmapped
from psi.corpus.published import PublishedFiles
from psi.corpus.records import Benchmark, Passage, Question
from psi.errors import InputError

RecordKind = Literal["hotpotqa", "2wiki", "musique", "popqa", "popqa_as_published", "nq", "nq_oracle"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class HippoRagBenchmark(PublishedFiles):
    """A benchmark in the HippoRAG layout, from a local folder or else from a dataset repository on the hub.

    Attributes:
        records: the record format of the questions file.
        questions_file: file name of the questions.
        corpus_file: file name of the corpus.
        on_empty: leave passages without a text out and report them (`skip`), or refuse the corpus (`refuse`).
    """

    records: RecordKind
    questions_file: str
    corpus_file: str
    on_empty: OnEmpty = "skip"

    def files(self) -> Sequence[str]:
        """Questions, then the corpus."""
        return [self.questions_file, self.corpus_file]

    def load(self) -> Benchmark:
        """Read, clean and connect questions and corpus.

        Raises:
            InputError: files that are missing, altered, malformed or empty.
        """
        question_source, corpus_source = self.read_files()
        counts: Counter[str] = Counter()
        all_passages = _read_passages(corpus_source, counts)
        records = _read_records(question_source, _FORMATS[self.records], counts)
        kept, skipped = without_empty(all_passages, self.on_empty, str(corpus_source.path))
        index = GoldIndex(kept)
        find = index.by_title if _FORMATS[self.records].by_title else index.by_text
        questions = tuple(_question(record, find) for record in records)
        found = (question_source, corpus_source)
        return self.benchmark(kept, questions, found, counts, index.notes(), skipped)


class _Record(NamedTuple):
    """What the question formats have in common."""

    id: str
    question: str
    answers: Iterable[str]
    gold: Iterable[Reference]
    hops: int
    kind: str = ""
    answerable: bool = True
    steps: Iterable[str] = ()


class _Paragraph(TypedDict):
    title: str
    text: str
    is_supporting: NotRequired[bool]  # without the flag a paragraph supports, as in the released evaluation


class _TitledRow(TypedDict):
    _id: str
    type: str
    question: str
    answer: str
    answer_aliases: NotRequired[list[str]]
    context: list[tuple[str, list[str]]]
    supporting_facts: list[tuple[str, int]]


class _2WikiRow(_TitledRow):
    evidences: NotRequired[list[tuple[str, str, str]]]  # (subject, relation, object)


class _MusiqueParagraph(TypedDict):
    title: str
    paragraph_text: str
    is_supporting: bool


class _MusiqueStep(TypedDict):
    question: str
    answer: str


class _MusiqueRow(TypedDict):
    id: str
    question: str
    answer: str
    answer_aliases: list[str]
    answerable: NotRequired[bool]
    paragraphs: list[_MusiqueParagraph]
    question_decomposition: list[_MusiqueStep]


class _PopqaRow(TypedDict):
    id: str | int
    question: str
    prop: str
    obj: str
    possible_answers: str | list[str]
    o_wiki_title: str
    o_aliases: str | list[str]
    paragraphs: list[_Paragraph]


class _NqRow(TypedDict):
    id: NotRequired[str | int]
    question: str
    reference: list[str]
    contexts: list[_Paragraph]


class _NqOracleRow(TypedDict):
    id: str
    question: str
    answer: list[str]
    paragraphs: list[_Paragraph]


class _PassageRow(TypedDict):
    title: str
    text: str


def _titled(row: _TitledRow, position: int, joiner: str) -> _Record:
    contexts = {title: joiner.join(sentences) for title, sentences in row["context"]}
    titles = list(dict.fromkeys(title for title, _ in row["supporting_facts"]))
    gold = [Reference(title, contexts.get(title)) for title in titles]
    answers = [row["answer"], *row.get("answer_aliases", [])]
    return _Record(row["_id"], row["question"], answers, gold, len(titles), row["type"])


def _hotpotqa(row: _TitledRow, position: int) -> _Record:
    return _titled(row, position, joiner="")


def _2wiki(row: _2WikiRow, position: int) -> _Record:
    steps = [f"{subject} {relation}" for subject, relation, _ in row.get("evidences", [])]
    return _titled(row, position, joiner=" ")._replace(steps=steps)


def _musique(row: _MusiqueRow, position: int) -> _Record:
    supporting = [item for item in row["paragraphs"] if item["is_supporting"]]
    return _Record(
        id=row["id"],
        question=row["question"],
        answers=[row["answer"], *row["answer_aliases"]],
        gold=[Reference(item["title"], item["paragraph_text"]) for item in supporting],
        hops=len(row["question_decomposition"]),
        kind=row["id"].split("__")[0],
        answerable=row.get("answerable", True),
        steps=_musique_steps(row["question_decomposition"]),
    )


def _musique_steps(decomposition: Sequence[_MusiqueStep]) -> list[str]:
    """Sub-questions in which `#2` stands for the answer to the second; `Hello Love >> performer` loses its mark."""
    earlier: dict[str, str] = {}
    steps = []
    for number, step in enumerate(decomposition, start=1):
        # a number of no earlier step is part of the text (`the #40 hit`)
        text = re.sub(r"#\d+", lambda found: earlier.get(found[0], found[0]), step["question"])
        steps.append(text.replace(" >> ", " "))
        earlier[f"#{number}"] = step["answer"]
    return steps


def _popqa(row: _PopqaRow, position: int) -> _Record:
    answers = [
        row["obj"],
        *_strings("possible_answers", row["possible_answers"]),
        row["o_wiki_title"],
        *_strings("o_aliases", row["o_aliases"]),
    ]
    return _Record(str(row["id"]), row["question"], answers, _supporting(row["paragraphs"]), 1, row["prop"])


def _popqa_as_published(row: _PopqaRow, position: int) -> _Record:
    """Lists of aliases as one answer each, in the words of the file: what the released evaluations compare with."""
    aliases = (row["possible_answers"], row["o_aliases"])
    texts = [value if isinstance(value, str) else json.dumps(value) for value in aliases]
    answers = [row["obj"], texts[0], row["o_wiki_title"], texts[1]]
    return _popqa(row, position)._replace(answers=answers)


def _nq(row: _NqRow, position: int) -> _Record:
    number = str(row.get("id", position))
    return _Record(number, row["question"], row["reference"], _supporting(row["contexts"]), 1)


def _nq_oracle(row: _NqOracleRow, position: int) -> _Record:
    return _Record(row["id"], row["question"], row["answer"], _supporting(row["paragraphs"]), 1)


def _supporting(paragraphs: Sequence[_Paragraph]) -> list[Reference]:
    return [Reference(item["title"], item["text"]) for item in paragraphs if item.get("is_supporting", True)]


def _strings(key: str, value: str | list[str]) -> list[str]:
    """PopQA's aliases: a list of strings, or the JSON text of one."""
    try:
        parsed = json.loads(value) if isinstance(value, str) else value
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{key}={value!r} is not a JSON list of strings: {error}") from None
    if not isinstance(parsed, list) or not all(isinstance(item, str) for item in parsed):
        raise ValueError(f"{key}={value!r} is not a JSON list of strings")
    return parsed


class _Format(NamedTuple):
    row: TypeAdapter[Any]
    parse: Callable[[Any, int], _Record]
    by_title: bool = False


_FORMATS: dict[RecordKind, _Format] = {
    "hotpotqa": _Format(TypeAdapter(_TitledRow), _hotpotqa, by_title=True),
    "2wiki": _Format(TypeAdapter(_2WikiRow), _2wiki, by_title=True),
    "musique": _Format(TypeAdapter(_MusiqueRow), _musique),
    "popqa": _Format(TypeAdapter(_PopqaRow), _popqa),
    "popqa_as_published": _Format(TypeAdapter(_PopqaRow), _popqa_as_published),
    "nq": _Format(TypeAdapter(_NqRow), _nq),
    "nq_oracle": _Format(TypeAdapter(_NqOracleRow), _nq_oracle),
}


def _read_passages(source: sources.Source, counts: Counter[str]) -> list[Passage]:
    rows = sources.json_list(source)
    width = max(5, len(str(len(rows) - 1)))
    adapter = TypeAdapter(_PassageRow)
    passages = []
    for position, raw in enumerate(rows):
        row = _validated(adapter, raw, counts, source, position)
        passages.append(Passage(f"{position:0{width}}", row["title"], row["text"]))
    return passages


def _read_records(source: sources.Source, form: _Format, counts: Counter[str]) -> list[_Record]:
    records = []
    for position, raw in enumerate(sources.json_list(source)):
        # white space at the ends goes after sentences are joined: HotpotQA's begin with a space
        row = _validated(form.row, raw, counts, source, position, strip=False)
        try:
            record = _stripped(form.parse(row, position), counts)
        except ValueError as error:
            raise InputError(f"{source.path}, row {position}: {error}. Correct that record.") from None
        if not record.question:
            raise InputError(f"{source.path}, row {position}: the question is blank. Correct or remove it.")
        records.append(record)
    return records


def _validated(
    adapter: TypeAdapter[Any],
    row: Any,
    counts: Counter[str],
    source: sources.Source,
    position: int,
    *,
    strip: bool = True,
) -> Any:
    where = f"{source.path}, row {position}"
    try:
        return adapter.validate_python(clean_json(row, counts, strip=strip))
    except ValidationError as error:
        raise InputError(
            f"{where}: {sources.invalid(error)}. Check that it is the right file and that `records` names its format."
        ) from None
    except RecursionError:
        raise InputError(f"{where}: {sources.TOO_DEEP}.") from None


def _stripped(record: _Record, counts: Counter[str]) -> _Record:
    return record._replace(
        question=clean(record.question, counts),
        answers=[clean(answer, counts) for answer in record.answers],
        steps=[clean(step) for step in record.steps],
        gold=[Reference(clean(title), text and clean(text)) for title, text in record.gold],
    )


def _question(record: _Record, find: Callable[[Reference], str | None]) -> Question:
    gold = [find(reference) or unmapped(reference.label) for reference in record.gold]
    return Question(
        id=record.id,
        text=record.question,
        answers=tuple(dict.fromkeys(answer for answer in record.answers if answer)),
        gold=tuple(dict.fromkeys(gold)),
        hops=record.hops,
        kind=record.kind,
        answerable=record.answerable,
        steps=tuple(step for step in record.steps if step),
    )
