"""Recorded series on one clock."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facts_made import BEGIN, series
from homenode.records.importing.assemble.windows import put_together, recorded
from homenode.records.importing.opening.sources import ListingError

MANY = 10_000


def test_samples_of_one_series_are_the_windows() -> None:
    own = recorded([series("a", [0.5, 1.25, 0.125], folded=[0, 1, 2])], BEGIN)
    windows = put_together([own], BEGIN, MANY, None)
    assert windows.ends == (300.0, 600.0, 900.0)
    assert [(one.cores, one.folded) for one in windows.partitions["a"]] == [
        (0.5, 0.0),
        (1.25, 1.0),
        (0.125, 2.0),
    ]
    assert (windows.merged, windows.left_out) == (1, 0)


def test_too_many_samples_are_put_together() -> None:
    own = recorded([series("a", [float(index) for index in range(7)])], BEGIN)
    windows = put_together([own], BEGIN, 3, None)
    assert windows.merged == 3
    assert [one.cores for one in windows.partitions["a"]] == [1.0, 4.0, 6.0]
    assert windows.seconds == (900.0, 900.0, 300.0)


def test_series_of_other_times_are_spread_over_windows() -> None:
    one = recorded([series("a", [1.0, 2.0])], BEGIN)
    late = BEGIN + dt.timedelta(seconds=150)
    other = recorded([series("b", [4.0, 0.0], begin=late)], BEGIN)
    windows = put_together([one, other], BEGIN, MANY, None)
    assert windows.seconds == (300.0, 300.0, 300.0)
    assert [w.cores for w in windows.partitions["a"]] == [1.0, 2.0, None]
    # Half of the first window is told of: that half counts for all of it.
    assert [w.cores for w in windows.partitions["b"]] == [4.0, 2.0, 0.0]


def test_windows_may_be_asked_for() -> None:
    own = recorded([series("a", [1.0, 3.0, 5.0, 7.0], seconds=10.0)], BEGIN)
    windows = put_together([own], BEGIN, MANY, 20.0)
    assert [one.cores for one in windows.partitions["a"]] == [2.0, 6.0]
    assert put_together([own], BEGIN, MANY, 10.0).count == 4


def test_a_pause_is_left_out_and_counted() -> None:
    later = BEGIN + dt.timedelta(hours=5)
    both = [series("a", [1.0, 2.0]), series("a", [3.0], begin=later)]
    own = recorded(both, BEGIN)
    assert own.gaps == 1
    assert put_together([own], BEGIN, MANY, None).count == 3
    spread = put_together([own], BEGIN, MANY, 600.0)
    assert [one.cores for one in spread.partitions["a"]] == [1.5, 3.0]
    assert spread.left_out == 29


def test_the_first_of_two_that_tell_of_the_same_time_counts() -> None:
    own = recorded([series("a", [1.0, 2.0]), series("a", [8.0, 9.0, 3.0])], BEGIN)
    assert [sample.cores for sample in own.samples] == [1.0, 2.0, 3.0]
    assert own.overlapping == 2


def test_what_is_no_sample_is_passed_over() -> None:
    own = recorded([series("a", [None, 2.0, -1.0, float("nan")])], BEGIN)
    assert [sample.cores for sample in own.samples] == [2.0]


@given(
    st.lists(st.floats(0, 64), min_size=1, max_size=40),
    st.integers(1, 600),
    st.integers(1, 4000),
)
def test_spreading_keeps_the_work(cores: list[float], seconds: int, window: int) -> None:
    own = recorded([series("a", list(cores), seconds=float(seconds))], BEGIN)
    windows = put_together([own], BEGIN, MANY, float(window))
    told = windows.partitions["a"]
    most = max(cores) + 1e-9
    assert all(one.cores is None or -1e-9 <= one.cores <= most for one in told)
    if (len(cores) * seconds) % window == 0 and abs(window - seconds) >= 0.5:
        work = sum((one.cores or 0.0) * window for one in told)
        assert work == pytest.approx(sum(cores) * seconds, rel=1e-9, abs=1e-6)


def test_recordings_of_other_decades_are_not_put_on_one_clock() -> None:
    late = BEGIN + dt.timedelta(days=16_000)
    both = [
        recorded([series("a", [1.0])], BEGIN),
        recorded([series("b", [1.0], begin=late)], BEGIN),
    ]
    with pytest.raises(ListingError, match="reach over 16,000 days"):
        put_together(both, BEGIN, MANY, 60.0)
