"""The rule that finds a bend, and the curve it is held against, by hand-computed values."""

from __future__ import annotations

import pytest

from homenode.errors import HomenodeError
from homenode.evidence.capability import capability_of
from homenode.evidence.scaling.capability import BETWEEN, PREDICTED, PRINTED, how
from homenode.model.scaling_curve import FRACTION, Point, first_bend, itr_ratios, steps


def points(*itr_and_capability: tuple[float, float]) -> list[Point]:
    return [Point(10 * (i + 1), itr, c) for i, (itr, c) in enumerate(itr_and_capability)]


def test_a_step_is_told_in_units_of_the_smallest() -> None:
    one, two = steps(points((100.0, 8.0), (180.0, 16.0), (220.0, 20.0)))
    assert (one.gain, one.offered, one.fraction) == pytest.approx((0.8, 1.0, 0.8))
    assert (two.gain, two.offered, two.fraction) == pytest.approx((0.4, 0.5, 0.8))
    assert itr_ratios(points((50.0, 1.0), (75.0, 2.0))) == [1.0, 1.5]


def test_the_first_step_below_the_fraction_bends() -> None:
    set_ = points((100.0, 10.0), (200.0, 20.0), (200.0 + 100 * FRACTION - 1, 30.0), (275.0, 40.0))
    bend = first_bend(set_)
    assert bend is not None
    assert (bend.start.processors, bend.end.processors) == (20, 30)


def test_a_step_at_the_fraction_is_gradual() -> None:
    assert first_bend(points((64.0, 8.0), (64.0 * (1 + FRACTION), 16.0))) is None


def test_more_than_the_capability_offers_is_no_bend() -> None:
    assert first_bend(points((1.0, 1.0), (2.5, 2.0), (4.5, 3.0))) is None


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (points((1.0, 1.0)), "needs two sizes or more"),
        (points((1.0, 2.0), (2.0, 2.0)), "20 processors after 10 offer"),
        ([Point(20, 1.0, 1.0), Point(10, 2.0, 2.0)], "10 processors after 20 offer"),
    ],
)
def test_a_curve_that_does_not_rise_is_refused(found: list[Point], told: str) -> None:
    with pytest.raises(HomenodeError, match=told):
        steps(found)


def test_how_the_capability_of_a_size_was_come_by() -> None:
    curve = capability_of("ibm-z14")
    assert [how(curve, n) for n in (16, 19, 95)] == [PRINTED, BETWEEN, PREDICTED]
