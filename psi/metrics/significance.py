"""Is one run better than another? Paired over questions: difference, interval, p-value, and its correction for many tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from psi.errors import InputError
from psi.metrics.summary import Bootstrap

Floats = npt.NDArray[np.float64]
RESAMPLES = 10_000
ENUMERATED = 2**14
"""So many ways to choose signs at most are all tried; beyond, RESAMPLES of them are drawn."""


class Paired(NamedTuple):
    """Two runs over the same questions.

    difference: mean of the first minus mean of the second; low, high: bounds of its 95 % interval (None: n < 2); p: two-sided;
    wins, ties, losses of the first, question by question.
    """

    difference: float
    low: float | None
    high: float | None
    p: float
    n: int
    wins: int
    ties: int
    losses: int


def compare(first: Sequence[float], second: Sequence[float], *, bootstrap: Bootstrap | None = None) -> Paired:
    """Compare scores (n,) of two runs, question by question in the same order. Both in the same unit, whichever it is.

    The interval is the percentile bootstrap's of the mean difference; the p-value the permutation test's (`permutation_p`).
    A run is never different from itself.

    >>> compare([1.0, 1.0, 0.0], [0.0, 1.0, 0.0])[:4:3]
    (0.3333333333333333, 1.0)

    Raises:
        InputError: no question, unequal lengths, or a score that is not finite.
    """
    if len(first) != len(second) or not len(first):
        raise InputError(
            f"{len(first)} and {len(second)} scores cannot be compared in pairs: both runs need the same questions, at least one."
        )
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    if not np.isfinite(differences).all():
        raise InputError("a score is not finite. Leave the question out of both runs, and count it.")
    chosen = bootstrap or Bootstrap()
    low, high = chosen.interval(differences.tolist()) if len(first) > 1 else (None, None)
    return Paired(
        math.fsum(differences) / len(differences),
        low,
        high,
        permutation_p(differences, seed=chosen.seed),
        len(differences),
        int((differences > 0).sum()),
        int((differences == 0).sum()),
        int((differences < 0).sum()),
    )


def permutation_p(differences: npt.ArrayLike, *, seed: int = 0) -> float:
    """Two-sided p of the paired permutation test: how often random signs give as large a mean as the differences (n,) have.

    All choices of signs are tried where they are few, otherwise RESAMPLES are drawn, and the observed one counts as
    one of them, so p is never 0. Equal sizes are drawn together: the sum over c differences of one size d is
    d·(2·Binomial(c, 1/2) − c).

    Reference: Fisher (1935), The Design of Experiments, §21; for retrieval, Smucker et al. (CIKM 2007); the +1, Phipson and
    Smyth (2010).
    """
    given = np.asarray(differences, np.float64)
    sizes = np.abs(given[given != 0])
    if not len(sizes):
        return 1.0
    observed = abs(math.fsum(given))
    least = observed - 1e-9 * math.fsum(sizes)  # sums of the same numbers in another order round differently
    if 2 ** len(sizes) <= ENUMERATED:
        sums = _all_sums(sizes)
        return float((np.abs(sums) >= least).sum() / len(sums))
    drawn = _drawn_sums(sizes, seed)
    return float(((np.abs(drawn) >= least).sum() + 1) / (len(drawn) + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for the number of tests, in the given order, by Holm's step-down procedure.

    Each controls the chance of any false finding among all of them. Reference: Holm (1979), Scand. J. Statistics 6.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def _all_sums(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _drawn_sums(sizes: Floats, seed: int) -> Floats:
    distinct, counts = np.unique(sizes, return_counts=True)
    rng = np.random.default_rng(seed)
    sums = np.zeros(RESAMPLES)
    for size, count in zip(distinct, counts, strict=True):
        sums += size * (2.0 * rng.binomial(count, 0.5, RESAMPLES) - count)
    return sums
