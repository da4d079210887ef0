"""The studies of eighty logical processors as a whole: their pages say what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.study import StudyResult, load_study, run_study

STUDIES = ("zvm-80-memory-rich", "zvm-80-paging")
_BULLET = re.compile(r"^- `([^`]+)`: (.+)$", re.MULTILINE)


@pytest.fixture(scope="module", params=STUDIES)
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return run_study(request.param, out=tmp_path_factory.mktemp("runs"))


def page(name: str) -> str:
    return Path(load_study(name).folder / "README.md").read_text(encoding="utf-8")


def test_the_page_lists_every_miss_and_no_other(result: StudyResult) -> None:
    told = page(result.study.name).split("## Missed", 1)[1]
    listed = {
        f"{case}:{metric.strip()}"
        for case, metrics in _BULLET.findall(told)
        for metric in metrics.split(",")
    }
    assert {c.published.key for c in result.misses} == listed


def test_the_page_has_the_shares_of_both_roles(result: StudyResult) -> None:
    text = page(result.study.name)
    for role in ("calibration", "validation"):
        rows = result.of_role(role)
        inside = sum(row.within for row in rows)
        assert f"{inside} of {len(rows)}" in text, role


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
