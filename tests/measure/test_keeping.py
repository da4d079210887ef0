"""What is finished stays, what is not ours stays too, and what the dead left is swept."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fake_adapter
import pytest
from fake_adapter import row, write_suite
from waiting import LIMIT_S

from homenode.hosts import keeping
from homenode.hosts.errors import MeasureError
from homenode.hosts.live import Host, leftovers
from homenode.hosts.result import RawOutputs, load
from homenode.hosts.run_suite import run_suite
from homenode.hosts.session import Options, work_folder
from homenode.hosts.settings import parse

LOOSE = Options(foreign_limit=None)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_adapter.register(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


DEAD = 1 << 22
"""No process has this id: the kernel gives ids below it (Linux, include/linux/threads.h)."""


def test_a_command_that_does_not_undo_costs_nothing_finished(tmp_path: Path) -> None:
    suite = str(write_suite(tmp_path, row("one", "print(1)")))
    kept = run_suite(suite, [parse("a", "back=false")], LOOSE, out=tmp_path / "r.json")
    assert kept.trouble is not None
    assert "`false` failed with code 1" in kept.trouble
    result = load(tmp_path / "r.json")
    assert (len(result.records), result.interrupted) == (1, True)
    assert kept.raw.is_dir()
    assert not list(tmp_path.glob(".r*"))


@pytest.mark.parametrize("error", [MeasureError("processes 7 do not end"), KeyboardInterrupt()])
def test_a_host_that_cannot_be_tidied_costs_nothing_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    close = Host.close

    def closes(self: Host) -> None:
        close(self)
        raise error

    monkeypatch.setattr(Host, "close", closes)
    suite = str(write_suite(tmp_path, row("one", "print(1)")))
    kept = run_suite(suite, options=LOOSE, out=tmp_path / "r.json")
    assert kept.trouble == (None if isinstance(error, KeyboardInterrupt) else str(error))
    assert len(load(tmp_path / "r.json").records) == 2


def test_a_place_that_fails_at_the_end_leaves_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = keeping.save

    def full(result: object, path: Path) -> Path:
        if path.parent == tmp_path:
            raise MeasureError("No space left on device")
        return save(result, path)  # type: ignore[arg-type]

    monkeypatch.setattr(keeping, "save", full)
    (tmp_path / "else").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "else"))
    suite = str(write_suite(tmp_path, row("one", "print(1)")))
    with pytest.raises(MeasureError, match=r"No space left.*it is kept in .*else/.*/r\.json"):
        run_suite(suite, options=LOOSE, out=tmp_path / "r.json")
    (copy,) = (tmp_path / "else").glob("homenode-kept-*/r.json")
    assert len(load(copy).records) == 1


@pytest.mark.parametrize("name", ["r.json", "r.raw", "r.raw/mine"])
def test_what_is_not_ours_is_refused_before_the_start(tmp_path: Path, name: str) -> None:
    suite = str(write_suite(tmp_path, row("one", "print(1)")))
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text('{"my": "data"}')
    with pytest.raises(MeasureError, match="stays untouched"):
        run_suite(suite, options=LOOSE, out=tmp_path / "r.json")
    assert (tmp_path / name).read_text() == '{"my": "data"}'
    assert not (tmp_path / "cache").exists()


def limited(script: str, folder: Path, size: int) -> subprocess.CompletedProcess[str]:
    """Run where no file may be longer; a limit on the size of files stands in for a full disk."""
    # Bytecode that is cut off by the limit would stay, for all programs that read it after this.
    head = "import resource, sys\nsys.dont_write_bytecode = True\n"
    head += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
    head += "from pathlib import Path\n"
    words = [sys.executable, "-c", head + script]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def test_a_full_disk_is_named_before_the_start(tmp_path: Path) -> None:
    done = limited("from homenode.cli import call\ncall(['measure', 'linux-quick'])", tmp_path, 99)
    assert f"nothing can be written to .: {os.strerror(errno.EFBIG)}" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_raw_outputs_that_cannot_be_marked_is_not_left(tmp_path: Path) -> None:
    script = (
        "from homenode.errors import HomenodeError\n"
        "from homenode.hosts.result import RawOutputs\n"
        "try: RawOutputs(Path('r.raw'))\nexcept HomenodeError as error: print(error)"
    )
    done = limited(script, tmp_path, 9)
    assert "cannot be written: File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_place_of_the_kernel_is_refused() -> None:
    with pytest.raises(MeasureError, match="nothing can be written to /proc"):
        keeping.check_place(Path("/proc/x.json"))


def test_what_a_killed_session_finished_gets_a_name(tmp_path: Path) -> None:
    suite = str(write_suite(tmp_path, row("one", "print(1)")))
    run_suite(suite, options=LOOSE, out=tmp_path / "r.json")
    left = tmp_path / f".r.unfinished.{DEAD}.json"
    (tmp_path / "r.json").rename(left)
    (tmp_path / "r.raw").rename(tmp_path / f".r.raw.{DEAD}")
    foreign = tmp_path / f".notes.unfinished.{DEAD}.json"
    foreign.write_text("{}")
    living = RawOutputs(tmp_path / "r.raw")
    alive = tmp_path / f".r.unfinished.{living.session}.json"
    alive.write_text(json.dumps({"kind": "homenode-measurement"}))
    (found,) = keeping.recover(tmp_path)
    assert found.name == f"r-recovered-{DEAD}.json"
    assert len(load(found).records) == 2
    assert (tmp_path / f"r-recovered-{DEAD}.raw").is_dir()
    assert foreign.exists()
    assert alive.exists()
    assert living.staged.is_dir()
    assert not left.exists()
    living.drop()


def test_who_starts_or_ends_beside_others_disturbs_none(tmp_path: Path) -> None:
    """Between any two steps of one another may tidy up what killed sessions left."""

    def measures(number: int) -> None:
        for _ in range(30):
            with work_folder(tmp_path) as held:
                raw = RawOutputs(tmp_path / f"{number}.raw")
                (held / "runs").mkdir()
                raw.folder("one")
                keeping.recover(tmp_path)
                raw.drop()

    with ThreadPoolExecutor(max_workers=8) as beside:
        assert list(beside.map(measures, range(8))) == [None] * 8
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with (
        pytest.raises(MeasureError, match=r"no folder can be made in .*none: No such file"),
        work_folder(tmp_path / "none"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_groups_of_dead_sessions_are_swept(tmp_path: Path) -> None:
    names = {f"homenode-{DEAD}": True, f"homenode-{os.getpid()}": False, "homenode-x": False}
    for name in names:
        (tmp_path / name / "one").mkdir(parents=True)
    swept = leftovers.sweep_groups([tmp_path, tmp_path / "none"])
    assert [folder.name for folder in swept] == [name for name, wanted in names.items() if wanted]
    assert {name: not (tmp_path / name).exists() for name in names} == names


def test_a_group_of_another_container_stays(tmp_path: Path) -> None:
    folder = tmp_path / f"homenode-{DEAD}"
    folder.mkdir()
    (folder / "cgroup.procs").write_text("0\n")
    assert leftovers.sweep_groups([tmp_path]) == []
    assert folder.exists()
