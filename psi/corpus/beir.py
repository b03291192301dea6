"""Benchmarks in the layout of BEIR (Thakur et al. 2021, arXiv 2104.08663): SciDocs, MS MARCO and many others."""

from __future__ import annotations

import csv
import dataclasses
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from psi.corpus import sources
from psi.corpus.clean import OnEmpty, without_empty
from psi.corpus.gold import unmapped
from psi.corpus.published import PublishedFiles, rows
from psi.corpus.records import Benchmark, Passage, Question
from psi.errors import InputError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Beir(PublishedFiles):
    """`corpus.jsonl` and `queries.jsonl` of `{_id, title, text}`, and `qrels/SPLIT.tsv`. Gold: every passage judged above 0.

    Queries for which the split judges nothing above 0 are left out and counted. There are no answers.

    Attributes:
        split: which judgements: test, dev or train.
        on_empty: leave passages without a text out and report them (`skip`), or refuse the corpus (`refuse`).
    """

    split: str = "test"
    on_empty: OnEmpty = "skip"

    def files(self) -> Sequence[str]:
        """Corpus, queries, judgements."""
        return ["corpus.jsonl", "queries.jsonl", f"qrels/{self.split}.tsv"]

    def load(self) -> Benchmark:
        """Read and connect the three files.

        Raises:
            InputError: files that are missing, altered, malformed or empty, or judgements of no query that is there.
        """
        found, counts = self.read_files(), Counter[str]()
        passages = [
            Passage(row["_id"], row.get("title", "").strip(), row["text"].strip())
            for _, row in rows(found[0], _Row, counts, lines=True)
        ]
        kept, skipped = without_empty(passages, self.on_empty, str(found[0].path))
        judged, known = _judgements(found[2]), {passage.id for passage in kept}
        asked = [row for _, row in rows(found[1], _Row, counts, lines=True)]
        questions = [_question(row, judged[row["_id"]], known) for row in asked if row["_id"] in judged]
        if not questions:
            raise InputError(f"{found[2].path}: judges none of the queries of {found[1].path.name}.")
        left_out = len(asked) - len(questions)
        notes = [f"queries without a passage judged above 0, left out: {left_out}."] if left_out else []
        return self.benchmark(kept, questions, found, counts, notes, skipped)


class _Row(TypedDict):
    _id: str
    text: str
    title: NotRequired[str]


def _judgements(source: sources.Source) -> Mapping[str, list[str]]:
    """Passage ids judged above 0 by query id."""
    judged: defaultdict[str, list[str]] = defaultdict(list)
    lines = sources.text_of(source).splitlines()
    for number, line in enumerate(csv.reader(lines, delimiter="\t"), start=1):
        if number == 1 and line[:1] == ["query-id"]:
            continue
        try:
            query, passage, score = line
            if int(score) > 0:
                judged[query].append(passage)
        except ValueError:
            raise InputError(
                f"{source.path}, line {number}: expected query-id, corpus-id and a whole number."
            ) from None
    return judged


def _question(row: _Row, gold: Sequence[str], known: set[str]) -> Question:
    ids = (passage if passage in known else unmapped(passage) for passage in gold)
    return Question(row["_id"], row["text"].strip(), gold=tuple(dict.fromkeys(ids)))
