"""Tables of the work that was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import HomenodeError
from homenode.records.calibrate.rates import Rate, read_rates


def written(folder: Path, text: str) -> Path:
    path = folder / "work.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_times_are_seconds_or_dates(tmp_path: Path) -> None:
    """In the order of time, whatever the order of lines and columns."""
    path = written(tmp_path, "\ufeffrate, time, cpi\n12.5,1970-01-01T00:01:00,\n\n7,30,2.5\n")
    assert read_rates(path) == (Rate(30.0, 7.0, 2.5), Rate(60.0, 12.5, None))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no times with rates"),
        ("time,rate\n", "no sample"),
        ("time,tps\n1,2\n", "no times with rates"),
        ("time,rate,load\n1,2,3\n", "a column load"),
        ("time,rate\n1,many\n", '"many" is no number'),
        ("time,rate\n1,-2\n", "a rate is 0 or more"),
        ("time,rate,cpi\n1,2,0\n", "a cpi more than 0"),
        ("time,rate\n1,nan\n", '"nan" is no number'),
        ("time,rate\nyesterday,2\n", '"yesterday" is no time'),
        ("time,rate\n1,2,3\n", "3 values under 2 headings"),
        ("time,rate,rate\n1,2,3\n", "a column twice"),
        (f"time,rate\n1,{'2' * 200_000}\n", "no row of a table"),
    ],
)
def test_what_is_no_such_table_is_refused(text: str, message: str, tmp_path: Path) -> None:
    """With the line, where there is one."""
    with pytest.raises(HomenodeError, match=message):
        read_rates(written(tmp_path, text))


def test_a_table_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    """One sentence each."""
    with pytest.raises(HomenodeError, match="there is no"):
        read_rates(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00time")
    with pytest.raises(HomenodeError, match="cannot be read as text"):
        read_rates(tmp_path / "bytes.csv")
    with pytest.raises(HomenodeError, match="cannot be read"):
        read_rates(tmp_path)
