"""Means and their intervals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from psi.errors import ConfigError, InputError
from psi.metrics import Bootstrap, Summary, summarise


def test_agrees_with_scipy() -> None:
    values = np.random.default_rng(3).choice([0.0, 0.25, 0.5, 1.0], size=300, p=[0.3, 0.1, 0.2, 0.4])
    low, high = Bootstrap(resamples=20_000).interval(values.tolist())
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=2e-3)


def test_agrees_with_the_normal_approximation() -> None:
    values = [0.0] * 350 + [1.0] * 650
    low, high = Bootstrap().interval(values)
    half = 1.96 * math.sqrt(0.65 * 0.35 / 1000)
    assert (low, high) == pytest.approx((0.65 - half, 0.65 + half), abs=3e-3)


def test_deterministic_and_free_of_order() -> None:
    values = np.random.default_rng(0).random(97).tolist()
    assert summarise(values) == summarise(values[::-1])
    assert summarise(values) == summarise(values)
    assert summarise(values) != summarise(values, bootstrap=Bootstrap(seed=1))


def test_small_samples() -> None:
    assert summarise([]) == Summary(None, None, None, 0)
    assert summarise([0.5]) == Summary(0.5, None, None, 1)
    assert summarise([0.5, 0.5]) == Summary(0.5, 0.5, 0.5, 2)
    assert summarise([], n_failed=2, n_excluded=1).n_questions == 3


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
@settings(max_examples=50)
def test_interval_stays_within_the_values(values: list[float]) -> None:
    found = summarise(values, bootstrap=Bootstrap(resamples=200))
    assert found.mean is not None and found.low is not None and found.high is not None
    assert min(values) - 1e-12 <= found.low <= found.high <= max(values) + 1e-12


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="score 1 of 2 is nan"):
        summarise([0.5, math.nan])
    with pytest.raises(InputError, match="at least one question"):
        Bootstrap().interval([])


def test_settings_are_checked() -> None:
    for wrong in ({"resamples": 0}, {"confidence": 1.0}, {"seed": -1}):
        with pytest.raises(ConfigError, match="Bootstrap"):
            Bootstrap(**wrong)
