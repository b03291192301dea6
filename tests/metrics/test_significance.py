"""Paired comparisons against scipy, and what must hold for any two runs."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from psi.errors import InputError
from psi.metrics.significance import compare, holm, permutation_p

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=40)


def scipy_p(first, second, resamples):
    return scipy.stats.permutation_test(
        (np.asarray(first), np.asarray(second)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=resamples, rng=np.random.default_rng(1),
    ).pvalue  # fmt: skip


@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_few_questions_give_the_exact_p_of_scipy(n):
    rng = np.random.default_rng(n)
    first, second = rng.random(n), rng.random(n)
    assert compare(first, second).p == pytest.approx(scipy_p(first, second, np.inf))


@pytest.mark.parametrize("gain", [0.0, 0.05, 0.15])
def test_many_questions_give_the_p_of_scipy_but_for_chance(gain):
    rng = np.random.default_rng(0)
    second = rng.integers(0, 2, 150).astype(float)
    first = np.where(rng.random(150) < gain, 1.0, np.where(rng.random(150) < 0.1, 1 - second, second))
    p, expected = compare(first, second).p, scipy_p(first, second, 9999)
    assert p == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 9999) + 2e-3)


def test_the_interval_is_that_of_scipys_bootstrap_but_for_chance():
    rng = np.random.default_rng(3)
    first, second = rng.random(200), rng.random(200)
    found = compare(first, second)
    bounds = scipy.stats.bootstrap(
        (first - second,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(5)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high), abs=0.006)


@given(SCORES)
def test_a_run_is_not_different_from_itself(scores):
    found = compare(scores, scores)
    assert (found.difference, found.p, found.ties) == (0, 1, len(scores))


@given(st.data(), SCORES)
def test_turned_around_everything_changes_sign_but_p(data, first):
    second = data.draw(st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=len(first), max_size=len(first)))
    one, other = compare(first, second), compare(second, first)
    assert one.difference == -other.difference
    assert one.p == other.p
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert one.wins + one.ties + one.losses == one.n
    assert 0 < one.p <= 1


def test_false_findings_are_as_rare_as_the_level_says():
    rng = np.random.default_rng(7)
    p_values = [permutation_p(rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 60)) for _ in range(1000)]
    assert np.mean(np.asarray(p_values) < 0.05) == pytest.approx(0.05, abs=0.02)


def test_holm_against_values_from_elsewhere():
    # R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm"); Wikipedia's example of the procedure has the first rows
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(("first", "second"), [([], []), ([1.0], [1.0, 0.0]), ([float("nan")], [1.0])])
def test_what_cannot_be_compared_is_refused(first, second):
    with pytest.raises(InputError):
        compare(first, second)
