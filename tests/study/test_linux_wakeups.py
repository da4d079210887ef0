"""The study linux-wakeups as a whole: what is written down of it, which a run is held against."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from pages import recorded

from homenode.evidence.study import Standing, StudyResult, load_study
from homenode.evidence.study.evaluate import run_cases

NAME = "linux-wakeups"
PACED = ("p500", "p1500", "p3000", "p4500")


@pytest.fixture(scope="module")
def result() -> StudyResult:
    return recorded(NAME)


def simulated(result: StudyResult, case: str, metric: str = "cpu_per_tx_us") -> float:
    values = {c.published.key: c.simulated.mean for c in result.comparisons}
    value = values[f"{case}:{metric}"]
    assert value is not None
    return value


def test_what_is_fitted_is_met(result: StudyResult) -> None:
    assert [c.published.key for c in result.of(Standing.CALIBRATION) if not c.within] == []


def test_clients_that_think_ask_at_the_recorded_rate(tmp_path: Path) -> None:
    runs = run_cases(load_study(NAME), PACED, {}, None, None, tmp_path)
    for case, run in runs.items():
        found = run.metric("a", "etr_per_s").mean
        assert found == pytest.approx(float(case[1:]), rel=0.06), case


def test_a_transaction_is_the_dearer_the_less_there_is_to_do(result: StudyResult) -> None:
    costs = [simulated(result, case) for case in (*PACED, "c2")]
    assert costs == sorted(costs, reverse=True)


def test_a_second_processor_more_than_doubles_what_eight_clients_get(result: StudyResult) -> None:
    two, one = (simulated(result, case, "etr_per_s") for case in ("c8", "c8-one"))
    assert two > 2.0 * one
