"""`published.csv`: what is read, what is refused, when a value agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import StudyError
from homenode.evidence.study.published import PublishedRow, read_published

HEADER = "case,metric,value,unit,role,reading,tolerance,why\n"


def rows(tmp_path: Path, *lines: str) -> list[PublishedRow]:
    path = tmp_path / "published.csv"
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return read_published(path)


def test_number_and_range(tmp_path: Path) -> None:
    one, two = rows(
        tmp_path,
        'a,physc,2.5,cores,validation,table 1,4%,"read, twice"',
        "a,ilcs_per_s,17..18,1/s,calibration,text,0%,",
    )
    assert (one.value, one.shown, one.why) == (2.5, "2.5", "read, twice")
    assert (two.low, two.high, two.value, two.shown) == (17, 18, 17.5, "17..18")


@pytest.mark.parametrize(
    ("tolerance", "agrees", "differs"),
    [
        ("10%", [9.0, 11.0, 13.2], [8.9, 13.3]),
        ("1", [9.0, 13.0], [8.9, 13.1]),
        ("x10", [1.0, 120.0], [0.9, 121.0]),
    ],
)
def test_tolerances_around_a_range(
    tolerance: str, agrees: list[float], differs: list[float], tmp_path: Path
) -> None:
    row = rows(tmp_path, f"a,physc,10..12,cores,validation,text,{tolerance},")[0]
    assert all(row.agrees(value) for value in agrees)
    assert not any(row.agrees(value) for value in differs)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a,physc,many,cores,validation,text,1,", "csv:2: value 'many' is neither"),
        ("a,physc,nan,cores,validation,text,1,", "csv:2: value 'nan' is neither"),
        ("a,physc,1,cores,validation,text,0..inf,", "csv:2: tolerance '0..inf' is neither"),
        ("a,physc,18..17,cores,validation,text,1,", "ends below its beginning"),
        ("a,physc,1,cores,validated,text,1,", "did you mean validation"),
        ("a,physc,1,cores,validation,text,about,", "tolerance 'about' is none of the forms"),
        ("a,physc,1,cores,validation,text,x10%,", "tolerance 'x10%' is none"),
        ("a,physc,0,cores,validation,text,x10,", "a factor needs a published value above 0"),
        ("a,physc,1,cores,validation,text,x0.5,", "must be at least 1"),
        ("a,physc,1,cores", "a row has 8 fields"),
        ("a,physc,1,cores,validation,text,1,x,y", "a row has 8 fields"),
    ],
)
def test_a_wrong_row_is_told_with_its_line(line: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=told):
        rows(tmp_path, line)


MARKED = "case,metric,value,unit,role,by_construction,reading,tolerance,why\n"


def marked(tmp_path: Path, *lines: str) -> list[PublishedRow]:
    path = tmp_path / "published.csv"
    path.write_text(MARKED + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return read_published(path)


def test_the_mark_of_rows_by_construction(tmp_path: Path) -> None:
    found = marked(
        tmp_path,
        "a,physc,1,cores,validation,yes,text,1,",
        "a,lbusy_pct,50,%,informed,yes,text,1,",
        "a,entc_pct,100,%,validation,,text,1,",
    )
    assert [(row.role, row.by_construction) for row in found] == [
        ("validation", True),
        ("informed", True),
        ("validation", False),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a,physc,1,cores,validation,no,text,1,", "csv:2: by_construction is yes or empty, not"),
        ("a,physc,1,cores,calibration,yes,text,1,", "csv:2: a calibration row is no evidence"),
        ("a,physc,1,cores,validation,yes,text,1", "a row has 9 fields"),
    ],
)
def test_a_wrong_mark_is_told_with_its_line(line: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=told):
        marked(tmp_path, line)


def test_a_figure_stands_once(tmp_path: Path) -> None:
    line = "a,physc,1,cores,validation,text,1,"
    with pytest.raises(StudyError, match="csv:3: a physc stands there twice"):
        rows(tmp_path, line, line)


def test_no_rows_or_other_columns(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="csv:1: there is no row below the header"):
        rows(tmp_path)
    path = tmp_path / "published.csv"
    path.write_text("case,value\na,1\n", encoding="utf-8")
    with pytest.raises(StudyError, match="csv:1: the columns must be case,metric"):
        read_published(path)
    with pytest.raises(StudyError, match="cannot be read"):
        read_published(tmp_path / "nowhere.csv")
