"""`make fingerprints` as a command: exit codes, what is printed, what is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import check
import pytest
from digests import of_document
from ledger import Ledger, Print
from subjects import Prints, Subject, SubjectError

import homenode


class House:
    """Two subjects whose numbers a test sets, and the recorded file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.cores = {"examples/one": 1.5, "examples/two": 2.5}
        self.raising: BaseException | None = None
        self.folders: list[Path] = []

    def subjects(self) -> list[Subject]:
        return [Subject(name, self._make(name)) for name in self.cores]

    def _make(self, name: str) -> Callable[[Path], Prints]:
        def make(folder: Path) -> Prints:
            self.folders.append(folder)
            if self.raising is not None and name == "examples/two":
                raise self.raising
            return {"summary": Print("summary", of_document({"physc": self.cores[name]}))}

        return make

    def call(self, *words: str) -> int:
        return check.main(["--file", str(self.file), *words])


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    made = House(tmp_path / "prints.json")
    monkeypatch.setattr(check, "subjects", made.subjects)
    assert made.call("--record") == 0
    return made


def test_nothing_moved(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    assert house.call() == 0
    assert capsys.readouterr().out == ""


def test_what_moved_is_a_line_of_a_table(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.cores["examples/two"] = 2.75
    assert house.call() == 1
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["item", "recorded"]
    item, old, new, moved = line.split()
    assert (item, moved) == ("examples/two/summary", "physc")
    assert old == house.file.read_text(encoding="utf-8").split(f'"{item}": "')[1].split()[0]
    assert new != old


def test_names_pick(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.cores["examples/two"] = 2.75
    assert house.call("--only", "one") == 0
    assert house.call("--only", "examples/t*") == 1
    assert house.call("--only", "three") == 2
    assert "examples/one, examples/two" in capsys.readouterr().err


def test_recording_some_leaves_the_others(house: House) -> None:
    house.cores = {"examples/one": 9.0, "examples/two": 9.0}
    assert house.call("--record", "--only", "one") == 0
    assert house.call("--only", "one") == 0
    assert house.call("--only", "two") == 1


def test_some_are_not_recorded_beside_those_of_another_host(house: House) -> None:
    ledger = Ledger.read(house.file)
    ledger.platform["arithmetic"] = "0" * 16
    ledger.write(house.file)
    assert house.call("--record", "--only", "one") == 2
    assert house.call("--record") == 0


def test_a_subject_that_is_gone_has_moved(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    del house.cores["examples/two"]
    assert house.call() == 1
    assert "gone" in capsys.readouterr().out


@pytest.mark.parametrize("error", [homenode.ScenarioError("no such core"), SubjectError("ended")])
def test_one_that_fails_is_told_and_not_recorded(
    house: House, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    before = house.file.read_bytes()
    house.raising = error
    assert house.call() == 1
    assert f"failed: examples/two: {error}" in capsys.readouterr().out
    assert house.call("--record") == 1
    assert house.file.read_bytes() == before


def test_ctrl_c_stops_and_records_nothing(house: House) -> None:
    before = house.file.read_bytes()
    house.raising = KeyboardInterrupt()
    house.cores["examples/one"] = 9.0
    assert house.call("--record") == 130
    assert house.file.read_bytes() == before


def test_nothing_recorded_is_no_success(house: House) -> None:
    house.file.unlink()
    assert house.call() == 2


def test_runs_are_gone_unless_they_are_kept(house: House, tmp_path: Path) -> None:
    assert not any(folder.exists() for folder in house.folders)
    house.folders.clear()
    house.call("--keep", str(tmp_path / "kept"))
    assert house.folders == [tmp_path / "kept/examples/one", tmp_path / "kept/examples/two"]


def test_another_arithmetic_is_told(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = Ledger.read(house.file)
    ledger.platform["arithmetic"] = "0" * 16
    ledger.write(house.file)
    assert house.call() == 0
    assert "other last digits" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{", "[]", '{"names": {}}', "\xff"])
def test_a_damaged_record_is_told(
    house: House, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    house.file.write_bytes(content.encode("latin-1"))
    assert house.call() == 2
    assert str(house.file) in capsys.readouterr().err
