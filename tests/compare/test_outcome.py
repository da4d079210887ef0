"""Gains, savings and their causes, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from homenode.evidence.compare.causes import CAUSES, by_cause
from homenode.evidence.compare.outcome import CaseResult, Pair, Side
from homenode.evidence.compare.simulate import Sample, Simulated, mean_response_ms
from homenode.evidence.compare.suite import Case, WorkClass


def side(units_per_s: float, **us: float) -> Side:
    return Side(units_per_s, sum(us.values()), us, cpi=2.0)


def result(*pairs: Pair) -> CaseResult:
    case = Case(name="one", title="one", cores=1, profile="oltp", workload={"kind": "warehouses"})
    group = WorkClass(name="group", title="group", source="made up", case=[case])
    return CaseResult(group, case, pairs)


SLOW, FAST = side(100.0, core=6.0, memory=4.0), side(125.0, core=5.0, memory=2.0, spin=1.0)


def test_gain_and_saving_of_a_closed_load() -> None:
    pair = Pair(SLOW, FAST, ratios=(1.25,), times=(0.8,))
    assert pair.gain_pct.mean == pytest.approx(25.0)
    assert pair.saving_pct.mean == pytest.approx(100 * (1 - 1 / 1.25))


def test_causes_add_up_to_the_saving() -> None:
    pair = Pair(SLOW, FAST, ratios=(1.25,), times=(0.8,))
    assert pair.saving_by_cause == pytest.approx({"core": 10.0, "memory": 20.0, "spin": -10.0})
    assert sum(pair.saving_by_cause.values()) == pytest.approx(pair.saving_pct.mean)


def test_responses_that_are_shorter() -> None:
    slow, fast = replace(SLOW, response_ms=4.0), replace(FAST, response_ms=3.0)
    half = replace(FAST, response_ms=2.0)
    pair = Pair(slow, fast, ratios=(1.25,), times=(0.8,))
    assert pair.response_saving_pct == pytest.approx(25.0)
    case = result(pair, Pair(slow, half, ratios=(1.25,), times=(0.8,)))
    assert case.response_saving_pct == pytest.approx(37.5)
    assert case.as_json()["response_saving_pct"] == pytest.approx(37.5)
    # Work without responses, or one load that has no steady state, tells none.
    assert Pair(SLOW, FAST, (1.25,), (0.8,)).response_saving_pct is None
    assert result(pair, replace(pair, reason="the queue grows")).response_saving_pct is None


def test_the_response_of_guests_together_weighs_each_with_its_units() -> None:
    one = Sample(3.0, 1.0, {}, 1.0, 1.0, response_ms=2.0)
    other = Sample(1.0, 1.0, {}, 1.0, 1.0, response_ms=6.0)
    assert mean_response_ms((one, other)) == pytest.approx(3.0)
    assert mean_response_ms((one, replace(other, response_ms=None))) is None


def test_a_case_is_the_mean_over_its_loads_replication_by_replication() -> None:
    one = Pair(SLOW, FAST, ratios=(1.2, 1.4), times=(0.8, 0.7), load=1)
    two = Pair(SLOW, FAST, ratios=(1.4, 1.2), times=(0.7, 0.8), load=2)
    case = result(one, two)
    assert case.gain_pct.mean == pytest.approx(30.0)
    assert case.gain_pct.ci95 == pytest.approx(0.0, abs=1e-9)
    assert case.ratio == pytest.approx(1.3)
    assert case.saving_pct.mean == pytest.approx(25.0)
    assert case.gain_range == pytest.approx((30.0, 30.0))
    assert result(one).gain_range is None


def test_without_a_steady_state_there_is_no_mean() -> None:
    steady = Pair(SLOW, FAST, ratios=(1.2,), times=(0.8,))
    case = result(steady, Pair(SLOW, FAST, (1.2,), (0.8,), reason="the queue grows"))
    assert case.gain_pct.mean is None
    assert case.saving_pct.reason == "the queue grows"
    assert case.ratio is None
    assert case.saving_by_cause == {}


def test_what_did_no_unit_has_no_causes() -> None:
    """The quotient of nothing by nothing is not asked for."""
    nothing = Pair(side(0.0), side(0.0), (), (), reason="no unit of work was done in the time")
    assert nothing.saving_by_cause == {}
    assert nothing.as_json()["saving_by_cause_points"] == {}


def test_guests_together_keep_the_order_of_causes() -> None:
    """So that the same question gets the same answer to the last byte."""
    backwards = dict.fromkeys(reversed(CAUSES), 1.0)
    samples = [Sample(1.0, len(some), some, 1.0, 1.0) for some in ({"spin": 1.0}, backwards)]
    whole = Simulated({"one": (samples[0],), "two": (samples[1],)}, None).whole[0]
    assert list(whole.by_cause) == list(CAUSES)
    assert whole.by_cause["spin"] == 2.0


def test_every_book_but_that_of_idle_guests_has_a_cause() -> None:
    from homenode.simulate.kept.books import CAUSES as BOOKS

    sorted_in = [book for books in CAUSES.values() for book in books]
    assert sorted(sorted_in) == sorted({b.name for b in BOOKS} - {"guest_idle"})
    assert by_cause({"useful": 2.0, "smt": 1.0, "l2": 0.0, "guest_idle": 9.0}) == {"core": 3.0}
