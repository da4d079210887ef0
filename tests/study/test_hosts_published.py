"""The study hosts-published as a whole: its page says what comes out."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from pages import check_misses, check_shares, page

from homenode.evidence.study import StudyResult, load_study, run_study

NAME = "hosts-published"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return run_study(NAME, out=tmp_path_factory.mktemp("runs"))


def test_the_page_lists_every_miss_and_no_other(result: StudyResult) -> None:
    check_misses(result)


def test_the_page_has_the_shares_of_both_roles(result: StudyResult) -> None:
    check_shares(result)


def test_every_source_is_explained_and_used() -> None:
    used = {row.reading.split(",", 1)[0] for row in load_study(NAME).published}
    told = set(re.findall(r"^\| ([A-Z][A-Z0-9-]+) \|", page(NAME), re.MULTILINE))
    assert used == told
