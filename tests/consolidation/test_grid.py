"""Samples on one grid of steps: nothing is lost or made, hours and days are those of the zone."""

from __future__ import annotations

import datetime as dt
import math
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uses_made import demand, grid

from facts_made import series
from homenode.planner.consolidation.demand import Demand, demands
from homenode.planner.consolidation.grid import Grid, chosen, day_text, on_one_grid, scaled
from homenode.records.importing.facts import Facts
from homenode.records.importing.opening.sources import ListingError, Notice

BERLIN = "Europe/Berlin"
SAMPLE = st.tuples(
    st.integers(0, 900), st.integers(1, 1800), st.floats(0, 64, allow_nan=False, width=32)
)


def recorded(samples: list[tuple[int, int, float]]) -> Demand:
    """Samples, each some seconds after the one before."""
    starts, ends, clock = [], [], 1000
    for gap, seconds, _ in samples:
        starts.append(clock + gap)
        ends.append(clock := clock + gap + seconds)
    cores = np.array([used for *_, used in samples])
    one = demand("a", [0.0])
    told = {"starts": np.array(starts, float), "ends": np.array(ends, float), "cores": cores}
    return Demand(**{**vars(one), **told})


@given(st.lists(SAMPLE, min_size=1, max_size=20), st.integers(60, 3600))
def test_each_step_has_the_mean_of_what_was_recorded_of_it(
    samples: list[tuple[int, int, float]], step: int
) -> None:
    one = recorded(samples)
    found = on_one_grid([one], step, "UTC", [])
    assert found.begin % step == 0
    assert found.begin <= one.starts[0] < found.begin + step
    assert found.steps * step + found.begin >= one.ends[-1]
    for at in range(found.steps):
        low, high = found.begin + at * step, found.begin + (at + 1) * step
        shared = np.clip(np.minimum(one.ends, high) - np.maximum(one.starts, low), 0, None)
        if shared.sum() >= step / 2:
            mean = (shared * one.cores).sum() / shared.sum()
            assert found.cores[0, at] == pytest.approx(mean, rel=1e-6, abs=1e-6)
        else:
            assert np.isnan(found.cores[0, at])


