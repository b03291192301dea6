"""Seeded subsets of a benchmark that answer the same questions about the whole, only less precisely.

Questions and distractors are chosen by the sha256 of seed and id: the choice does not depend on the order of the
source, and a smaller limit chooses a part of what a larger one chooses.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Sequence

from psi.corpus.gold import unmapped_gold
from psi.corpus.records import Benchmark, Passage, Passages, Question
from psi.errors import ConfigError


def subset(benchmark: Benchmark, limit: int | None, corpus_limit: int | None, seed: int) -> Benchmark:
    """At most `limit` questions over at most `corpus_limit` passages (None: all), both in their original order.

    Passages that the chosen questions need (their gold, and the documents they are scoped to) always stay, even where
    they are more than `corpus_limit`; distractors fill the rest. What was chosen stands in the report's notes.

    Raises:
        ConfigError: a limit below 1.
    """
    for name, value in (("limit", limit), ("corpus_limit", corpus_limit)):
        if value is not None and value < 1:
            raise ConfigError(f"{name}={value}: must be at least 1 (or null for everything).")
    notes = list(benchmark.report.notes)
    questions = _questions(benchmark.questions, limit, seed, notes)
    passages = _passages(benchmark.passages, questions, corpus_limit, seed, notes)
    report = dataclasses.replace(benchmark.report, unmapped_gold=unmapped_gold(questions), notes=tuple(notes))
    return dataclasses.replace(benchmark, passages=passages, questions=questions, report=report)


def _questions(questions: Sequence[Question], limit: int | None, seed: int, notes: list[str]) -> tuple[Question, ...]:
    if limit is None:
        return tuple(questions)
    if limit >= len(questions):
        notes.append(f"limit={limit}: the benchmark has {len(questions)} questions; all of them are used.")
        return tuple(questions)
    chosen = _sample([question.id for question in questions], limit, seed)
    notes.append(f"limit={limit}, seed={seed}: {limit} of {len(questions)} questions are used.")
    return tuple(question for question in questions if question.id in chosen)


def _passages(
    passages: Passages, questions: Sequence[Question], limit: int | None, seed: int, notes: list[str]
) -> Passages:
    if limit is None:
        return passages
    if limit >= len(passages):
        notes.append(f"corpus_limit={limit}: the corpus has {len(passages)} passages; all of them are used.")
        return passages
    needed = _needed(passages, questions)
    distractors = [id_ for id_ in passages.ids if id_ not in needed]
    chosen = needed | _sample(distractors, max(0, limit - len(needed)), seed)
    over = " (more than the limit, because all of them are needed)" if len(chosen) > limit else ""
    notes.append(
        f"corpus_limit={limit}, seed={seed}: {len(chosen)} of {len(passages)} passages are used{over}, "
        f"{len(needed)} of them needed by the questions."
    )
    return Passages([passage for passage in passages if passage.id in chosen])


def _needed(passages: Sequence[Passage], questions: Sequence[Question]) -> set[str]:
    gold = {id_ for question in questions for id_ in question.gold}
    documents = {question.document for question in questions} - {None}
    return {passage.id for passage in passages if passage.id in gold or passage.document in documents}


def _sample(ids: Collection[str], size: int, seed: int) -> set[str]:
    return set(sorted(ids, key=lambda id_: (_rank(id_, seed), id_))[:size])


def _rank(id_: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{id_}".encode()).digest()
