"""Laws of scaling, warm-up and batches."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode.evidence.capability import capability_table
from homenode.hosts.errors import MeasureError
from homenode.hosts.statistics import (
    fit_sqrt_law,
    fit_usl,
    slope_of_rest,
    warm_up,
)

pytestmark = pytest.mark.anywhere

SIZES = (1, 2, 4, 8, 16, 24, 32, 48)


def usl(count: float, gamma: float, alpha: float, beta: float) -> float:
    return gamma * count / (1 + alpha * (count - 1) + beta * count * (count - 1))


@given(st.floats(0.1, 1e6), st.floats(1e-3, 0.3), st.floats(1e-5, 1e-2))
def test_parameters_are_found_again(gamma: float, alpha: float, beta: float) -> None:
    found = fit_usl(SIZES, [usl(n, gamma, alpha, beta) for n in SIZES])
    assert found.gamma.value == pytest.approx(gamma, rel=1e-6)
    assert found.alpha.value == pytest.approx(alpha, rel=1e-4)
    assert found.beta.value == pytest.approx(beta, rel=1e-4)
    assert found.peak == pytest.approx(math.sqrt((1 - alpha) / beta), rel=1e-3)
    assert found.ceiling == pytest.approx(gamma / alpha, rel=1e-3)


def test_intervals_hold_the_truth() -> None:
    """Noise of 2 %: of 400 sets, 93 to 99 of 100 hold each parameter; few sizes, and coherence
    left out or not there, make no difference.
    """
    for sizes, beta in itertools.product((SIZES, (1, 2, 4, 6, 8, 12)), (4e-4, 0.0)):
        held = {"gamma": 0, "alpha": 0, "beta": 0}
        for seed in range(400):
            chance = random.Random(seed)
            rates = [usl(n, 100, 0.03, beta) * chance.lognormvariate(0, 0.02) for n in sizes]
            found = fit_usl(sizes, rates)
            for name, truth in (("gamma", 100.0), ("alpha", 0.03), ("beta", beta)):
                one = getattr(found, name)
                assert one.low <= one.value <= one.high
                held[name] += one.low <= truth <= one.high
        assert 372 <= min(held.values()) <= max(held.values()) <= 396


def test_an_interval_by_hand_of_the_normal_equations() -> None:
    """Against the same fit written out with the covariance of `1, alpha, beta` by gamma."""
    import numpy as np
    from scipy import stats

    noise = (1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01, 0.995)
    rates = [usl(n, 100, 0.03, 1e-3) * e for n, e in zip(SIZES, noise, strict=True)]
    found = fit_usl(SIZES, rates)
    rows = np.array(
        [[x / n, x / n * (n - 1), x * (n - 1)] for n, x in zip(SIZES, rates, strict=True)]
    )
    inverse = np.linalg.inv(rows.T @ rows)
    one, alpha, _ = inverse @ rows.T @ np.ones(8)
    rest = rows @ inverse @ rows.T @ np.ones(8) - 1
    slope = np.array([-alpha / one**2, 1 / one, 0])
    half = stats.t.ppf(0.975, 5) * math.sqrt(rest @ rest / 5 * (slope @ inverse @ slope))
    assert found.alpha.value == pytest.approx(alpha / one)
    assert found.alpha.low == pytest.approx(alpha / one - half, rel=1e-6)
    assert found.alpha.high == pytest.approx(alpha / one + half, rel=1e-6)


def test_coherence_that_cannot_be_told_from_zero_is_not_reported() -> None:
    chance = random.Random(3)
    rates = [usl(n, 100, 0.05, 0.0) * chance.lognormvariate(0, 0.02) for n in SIZES]
    found = fit_usl(SIZES, rates)
    assert found.beta.value == 0.0
    assert not found.beta.above_zero
    assert found.peak is None
    assert found.ceiling == pytest.approx(2000, rel=0.2)


def test_few_sizes_hold_no_law() -> None:
    few = SIZES[:4]
    found = fit_usl(few, [usl(n, 100, 0.02, 4e-4) for n in few])
    assert found.saturated
    assert found.alpha.low is None
    assert found.peak is None
    with pytest.raises(MeasureError, match="3 sizes"):
        fit_usl(few[:3], [1.0, 2.0, 3.0])
    with pytest.raises(MeasureError, match="one throughput for each"):
        fit_usl((1, 1, 2, 3), (1.0, 2.0, 3.0, 4.0))
    with pytest.raises(MeasureError, match="above 0"):
        fit_usl((1, 2, 3, 4), (1.0, 2.0, 3.0, 0.0))


def test_published_capability_factors_follow_the_square_root_not_the_usl() -> None:
    table = capability_table("z14")
    sizes = (1, 2, 10, 16, 20, 32, 40, 48, 64, 80)
    worth = [table.factor(n).capability for n in sizes]
    root, law = fit_sqrt_law(sizes, worth), fit_usl(sizes, worth)
    assert root.single == pytest.approx(1.0, abs=0.03)
    assert max(map(abs, root.residuals)) < 0.03
    assert max(map(abs, law.residuals)) > 0.09
    assert law.beta.value == 0.0


def test_square_root_law_is_found_again() -> None:
    found = fit_sqrt_law(SIZES, [50 * n / (1 + 0.1 * math.sqrt(n - 1)) for n in SIZES])
    assert (found.single, found.k) == (pytest.approx(50), pytest.approx(0.1))
    assert found.at(9) == pytest.approx(450 / (1 + 0.1 * math.sqrt(8)))


def steady(count: int, seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [100 + chance.gauss(0, 1) for _ in range(count)]


def test_a_slow_start_is_left_out() -> None:
    found = warm_up([10.0 * i for i in range(10)] + steady(110))
    assert found is not None
    assert found.left_out in (10, 15)
    assert found.settled
    assert found.mean == pytest.approx(100, abs=0.5)


def test_a_run_that_never_settles_is_too_short() -> None:
    found = warm_up([float(i) for i in range(1, 61)])
    assert found is not None
    assert not found.settled


def test_a_steady_run_loses_nothing() -> None:
    found = warm_up(steady(200))
    assert found is not None
    assert found.left_out <= 50
    assert found.settled
    assert warm_up(steady(39)) is None


def test_mser_by_its_definition() -> None:
    """Against the sum written out, for each possible cut."""
    series = [0.0] * 5 + [4.0] * 5 + [5.0, 6.0] * 20
    means = [sum(series[i : i + 5]) / 5 for i in range(0, len(series), 5)]

    def error(cut: int) -> float:
        rest = means[cut:]
        middle = sum(rest) / len(rest)
        return sum((x - middle) ** 2 for x in rest) / len(rest) ** 2

    best = min(range(len(means) // 2 + 1), key=error)
    found = warm_up(series)
    assert found is not None
    assert found.left_out == 5 * best == 10


def test_slope_of_the_last_third() -> None:
    assert slope_of_rest([0.0] * 10 + [5.0] * 20) == 0.0
    # The last ten rise from 21 to 30, by 9 on a mean of 25.5.
    assert slope_of_rest([float(i) for i in range(1, 31)]) == pytest.approx(9 / 25.5)
    assert slope_of_rest([1.0, 2.0]) == 0.0
