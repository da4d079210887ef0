"""Windows of a recording: means with their errors, and which of them count as one condition."""

from __future__ import annotations

import numpy as np
import pytest

from homenode.records.calibrate.levels import Levels
from homenode.records.calibrate.windows import Window, groups, mean_cpi, per_unit


def windows(cores: list[float], rate: float = 1.0) -> list[Window]:
    return [Window(one, 60.0, rate) for one in cores]


def levels(moved: float, away: float = 0.0) -> Levels:
    return Levels((1.0 - moved, 0.0, 0.0, moved, 0.0, 0.0), (1.0 - away, 0.0, away), None)


def test_the_mean_of_windows_has_the_error_of_stretches_of_them() -> None:
    """By hand: two stretches with means of 0.5 and 1.5, t(0.975, 1) = 12.7062."""
    mean, error = per_unit(windows([0.0, 1.0, 0.0, 3.0]))
    assert (mean, error) == pytest.approx((1.0, 0.5 * 12.7062 / 1.96), rel=1e-4)
    assert per_unit([]) == (0.0, 0.0)
    assert per_unit(windows([0.0, 0.0])) == (0.0, 0.0)


def test_what_is_printed_with_few_digits_is_not_known_better() -> None:
    """By hand: 0.07 is anything from 0.065 to 0.075, of four windows' mean half as much."""
    _, error = per_unit(windows([0.07]))
    assert error == pytest.approx(0.01 / 12**0.5 / 0.07)
    _, four = per_unit(windows([0.07] * 4))
    assert four == pytest.approx(error / 2)
    assert per_unit(windows([1 / 3] * 4))[1] == 0.0


def test_work_that_varies_is_no_error() -> None:
    """Cores in proportion to the work: 10 ms a unit in every window."""
    varied = [Window(rate / 300, 30.0, rate) for rate in (10.0, 200.0, 0.0, 77.0, 121.0)]
    assert per_unit(varied) == pytest.approx((1 / 300, 0.0), abs=1e-12)


def test_stretches_tell_the_error_of_the_mean() -> None:
    """Of white noise of 10 %: 95 % of the intervals hold the true value."""
    random, hits = np.random.default_rng(7), 0
    for _ in range(300):
        mean, error = per_unit(windows(list(random.normal(1.0, 0.1, 100))))
        hits += abs(mean - 1.0) <= 1.96 * error * mean
    assert 0.90 <= hits / 300 <= 0.99


def test_cycles_are_weighed_by_instructions() -> None:
    """By hand: a core second at 2 cycles and one at 4 are 2 seconds' cycles over 3/4 as many
    instructions: 8/3.
    """
    told = [Window(1.0, 1.0, 1.0, cpi=2.0), Window(1.0, 1.0, 1.0, cpi=4.0)]
    found = mean_cpi(told)
    assert found is not None
    assert found[0] == pytest.approx(8 / 3)
    assert mean_cpi(windows([1.0])) is None


def test_windows_part_by_where_threads_ran_before_by_work() -> None:
    """Thirds by what differs, in the order of time within each."""
    told = [
        Window(1.0 + at, 60.0, 10.0 + at, levels=levels(0.02 + 0.02 * (at % 3))) for at in range(30)
    ]
    found = groups(told)
    titles = [one.title for one in found]
    assert titles == [
        f"{size} threads moved to other cores" for size in ("least", "middling", "most")
    ]
    assert [one.cores for one in found[0].windows] == [1.0 + at for at in range(0, 30, 3)]
    by_work = groups([Window(1.0, 60.0, 10.0 + at, levels=levels(0.02)) for at in range(30)])
    assert by_work[0].title == "least work"
    assert by_work[0].rate == pytest.approx(14.5)


def test_cores_never_part_windows() -> None:
    """Else chance would be taken for a difference."""
    told = [Window(0.1 + at, 60.0, 10.0, levels=levels(0.02)) for at in range(30)]
    assert [one.title for one in groups(told)] == [""]


@pytest.mark.parametrize(
    "told",
    [
        [Window(1.0, 60.0, 10.0 + 10 * at) for at in range(23)],
        [Window(1.0, 60.0, 10.0 + 0.1 * (at % 3)) for at in range(30)],
        [Window(1.0, 60.0, 10.0, levels=levels(0.001 * (at % 3))) for at in range(30)],
    ],
    ids=["few", "hardly apart", "apart by the last digit"],
)
def test_what_hardly_differs_stays_together(told: list[Window]) -> None:
    """One condition."""
    assert len(groups(told)) == 1


def test_levels_that_are_not_known_everywhere_part_nothing() -> None:
    """The work still may."""
    told = [
        Window(1.0, 60.0, 10.0, levels=levels(0.02 * (at % 3)) if at else None) for at in range(30)
    ]
    assert len(groups(told)) == 1
