"""Metrics, one a file, and how their values become means with intervals and counts."""

from psi.metrics.ranked import check_ranking
from psi.metrics.registry import METRIC_NAMES, Metric, metric
from psi.metrics.scoring import FAILED, STATUSES, AnswerLike, QuestionLike, QuestionScores, score_questions
from psi.metrics.summary import Bootstrap, Summary, summarise

__all__ = [
    "FAILED", "METRIC_NAMES", "STATUSES", "AnswerLike", "Bootstrap", "Metric", "QuestionLike",
    "QuestionScores", "Summary", "check_ranking", "metric", "score_questions", "summarise",
]  # fmt: skip
