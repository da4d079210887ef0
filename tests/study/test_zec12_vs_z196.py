"""The study zec12-vs-z196 as a whole: what is fitted stays so, its page says what comes out."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.evidence.study import Study, StudyResult, calibrate, load_study, run_study


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("zec12-vs-z196")


@pytest.fixture(scope="module")
def result(study: Study) -> StudyResult:
    return run_study(study)


def test_the_files_hold_what_the_calibration_finds(study: Study) -> None:
    found = calibrate(study)
    assert [fitted.calibration.name for fitted in found.fitted] == [
        "core of zEC12",
        "L3 to core of z196",
    ]
    assert all(abs(fitted.change_pct) < 1 for fitted in found.fitted)


def test_every_row_is_simulated_or_listed_as_not_modelled(result: StudyResult) -> None:
    left_out = {comparison.published.key for comparison in result.not_modelled}
    for comparison in result.comparisons:
        has_value = comparison.simulated.mean is not None
        assert has_value != (comparison.published.key in left_out), comparison.published.key


def test_every_missed_row_says_why(result: StudyResult) -> None:
    left_out = {id(comparison) for comparison in result.not_modelled}
    silent = [
        c.published.key for c in result.misses if id(c) not in left_out and not c.published.why
    ]
    assert silent == []


def test_the_page_says_what_comes_out(study: Study, result: StudyResult) -> None:
    page = (study.folder / "README.md").read_text(encoding="utf-8")
    points = result.points("validation")
    assert points is not None
    told = re.search(r"\*\*(\d+) of (\d+) rows .*?error is (\d+\.\d) points", page, re.DOTALL)
    assert told is not None
    assert told.groups() == (str(points.within), str(points.rows), f"{points.mean:.1f}")
    assert f"{len(result.not_modelled)} rows stand in published.csv" in page
