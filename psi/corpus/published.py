"""What loaders of published benchmarks share: where their files are, validated rows, chunks of documents, gold by characters."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from pydantic import TypeAdapter, ValidationError

from psi.component import Component, runtime
from psi.corpus import sources
from psi.corpus.clean import clean_json, repeated_texts
from psi.corpus.gold import unmapped_gold, warn_unmapped
from psi.corpus.records import Benchmark, LoadReport, Passage, Passages, Question, Span
from psi.corpus.splitter import sentence_starts, split
from psi.errors import ConfigError, InputError

_LETTER = re.compile(r"\w")


@dataclasses.dataclass(frozen=True, kw_only=True)
class PublishedFiles(Component):
    """Files of a benchmark, from a local folder or else from a dataset repository on the hub.

    Attributes:
        name: what tables call the benchmark.
        folder: local folder to look in first (None: the hub alone).
        repository: dataset repository on the Hugging Face hub (None: local only).
        revision: commit of the repository.
        sha256: digests by file name; a file with another digest is refused, files not named are not checked.
    """

    name: str
    folder: str | None = runtime(None)
    repository: str | None = None
    revision: str | None = None
    sha256: dict[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.repository is None) != (self.revision is None):
            raise ConfigError(
                f"{type(self).__name__}: repository={self.repository!r} and revision={self.revision!r}: set "
                "both (the revision is a commit, so that runs can be repeated) or neither (local files only)."
            )

    def files(self) -> Sequence[str]:
        """Names of the files, below the folder or in the repository."""
        raise NotImplementedError

    def fingerprint(self) -> Mapping[str, str]:
        """sha256 of every file by name.

        Raises:
            InputError: they are found neither in the folder nor on the hub, or are not the pinned ones.
        """
        return {source.path.name: source.sha256 for source in self.read_files()}

    def read_files(self) -> list[sources.Source]:
        """The files, in the order of `files()`.

        Raises:
            InputError: as `fingerprint`.
        """
        hub = sources.Hub(self.repository, self.revision) if self.repository and self.revision else None
        found = [sources.read(path) for path in sources.find_files(self.files(), self.folder, hub)]
        for source in found:
            sources.check_digest(source, self.sha256)
        return found

    def benchmark(
        self,
        passages: Sequence[Passage],
        questions: Sequence[Question],
        found: Sequence[sources.Source],
        cleaned: Counter[str],
        notes: Sequence[str] = (),
        skipped: Sequence[str] = (),
    ) -> Benchmark:
        """The benchmark, with a report of what was found, cleaned and missed.

        Raises:
            InputError: a question is blank.
        """
        blank = next((question.id for question in questions if not question.text.strip()), None)
        if blank is not None:
            raise InputError(f"{self.name}: the question {blank!r} is blank. Correct or remove it.")
        missed = unmapped_gold(questions)
        warn_unmapped(self.name, missed)
        report = LoadReport(
            cleaned=dict(sorted(cleaned.items())),
            skipped_empty=tuple(skipped),
            unmapped_gold=missed,
            notes=repeated_texts(passages) + tuple(notes),
            sources={source.path.name: source.sha256 for source in found},
        )
        return Benchmark(self.name, Passages(passages), tuple(questions), report)


def rows(source: sources.Source, layout: Any, counts: Counter[str], *, lines: bool) -> Iterator[tuple[str, Any]]:
    """Where each record stands and the record itself, cleaned and of the given layout.

    lines: the file is JSON Lines, otherwise one JSON list. White space at the ends of texts stays: offsets count from there.

    Raises:
        InputError: a record has another layout; the message names file and row.
    """
    adapter = TypeAdapter(layout)
    numbered = sources.json_lines(source) if lines else enumerate(sources.json_list(source))
    for number, raw in numbered:
        where = f"{source.path}, {'line' if lines else 'row'} {number}"
        try:
            yield where, adapter.validate_python(clean_json(raw, counts, strip=False))
        except ValidationError as error:
            raise InputError(f"{where}: {sources.invalid(error)}. Check that it is the right file.") from None
        except RecursionError:
            raise InputError(f"{where}: {sources.TOO_DEEP}.") from None


def chunked(
    document: str,
    title: str,
    text: str,
    max_tokens: int,
    *,
    sentences: int | None = None,
    scope: str | None = None,
    category: str | None = None,
) -> list[Passage]:
    """A document as passages `document#00000`, ... of at most `max_tokens` tokens, cut between sentences where possible.

    Their spans hold every character of the text once; chunks without a visible character are left out. sentences: so many in
    every chunk instead, however long they are. scope: what the passages' `document` is, where several documents are searched
    together (None: the document itself).
    """
    cuts = _sentences(text, sentences) if sentences else [(chunk.start, chunk.end) for chunk in split(text, max_tokens)]
    return [
        Passage(
            f"{document}#{number:05d}", title, text[start:end], scope or document, category, Span(document, start, end)
        )
        for number, (start, end) in enumerate(cuts)
        if text[start:end].strip()
    ]


def _sentences(text: str, count: int) -> list[tuple[int, int]]:
    return list(pairwise([*sentence_starts(text)[::count], len(text)]))


def overlapping(passages: Iterable[Passage], spans: Iterable[Span]) -> tuple[str, ...]:
    """Ids of the passages that share a character with one of the spans, in the order of spans."""
    own = list(passages)
    found = (
        passage.id
        for span in spans
        for passage in own
        if passage.span is not None
        and passage.span.document == span.document
        and max(passage.span.start, span.start) < min(passage.span.end, span.end)
    )
    return tuple(dict.fromkeys(found))


class Quotes:
    """Finds quotations in texts by their letters and digits, whatever became of marks, spaces and case."""

    def __init__(self, texts: Sequence[str]):
        squeezed = [_squeezed(text) for text in texts]
        self._places = [places for _, places in squeezed]
        self._starts = offsets([letters for letters, _ in squeezed], joiner=" ")
        self._joined = " ".join(letters for letters, _ in squeezed)

    def find(self, quote: str) -> Iterator[tuple[int, int, int]]:
        """Number of the text, start and end (exclusive) of every occurrence."""
        wanted, _ = _squeezed(quote)
        at = self._joined.find(wanted) if wanted else -1
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            places, first = self._places[number], at - self._starts[number]
            yield number, places[first], places[first + len(wanted) - 1] + 1
            at = self._joined.find(wanted, at + 1)


def _squeezed(text: str) -> tuple[str, list[int]]:
    """Letters and digits in lower case, and where each stood."""
    letters = [(letter, match.start()) for match in _LETTER.finditer(text) for letter in match[0].lower()]
    return "".join(letter for letter, _ in letters), [place for _, place in letters]


def offsets(parts: Sequence[str], joiner: str = "") -> list[int]:
    """Where each part begins in the joined text."""
    return [0, *accumulate(len(part) + len(joiner) for part in parts)][: len(parts)]
