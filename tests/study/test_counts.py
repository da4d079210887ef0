"""Rows of the table, of --json and the counts of either say the same, in every study."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from pages import recorded

from homenode.cli.study import show_study, show_summary
from homenode.evidence.study import Standing, list_studies


def standing(row: dict[str, Any]) -> str:
    """What a row of --json counts as, by its marks."""
    if row["not_modelled"] is not None:
        return "not_modelled"
    return "by_construction" if row["by_construction"] else str(row["role"])


def agrees(row: dict[str, Any], value: float | None) -> bool:
    low, high = row["agrees"]
    return value is not None and low <= value <= high


@pytest.fixture(params=list_studies())
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(recorded(request.param).as_json()))
    return found


def test_the_counts_are_those_of_the_rows(told: dict[str, Any]) -> None:
    assert set(told["counts"]) == {one.value for one in Standing}
    for name, count in told["counts"].items():
        rows = [row for row in told["rows"] if standing(row) == name]
        assert count["rows"] == len(rows)
        assert count["within"] == sum(row["within"] for row in rows)
        judged = name in ("validation", "informed")
        assert count["null_within"] == (sum(r["null_within"] for r in rows) if judged else None)


def test_within_and_the_null_model_follow_from_what_is_printed(told: dict[str, Any]) -> None:
    for row in told["rows"]:
        assert row["within"] == agrees(row, row["simulated"]), row
        asked = standing(row) in ("validation", "informed")
        assert row["null_within"] == (agrees(row, row["null"]) if asked else None), row


def test_the_table_says_the_same(
    told: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    show_study(recorded(told["study"]))
    out = capsys.readouterr().out
    table = out.split("\n\n", 1)[0].splitlines()[2:]
    shown = Counter(tuple(re.split(r"\s{2,}", line.strip())[-2:]) for line in table)
    words = {"by_construction": "constructed", "not_modelled": "-"}
    verdicts = {True: "yes", False: "no"}
    assert shown == Counter(
        (
            words.get(standing(row), standing(row)),
            verdicts[row["within"]] if row["not_modelled"] is None else "not modelled",
        )
        for row in told["rows"]
    )
    for name in ("calibration", "informed", "validation"):
        count = told["counts"][name]
        line = f"{name}: {count['within']} of {count['rows']} rows within tolerance"
        assert (line in out) == (count["rows"] > 0), name


def test_the_summary_fits_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    results = [recorded(name) for name in list_studies()]
    show_summary(results)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    for result in results:
        [line] = [line for line in lines if line.startswith(result.study.name)]
        assert "…" not in line
        for one in (Standing.VALIDATION, Standing.INFORMED, Standing.BY_CONSTRUCTION):
            count = result.count(one)
            assert (f" {count.within}/{count.rows}" in line) == (count.rows > 0), line
