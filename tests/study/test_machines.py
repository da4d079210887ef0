"""A study that holds two machines against each other, with the compiled engine on short cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode.cli.study import show_study
from homenode.errors import StudyError
from homenode.evidence.study import calibrate_study, load_study, run_study
from homenode.evidence.study.deviation import Comparison, point_errors
from homenode.evidence.study.published import PublishedRow, Tolerance, ToleranceKind
from homenode.model.estimate import Estimate

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

STUDY = """\
title = "two generations"
source = "made up"
claim = "the newer one is faster"

[comparison]
suite = "linux"
base = "ibm-z196"
machine = "ibm-zec12"

[[comparison.case]]
name = "suites"
of = ["integer-suite", "float-suite"]

[[comparison.not_modelled]]
rows = ["float-suite:watts_gain_pct"]
why = "power is not modelled"

[[calibrate]]
name = "core"
parameter = "machine.core_rate"
rows = ["integer-suite:throughput_gain_pct"]
bounds = [0.8, 2.0]
"""
HEADER = "case,metric,value,unit,role,reading,tolerance,why\n"
PUBLISHED = """\
integer-suite,throughput_gain_pct,40,%,calibration,text,10,
float-suite,saving_pct,10..30,%,validation,text,10,
float-suite,watts_gain_pct,7,%,validation,text,10,
suites,throughput_gain_pct,300,%,validation,text,10,too good to be true
"""


@pytest.fixture
def root(files: Callable[[str, str], Path]) -> Path:
    files("studies/gen/study.toml", STUDY)
    files("studies/gen/published.csv", HEADER + PUBLISHED)
    return Path("studies")


def test_rows_errors_and_what_is_not_modelled(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run_study(load_study("gen", root))
    told = json.loads(json.dumps(result.as_json()))
    assert [row["simulated"] is None for row in told["rows"]] == [False, False, True, False]
    assert told["not_modelled"] == ["float-suite:watts_gain_pct"]
    points = told["points"]["validation"]
    assert (points["rows"], points["within"]) == (2, 1)
    assert points["worst_row"] == "suites:throughput_gain_pct"
    show_study(result)
    out = " ".join(capsys.readouterr().out.split())
    assert "validation: 1 of 2 rows within tolerance, null model 0; mean absolute error" in out
    assert "not modelled: power is not modelled" in out
    assert "mean absolute error of all" not in out


def test_a_core_is_fitted_to_its_row_and_to_no_other(root: Path) -> None:
    result = calibrate_study(load_study("gen", root))
    [fitted] = result.fitted
    assert fitted.found > fitted.in_files > 0.8
    [row] = result.comparisons
    assert row.simulated.mean == pytest.approx(40, abs=0.5)


def test_points_by_hand() -> None:
    def row(low: float, high: float, simulated: float | None) -> Comparison:
        tolerance = Tolerance(ToleranceKind.ABSOLUTE, 10.0)
        published = PublishedRow("a", "m", low, high, "%", "validation", "text", tolerance, "")
        return Comparison(published, Estimate(simulated))

    errors = point_errors([row(20, 30, 40), row(20, 30, 40.1), row(5, 5, -5), row(1, 1, None)])
    assert (errors.rows, errors.within) == (4, 2)
    assert errors.mean == pytest.approx((15 + 15.1 + 10) / 3)
    assert errors.worst == pytest.approx(15.1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'base = "ibm-z196"\n',
            "",
            "5:2: comparison: base is missing: name the machine that is compared with",
        ),
        (
            'base = "ibm-z196"',
            'base = "ibm-z1966"',
            '7:8: comparison.base = "ibm-z1966": there is no such machine; did you mean ibm-z196?',
        ),
        (
            'suite = "linux"',
            'suite = "linnux"',
            '6:9: comparison.suite = "linnux": there is no suite linnux; did you mean linux?',
        ),
        (
            'suite = "linux"',
            "suite = 7",
            "6:9: comparison.suite = 7: text in quotes is needed here",
        ),
        (
            '"float-suite"]',
            '"flat-suite"]',
            (
                '12:24: comparison.case suites.of[1] = "flat-suite": there is no such case in '
                "suite linux; did you mean float-suite?"
            ),
        ),
        (
            'name = "suites"',
            'name = "float-suite"',
            (
                '11:8: comparison.case float-suite.name = "float-suite": a case of this name '
                "stands there already, or is one of the suite; give it another name"
            ),
        ),
        (
            "watts_gain_pct",
            "wats_gain_pct",
            (
                '15:9: comparison.not_modelled[0].rows[0] = "float-suite:wats_gain_pct": there '
                "is no such row in published.csv; did you mean float-suite:watts_gain_pct?"
            ),
        ),
        (
            "why =",
            "because =",
            (
                "14:3: comparison.not_modelled[0]: why is missing: say what is missing\n"
                'studies/gen/study.toml:16:1: comparison.not_modelled[0]: unknown key "because": '
                "the keys here are rows, why"
            ),
        ),
        (
            'parameter = "machine.',
            'parameter = "maschine.',
            (
                '20:13: calibrate core: parameter = "maschine.core_rate": it begins neither with '
                "base. nor with machine."
            ),
        ),
        (
            "[comparison]",
            "[[explain]]\n[comparison]",
            "5:3: explain does not stand beside [comparison]: leave one of them out",
        ),
    ],
)
def test_what_is_wrong_is_told(old: str, new: str, told: str, root: Path) -> None:
    path = root / "gen" / "study.toml"
    path.write_text(STUDY.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(StudyError) as error:
        load_study("gen", root)
    assert str(error.value) == f"studies/gen/study.toml:{told}"


def test_a_metric_that_no_comparison_has_is_told_with_its_line(root: Path) -> None:
    path = root / "gen" / "published.csv"
    path.write_text(HEADER + PUBLISHED.replace(",saving_pct,", ",savings_pct,"), encoding="utf-8")
    with pytest.raises(StudyError) as error:
        load_study("gen", root)
    assert str(error.value) == (
        "studies/gen/published.csv:3: row float-suite:savings_pct: a comparison has no metric "
        "savings_pct; did you mean saving_pct?"
    )
