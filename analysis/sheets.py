"""Case sheets: a sample of wrong answers to be labelled by hand, and what the labels say."""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from analysis.failures import RULES, Bucket, Case
from psi.component import did_you_mean
from psi.corpus.records import Passages
from psi.errors import InputError

# what people may find beside the buckets
EXTRA = ("hallucination", "reasoning", "gold_wrong", "other")
ALLOWED: tuple[str, ...] = (*RULES, *EXTRA)
COLUMNS = (
    "question", "label", "note", "bucket", "evidence", "text", "gold_answers", "answer", "status", "hops", "kind",
    "gold_rank", "gold_passages", "retrieved", "tree_path", "trace",
)  # fmt: skip


class Share(NamedTuple):
    """How many of the labelled cases have a label: their share with its 95 % Wilson interval."""

    label: str
    n: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two labellings of the same cases agree.

    `kappa` is Cohen's (1960): (observed - expected) / (1 - expected), None where only one label is used. `pairs` counts
    pairs of labels.
    """

    n: int
    observed: float
    kappa: float | None
    pairs: Mapping[tuple[str, str], int]


def sample(cases: Sequence[Case], n: int, seed: int) -> list[Case]:
    """At most n wrong cases, each bucket with its share (by largest remainders), drawn at random within it.

    The draw depends on seed and questions alone, not on the order of the cases.
    """
    strata: defaultdict[Bucket, list[Case]] = defaultdict(list)
    for case in sorted((case for case in cases if case.wrong), key=lambda case: case.question.id):
        strata[case.bucket].append(case)
    sizes = _allotted({bucket: len(strata[bucket]) for bucket in RULES if bucket in strata}, n)
    draw = random.Random(seed)
    return [case for bucket, size in sizes.items() for case in draw.sample(strata[bucket], size)]


def _allotted(sizes: Mapping[Bucket, int], n: int) -> dict[Bucket, int]:
    total = sum(sizes.values())
    if n >= total:
        return dict(sizes)
    exact = {bucket: n * size / total for bucket, size in sizes.items()}
    given = {bucket: int(share) for bucket, share in exact.items()}
    by_remainder = sorted(exact, key=lambda bucket: (given[bucket] - exact[bucket], list(RULES).index(bucket)))
    for bucket in by_remainder[: n - sum(given.values())]:
        given[bucket] += 1
    return given


def write_sheet(
    path: Path, cases: Sequence[Case], passages: Passages, traces: Mapping[str, str], tree_paths: Mapping[str, str]
) -> None:
    """A CSV row a case; the columns `label` and `note` are empty, to be filled in.

    Args:
        path: of the CSV.
        cases: to be labelled.
        passages: of the dataset.
        traces: an agent's steps as text, by question id.
        tree_paths: where a passage hangs in the tree, by passage id.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(_row(case, passages, traces, tree_paths) for case in cases)


def _row(
    case: Case, passages: Passages, traces: Mapping[str, str], tree_paths: Mapping[str, str]
) -> dict[str, str | int | None]:
    question, gold = case.question, set(case.question.gold)
    shown = [passage for passage in dict.fromkeys((*question.gold, *case.ranked)) if passage in tree_paths]
    return {
        "question": question.id, "label": "", "note": "", "bucket": case.bucket, "evidence": case.evidence,
        "text": question.text, "gold_answers": " | ".join(question.answers), "answer": case.text, "status": case.status,
        "hops": question.hops, "kind": question.kind, "gold_rank": case.gold_rank,
        "gold_passages": "\n\n".join(_passage(id_, passages) for id_ in question.gold),
        "retrieved": "\n\n".join(
            f"{place}{' GOLD' if id_ in gold else ''}: {_passage(id_, passages)}" for place, id_ in enumerate(case.ranked, 1)
        ),
        "tree_path": "\n".join(f"{id_}: {tree_paths[id_]}" for id_ in shown), "trace": traces.get(question.id, ""),
    }  # fmt: skip


def _passage(id_: str, passages: Passages) -> str:
    if id_ not in passages.position:  # what others retrieved and the corpus at hand lacks
        return f"[{id_}]"
    return f"[{id_}] {passages.by_id(id_).content}"


def read_labels(path: Path, column: str = "label") -> dict[str, str]:
    """Labels by question id, of the rows that have one.

    Raises:
        InputError: the file can't be read, lacks a column, names a question twice or holds an unknown label.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets begin files with a mark
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"cannot read the labels {path}: {error}. Give the CSV of a case sheet.") from error
    labels: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        if not {"question", column} <= set(row):
            raise InputError(f"{path} has no columns 'question' and {column!r}. Give the CSV of a case sheet.")
        label = (row[column] or "").strip().lower().replace(" ", "_")
        if label and label not in ALLOWED:
            raise InputError(f"{path}, row {number}: unknown label {label!r}.{did_you_mean(label, ALLOWED)}")
        if row["question"] in labels:
            raise InputError(
                f"{path}, row {number}: question {row['question']!r} stands there twice. Keep one row of it."
            )
        labels[row["question"]] = label
    return {question: label for question, label in labels.items() if label}


def agreement(first: Mapping[str, str], second: Mapping[str, str]) -> Agreement:
    """Agreement on the questions that both have labelled.

    Raises:
        InputError: there is none.
    """
    both = sorted(first.keys() & second.keys())
    if not both:
        raise InputError("the two labellings share no question. Give two of the same sheet.")
    pairs = Counter((first[question], second[question]) for question in both)
    observed = sum(count for (left, right), count in pairs.items() if left == right) / len(both)
    of_first, of_second = (Counter(labels[question] for question in both) for labels in (first, second))
    expected = sum(of_first[label] * of_second[label] for label in of_first) / len(both) ** 2
    kappa = None if expected == 1 else (observed - expected) / (1 - expected)
    return Agreement(len(both), observed, kappa, dict(sorted(pairs.items())))


def shares(labels: Mapping[str, str]) -> list[Share]:
    """Shares of the labels, the most frequent first.

    Reference: Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """
    from scipy.stats import binomtest  # takes a second to import

    found = Counter(labels.values())
    rows = []
    for label, count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        interval = binomtest(count, len(labels)).proportion_ci(method="wilson")
        rows.append(Share(label, count, count / len(labels), float(interval.low), float(interval.high)))
    return rows
