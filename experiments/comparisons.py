"""Paired comparisons of runs, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from analysis.cells import CellScores, over_seeds
from analysis.tables import LEVEL, Comparison
from psi.component import did_you_mean
from psi.errors import ConfigError
from psi.metrics.significance import compare, holm

BEST = "best"
Group = Sequence[CellScores]


def against(cells: Sequence[CellScores], metrics: Sequence[str], baseline: str) -> Comparison:
    """Every method against the baseline of its dataset, by each metric, with Holm's correction over the methods.

    `baseline` is a method, by its name with or without settings in brackets, or `best`: the best method of each column.
    Scores of several seeds are averaged question by question; questions that only one of the two has are left out.

    Raises:
        ConfigError: no dataset has the baseline.
    """
    groups = [group for group in over_seeds(cells) if all(cell.scored for cell in group)]
    names = {name for group in groups for name in method_names(group)}
    if baseline != BEST and baseline not in names:
        raise ConfigError(f"baseline={baseline}: no run of it.{did_you_mean(baseline, [*names, BEST])}")
    p_values: dict[tuple[str, str], dict[str, float]] = {}
    for dataset in dict.fromkeys(group[0].dataset for group in groups):
        own = [group for group in groups if group[0].dataset == dataset]
        for metric in metrics:
            for group, p in _column(own, metric, baseline):
                p_values.setdefault((dataset, group[0].method), {})[metric] = p
    than = "the best of its column" if baseline == BEST else baseline
    note = (
        f"differs from {than} (paired permutation test over questions, Holm's correction over the methods of a dataset, "
        f"p < {LEVEL})."
    )
    return Comparison(baseline, LEVEL, p_values, note)


def mean_scores(group: Group, metric: str) -> dict[str, float]:
    """Scores of the questions that every seed has, averaged over the seeds."""
    seeds = [cell.questions.get(metric, {}) for cell in group]
    return {
        question: fmean([seed[question] for seed in seeds])
        for question in seeds[0]
        if all(question in s for s in seeds)
    }


def _column(groups: Sequence[Group], metric: str, baseline: str) -> list[tuple[Group, float]]:
    scores = [(group, found) for group in groups if (found := mean_scores(group, metric))]
    base = _base(scores, baseline)
    if base is None:
        return []
    others = [(group, found) for group, found in scores if group is not base[0]]
    p_values = holm([compare(*shared_scores(found, base[1])).p for _, found in others])
    return [(group, p) for (group, _), p in zip(others, p_values, strict=True)]


def _base(
    scores: Sequence[tuple[Group, Mapping[str, float]]], baseline: str
) -> tuple[Group, Mapping[str, float]] | None:
    if baseline == BEST:
        most = max((len(found) for _, found in scores), default=0)
        rivals = [each for each in scores if len(each[1]) == most]
        return max(rivals, key=lambda each: fmean(each[1].values()), default=None)
    return next((each for each in scores if baseline in method_names(each[0])), None)


def method_names(group: Group) -> tuple[str, str]:
    """What a method may be called: with and without the settings in brackets."""
    return group[0].method, group[0].method.partition(" [")[0]


def shared_scores(first: Mapping[str, float], second: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """Scores of the questions that both have, in the same order."""
    both = [question for question in first if question in second]
    return [first[question] for question in both], [second[question] for question in both]
