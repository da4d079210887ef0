"""Percentiles of nearest rank, and when they are."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uses_made import grid

from homenode.planner.consolidation.peaks import peak, peaks_of, rank_of

USES = st.lists(st.floats(0, 100, allow_nan=False), min_size=1, max_size=200)


@given(USES, st.integers(1, 1000))
def test_nearest_rank_against_a_sorted_list(values: list[float], tenths: int) -> None:
    rank = math.ceil(Fraction(tenths, 1000) * len(values))
    assert rank_of(len(values), tenths / 10) == rank - 1
    found = peak(np.array(values), tenths / 10)
    assert found == sorted(values)[rank - 1]
    assert sum(value <= found for value in values) >= Fraction(tenths, 1000) * len(values)


def test_the_ends_of_the_scale() -> None:
    values = np.array([3.0, 1.0, 2.0])
    assert peak(values, 100) == 3
    assert peak(values, 0.001) == 1
    assert peak(values[:1], 50) == 3


@given(USES, st.floats(0.01, 100), st.floats(0.01, 100))
def test_monotone_in_the_percentile(values: list[float], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert peak(np.array(values), low) <= peak(np.array(values), high)


@given(st.integers(1, 6), st.integers(1, 48), st.integers(0, 2**32), st.floats(1, 100))
def test_peaks_of_sums_and_sums_of_peaks(
    rows: int, steps: int, seed: int, percentile: float
) -> None:
    use = np.random.default_rng(seed).gamma(1.0, 1.0, (rows, steps))
    on = grid(use)
    all_steps = np.ones(steps, dtype=bool)
    whole = peaks_of(on, use, all_steps, 100)
    assert whole.of_sums <= whole.sum_of + 1e-9
    assert whole.of_sums == whole.largest == pytest.approx(use.sum(axis=0).max())
    assert whole.beyond == ()
    some = peaks_of(on, use, all_steps, percentile)
    assert some.of_sums <= whole.of_sums
    assert some.sum_of <= whole.sum_of + 1e-9
    assert some.mean == pytest.approx(use.sum() / steps)
    assert some.percentile == percentile


def test_peaks_at_one_time_add_up_and_at_others_do_not() -> None:
    together = np.array([[0.0, 4.0, 1.0], [1.0, 3.0, 0.0]])
    apart = np.array([[0.0, 4.0, 1.0], [3.0, 1.0, 0.0]])
    every = np.ones(3, dtype=bool)
    assert peaks_of(grid(together), together, every, 100).of_sums == 7
    assert peaks_of(grid(apart), apart, every, 100).of_sums == 5
    assert peaks_of(grid(apart), apart, every, 100).sum_of == 7


def test_hours_and_days_that_bind() -> None:
    use = np.ones((2, 168))
    use[0, 24 + 9] = 9.0  # Tuesday, 9 o'clock
    use[1, 72 + 15] = 5.0  # Thursday, 15 o'clock
    found = peaks_of(grid(use), use, np.ones(168, dtype=bool), 100)
    assert [(one.day, one.hour, one.cores) for one in found.hours[:3]] == [
        ("Tuesday 1970-01-06", 9, 10.0),
        ("Thursday 1970-01-08", 15, 6.0),
        ("Monday 1970-01-05", 0, 2.0),
    ]
    assert [found.by_hour[hour] for hour in (0, 9, 15)] == [2, 10, 6]
    assert list(found.by_weekday) == [2, 10, 2, 6, 2, 2, 2]


def test_only_steps_that_count_are_looked_at() -> None:
    use = np.arange(48.0).reshape(1, 48)
    wanted = np.arange(48) < 12
    found = peaks_of(grid(use), use, wanted, 100)
    assert found.largest == 11
    assert found.by_hour[12:] == (None,) * 12
    assert found.by_weekday == (11.0, *[None] * 6)


def test_days_beyond_the_percentile_are_told_with_their_share() -> None:
    use = np.ones((1, 240))
    use[0, 24:28] = 5.0
    use[0, 200] = 7.0
    found = peaks_of(grid(use), use, np.ones(240, dtype=bool), 90)
    assert found.of_sums == 1
    assert found.beyond == ("Tuesday 1970-01-06", "Tuesday 1970-01-13")
    assert found.beyond_share == 1
    assert peaks_of(grid(use), use, np.ones(240, dtype=bool), 99).beyond == ("Tuesday 1970-01-13",)
