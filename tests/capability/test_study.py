"""The study z14-caf: every published digit follows; what is wrong in such a study is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.cli import call
from homenode.errors import StudyError
from homenode.evidence.study import (
    Standing,
    StudyResult,
    calibrate_study,
    load_study,
    run_study,
)

STUDY = """\
title = "parts"
source = "made up"
claim = "small ones are worth more"

[capability]
table = "z14"
base = 16

[[capability.case]]
name = "pair"
processors = 40
partitions = 2
"""
PUBLISHED = """\
case,metric,value,unit,role,reading,tolerance,why
pair,capability,49.76,processors,validation,text,0.005,
pair,capability_ratio,5,,validation,text,0.005,
"""


def written(folder: Path, study: str = STUDY, published: str = PUBLISHED) -> Path:
    (folder / "mine").mkdir()
    (folder / "mine" / "study.toml").write_text(study, encoding="utf-8")
    (folder / "mine" / "published.csv").write_text(published, encoding="utf-8")
    return folder


def test_every_published_digit_follows() -> None:
    study = load_study("z14-caf")
    result = run_study(study)
    exact = [row for row in result.comparisons if "x" in row.published.case]
    assert len(exact) == 13
    assert not [row for row in exact if row in result.misses]
    text = (study.folder / "published.csv").read_text(encoding="utf-8").splitlines()[1:14]
    printed = [line.split(",")[2] for line in text]
    for comparison, digits in zip(exact, printed, strict=True):
        decimals = len(digits.partition(".")[2])
        assert f"{comparison.simulated.mean:.{decimals}f}" == digits
        assert comparison.published.by_construction
        assert comparison.published.tolerance.amount == 0.5 * 10**-decimals
    assert result.runs == {}


def test_the_page_says_what_comes_out() -> None:
    study = load_study("z14-caf")
    page = (study.folder / "README.md").read_text(encoding="utf-8")
    result = run_study(study)
    exact = [row for row in result.comparisons if "x" in row.published.case]
    assert f"**{len(exact)} of {len(exact)} rows are exact" in page
    assert "70 calibration rows" in page
    assert len(result.of(Standing.CALIBRATION)) == 70


def test_where_the_other_machine_s_table_has_a_size_it_does_as_well() -> None:
    """What the page admits: the z196's own factors, the null model, pass where there are any."""
    result = run_study(load_study("z14-caf"))
    rows = [*result.of(Standing.VALIDATION), *result.of(Standing.INFORMED)]
    answers = {row.published.case: result.null_answer(row) for row in rows}
    beyond = {case for case, answer in answers.items() if answer is None}
    assert beyond == {"z14-80", "z14-19-76", "z14-19-95"}
    assert all(row.published.agrees(answers[row.published.case] or 0.0) for row in rows
               if row.published.case not in beyond)  # fmt: skip


def _errors(result: StudyResult, *standings: Standing) -> list[float]:
    """Of the predicted rows of these standings."""
    return [abs(row.deviation_pct or 0.0) for one in standings for row in result.of(one)]


def test_the_factors_are_predicted() -> None:
    result = run_study(load_study("z14-caf"))
    predicted = _errors(result, Standing.VALIDATION, Standing.INFORMED)
    assert max(predicted) < 4.0
    assert sum(predicted) / len(predicted) < 3.0
    assert len(predicted) == 11
    assert max(_errors(result, Standing.CALIBRATION)) < 2.8
    rise = next(row for row in result.comparisons if row.published.metric == "marginal_ratio")
    assert rise.published.case == "z196-16-20"
    assert (rise.simulated.mean or 0.0) > 1.0


def test_nothing_is_fitted_to_validation_rows() -> None:
    study = load_study("z14-caf")
    keys = {row.key for row in study.rows("calibration")}
    assert len(keys) == 70
    assert {key for key in keys if key.startswith("z14")} == {"z14-2:caf", "z14-16:caf"}
    for calibration in study.calibrations:
        assert set(calibration.rows) == keys
        assert calibration.parameter.startswith("profile.")


@pytest.mark.slow("a search over 70 rows from the middle of all bounds")
def test_the_fit_is_found_again() -> None:
    """From the middle of the bounds the search comes to what the files hold, inside of them."""
    result = calibrate_study("z14-caf")
    assert len(result.comparisons) == 70
    assert [fitted.calibration.parameter.removeprefix("profile.") for fitted in result.fitted] == [
        "miss_m0",
        "sharing",
    ]
    for fitted in result.fitted:
        bounds = fitted.calibration
        assert 1.01 * bounds.low < fitted.found < 0.99 * bounds.high
        assert fitted.in_files == pytest.approx(fitted.found, rel=2e-3)


