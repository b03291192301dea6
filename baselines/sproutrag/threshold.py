"""The threshold δ, chosen on validation questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.sproutrag.aggregation import Aggregation, Kind
from baselines.sproutrag.encoder import Encoder
from psi.corpus.records import Benchmark
from psi.metrics import metric
from psi.retrieval.ranking import Ranking
from psi.store import Store

GRID = tuple(round(0.05 * step, 2) for step in range(-4, 19))  # -0.2 to 0.9
CUTS = (1, 3, 5)  # the paper's
"""Information efficiency is averaged over these numbers of passages."""


def chosen_threshold(
    held: Sequence[Benchmark], encoder: Encoder, scalars: NDArray[np.float64], kind: Kind
) -> dict[str, Any]:
    """The largest threshold with the best mean information efficiency (recall × precision) over validation questions.

    Returns:
        `threshold`, and `curve`: the information efficiency of each one tried.
    """
    from baselines.sproutrag.index import build_index
    from baselines.sproutrag.retriever import BeamSearch, Sprout, SproutSearch

    aggregation = Aggregation(kind=kind)
    scores = np.zeros((len(GRID), len(held)))
    with Store.temporary() as scratch:  # the weights have no digest yet, so nothing may be kept of them
        for column, benchmark in enumerate(held):
            index = build_index(benchmark.passages, encoder, aggregation, scalars, scratch)
            for row, threshold in enumerate(GRID):
                method = Sprout(encoder=encoder, aggregation=aggregation, search=BeamSearch(threshold=threshold))
                searcher = SproutSearch(method, index, encoder, threshold, scratch)
                found = searcher.search([question.text for question in benchmark.questions], max(CUTS))
                scores[row, column] = information_efficiency(benchmark, found)
    means = scores.mean(axis=1)
    best = max(row for row in range(len(GRID)) if means[row] == means.max())
    return {"threshold": GRID[best], "curve": [[t, round(float(m), 6)] for t, m in zip(GRID, means, strict=True)]}


def information_efficiency(benchmark: Benchmark, rankings: Sequence[Ranking]) -> float:
    """Mean recall@k times mean precision@k, the mean over k = 1, 3, 5 (paper)."""
    asked = [(q, r) for q, r in zip(benchmark.questions, rankings, strict=True) if q.gold]
    if not asked:
        return 0.0
    return float(np.mean([_mean("recall", k, asked) * _mean("precision", k, asked) for k in CUTS]))


def _mean(family: str, k: int, asked: Sequence[tuple[Any, Ranking]]) -> float:
    score: Any = metric(f"{family}@{k}").score
    return float(np.mean([score(ranking.ids, question.gold) for question, ranking in asked]))
