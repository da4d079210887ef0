"""All that belongs to the package is in what is handed out, and what is missing is told."""

from __future__ import annotations

import subprocess
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import contents
import pytest

ROOT = contents.ROOT


def test_the_source_archive_has_all_of_the_project(tmp_path: Path) -> None:
    maturin = Path(sysconfig.get_path("scripts")) / "maturin"
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("homenode-*.tar.gz")
    assert contents.of_source(archive).faults() == []


def test_no_file_of_the_package_is_hidden_from_the_wheel() -> None:
    """Maturin leaves out what git ignores and what it is told to; nothing of ours is either."""
    hidden = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard", contents.PACKAGE]
    found = subprocess.run(hidden, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == ""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    assert "exclude" not in told


def test_users_type_checkers_are_told_that_there_are_types() -> None:
    assert f"{contents.PACKAGE}/py.typed" in contents.tracked(ROOT, contents.PACKAGE)


def made_wheel(folder: Path, names: set[str]) -> Path:
    wheel = folder / "homenode-0-cp311-abi3-none.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return wheel


@pytest.fixture
def whole() -> set[str]:
    files = {one.removeprefix("python/") for one in contents.tracked(ROOT, contents.PACKAGE)}
    licences = {f"homenode-0.dist-info/licenses/{one}" for one in ("LICENSE-APACHE", "LICENSE-MIT")}
    return files | licences | {contents.ENGINE, "homenode-0.dist-info/METADATA"}


def test_a_whole_wheel_has_no_faults(tmp_path: Path, whole: set[str]) -> None:
    found = contents.of_wheel(made_wheel(tmp_path, whole))
    assert found.faults() == []
    assert found.files == len(whole) - 3


@pytest.mark.parametrize(
    "name", ["homenode/py.typed", contents.ENGINE, "homenode-0.dist-info/licenses/LICENSE-MIT"]
)
def test_a_file_that_is_missing_is_told(tmp_path: Path, whole: set[str], name: str) -> None:
    (fault,) = contents.of_wheel(made_wheel(tmp_path, whole - {name})).faults()
    assert fault.endswith(f"lacks {Path(name).name if 'LICENSE' in name else name}")


def test_a_file_of_nobody_is_told(tmp_path: Path, whole: set[str]) -> None:
    (fault,) = contents.of_wheel(made_wheel(tmp_path, whole | {"homenode/left.toml"})).faults()
    assert "has homenode/left.toml" in fault


def test_without_git_the_list_is_the_same(tmp_path: Path) -> None:
    """An unpacked source archive, in which no command of git works."""
    (tmp_path / "python" / "homenode" / "__pycache__").mkdir(parents=True)
    for name in ("a.py", "a.toml", "_engine.abi3.so", "__pycache__/a.pyc"):
        (tmp_path / "python" / "homenode" / name).touch()
    found = contents.tracked(tmp_path, contents.PACKAGE)
    assert sorted(found) == ["python/homenode/a.py", "python/homenode/a.toml"]
