"""Folders in which something is made: held while their maker lives, swept when it is gone."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from homenode import staging as stage
from homenode.staging import LOCK, PREFIX, hold, is_held, staging, sweep, write_whole

MAKER = """
import sys
from pathlib import Path
from homenode.staging import staging
with staging(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("half")
    print(folder, flush=True)
    sys.stdin.read()
"""
APART = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child")
"""Process ids of its own, as in a container."""


def can_be_apart() -> bool:
    """Whether the kernel lets us have such a process."""
    try:
        return subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextmanager
def maker(root: Path, *before: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that makes something in `root`, and its folder."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", MAKER, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def test_what_is_taken_out_stays_and_the_rest_goes(tmp_path: Path) -> None:
    with staging(tmp_path / "new" / "place") as folder:
        (folder / "kept").write_text("whole")
        (folder / "rest").mkdir()
        (folder / "rest" / "file").write_text("")
        (folder / "kept").rename(folder.parent / "kept")
    assert [path.name for path in (tmp_path / "new" / "place").iterdir()] == ["kept"]


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    def breaks(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), staging(tmp_path) as made:
        breaks(made)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [(), APART], ids=["beside", "in another container"])
def test_a_maker_that_lives_is_left_alone_and_one_that_was_killed_swept(
    tmp_path: Path, before: tuple[str, ...]
) -> None:
    if before and not can_be_apart():
        pytest.skip("this kernel gives no process ids of one's own")
    with maker(tmp_path, *before) as (process, folder):
        with staging(tmp_path):
            assert (folder / "half").read_text() == "half"
        process.kill()
        process.wait()
        assert folder.exists()
        # The kernel of a container ends its processes when the first of them has ended.
        assert process.stdout is not None
        process.stdout.read()
        with staging(tmp_path):
            assert not folder.exists()


def test_a_sweep_that_was_cut_short_is_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    hold(left / LOCK).close()
    (left / "file").write_text("")
    with monkeypatch.context() as stuck:
        stuck.setattr(stage, "_delete", lambda path: None)
        sweep(tmp_path)
    assert (left / LOCK).exists()
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    foreign = [tmp_path / ".tmp-shop-1a2b3c4d-4194304", tmp_path / f"{PREFIX}no-lock"]
    for folder in foreign:
        folder.mkdir()
        (folder / "file").write_text("")
    (tmp_path / f"{PREFIX}file").write_text("")
    (tmp_path / "elsewhere").mkdir()
    hold(tmp_path / "elsewhere" / LOCK).close()
    (tmp_path / f"{PREFIX}link").symlink_to("elsewhere")
    (tmp_path / f"{PREFIX}begun").mkdir()
    before = {path.name for path in tmp_path.iterdir()}
    sweep(tmp_path)
    assert before - {path.name for path in tmp_path.iterdir()} == {f"{PREFIX}begun"}
    assert (tmp_path / "elsewhere" / LOCK).exists()


def test_folders_of_other_users_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root tidies up in places to which all may write, where others could put links."""
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    hold(left / LOCK).close()
    with monkeypatch.context() as another:
        another.setattr(stage.os, "geteuid", lambda: left.stat().st_uid + 1)
        sweep(tmp_path)
        assert left.exists()
    sweep(tmp_path)
    assert not left.exists()


def test_a_folder_that_is_swept_as_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep comes between the folder and its lock, and then between the lock and its holding."""
    turns = iter(["before", "after", "not"])

    def held_late(lock: Path) -> object:
        turn = next(turns)
        if turn == "before":
            sweep(tmp_path)
        held = hold(lock)
        if turn == "after":
            fcntl.flock(held, fcntl.LOCK_UN)
            sweep(tmp_path)
        return held

    monkeypatch.setattr(stage, "hold", held_late)
    with staging(tmp_path) as folder:
        assert [path.name for path in folder.iterdir()] == [LOCK]
    assert next(turns, None) is None
    assert list(tmp_path.iterdir()) == []


def test_without_locks_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_here(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none_here)
    with staging(tmp_path) as first, staging(tmp_path):
        assert first.exists()
        assert is_held(first / LOCK)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "a" / "file", b"one")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").mkdir()
    write_whole(tmp_path / "a" / "file", b"one")
    write_whole(tmp_path / "a" / "file", b"two")
    assert (tmp_path / "a" / "file").read_bytes() == b"two"
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", b"three")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "file", "folder"]
