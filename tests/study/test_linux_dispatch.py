"""The study linux-dispatch as a whole: its page says what comes out."""

from __future__ import annotations

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from pages import check_misses, check_shares

from homenode.evidence.study import StudyResult, run_study

NAME = "linux-dispatch"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return run_study(NAME, out=tmp_path_factory.mktemp("runs"))


def test_the_page_lists_every_miss_and_no_other(result: StudyResult) -> None:
    check_misses(result)


def test_the_page_has_the_shares_of_both_roles(result: StudyResult) -> None:
    check_shares(result)


def test_what_is_fitted_is_met(result: StudyResult) -> None:
    assert [c.published.key for c in result.of_role("calibration") if not c.within] == []


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
