"""From per-question scores to one number with an interval and with counts of what is and is not in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveInt

from psi.component import Component
from psi.errors import InputError


@dataclass(frozen=True, slots=True)
class Summary:
    """A mean over questions.

    `mean` is over the `n` scored questions (None: n = 0), `low` and `high` bound its confidence interval
    (None: n < 2). `n_failed` questions ended in an error and `n_excluded` have nothing to be scored against;
    neither is in the mean, and n + n_failed + n_excluded is the number of questions. `n_missing` of the n
    were absent from the run and count as 0.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    n_failed: int = 0
    n_excluded: int = 0
    n_missing: int = 0

    @property
    def n_questions(self) -> int:
        """All questions asked: scored, failed and excluded."""
        return self.n + self.n_failed + self.n_excluded


@dataclass(frozen=True, kw_only=True)
class Bootstrap(Component):
    """The percentile bootstrap over questions.

    Reference: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3.
    """

    resamples: PositiveInt = 2000
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Annotated[int, Field(ge=0)] = 0

    def interval(self, values: Sequence[float]) -> tuple[float, float]:
        """Bounds of the mean of `values`: the same in whatever order they come.

        Drawing n questions with replacement is drawing how often each distinct value comes up, a multinomial:
        exact, and a few columns wide where most scores are 0 or 1. Memory: 8 bytes x resamples x distinct
        values.

        Raises:
            InputError: no value, or one that is not finite.
        """
        _check_finite(values)
        distinct, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
        rng = np.random.default_rng(self.seed)
        draws = rng.multinomial(len(values), counts / len(values), size=self.resamples)
        # no matrix product: the rounding of BLAS varies by machine
        means = (draws * distinct).sum(axis=1) / len(values)
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(means, (tail, 1 - tail))
        return float(low), float(high)


def summarise(
    values: Sequence[float],
    *,
    n_failed: int = 0,
    n_excluded: int = 0,
    n_missing: int = 0,
    bootstrap: Bootstrap | None = None,
) -> Summary:
    """Mean and interval of the scored questions' values, with the counts of the others passed through.

    Raises:
        InputError: a value is not finite.
    """
    counts = {"n_failed": n_failed, "n_excluded": n_excluded, "n_missing": n_missing}
    if not values:
        return Summary(None, None, None, 0, **counts)
    _check_finite(values)
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return Summary(mean, None, None, 1, **counts)
    low, high = (bootstrap or Bootstrap()).interval(values)
    return Summary(mean, low, high, len(values), **counts)


def _check_finite(values: Sequence[float]) -> None:
    if not values:
        raise InputError("no value to make an interval of: at least one question must have been scored.")
    for position, value in enumerate(values):
        if not math.isfinite(value):
            raise InputError(
                f"score {position} of {len(values)} is {value}: scores must be finite. Leave a question out "
                "(and count it as excluded or failed) rather than scoring it as not a number."
            )
