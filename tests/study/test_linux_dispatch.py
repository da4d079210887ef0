"""The study linux-dispatch as a whole: what is written down of it, which a run is held against."""

from __future__ import annotations

import pytest
from pages import recorded

from homenode.evidence.study import Standing, StudyResult

NAME = "linux-dispatch"


@pytest.fixture(scope="module")
def result() -> StudyResult:
    return recorded(NAME)


def test_what_is_fitted_is_met(result: StudyResult) -> None:
    assert [c.published.key for c in result.of(Standing.CALIBRATION) if not c.within] == []


def test_all_saturated_shares_are_within_a_point(result: StudyResult) -> None:
    shares = [
        c
        for c in result.comparisons
        if c.published.metric == "cpu_share_pct" and c.published.case[:2] not in ("b7", "b8")
    ]
    assert len(shares) == 7
    assert [c.published.key for c in shares if abs(c.deviation or 0.0) > 1.0] == []


def test_all_quotas_are_within_their_tolerance(result: StudyResult) -> None:
    capped = {"b4-a", "b5-a", "b9-a", "b9-b", "b11-a"}
    rows = [c for c in result.comparisons if c.published.metric == "physc"]
    assert {c.published.case for c in rows} >= capped
    assert all(c.within for c in rows if c.published.case in capped)
