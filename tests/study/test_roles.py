"""What published rows are worth: no row turns back into evidence, and each page says why."""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path

import pytest
from pages import page, recorded

from homenode.evidence.study import Standing, list_studies, load_study
from homenode.evidence.study.published import PublishedRow

SEEN = Path(__file__).parent / "seen.csv"
"""Rows that are no validation: fitted to, seen before a choice, or by construction. New ones are
added at the end.
"""
FIRST = 1175
"""Lines of the list, its head included, that no change may touch; raise it when the list grows."""
DIGEST = "a2e60e25a4e626f13df7d36887e09cb32fa20be2d68c36fa8e1b977060afa711"
"""SHA-256 of these lines."""

READ_ANEW = {("aix-micro-partitioning", "vcsw_per_s"): "vcsw"}
"""Metrics whose figures were read anew: the rows stay, under what they are. A count of an interval
had been taken for a rate."""


def seen() -> dict[tuple[str, str], dict[str, str]]:
    """The listed rows by study and key."""
    found = {}
    for row in csv.DictReader(SEEN.read_text(encoding="utf-8").splitlines(), strict=True):
        metric = READ_ANEW.get((row["study"], row["metric"]), row["metric"])
        found[row["study"], f"{row['case']}:{metric}"] = row
    return found


def published() -> dict[tuple[str, str], PublishedRow]:
    """All rows of all studies."""
    studies = [load_study(name) for name in list_studies()]
    return {(study.name, row.key): row for study in studies for row in study.published}


def test_the_list_only_grows() -> None:
    lines = SEEN.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) >= FIRST, "a row has left the list"
    assert hashlib.sha256("".join(lines[:FIRST]).encode()).hexdigest() == DIGEST


def test_no_listed_row_is_validation_again() -> None:
    rows = published()
    for key, kept in seen().items():
        assert key in rows, f"{key} is gone: a row that was seen stays in its study"
        row = rows[key]
        if kept["role"] != "validation":
            assert row.role != "validation", f"{key} was {kept['role']}"
        assert row.role != "validation" or row.by_construction, f"{key} was by construction"


def test_every_row_that_is_no_validation_is_listed() -> None:
    rows = {
        key for key, row in published().items() if row.role != "validation" or row.by_construction
    }
    assert rows - set(seen()) == set(), "add them at the end of tests/study/seen.csv"


@pytest.mark.parametrize("name", list_studies())
def test_the_page_says_for_each_standing_why_its_rows_have_it(name: str) -> None:
    part = page(name).split("## What the rows are worth", 1)[1].split("\n## ", 1)[0]
    told = {
        words.lower().replace(" ", "_"): int(count)
        for words, count in re.findall(r"^- \*\*([A-Z][a-z ]+)\*\* \((\d+)\)", part, re.MULTILINE)
    }
    result = recorded(name)
    assert told == {one.value: len(rows) for one in Standing if (rows := result.of(one))}
    if "validation" not in told:
        assert "No row of this study is unseen." in part


@pytest.mark.parametrize("name", list_studies())
def test_what_repeats_a_fitted_figure_is_by_construction(name: str) -> None:
    """A row that is near and comes out as a calibration row of its metric does, with its interval,
    to all written digits. One that is missed is no evidence either way.
    """
    result = recorded(name)
    fitted = {(c.published.metric, c.simulated) for c in result.of(Standing.CALIBRATION)}
    repeated = [
        c.published.key
        for standing in (Standing.VALIDATION, Standing.INFORMED)
        for c in result.of(standing)
        if c.within and (c.published.metric, c.simulated) in fitted
    ]
    assert repeated == []
