"""The studies of eighty logical processors as a whole: what is written down of them, which a run is
held against.
"""

from __future__ import annotations

import pytest
from pages import recorded

from homenode.evidence.study import StudyResult

STUDIES = ("zvm-80-memory-rich", "zvm-80-paging")


@pytest.fixture(scope="module", params=STUDIES)
def result(request: pytest.FixtureRequest) -> StudyResult:
    return recorded(request.param)


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