def test_a_figure_that_does_not_follow_is_missed(folder: Path) -> None:
    result = run_study(load_study("mine", written(folder)))
    assert [row.published.key for row in result.misses] == ["pair:capability_ratio"]
    assert result.misses[0].simulated.mean == pytest.approx(49.76 / 11.536)


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["study", "z14-caf"]) == 0
    out = capsys.readouterr().out
    assert "calibration: 70 of 70 rows within tolerance" in out
    assert "informed: 11 of 11 rows within tolerance, null model 8" in out
    assert "by construction: 16 rows, 16 within; no evidence" in out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'table = "z14"',
            'table = "z41"',
            (
                '6:9: capability.table = "z41": no table of capability factors is called z41; '
                "did you mean z14? there are z14, z196; for one of your own name a file, such as "
                "mine.toml"
            ),
        ),
        (
            "processors = 40",
            "processors = 44",
            (
                "11:14: capability.case pair.processors = 44: table z14 has no factor for 44 "
                "processors: the nearest points are 40 and 48; name one of them, or ask for the "
                "line between them with --interpolate"
            ),
        ),
        (
            "processors = 40",
            'processors = "40"',
            '11:14: capability.case pair.processors = "40": a whole number is needed here',
        ),
        (
            "base = 16",
            "base = 0",
            (
                "7:8: capability.base = 0: a partition of 0 processors has no capability: ask "
                "for 1 processor or more"
            ),
        ),
        (
            "base = 16\n",
            "",
            "5:2: capability: base is missing; write the processors that ratios are told by",
        ),
        (
            "partitions = 2",
            "partitions = 0",
            "12:14: capability.case pair.partitions = 0: at least 1 is possible",
        ),
        (
            "partitions",
            "partition",
            '12:1: capability.case pair: unknown key "partition": did you mean partitions?',
        ),
        (
            "[capability]",
            "[[ratio]]\n[capability]",
            "5:3: ratio does not stand beside [capability]: leave one of them out",
        ),
    ],
)
def test_what_is_wrong_is_told(old: str, new: str, told: str, folder: Path) -> None:
    root = written(folder, STUDY.replace(old, new, 1))
    with pytest.raises(StudyError) as error:
        load_study("mine", root)
    assert str(error.value) == f"{root / 'mine' / 'study.toml'}:{told}"


def test_a_doubled_case_and_a_strange_metric_are_refused(folder: Path) -> None:
    case = STUDY.split("[[capability.case]]")[1]
    root = written(folder, STUDY + "[[capability.case]]" + case)
    path = root / "mine" / "study.toml"
    with pytest.raises(StudyError, match=r"toml:14:8: .* pair stands there twice"):
        load_study("mine", root)
    path.write_text(STUDY, encoding="utf-8")
    rows = PUBLISHED.replace("pair,capability,", "pair,capabilty,")
    (root / "mine" / "published.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(StudyError, match=r"csv:2: .* no metric capabilty; did you mean capability"):
        load_study("mine", root)


PREDICTED = """
[[capability.prediction]]
name = "z10"
machine = "ibm-z10"
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("ibm-z10", "ibm-z11", 'prediction z10: no machine is called "ibm-z11"'),
        ("machine =", "model =", '16:1: capability.prediction z10: unknown key "model"'),
        (
            PREDICTED,
            2 * PREDICTED,
            '19:8: capability.prediction z10.name = "z10": z10 stands there twice',
        ),
        ("z10-4,caf", "z10-4,coff", "a prediction of one size has no metric coff"),
        ("z10-4,caf", "z10-2-4,caf", "a prediction of two sizes has no metric caf"),
        ("z10-4,caf", "z10-99,caf", "row z10-99:caf: ibm-z10 has 1 to 80 cores"),
        (
            "z10-4,caf",
            "z10-x,caf",
            "csv:4: row z10-x:caf: study.toml has no case z10-x; there is pair",
        ),
        ("pair,capability,49.76", "pair,caf,49.76", "a table of factors has no metric caf"),
    ],
)
def test_what_is_wrong_in_a_prediction_is_told(old: str, new: str, told: str, folder: Path) -> None:
    rows = PUBLISHED + "z10-4,caf,0.9,,validation,made up,5%,\n"
    texts = [text.replace(old, new) for text in (STUDY + PREDICTED, rows)]
    assert texts != [STUDY + PREDICTED, rows]
    root = written(folder, *texts)
    with pytest.raises(StudyError) as error:
        load_study("mine", root)
    assert told in str(error.value)


def test_a_parameter_of_no_machine_of_the_study_is_refused(folder: Path) -> None:
    calibrate_it = """
[[calibrate]]
name = "misses"
parameter = "ibm-z13.core_rate"
rows = ["z10-*:caf"]
bounds = [0.01, 0.1]
"""
    rows = PUBLISHED + "z10-4,caf,0.9,,calibration,made up,5%,\n"
    root = written(folder, STUDY + PREDICTED + calibrate_it, rows)
    with pytest.raises(StudyError) as error:
        load_study("mine", root)
    assert str(error.value) == (
        f"{root / 'mine' / 'study.toml'}:20:13: calibrate misses: parameter = "
        '"ibm-z13.core_rate": it begins with none of profile, burst_ns, ibm-z10'
    )


def test_a_pattern_that_no_calibration_row_has_is_refused(folder: Path) -> None:
    calibrate_it = """
[[calibrate]]
name = "misses"
parameter = "profile.miss_m0"
rows = ["z11-*:caf"]
bounds = [0.01, 0.1]
"""
    root = written(folder, STUDY + PREDICTED + calibrate_it)
    with pytest.raises(StudyError, match=r"rows\[0\] = .z11-\*:caf.: there is no such"):
        load_study("mine", root)
