"""Which folders are runs and which is meant, beside folders of others, copies and deletions."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import frames
from homenode.cli import call
from homenode.errors import DamagedRunError, NotFoundError, StoreError
from homenode.simulate.kept import kept_run, reading
from homenode.simulate.kept.finding import run_folders
from homenode.simulate.kept.query import query
from homenode.simulate.kept.store import publish, table_path
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

pytestmark = pytest.mark.usefixtures("fake", "here")
Capture = pytest.CaptureFixture[str]
LATER_S = 4_000_000_000
"""In the year 2096."""


@pytest.fixture
def apart() -> Run:
    return run_scenario(frames.near_and_far()[0])


def newer(folder: Path) -> None:
    """Make everything in it newer than all runs."""
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (LATER_S, LATER_S))


@pytest.mark.parametrize("name", ["a[b]", "a*b", "a?b", "{a}", "ü € x", "new\nline", "-o", "~"])
def test_a_folder_of_any_name_keeps_runs(name: str) -> None:
    run = run_scenario(frames.near_and_far()[0], out=name)
    assert run.path.parent.name == name
    again = Run.load("latest", name)
    assert again.intervals().height == run.intervals().height > 0
    assert again.values("one", "cpu0_pct") != []
    counted = query("SELECT count(*) AS n FROM partition_intervals", name)["n"].to_list()
    assert counted == [run.intervals().height]


def test_a_pattern_reads_no_other_folder() -> None:
    apart, together = frames.near_and_far()
    plain = run_scenario(apart, out="runsX")
    starred = run_scenario(apart, out="runs*")
    run_scenario(together, out="runs*Y")
    assert starred.intervals().equals(plain.intervals())
    assert starred.summary == plain.summary


@pytest.mark.parametrize("out", [".", "./", "../here"])
def test_runs_are_kept_in_this_folder_too(out: str, here: Path) -> None:
    if out == "../here":
        out = f"../{here.name}"
    run = run_scenario(frames.near_and_far()[0], out=out)
    assert (here / run.id / "summary.json").is_file()
    assert [one.id for one in Run.all(out)] == [run.id]
    assert Run.load("latest", out).id == Run.load(run.id, out).id == run.id
    assert Run.load(Path(run.id)).id == Run.load(f"./{run.id}").id == run.id


@pytest.mark.parametrize("out", ["", "nul\0", "latin-1 \udce9"])
def test_a_word_that_names_no_folder_is_refused_before_anything_runs(out: str) -> None:
    for call_ in (
        lambda: run_scenario(frames.near_and_far()[0], out=out),
        lambda: Run.load("latest", out),
        lambda: query("SELECT 1", out),
    ):
        with pytest.raises(StoreError, match="folder of the runs"):
            call_()
    assert list(Path().iterdir()) == []


def test_folders_of_others_are_no_runs(apart: Run, capsys: Capture) -> None:
    notes = Path("runs/notes")
    (notes / "intervals").mkdir(parents=True)
    (notes / "summary.txt").write_text("mine")
    newer(notes)
    assert Run.load().id == apart.id
    assert call(["runs"]) == 0
    assert "left out" not in capsys.readouterr().err
    with pytest.raises(NotFoundError, match="there is no run notes in runs"):
        Run.load("notes")
    with pytest.raises(DamagedRunError, match="holds no run"):
        Run.load("runs/notes")


def test_a_run_that_lost_a_file_is_still_told(apart: Run) -> None:
    (apart.path / "provenance.json").unlink()
    damaged: list[DamagedRunError] = []
    assert Run.all("runs", damaged) == []
    assert "provenance.json is missing" in str(damaged[0])


def test_a_copy_counts_once_and_is_not_the_latest(apart: Run, capsys: Capture) -> None:
    later = run_scenario(frames.near_and_far()[1])
    newer(later.path)
    copy = Path(shutil.copytree(apart.path, "runs/before"))
    newer(copy)
    os.utime(copy / "provenance.json", (LATER_S + 1, LATER_S + 1))
    assert Run.load().id == later.id
    assert sorted(run.id for run in Run.all()) == sorted([apart.id, later.id])
    rows = query("SELECT run, count(*) AS n FROM partition_intervals GROUP BY 1")
    assert dict(rows.iter_rows())[apart.id] == apart.intervals().height
    assert call(["runs"]) == 0
    assert f"left out: runs/before is a copy of {apart.path}" in capsys.readouterr().err
    assert Run.load("before").path == copy


def test_of_copies_without_an_original_the_newest_counts(apart: Run) -> None:
    for number, name in enumerate(("first", "second")):
        copy = Path(shutil.copytree(apart.path, f"runs/{name}"))
        os.utime(copy / "provenance.json", (LATER_S + number, LATER_S + number))
    shutil.rmtree(apart.path)
    assert [run.path.name for run in Run.all()] == ["second"]
    assert Run.load().path.name == Run.load(apart.id).path.name == "second"


def test_a_renamed_run_answers_to_both_names(apart: Run) -> None:
    apart.path.rename("runs/before")
    assert Run.load("before").id == Run.load(apart.id).id == apart.id
    assert [run.id for run in Run.all()] == [apart.id]


def test_a_run_that_is_kept_anew_while_it_is_opened_is_found(
    apart: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies under no name for a moment; who reads then looks again."""
    aside = Path("aside")
    shutil.copytree(apart.path, aside / "run")
    read = kept_run.read_files
    turns = iter([True, False])

    def replaced(path: Path, *rest: object) -> object:
        if next(turns):
            shutil.rmtree(path)
            try:
                return read(path, *rest)  # type: ignore[arg-type]
            finally:
                publish(aside / "run", path)
        return read(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_run, "read_files", replaced)
    assert Run.load(apart.id).id == apart.id


