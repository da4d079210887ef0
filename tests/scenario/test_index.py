"""The index of what is shipped says what the files say, and is not believed where it does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from homenode.evidence.study.definition import load_study
from homenode.evidence.study.listing import head, heads, list_studies
from homenode.hosts import suite_file
from homenode.model import catalog, index, shipped
from homenode.model.index import MACHINE, PROFILE, STUDY, SUITE, indexed
from homenode.report.hosts.suites import suite_row


def test_the_index_says_what_the_files_say() -> None:
    assert indexed("machines") == [
        {key: getattr(catalog.machine(name), key) for key in MACHINE} for name in catalog.machines()
    ], "run `make docs`"
    assert indexed("profiles") == [
        {key: getattr(catalog.profile(name), key) for key in PROFILE} for name in catalog.profiles()
    ], "run `make docs`"
    assert indexed("measurements") == [
        {key: suite_row(suite_file.load(name))[key] for key in SUITE} for name in suite_file.names()
    ], "run `make docs`"
    assert indexed("studies") == [
        {key: getattr(head(name), key) for key in STUDY} for name in list_studies()
    ], "run `make docs`"


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped files, free to be changed."""
    data = tmp_path / "data"
    data.mkdir()
    for name in ("machines", "profiles", "studies"):
        shutil.copytree(shipped.shipped_folder(name), data / name)
    shutil.copy(shipped.shipped_folder("") / index.FILE, data)
    monkeypatch.setattr(shipped, "_DATA", data)
    assert indexed("machines") is not None
    return data


def test_a_file_that_was_changed_since_is_not_listed_from_the_index(copied: Path) -> None:
    file = copied / "machines" / "ibm-z14.toml"
    file.write_text(file.read_text(encoding="utf-8") + "\n# another\n", encoding="utf-8")
    assert indexed("machines") is None
    assert indexed("profiles") is not None


@pytest.mark.parametrize("name", ["study.toml", "published.csv"])
def test_nor_is_a_study_of_which_a_file_was_changed(name: str, copied: Path) -> None:
    assert indexed("studies") is not None
    before = heads()
    file = copied / "studies" / before[0].name / name
    line = "# another" if name == "study.toml" else file.read_text("utf-8").splitlines()[-1]
    file.write_text(f"{file.read_text('utf-8')}{line}\n", encoding="utf-8")
    assert indexed("studies") is None
    assert [one.name for one in heads()] == [one.name for one in before]
    assert heads()[0].rows == before[0].rows + (name == "published.csv")


def test_neither_is_one_that_is_new_or_gone(copied: Path) -> None:
    (copied / "machines" / "mine.toml").write_text("", encoding="utf-8")
    (copied / "profiles" / "oltp.toml").unlink()
    assert indexed("machines") is None
    assert indexed("profiles") is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"machines": {}}', '{"machines": 3}'])
def test_nor_is_an_index_that_is_damaged(text: str, copied: Path) -> None:
    (copied / index.FILE).write_text(text, encoding="utf-8")
    assert indexed("machines") is None


def test_nor_is_one_that_says_otherwise_of_a_file(copied: Path) -> None:
    told = json.loads((copied / index.FILE).read_text(encoding="utf-8"))
    told["machines"]["ibm-z14"]["sha256"] = "0" * 64
    (copied / index.FILE).write_text(json.dumps(told), encoding="utf-8")
    assert indexed("machines") is None


def test_the_list_of_studies_says_what_the_studies_say() -> None:
    for one in heads():
        study = load_study(one.name)
        told = (study.title, study.source, study.claim, len(study.published))
        assert (one.title, one.source, one.claim, one.rows) == told
