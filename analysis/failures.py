"""Why answers are wrong: every wrong answer in one bucket, by rules that are gone through in the order of `RULES`.

The rules see what a run leaves behind: the answer, its status, the ranking and the gold. Evidence is looked for among the
first `depth` passages of the ranking; of an agent that is the list merged over its steps. A question of so many hops needs so
many gold passages: where it has more, as in PopQA and NQ, they are alternatives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from psi.corpus.records import Question
from psi.errors import InputError
from psi.metrics import metric
from psi.metrics.normalise import normalise
from psi.metrics.refusal import is_refusal

Bucket = Literal[
    "failed", "correct", "parse_failure", "refused_null", "answered_null", "not_mentioned", "wrong_granularity",
    "no_evidence", "part_evidence", "reader_miss", "unknown_evidence",
]  # fmt: skip
Evidence = Literal["all", "part", "none", "unknown"]

RULES: Mapping[Bucket, str] = MappingProxyType({
    "failed": "the model call failed: there is nothing to judge",
    "correct": "the answer is right by the metric",
    "parse_failure": "the reply was empty, cut or not of the form asked for",
    "refused_null": "the corpus does not tell, and the answer says so, in other words than the gold",
    "answered_null": "the corpus does not tell, and an answer was given",
    "not_mentioned": "the answer says that the passages do not tell, though the corpus does",
    "wrong_granularity": "the words of a gold answer stand within the answer, or the other way round",
    "no_evidence": "retrieval miss: none of the gold passages was found",
    "part_evidence": "retrieval miss: fewer gold passages were found than the question needs",
    "reader_miss": "the gold passages that it needs were found, and the answer is wrong",
    "unknown_evidence": "no gold passage is known, and the answer is wrong",
})  # fmt: skip
LABELS: Mapping[Bucket, str] = MappingProxyType({
    "failed": "Failed call", "correct": "Correct", "parse_failure": "Parse failure", "refused_null": "Refused null",
    "answered_null": "Answered null", "not_mentioned": "Not mentioned", "wrong_granularity": "Wrong granularity",
    "no_evidence": "Retrieval miss (none)", "part_evidence": "Retrieval miss (part)", "reader_miss": "Reader miss",
    "unknown_evidence": "Wrong, no gold passage known",
})  # fmt: skip
WRONG: tuple[Bucket, ...] = tuple(bucket for bucket in RULES if bucket not in ("failed", "correct"))
_UNREADABLE = ("parse_failed", "truncated", "empty")
_GAVE_UP = ("max_steps", "no_progress")
_NO_PHRASES = ("yes", "no")  # a longer text that holds one of them says something else


@dataclass(frozen=True, slots=True)
class Case:
    """A question, what became of it, and why.

    `found` are the gold passages among the first `depth` of the ranking; `gold_rank` is the place (from 1) in the whole
    ranking at which there are enough of them, None where there never are or none is known. `index_size` is the number of
    passages that were searched.
    """

    question: Question
    text: str | None
    status: str
    ranked: tuple[str, ...]
    bucket: Bucket
    evidence: Evidence
    found: tuple[str, ...]
    gold_rank: int | None
    index_size: int

    @property
    def wrong(self) -> bool:
        """Whether the answer was judged, and wrong."""
        return self.bucket in WRONG


@dataclass(frozen=True, slots=True)
class Rule:
    """When an answer counts as right, and how far down the ranking evidence is looked for."""

    metric: str = "em"
    threshold: float = 1.0
    depth: int = 5


def classify(
    questions: Sequence[Question],
    answers: Mapping[str, Mapping[str, Any]],
    rankings: Mapping[str, Sequence[str]],
    sizes: Mapping[str | None, int],
    rule: Rule,
) -> list[Case]:
    """A case for each question that has gold answers and was answered.

    Args:
        questions: in any order.
        answers: rows of answers by question id, with `status` and `text`; questions without one are left out.
        rankings: passage ids by question id, best first.
        sizes: number of passages by document, of the whole corpus under None.
        rule: what counts as right.

    Raises:
        InputError: the metric scores rankings, or no question is left.
    """
    scorer = metric(rule.metric)
    if scorer.of != "answer":
        raise InputError(f"{rule.metric} scores rankings: answers are judged by a metric of answers, such as em or f1.")
    cases = [
        _case(question, answers[question.id], tuple(rankings.get(question.id, ())), sizes[question.document], rule)
        for question in questions
        if question.id in answers and scorer.score("", question.answers) is not None
    ]
    if not cases:
        raise InputError("no question has both an answer and a gold answer, so there is nothing to look into.")
    return cases


def _case(question: Question, row: Mapping[str, Any], ranked: tuple[str, ...], size: int, rule: Rule) -> Case:
    head = ranked[: rule.depth]
    found = tuple(gold for gold in question.gold if gold in head)
    evidence = _evidence(question, found)
    return Case(
        question=question, text=row["text"], status=row["status"], ranked=ranked,
        bucket=_bucket(question, row["status"], row["text"], evidence, rule), evidence=evidence, found=found,
        gold_rank=_gold_rank(question, ranked), index_size=size,
    )  # fmt: skip


def _evidence(question: Question, found: Sequence[str]) -> Evidence:
    if not question.gold:
        return "unknown"
    return "all" if len(found) >= _needed(question) else "part" if found else "none"


def _gold_rank(question: Question, ranked: Sequence[str]) -> int | None:
    places = [place for place, id_ in enumerate(ranked, start=1) if id_ in question.gold]
    return places[_needed(question) - 1] if question.gold and len(places) >= _needed(question) else None


def _needed(question: Question) -> int:
    return min(len(question.gold), question.hops or len(question.gold))


def _bucket(question: Question, status: str, text: str | None, evidence: Evidence, rule: Rule) -> Bucket:
    if status == "failed":
        return "failed"
    score = metric(rule.metric).score(text or "", question.answers)
    if score is not None and score >= rule.threshold:
        return "correct"
    if status in _UNREADABLE:
        return "parse_failure"
    refused = status in _GAVE_UP or is_refusal(text or "")
    if not question.answerable:
        return "refused_null" if refused else "answered_null"
    if refused:
        return "not_mentioned"
    if any(is_other_granularity(text or "", gold) for gold in question.answers):
        return "wrong_granularity"
    by_evidence: Mapping[Evidence, Bucket] = {
        "none": "no_evidence", "part": "part_evidence", "all": "reader_miss", "unknown": "unknown_evidence",
    }  # fmt: skip
    return by_evidence[evidence]


def is_other_granularity(answer: str, gold: str) -> bool:
    """Whether the words of one stand together within the other: a year for a date, a city with its country.

    >>> is_other_granularity("1990", "5 June 1990"), is_other_granularity("Paris, France", "Paris")
    (True, True)
    >>> is_other_granularity("no idea", "no")
    False
    """
    left, right = normalise(answer).split(), normalise(gold).split()
    short, long = sorted((left, right), key=len)
    if not short or left == right or " ".join(short) in _NO_PHRASES:
        return False
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def counts(cases: Sequence[Case]) -> dict[Bucket, int]:
    """Cases a bucket, in the order of the rules."""
    found = Counter(case.bucket for case in cases)
    return {bucket: found[bucket] for bucket in RULES}
