"""The study z14-caf: every published digit follows; what is wrong in such a study is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.cli import call
from homenode.errors import StudyError
from homenode.study import load_study, run_study

STUDY = """\
title = "parts"
source = "made up"
claim = "small ones are worth more"

[capacity]
table = "z14"
base = 16

[[capacity.case]]
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
    assert len(result.comparisons) == 13
    assert not result.misses
    text = (study.folder / "published.csv").read_text(encoding="utf-8").splitlines()[1:]
    printed = [line.split(",")[2] for line in text]
    for comparison, digits in zip(result.comparisons, printed, strict=True):
        decimals = len(digits.partition(".")[2])
        assert f"{comparison.simulated.mean:.{decimals}f}" == digits
        assert comparison.published.role == "validation"
        assert comparison.published.tolerance.amount == 0.5 * 10**-decimals
    assert result.runs == {}


def test_the_page_says_what_comes_out() -> None:
    study = load_study("z14-caf")
    page = (study.folder / "README.md").read_text(encoding="utf-8")
    result = run_study(study)
    count = len(result.comparisons)
    assert f"**{count - len(result.misses)} of {count} rows are exact" in page


def test_a_figure_that_does_not_follow_is_missed(folder: Path) -> None:
    result = run_study(load_study("mine", written(folder)))
    assert [row.published.key for row in result.misses] == ["pair:capability_ratio"]
    assert result.misses[0].simulated.mean == pytest.approx(49.76 / 11.536)


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["study", "z14-caf"]) == 0
    out = capsys.readouterr().out
    assert "validation: 13 of 13 rows within tolerance" in out
    assert "No row is missed." in out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "processors = 40",
            "processors = 44",
            (
                "[capacity]: case pair: table z14 has no factor for 44 processors: the nearest "
                "points are 40 and 48; name one of them, or ask for the line between them with "
                "--interpolate"
            ),
        ),
        (
            "base = 16",
            "base = 0",
            (
                "[capacity], base: a partition of 0 processors has no capability: ask for 1 "
                "processor or more"
            ),
        ),
        ("partitions = 2", "partitions = 0", "[capacity]: case pair needs 1 partition or more"),
        (
            "partitions",
            "partition",
            ("[capacity], [[capacity.case]]: unknown key partition; did you mean partitions?"),
        ),
        ("base = 16\n", "", "[capacity]: base is missing"),
    ],
)
def test_what_is_wrong_is_told(old: str, new: str, told: str, folder: Path) -> None:
    root = written(folder, STUDY.replace(old, new, 1))
    with pytest.raises(StudyError) as error:
        load_study("mine", root)
    assert str(error.value) == f"{root / 'mine' / 'study.toml'}, {told}"


def test_a_doubled_case_a_strange_metric_and_a_scenario_are_refused(folder: Path) -> None:
    case = STUDY.split("[[capacity.case]]")[1]
    root = written(folder, STUDY + "[[capacity.case]]" + case)
    path = root / "mine" / "study.toml"
    with pytest.raises(StudyError, match="case pair stands there twice"):
        load_study("mine", root)
    path.write_text(STUDY + '[[ratio]]\nname = "x"\n', encoding="utf-8")
    with pytest.raises(StudyError, match="unknown key ratio"):
        load_study("mine", root)
    path.write_text(STUDY, encoding="utf-8")
    rows = PUBLISHED.replace("pair,capability,", "pair,capabilty,")
    (root / "mine" / "published.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(StudyError, match="has no metric capabilty; did you mean capability"):
        load_study("mine", root)
