"""The study linux-wakeups as a whole: its page says what comes out."""

from __future__ import annotations

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from pages import check_misses, check_shares

from homenode.evidence.study import StudyResult, run_study

NAME = "linux-wakeups"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return run_study(NAME, out=tmp_path_factory.mktemp("runs"))


def simulated(result: StudyResult, case: str, metric: str = "cpu_per_tx_us") -> float:
    value = result.runs[case].metric("a", metric).mean
    assert value is not None
    return value


def test_the_page_lists_every_miss_and_no_other(result: StudyResult) -> None:
    check_misses(result)


def test_the_page_has_the_shares_of_both_roles(result: StudyResult) -> None:
    check_shares(result)


def test_what_is_fitted_is_met(result: StudyResult) -> None:
    assert [c.published.key for c in result.of_role("calibration") if not c.within] == []


def test_clients_that_think_ask_at_the_recorded_rate(result: StudyResult) -> None:
    for case in ("p500", "p1500", "p3000", "p4500"):
        rate = float(case[1:])
        assert simulated(result, case, "etr_per_s") == pytest.approx(rate, rel=0.06)


def test_a_transaction_is_the_dearer_the_less_there_is_to_do(result: StudyResult) -> None:
    costs = [simulated(result, case) for case in ("p500", "p1500", "p3000", "p4500", "c2")]
    assert costs == sorted(costs, reverse=True)


def test_a_second_processor_more_than_doubles_what_eight_clients_get(result: StudyResult) -> None:
    two, one = (simulated(result, case, "etr_per_s") for case in ("c8", "c8-one"))
    assert two > 2.0 * one
