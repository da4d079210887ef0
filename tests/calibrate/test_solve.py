"""The solver alone: what is determined is found within its interval; what is not is said so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from homenode.records.calibrate.solve import determined, solve


def test_a_fit_that_does_not_get_there_is_no_good_one() -> None:
    """As many figures as parameters, but the way is too long: what is left counts."""

    def residuals(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x - 100.0, np.array([0.01])

    found = solve(residuals, [0.0], [1.0])
    assert found.x[0] < 50
    assert found.quality > 1e6
    assert found.sd[0] > 10


def test_a_line_with_two_unknowns_alike_keeps_the_first() -> None:
    """y = a + b of which only the sum is seen; c is seen alone; d is not seen."""
    slopes = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1e-6]])
    data, errors = np.array([0.5, -0.3]), np.array([0.01, 0.02])

    def residuals(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return slopes @ x - data, errors

    found = solve(residuals, [0.0] * 4, [1.0] * 4)
    assert found.fitted == (0, 2)
    assert found.x[0] == pytest.approx(0.5)
    assert found.x[2] == pytest.approx(-0.3)
    assert found.sd[0] == pytest.approx(np.hypot(0.01, 0.5))
    assert found.sd[2] == pytest.approx(0.02, rel=1e-6)
    assert found.alike == {1: (0,)}


def test_directions_below_two_errors_are_not_determined() -> None:
    """By hand: singular values 3 and 1."""
    assert determined(np.diag([3.0, 1.0]), (0, 1)) == (0,)
    assert determined(np.diag([1.0, 3.0]), (0, 1)) == (1,)
    assert determined(np.diag([1.9, 1.0]), (0, 1)) == ()


def line(slopes: np.ndarray, data: np.ndarray, error: float) -> Any:
    """Residuals of a straight line."""

    def residuals(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return slopes @ x - data, np.full(len(data), error)

    return residuals


def test_what_several_imitate_together_names_them_all() -> None:
    """c is a + b in all that is seen, and like neither alone."""
    slopes = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    found = solve(line(slopes, np.array([0.1, 0.2, 0.3]), 0.01), [0.0] * 3, [1.0] * 3)
    assert found.fitted == (0, 1)
    assert set(found.alike[2]) == {0, 1}
    assert found.left[2] == pytest.approx(0.0, abs=1e-6)
    # Both carry all of what c may be: half its range.
    assert found.sd[0] == pytest.approx(0.5, rel=1e-3)


def test_what_is_its_own_but_little_is_told_apart_from_what_is_imitated() -> None:
    """b moves the data by 30 errors, of which a imitates all but 1.5."""
    slopes = np.array([[0.3, 0.3], [0.0, 0.015]])
    found = solve(line(slopes, np.array([0.05, 0.0]), 0.01), [0.0] * 2, [1.0] * 2)
    assert found.fitted == (0,)
    assert found.alike == {1: (0,)}
    assert found.left[1] == pytest.approx(1.5)


def test_a_range_that_reaches_farther_to_one_side_goes_into_the_others_in_full() -> None:
    """The held one may be three of its half ranges off, to one side."""
    slopes = np.array([[1.0, 1.0]])
    one = solve(line(slopes, np.array([0.1]), 0.01), [0.0] * 2, [1.0] * 2)
    other = solve(line(slopes, np.array([0.1]), 0.01), [0.0] * 2, [1.0] * 2, [1.0, 3.0])
    assert one.fitted == other.fitted == (0,)
    assert one.sd[0] == pytest.approx(np.hypot(0.01, 0.5))
    assert other.sd[0] == pytest.approx(np.hypot(0.01, 1.5))
    assert other.sd[1] == pytest.approx(1.5)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Six figures of three parameters, 400 times with new noise: 95 % of the intervals of each."""
    random = np.random.default_rng(1)
    slopes, truth = random.normal(size=(6, 3)), np.array([0.3, -0.2, 0.1])
    hits, rounds = np.zeros(3), 400
    for _ in range(rounds):
        data = slopes @ truth + random.normal(scale=0.02, size=6)
        found = solve(line(slopes, data, 0.02), [0.0] * 3, [1.0] * 3)
        assert found.fitted == (0, 1, 2)
        hits += np.abs(found.x - truth) <= 1.96 * found.sd
    # Three standard errors of a count of 400 below 95 %.
    assert (hits / rounds >= 0.917).all()
    # Where the noise happened to be large the intervals are widened, so they hold a little more.
    assert (hits / rounds < 1.0).all()


def test_a_search_that_went_beyond_where_something_ends_to_matter_comes_back() -> None:
    """By hand: from 0.2 the first step of min(b, 0.6)^2 towards 0.25 ends at 0.725, where nothing
    moves; b is 0.5.
    """

    def residuals(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([min(x[0], 0.6) ** 2 - 0.25]), np.array([0.001])

    found = solve(residuals, [0.2], [1.0])
    assert found.fitted == (0,)
    assert found.x[0] == pytest.approx(0.5, abs=0.002)
