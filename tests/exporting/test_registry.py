"""The command `export`: forms by name, options that mean something, nothing half-written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from homenode import HomenodeError, NotFoundError, Run
from homenode.records import exporting
from homenode.records.exporting import ExportError, ExportOptions
from homenode.records.exporting.staging import put
from homenode.staging import LOCK, PREFIX, hold

Command = Callable[..., "CompletedProcess[str]"]
SECOND = 1_000_000_000


@pytest.mark.parametrize("name", exporting.names())
def test_each_form_is_one(name: str) -> None:
    form = exporting.exporter(name)
    assert isinstance(form, exporting.Exporter)
    assert form.name == name
    assert not form.title.endswith(".")
    assert set(form.takes) <= set(ExportOptions.__dataclass_fields__)
    assert (form.suffix == "") == (form.kind == "folder")


def test_an_unknown_form_names_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="did you mean parquet"):
        exporting.exporter("parket")


def test_an_option_without_meaning_is_refused(kept: Run, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"--at means nothing to the form csv"):
        exporting.export(kept, "csv", tmp_path / "x", ExportOptions(at_ns=SECOND))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ExportOptions(partition="shopp"), "did you mean shop"),
        (ExportOptions(replication=2), "no replication 2.*kept 2, counted from 0"),
        (ExportOptions(interval_ns=SECOND // 3), "cannot be shown"),
        (ExportOptions(interval_ns=90 * SECOND), "ask for fewer or shorter"),
    ],
)
def test_what_is_not_there_is_named(
    options: ExportOptions, message: str, kept: Run, tmp_path: Path
) -> None:
    with pytest.raises(HomenodeError, match=message):
        exporting.export(kept, "csv", tmp_path / "x", options)
    assert not list(tmp_path.iterdir())


def test_what_is_there_stays_unless_replacing_is_asked_for(kept: Run, tmp_path: Path) -> None:
    target = tmp_path / "run.xlsx"
    target.write_text("mine")
    with pytest.raises(ExportError, match=r"is there already.*--force"):
        exporting.export(kept, "xlsx", target)
    assert target.read_text() == "mine"
    exporting.export(kept, "xlsx", target, force=True)
    assert target.read_bytes()[:2] == b"PK"


def test_a_folder_with_other_files_is_never_replaced(kept: Run, tmp_path: Path) -> None:
    target = tmp_path / "tables"
    exporting.export(kept, "csv", target)
    exporting.export(kept, "csv", target, force=True)
    (target / "notes.txt").write_text("mine")
    with pytest.raises(ExportError, match=r"holds notes\.txt, which this export does not write"):
        exporting.export(kept, "csv", target, force=True)
    assert (target / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]


def test_a_file_does_not_take_the_place_of_a_folder(kept: Run, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="is a folder"):
        exporting.export(kept, "xlsx", tmp_path, force=True)
    assert not list(tmp_path.iterdir())


def test_a_link_or_pipe_is_neither_filled_nor_replaced(kept: Run, tmp_path: Path) -> None:
    file, pipe, link = (tmp_path / name for name in ("file", "pipe", "link"))
    file.write_text("mine")
    os.mkfifo(pipe)
    link.symlink_to(file)
    for target in (pipe, link):
        for force in (False, True):
            with pytest.raises(ExportError, match="is a link, a device or a pipe"):
                exporting.export(kept, "xlsx", target, force=force)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert file.read_text() == "mine"


def test_nothing_half_written_stays(tmp_path: Path) -> None:
    def breaks(aside: Path) -> None:
        aside.mkdir()
        (aside / "first").write_text("x")
        raise ExportError("broken")

    with pytest.raises(ExportError, match="broken"):
        put(tmp_path / "out", breaks, force=False)
    assert not list(tmp_path.iterdir())


def test_what_a_killed_export_left_is_swept(tmp_path: Path) -> None:
    left = tmp_path / f"{PREFIX}left"
    (left / "new").mkdir(parents=True)
    hold(left / LOCK).close()
    put(tmp_path / "out", lambda aside: aside.write_text("x"), force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="cannot be written"):
        put(tmp_path / "file" / "out", lambda aside: aside.write_text("x"), force=False)


def test_the_command_lists_the_forms_and_writes_one(
    kept: Run, command: Command, tmp_path: Path
) -> None:
    forms = json.loads(command("export", "--json").stdout)
    assert [form["form"] for form in forms] == exporting.names()
    done = command("export", kept.path, "--as", "nmon", "-p", "shop", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == [str(tmp_path / f"{kept.id}-shop.nmon")]
    again = command("export", kept.path, "--as", "nmon", "-p", "shop")
    assert again.returncode == 2
    assert "--force" in again.stderr
    bare = command("export", kept.path, "--as", "csv", "--interval", "2", "-o", "t")
    assert bare.returncode == 0, bare.stderr
    assert "t/configuration.csv" in bare.stderr


def test_files_are_told_before_they_go_on_changing(
    kept: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []

    class Changing:
        name, title, kind, suffix = "changing", "a file that changes", "file", ".txt"
        takes = ("live_ns",)

        def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
            target.write_text("0")
            return [target]

        def advance(self, run: Run, target: Path, options: ExportOptions) -> None:
            happened.append(f"advanced {target.read_text()}")

    monkeypatch.setattr(exporting, "exporter", lambda name: Changing())
    for live_ns in (None, SECOND):
        exporting.export(
            kept,
            "changing",
            tmp_path / "x",
            ExportOptions(live_ns=live_ns),
            force=True,
            written=lambda files: happened.append(f"wrote {files[0].name}"),
        )
    assert happened == ["wrote x", "wrote x", "advanced 0"]


@pytest.mark.parametrize(
    ("interval", "message"), [("5 m", "min for minutes"), ("0 s", "no length of time")]
)
def test_a_length_of_time_that_is_none_is_refused(
    interval: str, message: str, kept: Run, command: Command
) -> None:
    done = command("export", kept.path, "--as", "csv", "--interval", interval)
    assert done.returncode == 2
    assert done.stderr.replace('"', "").startswith(f"homenode: --interval: {interval} ")
    assert message in done.stderr


@pytest.mark.parametrize(
    "name", ["nmon", "njmon", "parquet", "csv", "xlsx", "openmetrics", "perfetto"]
)
def test_the_same_run_gives_the_same_bytes(name: str, kept: Run, tmp_path: Path) -> None:
    first = exporting.export(kept, name, tmp_path / "a")
    second = exporting.export(kept, name, tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert first


@pytest.mark.parametrize("year", [1979, 2200])
def test_a_workbook_is_written_whatever_the_date(
    year: int, kept: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip archive tells no moment before 1980 or after 2107."""
    expected = exporting.export(kept, "xlsx", tmp_path / "a")[0].read_bytes()
    then = time.struct_time((year, 5, 1, 12, 0, 0, 0, 121, 0))
    monkeypatch.setattr(time, "localtime", lambda seconds=None: then)
    assert exporting.export(kept, "xlsx", tmp_path / "b")[0].read_bytes() == expected
