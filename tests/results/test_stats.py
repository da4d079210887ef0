"""Intervals with hand-computed values, and rounding that keeps sums."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from homenode.model.estimate import estimate, rounded_to_sum, student_t


def test_interval_of_three_values_by_hand() -> None:
    # mean 2, s = 1, t(0.975, 2) = 4.30265, half-width t / sqrt(3)
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.ci95 == pytest.approx(4.30265 / math.sqrt(3), rel=1e-5)


def test_the_kept_quantiles_are_those_of_scipy() -> None:
    for degrees in range(1, 60):
        assert student_t(degrees) == pytest.approx(float(stdtrit(degrees, 0.975)), rel=1e-14)


def test_student_t_of_tables() -> None:
    assert student_t(4) == pytest.approx(2.776, abs=5e-4)
    assert student_t(30) == pytest.approx(2.042, abs=5e-4)


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    assert estimate([7.0]).ci95 is None
    assert estimate([]).mean is None


def test_largest_remainder_by_hand() -> None:
    thirds = rounded_to_sum({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, 2)
    assert thirds == {"a": 0.34, "b": 0.33, "c": 0.33}


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20), st.integers(0, 4))
def test_rounded_values_add_up_and_stay_near(values: list[float], digits: int) -> None:
    named = {str(index): value for index, value in enumerate(values)}
    rounded = rounded_to_sum(named, digits)
    unit = 10.0**-digits
    assert abs(math.fsum(rounded.values()) - math.fsum(values)) <= unit / 2 * (1 + 1e-6)
    assert all(abs(rounded[name] - named[name]) < unit * (1 + 1e-6) for name in named)
