"""The studies of eighty logical processors as a whole: their pages say what comes out."""

from __future__ import annotations

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from pages import check_misses, check_shares

from homenode.evidence.study import StudyResult, run_study

STUDIES = ("zvm-80-memory-rich", "zvm-80-paging")


@pytest.fixture(scope="module", params=STUDIES)
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return run_study(request.param, out=tmp_path_factory.mktemp("runs"))


def test_the_page_lists_every_miss_and_no_other(result: StudyResult) -> None:
    check_misses(result)


def test_the_page_has_the_shares_of_both_roles(result: StudyResult) -> None:
    check_shares(result)


def test_what_is_fitted_is_met(result: StudyResult) -> None:
    fitted = {key for c in result.study.calibrations for key in c.rows}
    found = {c.published.key: c for c in result.comparisons if c.published.key in fitted}
    assert set(found) == fitted
    assert [key for key, c in found.items() if not c.within] == []


def test_only_one_set_rolls_off(result: StudyResult) -> None:
    bends = {
        c.published.case: c.simulated.mean
        for c in result.comparisons
        if c.published.metric == "roll_off_from"
    }
    if result.study.name == "zvm-80-memory-rich":
        assert [name for name, size in bends.items() if size] == ["l3-monolith"]


def test_unparking_small_frees_cores_and_lets_t_v_fall(result: StudyResult) -> None:
    values = {c.published.key: c.simulated.mean or 0.0 for c in result.comparisons}
    if result.study.name == "zvm-80-paging":
        assert values["small-80:unparked"] < 0.3 * values["large-80:unparked"]
        assert values["small-80-to-16:tv_ratio"] < 1.0 < values["large-80-to-16:tv_ratio"]
