"""How narrow intervals are, and how many replications it takes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode.errors import HomenodeError
from homenode.model.estimate import Estimate, estimate, student_t
from homenode.simulate import until
from homenode.simulate.precision import needed, wide, width
from homenode.simulate.scenario import Scenario
from homenode.simulate.until import run_until
from systems import SHORT


@given(st.integers(2, 60), st.floats(0.001, 5.0), st.floats(0.005, 0.5))
def test_as_many_as_needed_and_not_one_more(count: int, now: float, share: float) -> None:
    told = Estimate(2.0, 2.0 * now)
    found = needed(told, count, share)
    scatter = now * math.sqrt(count) / student_t(count - 1)
    if found is None:
        assert student_t(99_999) * scatter / math.sqrt(100_000) > share
        return
    assert student_t(found - 1) * scatter / math.sqrt(found) <= share * (1 + 1e-12)
    if found > 2:
        assert student_t(found - 2) * scatter / math.sqrt(found - 1) > share * (1 - 1e-12)


def test_a_narrow_one_needs_no_more() -> None:
    told = estimate([1.0, 1.001, 0.999, 1.0])
    assert width(told) is not None
    assert (needed(told, 4, 0.05) or 9) <= 4


@pytest.mark.parametrize("told", [Estimate(None), Estimate(0.0, 1.0), Estimate(1.0)])
def test_where_there_is_no_interval_nothing_is_said(told: Estimate) -> None:
    assert width(told) is None
    assert needed(told, 5, 0.05) is None


def test_one_replication_says_nothing_of_others() -> None:
    assert needed(Estimate(1.0, 0.5), 1, 0.05) is None


def test_it_runs_until_the_intervals_are_narrow(tmp_path: Path) -> None:
    told: list[int] = []
    run = run_until(Scenario.from_toml(SHORT), 0.1, out=tmp_path, doing=told.append)
    assert wide(run, 0.1) == []
    assert told[0] == until.LEAST
    assert run.replications == told[-1] > told[0]
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == [run.id]


def test_what_was_there_before_is_left(tmp_path: Path) -> None:
    earlier = Scenario.from_toml(SHORT).run(out=tmp_path, replications=3)
    run = run_until(Scenario.from_toml(SHORT), 0.1, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {earlier.id, run.id}


def test_it_ends_at_the_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(until, "MOST", 4)
    run = run_until(Scenario.from_toml(SHORT), 0.001, out=tmp_path)
    assert run.replications == 4
    assert wide(run, 0.001)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_a_share_that_cannot_be(share: float, tmp_path: Path) -> None:
    with pytest.raises(HomenodeError, match="cannot be aimed at"):
        run_until(Scenario.from_toml(SHORT), share, out=tmp_path)
