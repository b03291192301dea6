"""Metrics by name (`recall@5`, `mrr`, `em`, ...). A new metric is one file and one line in a table below."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from psi.component import did_you_mean
from psi.corpus.records import Span
from psi.errors import ConfigError
from psi.metrics.efficiency import ie_at_k, mean_ie
from psi.metrics.exact_match import exact_match
from psi.metrics.f1 import f1, f1_chars, f1_squad
from psi.metrics.hit import hit_at_k
from psi.metrics.meteor import meteor
from psi.metrics.ndcg import ndcg_at_k
from psi.metrics.precision import precision_at_k
from psi.metrics.recall import all_recall_at_k, recall_at_k
from psi.metrics.reciprocal_rank import reciprocal_rank
from psi.metrics.refusal import false_answer, not_mentioned
from psi.metrics.rouge import rouge
from psi.metrics.spans import char_hit_at_k, char_ie_at_k, char_precision_at_k, char_recall_at_k
from psi.metrics.tolerant import em_tolerant, f1_tolerant

CutScore = Callable[[Sequence[str], Collection[str], int], float | None]
RankingScore = Callable[[Sequence[str], Collection[str]], float | None]
AnswerScore = Callable[[str, Sequence[str]], float | None]
CutSpanScore = Callable[[Sequence[Span], Collection[Span], int], float | None]


@dataclass(frozen=True, slots=True)
class Metric:
    """Scores one question: `score(ranked ids, gold ids)`, `score(ranked spans, gold spans)` or
    `score(prediction, gold answers)`, as `of` says.

    `score` returns None where there is nothing to score against, whatever the run gave. `label` is its
    heading in tables.
    """

    name: str
    label: str
    of: Literal["ranking", "spans", "answer"]
    score: Callable[[Any, Any], float | None]


# name -> label in tables, function(ranked, gold, k)
_CUT: Mapping[str, tuple[str, CutScore]] = MappingProxyType({
    "recall": ("Recall", recall_at_k),
    "all_recall": ("All-recall", all_recall_at_k),
    "precision": ("Precision", precision_at_k),
    "hit": ("Hit", hit_at_k),
    "mrr": ("MRR", reciprocal_rank),
    "ndcg": ("nDCG", ndcg_at_k),
    "ie": ("IE", ie_at_k),
})  # fmt: skip
_CUT_SPANS: Mapping[str, tuple[str, CutSpanScore]] = MappingProxyType({
    "char_recall": ("Char. recall", char_recall_at_k),
    "char_precision": ("Char. precision", char_precision_at_k),
    "char_hit": ("Char. hit", char_hit_at_k),
    "char_ie": ("Char. IE", char_ie_at_k),
})  # fmt: skip
_WHOLE: Mapping[str, tuple[str, RankingScore]] = MappingProxyType({
    "mrr": ("MRR", reciprocal_rank), "ie": ("IE, mean of 1, 3, 5", mean_ie),
})  # fmt: skip
_ANSWER: Mapping[str, tuple[str, AnswerScore]] = MappingProxyType({
    "em": ("EM", exact_match),
    "f1": ("F1", f1),
    "f1_squad": ("F1 (SQuAD)", f1_squad),
    "f1_chars": ("F1 (characters)", f1_chars),
    "em_tolerant": ("EM (tolerant)", em_tolerant),
    "f1_tolerant": ("F1 (tolerant)", f1_tolerant),
    "meteor": ("METEOR (no synonyms)", meteor),
    "false_rate": ("False rate", false_answer),
    "not_mentioned_rate": ("Not Mentioned rate", not_mentioned),
    **{
        f"rouge{kind.lower()}_{part[0]}": (f"ROUGE-{kind} {part[0].upper()}", rouge(f"rouge{kind}", part))
        for kind in ("1", "2", "L") for part in ("precision", "recall", "fmeasure")
    },
    "rougel_chars_f": ("ROUGE-L F (characters)", rouge("rougeL", "fmeasure", characters=True)),
})  # fmt: skip
_NAME = re.compile(r"(?P<family>\w+)(?:@(?P<k>\d+))?")

METRIC_NAMES: tuple[str, ...] = (*_WHOLE, *_ANSWER, *(f"{family}@k" for family in (*_CUT, *_CUT_SPANS)))


def metric(name: str) -> Metric:
    """The metric with this name; `@k` is a cutoff of at least 1; `package.module:NAME` is a `Metric` defined elsewhere.

    >>> metric("recall@5").label
    'Recall@5'

    Raises:
        ConfigError: unknown name, a cutoff missing, below 1, or given to a metric that has none.
    """
    if ":" in name:
        return _elsewhere(name)
    match = _NAME.fullmatch(name)
    family, cutoff = (match["family"], match["k"]) if match else (name, None)
    if cutoff is not None and family in (*_CUT, *_CUT_SPANS):
        return _cut_metric(family, int(cutoff))
    if cutoff is None and family in _WHOLE:
        label, whole = _WHOLE[family]
        return Metric(name, label, "ranking", whole)
    if cutoff is None and family in _ANSWER:
        label, answer = _ANSWER[family]
        return Metric(name, label, "answer", answer)
    raise ConfigError(f"unknown metric {name!r}{_why(family, cutoff)}.{did_you_mean(name, METRIC_NAMES)}")


def _elsewhere(name: str) -> Metric:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:  # ValueError: no module is named
        raise ConfigError(f"metric {name!r} can't be imported: {error}. Give it as package.module:NAME.") from error
    if not isinstance(found, Metric):
        raise ConfigError(f"metric {name!r} is of type {type(found).__name__}, not a psi.metrics.Metric.")
    return replace(found, name=name)


def _cut_metric(family: str, k: int) -> Metric:
    if k < 1:
        raise ConfigError(f"metric {family}@{k}: the cutoff k must be at least 1, such as {family}@5.")
    if family in _CUT:
        label, of_ids = _CUT[family]
        return Metric(f"{family}@{k}", f"{label}@{k}", "ranking", lambda ranked, gold: of_ids(ranked, gold, k))
    label, of_spans = _CUT_SPANS[family]
    return Metric(f"{family}@{k}", f"{label}@{k}", "spans", lambda ranked, gold: of_spans(ranked, gold, k))


def _why(family: str, cutoff: str | None) -> str:
    if family in (*_CUT, *_CUT_SPANS) and cutoff is None:
        return f": it needs a cutoff, such as {family}@5"
    if family in _ANSWER and cutoff is not None:
        return f": {family} scores answers and takes no cutoff"
    return ""
