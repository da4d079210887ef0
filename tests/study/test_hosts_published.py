"""The study hosts-published as a whole: its page says what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.study import StudyResult, load_study, run_study

NAME = "hosts-published"
_BULLET = re.compile(r"^- `([^`]+)`: (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return run_study(NAME, out=tmp_path_factory.mktemp("runs"))


def page() -> str:
    return Path(load_study(NAME).folder / "README.md").read_text(encoding="utf-8")


def test_the_page_lists_every_miss_and_no_other(result: StudyResult) -> None:
    told = page().split("## Missed", 1)[1].split("## Not used", 1)[0]
    listed = {f"{case}:{metric}" for case, metric in _BULLET.findall(told)}
    assert {c.published.key for c in result.misses} == listed


def test_the_page_has_the_shares_of_both_roles(result: StudyResult) -> None:
    for role in ("calibration", "validation"):
        rows = result.of_role(role)
        assert f"{sum(row.within for row in rows)} of {len(rows)}" in page(), role


def test_every_source_is_explained_and_used() -> None:
    used = {row.reading.split(",", 1)[0] for row in load_study(NAME).published}
    told = set(re.findall(r"^\| ([A-Z][A-Z0-9-]+) \|", page(), re.MULTILINE))
    assert used == told
