"""What a study's page says of its own results, and that it is so."""

from __future__ import annotations

import re
from pathlib import Path

from homenode.evidence.study import StudyResult, load_study

_BULLET = re.compile(r"^- `([^`]+)`: (.+)$", re.MULTILINE)


def page(name: str) -> str:
    """A study's README."""
    return Path(load_study(name).folder / "README.md").read_text(encoding="utf-8")


def check_misses(result: StudyResult) -> None:
    """The page lists every row that is missed, and no other."""
    told = page(result.study.name).split("## Missed", 1)[1].split("## Not used", 1)[0]
    listed = {
        f"{case}:{metric.strip()}"
        for case, metrics in _BULLET.findall(told)
        for metric in metrics.split(",")
    }
    assert {c.published.key for c in result.misses} == listed


def check_shares(result: StudyResult) -> None:
    """The page has how many rows of either role are within their tolerance."""
    text = page(result.study.name)
    for role in ("calibration", "validation"):
        rows = result.of_role(role)
        assert f"{sum(row.within for row in rows)} of {len(rows)}" in text, role
