"""Growth: found exactly where there is no noise, within its band where there is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from uses_made import grid

from homenode.errors import InputError
from homenode.planner.consolidation.grid import Grid
from homenode.planner.consolidation.growth import Growth, Trend, days_left, recorded_growth, said

MONTH = 365.25 / 12


def found_in(days: np.ndarray, percentile: float = 97.0, per_day: int = 1) -> Growth:
    """The growth of daily peaks, each held over the steps of its day."""
    sums = np.repeat(days, per_day)
    on = grid(sums[None, :], 86_400 / per_day)
    return recorded_growth(on, sums, np.ones(len(sums), dtype=bool), percentile)


@pytest.mark.parametrize("slope", [-0.02, 0.0, 0.07])
@pytest.mark.parametrize("per_day", [1, 24])
def test_a_linear_trend_without_noise_is_found(slope: float, per_day: int) -> None:
    linear = found_in(10 + slope * np.arange(40), per_day=per_day).trends[0]
    assert linear.kind == "linear"
    for rate in (linear.rate, linear.low, linear.high):
        assert rate == pytest.approx(slope * MONTH, abs=1e-9)


@pytest.mark.parametrize("rate", [-0.1, 0.02, 0.5])
def test_a_compound_trend_without_noise_is_found(rate: float) -> None:
    compound = found_in(5 * (1 + rate) ** (np.arange(40) / MONTH)).trends[1]
    assert compound.kind == "compound"
    for found in (compound.rate, compound.low, compound.high):
        assert found == pytest.approx(rate, abs=1e-9)


def test_a_day_without_use_has_no_compound_growth() -> None:
    (only,) = found_in(np.arange(20.0)).trends
    assert only.kind == "linear"


@pytest.mark.parametrize("alike", [0.0, 0.4])
def test_the_band_holds_the_truth_in_95_of_100_draws(alike: float) -> None:
    """Noise of first-order autocorrelation over 90 days, 200 draws; a binomial of 0.95 lies within
    0.90 and 0.99 but for one case in several hundred, and estimates of r are a little low.
    """
    chance, held, slope = np.random.default_rng(11), 0, 0.05
    for _ in range(200):
        noise = np.zeros(120)
        for at in range(1, len(noise)):
            noise[at] = alike * noise[at - 1] + chance.normal()
        linear = found_in(20 + slope * np.arange(90) + noise[30:]).trends[0]
        held += linear.low <= slope * MONTH <= linear.high
    assert 0.90 <= held / 200 <= 0.99


@pytest.mark.parametrize(("days", "told"), [(1, False), (13, False), (14, True), (30, True)])
def test_fewer_than_two_weeks_tell_nothing(days: int, told: bool) -> None:
    growth = found_in(np.linspace(1, 2, days))
    assert bool(growth.trends) == told
    assert ("growth is told from 14 days on (--growth says one)" in growth.why) == (not told)


def test_days_that_are_not_whole_do_not_count() -> None:
    """A recording that ends at 2 o'clock has no low peak on its last day."""
    sums = np.repeat(10.0 + np.arange(20), 24)
    sums[-24:] = 0.0
    wanted = np.ones(len(sums), dtype=bool)
    wanted[-22:] = False
    on = Grid(0.0, 3600.0, sums[None, :])
    growth = recorded_growth(on, sums, wanted, 97)
    assert growth.trends[0].rate == pytest.approx(MONTH)
    assert growth.why == "from the peaks of 19 days"


@pytest.mark.parametrize(
    ("text", "kind", "rate"),
    [
        ("2%/month", "compound", 0.02),
        ("20 %/year", "compound", 1.2 ** (1 / 12) - 1),
        (" -5%/MONTH", "compound", -0.05),
        ("0.5 cores/month", "linear", 0.5),
        ("+6 cores/year", "linear", 0.5),
        ("1 core / year", "linear", 1 / 12),
    ],
)
def test_growth_that_is_said(text: str, kind: str, rate: float) -> None:
    (trend,) = said(text).trends
    assert (trend.kind, trend.low, trend.high) == (kind, trend.rate, trend.rate)
    assert trend.rate == pytest.approx(rate)


@pytest.mark.parametrize(
    "text", ["", "2", "2%", "2%/week", "%/month", "-100%/year", "1e3%/month", "nan%/month"]
)
def test_what_is_no_growth_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no growth") as caught:
        said(text)
    assert "2%/month or 0.5 cores/year" in str(caught.value)


def test_days_left_by_both_trends() -> None:
    linear, compound = Trend("linear", 2.0, 1.0, 4.0), Trend("compound", 0.1, -0.1, 0.2)
    one, other = days_left(Growth((linear, compound), ""), 10.0, 20.0)
    assert [one.earliest, one.days, one.latest] == pytest.approx(
        [2.5 * MONTH, 5 * MONTH, 10 * MONTH]
    )
    assert other.days == pytest.approx(math.log(2) / math.log(1.1) * MONTH)
    assert other.earliest < other.days < other.latest == math.inf
    for trend in (linear, compound):
        assert trend.at(10.0, trend.days_to(10.0, 20.0)) == pytest.approx(20.0)
        assert trend.days_to(20.0, 20.0) == trend.days_to(21.0, 20.0) == 0
        assert trend.days_to(10.0, math.inf) == math.inf
    assert compound.days_to(0.0, 20.0) == math.inf
    assert Trend("linear", 0.0, 0.0, 0.0).days_to(10.0, 20.0) == math.inf