@given(
    st.lists(st.floats(0, 64, allow_nan=False, width=32), min_size=1, max_size=60),
    st.sampled_from([60, 300, 450, 900, 1800]),
    st.sampled_from([300, 900, 1800]),
)
def test_cores_times_seconds_are_kept(cores: list[float], seconds: int, step: int) -> None:
    whole_steps = cores * (step // math.gcd(seconds, step))
    one = demand("a", whole_steps, begin=86_400.0 * 20_000, seconds=seconds)
    found = on_one_grid([one], step, "UTC", [])
    assert found.steps * step == len(whole_steps) * seconds
    total = sum(whole_steps) * seconds
    assert found.cores.sum() * step == pytest.approx(total, rel=1e-9, abs=1e-6)


def test_a_step_counts_from_half_of_it_on() -> None:
    one = demand("a", [2.0] * 4, begin=450.0)
    assert on_one_grid([one], 900, "UTC", []).cores.tolist() == [[2.0, 2.0]]
    late = on_one_grid([demand("a", [2.0] * 4, begin=451.0)], 900, "UTC", [])
    assert np.isnan(late.cores[0, 0])
    assert late.cores[0, 1] == 2


def test_the_step_is_that_of_most_recordings_and_long_samples_are_told() -> None:
    notices: list[Notice] = []
    few = [demand("a", [1.0] * 8, seconds=900), demand("b", [1.0] * 8, seconds=890)]
    assert on_one_grid(few, None, "UTC", notices).step_s == 900
    assert notices == []
    long = demand("slow", [1.0, 2.0], seconds=3600)
    found = on_one_grid([*few, long], None, "UTC", notices)
    assert found.step_s == 900
    assert found.cores[2].tolist() == [1.0] * 4 + [2.0] * 4
    (told,) = notices
    assert "slow: recorded in longer samples than 900 s" in told.text
    assert on_one_grid([demand("a", [1.0] * 99, seconds=1)], None, "UTC", []).step_s == 300


def test_recordings_of_years_apart_are_refused() -> None:
    far = [demand("a", [1.0]), demand("b", [1.0], begin=86_400.0 * 365 * 30)]
    with pytest.raises(ListingError) as caught:
        on_one_grid(far, None, "UTC", [])
    assert "10,950 days" in caught.value.problem
    assert "--step" in str(caught.value)


@pytest.mark.parametrize(
    ("day", "hours"),
    [
        ((2026, 10, 25), [0, 1, 2, 2, *range(3, 24)]),
        ((2026, 3, 29), [0, 1, *range(3, 24)]),
        ((2026, 6, 1), [*range(24)]),
    ],
)
def test_hours_are_told_on_the_clock_of_the_zone(
    day: tuple[int, int, int], hours: list[int]
) -> None:
    begin = dt.datetime(*day, tzinfo=ZoneInfo(BERLIN))
    found = Grid(begin.timestamp(), 3600.0, np.zeros((1, len(hours))), BERLIN)
    assert found.hours().tolist() == hours
    assert set(found.dates().tolist()) == {(dt.date(*day) - dt.date(1970, 1, 1)).days}
    assert set(found.weekdays().tolist()) == {begin.weekday()}
    assert found.moment(0) == begin
    assert day_text(found.dates()[0]) == f"{begin:%A %Y-%m-%d}"


def printed(*parts: tuple[dt.datetime, int]) -> tuple[Demand, list[Notice]]:
    """Samples of 5 minutes, so many from each moment on, as printed in Berlin."""
    facts, notices = Facts(), list[Notice]()
    for begin, count in parts:
        facts.series.append(series("a", [1.0] * count, begin=begin))
    (one,) = demands(facts, {"*": BERLIN}, notices)
    return one, notices


def test_the_hour_that_a_zone_has_twice_is_left_out() -> None:
    one, (told,) = printed((dt.datetime(2026, 10, 25, 1), 48))  # noqa: DTZ001 - as printed
    assert "12 samples of the hour" in told.text
    assert len(one.ends) == 36
    assert (one.starts[1:] >= one.ends[:-1]).all()
    there = ZoneInfo(BERLIN)
    ends = [dt.datetime.fromtimestamp(at, there).strftime("%H:%M") for at in one.ends[[0, -1]]]
    assert ends == ["01:05", "05:00"]
    assert one.ends[-1] - one.starts[0] == 5 * 3600


def test_the_hour_that_a_zone_leaps_over_leaves_no_gap() -> None:
    day = dt.datetime(2026, 3, 29)  # noqa: DTZ001 - as printed
    before, after = day + dt.timedelta(hours=1), day + dt.timedelta(hours=2, minutes=55)
    one, notices = printed((before, 11), (after, 13))
    assert notices == []
    assert one.ends[-1] - one.starts[0] == 24 * 300
    assert (one.starts[1:] == one.ends[:-1]).all()


def test_a_recording_of_nothing_but_the_hour_that_is_twice_tells_nothing() -> None:
    with pytest.raises(ListingError, match="nothing"):
        printed((dt.datetime(2026, 10, 25, 2), 6))  # noqa: DTZ001 - as printed


@pytest.mark.parametrize(
    ("hours", "days", "expected"),
    [
        (None, None, 168),
        ((8, 18), None, 70),
        ((22, 6), None, 56),
        ((0, 24), None, 168),
        ((8, 0), None, 112),
        ((8, 18), frozenset(range(5)), 50),
        ((22, 6), frozenset([4]), 8),
    ],
)
def test_business_hours(
    hours: tuple[int, int] | None, days: frozenset[int] | None, expected: int
) -> None:
    week = grid(np.zeros((1, 168)))
    wanted = chosen(week, hours, days)
    assert wanted.sum() == expected
    rest = chosen(week, hours[::-1], days) if hours and hours[1] < 24 and hours[1] else None
    if rest is not None:
        assert not (wanted & rest).any()
        assert (wanted | rest).sum() == chosen(week, None, days).sum()


def test_scaling_is_by_row() -> None:
    found = scaled(grid([[1, 2], [3, np.nan]]), np.array([0.5, 2.0]))
    assert found.cores[0].tolist() == [0.5, 1.0]
    assert found.cores[1, 0] == 6
    assert np.isnan(found.cores[1, 1])
