"""Studies run and held against their pages: the fast ones daily, the others as slow tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from pages import recorded, tool

from homenode.errors import HomenodeError, StudyError
from homenode.evidence.study import (
    Study,
    StudyResult,
    list_studies,
    load_study,
    recorded_outcome,
    run_study,
)
from homenode.evidence.study.deviation import Comparison
from homenode.evidence.study.outcome import moved_rows, outcome_text
from homenode.model.estimate import Estimate
from homenode.report.study_pages import filled

FAST = (
    "advice-hp",
    "advice-p795",
    "advice-partitions",
    "advice-smt-and-virtual",
    "esxi-consolidation",
    "latency-under-load",
    "numa-scale-up",
    "partition-split",
    "power-generations",
    "power10-packing",
    "z14-caf",
    "guest-topology",
    "hosts-published",
    "linux-wakeups",
    "linux-dispatch",
    "stream-published",
    "z-generations",
    "z13-capability",
    "zec12-vs-z196",
    "zvm-80-memory-rich",
    "zvm-paging-io",
    "zvm-polarization",
)
"""Some sixty seconds of processor time in all, none above seven."""
SLOW = (
    "advice-zvm",
    "aix-micro-partitioning",
    "hp-vpars",
    "kvm-overcommit",
    "p795-lpar-affinity",
    "vcpu-backoff",
    "zvm-80-paging",
)
TAKES = "fifteen to eighty seconds of processor time; `make studies` runs it too"


def test_every_study_is_run_somewhere() -> None:
    assert sorted((*FAST, *SLOW)) == list_studies()


@pytest.mark.parametrize(
    "name", [*FAST, *(pytest.param(name, marks=pytest.mark.slow(TAKES)) for name in SLOW)]
)
def test_what_is_written_down_comes_out(name: str, tmp_path: Path) -> None:
    assert tool.check(run_study(name, out=tmp_path)) == []


@pytest.mark.parametrize("name", list_studies())
def test_the_page_says_what_is_written_down(name: str) -> None:
    study = load_study(name)
    assert tool.page_of(study).read_text("utf-8") == tool.study_page(study), "run `make docs`"


@pytest.mark.parametrize("page", tool.WITH_ALL, ids=lambda page: page.name)
def test_pages_of_all_studies_say_what_is_written_down(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == tool.front_page(text), "run `make docs`"


def changed(result: StudyResult, place: int, found: Estimate) -> StudyResult:
    """The result with another outcome of one row."""
    rows = list(result.comparisons)
    rows[place] = Comparison(rows[place].published, found)
    return StudyResult(result.study, rows, {}, [])


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Estimate(18.0, 0.1), "18 ± 0.1 comes out"),
        (Estimate(None, None, "no steady state"), "nothing comes out"),
    ],
)
def test_a_row_that_moved_is_told(found: Estimate, told: str) -> None:
    kept = recorded("p795-lpar-affinity")
    [line] = moved_rows(kept, changed(kept, 0, found))
    assert line.startswith("lpar1:physc: 17.")
    assert line.endswith(told)
    assert tool.check(changed(kept, 0, found)) == [f"p795-lpar-affinity: {line}"]


def test_a_change_beyond_the_written_digits_is_none() -> None:
    kept = recorded("p795-lpar-affinity")
    value = kept.comparisons[0].simulated
    assert value.mean is not None
    near = Estimate(value.mean * (1 + 5e-6), value.ci95)
    assert moved_rows(kept, changed(kept, 0, near)) == []


def test_what_is_written_is_what_is_read() -> None:
    for name in list_studies():
        kept = recorded(name)
        text = (kept.study.folder / "results.csv").read_text(encoding="utf-8")
        assert outcome_text(kept) == text, name


def test_make_studies_fails_if_a_row_moved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tool.main(["z14-caf"]) == 0
    assert capsys.readouterr().err == ""
    wrong = changed(recorded("z14-caf"), 0, Estimate(1.9))
    monkeypatch.setattr(tool, "recorded_outcome", lambda _: wrong)
    assert tool.main(["z14-caf"]) == 1
    told = capsys.readouterr().err
    assert "z14-caf: 1x2:capability: 1.9 was written down, 1.882 comes out" in told
    assert "z14-caf: README.md says something else: run `make docs`" in told
    assert "`make studies WRITE=1` and `make docs` bring them up to date" in told


@pytest.fixture
def copy(tmp_path: Path) -> Study:
    """A study in a folder of its own."""
    shutil.copytree(load_study("z14-caf").folder, tmp_path / "z14-caf")
    return load_study("z14-caf", tmp_path)


def test_written_down_anew_the_files_are_the_shipped_ones(copy: Study) -> None:
    page, outcome = copy.folder / "README.md", copy.folder / "results.csv"
    shipped = page.read_bytes(), outcome.read_bytes()
    outcome.unlink()
    page.write_text(filled(page.read_text("utf-8"), "results", "old\n"), encoding="utf-8")
    tool.write(run_study(copy))
    assert (page.read_bytes(), outcome.read_bytes()) == shipped


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("1x2,capability", "1x3,capability", "does not have the rows of published.csv"),
        ("simulated", "found", "does not have the rows of published.csv"),
        ("1.882", "many", "could not convert string to float: 'many'"),
        ("1x2,capability,1.882,,", "1x2,capability", "not enough values"),
    ],
)
def test_a_damaged_outcome_is_told(old: str, new: str, told: str, copy: Study) -> None:
    path = copy.folder / "results.csv"
    path.write_text(path.read_text("utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(StudyError, match=told):
        recorded_outcome(copy)


def test_an_outcome_that_is_not_there_says_how_it_comes(copy: Study) -> None:
    (copy.folder / "results.csv").unlink()
    with pytest.raises(StudyError, match=r"results.csv is not there: `make studies WRITE=1`"):
        recorded_outcome(copy)
    assert tool.check(run_study(copy))[0].startswith("z14-caf: ")


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(HomenodeError, match="no part between <!-- results: written by"):
        filled("# a page\n", "results", "")
