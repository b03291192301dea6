"""QMSum (Zhong et al. 2021, arXiv 2104.05938): summaries of meetings for a query, each within its own meeting."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NotRequired

from pydantic import PositiveInt
from typing_extensions import TypedDict

from psi.corpus.published import PublishedFiles, chunked, offsets, overlapping, rows
from psi.corpus.records import Benchmark, Passage, Question, Span
from psi.errors import InputError

Queries = Literal["first_general", "general", "specific", "all"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class QmSum(PublishedFiles):
    """Meetings as documents: a line for every turn, `speaker: words`. A question searches its own meeting alone.

    Specific queries name the turns that support them: gold are the chunks that hold some of these. General ones ("summarize the
    whole meeting") have no gold.

    Attributes:
        queries: the first general query of each meeting (as Ψ-RAG's release answers), all general, all specific, or all.
        chunk_tokens: most tokens of a chunk.
    """

    file: str = "qmsum.jsonl"
    queries: Queries = "first_general"
    chunk_tokens: PositiveInt = 100

    def files(self) -> Sequence[str]:
        """The one file of meetings."""
        return [self.file]

    def load(self) -> Benchmark:
        """Read and cut the meetings.

        Raises:
            InputError: a file that is missing, altered, malformed or empty.
        """
        found, counts = self.read_files(), Counter[str]()
        passages, questions, queries = list[Passage](), list[Question](), 0
        for number, (where, row) in enumerate(rows(found[0], _Meeting, counts, lines=True)):
            id_ = f"meeting-{number:03d}"
            turns = [f"{turn['speaker']}: {turn['content']}" for turn in row["meeting_transcripts"]]
            chunks = chunked(id_, "", "\n".join(turns), self.chunk_tokens)
            passages += chunks
            questions += self._questions(id_, row, turns, chunks, where)
            queries += len(row["general_query_list"]) + len(row["specific_query_list"])
        left_out = queries - len(questions)
        notes = [f"queries left out by queries={self.queries}: {left_out}."] if left_out else []
        return self.benchmark(passages, questions, found, counts, notes)

    def _questions(
        self, meeting: str, row: _Meeting, turns: Sequence[str], chunks: Sequence[Passage], where: str
    ) -> Iterator[Question]:
        for number, query in enumerate(row["general_query_list"]):
            if self.queries in ("general", "all") or (self.queries == "first_general" and number == 0):
                yield Question(
                    f"{meeting}-general-{number:02d}", query["query"].strip(), (query["answer"].strip(),),
                    kind="general", document=meeting,
                )  # fmt: skip
        for number, query in enumerate(row["specific_query_list"] if self.queries in ("specific", "all") else ()):
            spans = _turns(meeting, turns, query.get("relevant_text_span", []), where)
            yield Question(
                f"{meeting}-specific-{number:02d}", query["query"].strip(), (query["answer"].strip(),),
                overlapping(chunks, spans), kind="specific", document=meeting, spans=spans,
            )  # fmt: skip


class _Turn(TypedDict):
    speaker: str
    content: str


class _Query(TypedDict):
    query: str
    answer: str
    relevant_text_span: NotRequired[
        list[tuple[int, int]]
    ]  # numbers of turns, the last included; JSON has them as texts


class _Meeting(TypedDict):
    meeting_transcripts: list[_Turn]
    general_query_list: list[_Query]
    specific_query_list: list[_Query]


def _turns(meeting: str, turns: Sequence[str], ranges: Sequence[tuple[int, int]], where: str) -> tuple[Span, ...]:
    starts = offsets(turns, joiner="\n")
    spans = []
    for first, last in ranges:
        if not 0 <= first <= last < len(turns):
            raise InputError(f"{where}: relevant_text_span {first} to {last} in a meeting of {len(turns)} turns.")
        spans.append(Span(meeting, starts[first], starts[last] + len(turns[last])))
    return tuple(spans)
