"""Groups of points, their number chosen by the Bayesian information criterion."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from psi.component import Component

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Counts = Literal["coarse", "all"]
COARSE = 1.4  # ratio of neighbouring counts in a coarse search


class Fit(NamedTuple):
    """A fitted model, and its criterion: lower is better."""

    bic: float
    model: Any


@runtime_checkable
class Partition(Protocol):
    """A way to put points in groups."""

    def groups(self, points: Floats, seed: int) -> list[Ids]:
        """Groups of (n, d) distinct points as ascending positions; every point is in at least one."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the groups, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class GaussianMixtures(Component):
    """Mixtures of Gaussians with full covariances; a point is in every group of probability above `threshold`.

    A point that no group takes that way is in its most probable one.

    threshold: see above; paper §3.
    most: largest number of groups tried; the smallest is 1.
    counts: `all` numbers are tried, or a `coarse` geometric grid of them that is then refined around its best, which
        finds the same number where the criterion falls and then rises.
    """

    threshold: Annotated[float, Field(ge=0, lt=1)] = 0.1
    most: PositiveInt = 50
    counts: Counts = "coarse"

    def groups(self, points: Floats, seed: int) -> list[Ids]:
        """Soft groups of the mixture with the least BIC."""
        from sklearn.mixture import GaussianMixture

        def fit(count: int) -> Fit:
            model = GaussianMixture(count, random_state=seed).fit(points)
            return Fit(float(model.bic(points)), model)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a mixture of many groups has not converged: BIC decides
            chosen = least_bic(fit, min(self.most, len(points) - 1), self.counts)
            probabilities = chosen.model.predict_proba(points)
        member = probabilities > self.threshold
        member[np.arange(len(points)), probabilities.argmax(axis=1)] = True
        return _columns(member)


@dataclass(frozen=True, kw_only=True)
class KMeans(Component):
    """k-means: a point is in the group of the nearest centre alone.

    Its number of groups minimises the BIC of a mixture of spheres of one variance (Pelleg & Moore 2000, X-means, §3.2).
    `most` and `counts` as for Gaussian mixtures.
    """

    most: PositiveInt = 50
    counts: Counts = "coarse"

    def groups(self, points: Floats, seed: int) -> list[Ids]:
        """Disjoint groups."""
        from sklearn.cluster import KMeans as Centres

        def fit(count: int) -> Fit:
            model = Centres(count, n_init=1, random_state=seed).fit(points)
            return Fit(spherical_bic(points, model.labels_, model.inertia_), model)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that fewer distinct centres than asked for were found
            chosen = least_bic(fit, min(self.most, len(points) - 1), self.counts)
        labels = chosen.model.labels_
        return _columns(labels[:, None] == np.arange(labels.max() + 1))


def least_bic(fit: Callable[[int], Fit], most: int, counts: Counts) -> Fit:
    """The fit of least BIC among 1..most groups, the smaller number at equal BIC; `counts` as in `GaussianMixtures`."""
    fits: dict[int, Fit] = {}

    def best_of(numbers: list[int]) -> int:
        for number in numbers:
            if number not in fits:
                fits[number] = fit(number)
        return min(fits, key=lambda number: (fits[number].bic, number))

    best = best_of(_grid(most) if counts == "coarse" else list(range(1, most + 1)))
    while counts == "coarse" and (between := _midpoints(best, sorted(fits))):
        best = best_of(between)
    return fits[best]


def spherical_bic(points: Floats, labels: Ids, inertia: float) -> float:
    """−2·log-likelihood + parameters·log n of spheres of one variance around the means of the groups."""
    (n, width), sizes = points.shape, np.bincount(labels)
    sizes = sizes[sizes > 0]
    groups = len(sizes)
    variance = max(inertia / (width * max(n - groups, 1)), np.finfo(np.float64).tiny)
    spread = n * width * np.log(2 * np.pi * variance) + inertia / variance
    return float(spread - 2 * (sizes * np.log(sizes / n)).sum() + groups * (width + 1) * np.log(n))


def _grid(most: int) -> list[int]:
    numbers = [1]
    while numbers[-1] < most:
        numbers.append(min(most, max(numbers[-1] + 1, round(COARSE * numbers[-1]))))
    return numbers


def _midpoints(best: int, tried: list[int]) -> list[int]:
    """Untried numbers halfway from the best to its neighbours among those tried."""
    place = tried.index(best)
    neighbours = tried[max(place - 1, 0) : place] + tried[place + 1 : place + 2]
    return [(best + other) // 2 for other in neighbours if abs(best - other) > 1]


def _columns(member: NDArray[np.bool_]) -> list[Ids]:
    return [np.flatnonzero(column) for column in member.T if column.any()]