def test_the_latest_is_deleted_while_it_is_opened(
    apart: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = run_scenario(frames.near_and_far()[1])
    newer(later.path)
    read = kept_run.read_files

    def deleted(path: Path, *rest: object) -> object:
        shutil.rmtree(later.path, ignore_errors=True)
        return read(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_run, "read_files", deleted)
    assert Run.load().id == apart.id
    with pytest.raises(NotFoundError, match=f"there is no run {later.id}"):
        Run.load(later.id)


def test_runs_that_are_deleted_while_they_are_listed_are_not_told(
    apart: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = run_scenario(frames.near_and_far()[1])
    found = run_folders("runs")
    shutil.rmtree(later.path)
    monkeypatch.setattr(kept_run, "run_folders", lambda root: found)
    damaged: list[DamagedRunError] = []
    assert [run.id for run in Run.all("runs", damaged)] == [apart.id]
    assert damaged == []


@pytest.mark.parametrize("whole", [True, False])
def test_a_run_that_goes_after_it_was_opened_is_told(whole: bool, apart: Run) -> None:
    shutil.rmtree(apart.path if whole else apart.path / "intervals")
    told = "is gone: it was deleted or renamed" if whole else "lacks a file|parquet is missing"
    for ask in (apart.intervals, lambda: apart.values("one", "cpu0_pct")):
        with pytest.raises(DamagedRunError, match=told):
            ask()


def test_what_a_table_cannot_be_read_for_is_told(apart: Run) -> None:
    error = PermissionError(13, "Permission denied", str(table_path(apart.path, "cpu")))
    with (
        pytest.raises(DamagedRunError, match=r"cpu.parquet cannot be read"),
        reading.reading(apart.path),
    ):
        raise error


def test_what_may_not_be_read_is_left_out_and_told(
    apart: Run, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = Path("runs/closed")
    closed.mkdir()
    there = Path.is_file, Path.exists, Path.read_text

    def kept_from(position: int) -> Any:
        def ask(self: Path, *given: Any, **more: Any) -> Any:
            if self.parent.name == "closed":
                raise PermissionError(13, "Permission denied", str(self))
            return there[position](self, *given, **more)

        return ask

    for position, name in enumerate(("is_file", "exists", "read_text")):
        monkeypatch.setattr(Path, name, kept_from(position))
    assert call(["runs"]) == 0
    told = capsys.readouterr()
    assert apart.id in told.out
    assert "Permission denied" in told.err
    assert "delete" not in told.err
    assert Run.load().id == apart.id
