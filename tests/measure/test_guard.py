"""What was started ends also when the runner is killed: real runners, tools, children, daemons."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import LIMIT_S, until

from homenode.hosts.live import Host, guard_process
from homenode.hosts.live.cgroups import gone
from homenode.hosts.live.guard import Guard
from homenode.hosts.live.guard_process import Told

KINDS = ["v1", "v2", "none"]
TOOL = """\
import os, subprocess, sys, time
def note(name):
    with open(name + ".part", "w") as file: file.write(str(os.getpid()))
    os.rename(name + ".part", name)
def stay(name):
    note(name); time.sleep(900); os._exit(0)
if os.fork() == 0: stay("child")
if os.fork() == 0:
    os.setpgid(0, 0)
    if os.fork() == 0: stay("grandchild")
    os._exit(0)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3): os.close(descriptor)
        stay("daemon")
    os._exit(0)
subprocess.Popen([sys.executable, "-c", "import time; open('other', 'w'); time.sleep(900)"])
stay("tool")
"""
"""A tool, its child, a grandchild in a process group of its own, a daemon in a session of its own
whose parent is gone, and another program.
"""
RUNNER = """\
import os, subprocess, sys, time
from pathlib import Path
from homenode.hosts.live import Host
kind, tool = sys.argv[1:]
with Host.open(prefer=kind) as host:
    if host.groups.kind != kind:
        print("other kind", flush=True)
        sys.exit()
    # Somebody else's: a child of ours that no measurement started, in a session of its own.
    beside = subprocess.Popen(["sleep", "900"], start_new_session=True, stdout=subprocess.DEVNULL)
    Path("beside").write_text(str(beside.pid))
    here = Path.cwd()
    host.start([sys.executable, "-c", tool], group=host.group("a"), cwd=here, env={"N": "1"})
    host.start([sys.executable, "-c", tool.replace('"child"', '"second"')], cwd=here / "second")
    print(*host.groups.folders(), host._guard.pid, flush=True)
    time.sleep(900)
"""
NAMES = ("child", "grandchild", "daemon", "tool")


def ids(folder: Path) -> dict[str, int]:
    """Ids that the processes of both tools have noted, as far as they are all there."""
    found = {}
    for place, names in ((folder, NAMES), (folder / "second", ("second", *NAMES[1:]))):
        for name in names:
            with contextlib.suppress(OSError):
                found[f"{place.name}/{name}"] = int((place / name).read_text())
    there = (folder / "other").exists() and (folder / "second" / "other").exists()
    return found if there and len(found) == 2 * len(NAMES) else {}


@pytest.fixture(params=KINDS)
def runner(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[subprocess.Popen[str], list[Path], int]]:
    """A runner with two tools at work; its control groups and its guard."""
    (tmp_path / "second").mkdir()
    words = [sys.executable, "-c", RUNNER, request.param, TOOL]
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        told = running.stdout.readline().split()
        if told == ["other", "kind"]:
            pytest.skip(f"this host has no control groups of {request.param} for us")
        until(lambda: ids(tmp_path), "two tools with all their children")
        *folders, guard = told
        yield running, [Path(folder) for folder in folders], int(guard)
    finally:
        with contextlib.suppress(OSError):
            os.kill(int((tmp_path / "beside").read_text()), signal.SIGKILL)
        running.kill()
        running.communicate(timeout=LIMIT_S)


def test_a_killed_runner_leaves_nothing_running(
    runner: tuple[subprocess.Popen[str], list[Path], int], tmp_path: Path
) -> None:
    running, folders, guard = runner
    every = ids(tmp_path)
    assert not any(map(gone, every.values()))
    assert all(folder.is_dir() for folder in folders)
    running.kill()
    running.wait(timeout=LIMIT_S)
    until(lambda: all(map(gone, every.values())), "the end of all that was started")
    until(lambda: not any(folder.exists() for folder in folders), "the control groups' removal")
    until(lambda: gone(guard), "the guard's own end")
    assert not gone(int((tmp_path / "beside").read_text()))


def test_a_guard_does_not_go_with_a_signal_to_all(
    runner: tuple[subprocess.Popen[str], list[Path], int], tmp_path: Path
) -> None:
    """As when a service manager asks everybody to end, and forces the runner a moment later."""
    running, _, guard = runner
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(guard, number)
    every = ids(tmp_path)
    running.kill()
    until(lambda: all(map(gone, every.values())), "the end of all that was started")


def test_a_signal_that_comes_before_a_guard_has_begun_does_not_end_it() -> None:
    guard = Guard([])
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(guard.pid, number)
    guard.close()
    assert guard._process.returncode == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_guard_goes_with_its_host(kind: str) -> None:
    with Host.open(prefer=kind) as opened:
        guard = opened._guard.pid
        assert not gone(guard)
        assert os.getsid(guard) == guard
        # A host is closed also where somebody has ended its guard.
        if kind == "none":
            os.kill(guard, signal.SIGKILL)
        process = opened.start(["/bin/sh", "-c", "exit 3"], group=opened.group("a"))
        assert process.wait(limit_s=LIMIT_S).code == 3
    assert gone(guard)
    assert not any(folder.exists() for folder in opened.groups.folders())


def test_a_process_group_of_a_number_that_was_given_again_is_not_meant() -> None:
    """Its leader has ended, so that nothing tells when that began; but its session is another."""
    words = ["/bin/sh", "-c", "sleep 900 > /dev/null & echo $!"]
    with subprocess.Popen(words, process_group=0, stdout=subprocess.PIPE, text=True) as leader:
        assert leader.stdout is not None
        child = int(leader.stdout.readline())
    try:
        assert os.getpgid(child) == leader.pid
        told = Told()
        told.take(f"started {leader.pid} 1")
        assert guard_process._victims(told) == {}
    finally:
        os.kill(child, signal.SIGKILL)


def test_an_id_that_was_given_again_is_not_meant() -> None:
    """A process of that id that began at another time, and one that the runner has forgotten."""
    own = guard_process.row_of(os.getpid())
    assert own is not None
    with subprocess.Popen(["sleep", "900"], start_new_session=True) as other:
        started = guard_process.row_of(other.pid)
        assert started is not None
        told = Told()
        told.take(f"started {other.pid} {started.start + 1}")
        assert other.pid not in guard_process._victims(told)
        guard_process._end(other.pid, started.start + 1)
        assert other.poll() is None
        told.take(f"started {other.pid} {started.start}")
        assert guard_process._victims(told) == {other.pid: started.start}
        told.take(f"forget {other.pid}")
        assert guard_process._victims(told) == {}
        guard_process._end(other.pid, started.start)
        assert other.wait(timeout=LIMIT_S) == -signal.SIGKILL


def test_controllers_that_were_handed_down_are_taken_back(tmp_path: Path) -> None:
    """Only those that the runner has named, in its file; what is not there any more is let be."""
    control = tmp_path / "with space" / "cgroup.subtree_control"
    control.parent.mkdir()
    control.touch()
    told = Told()
    for path, controller in ((tmp_path / "gone" / "file", "cpu"), (control, "cpuset")):
        told.take(f"enabled {path} {controller}")
    guard_process._take_back(told)
    assert control.read_text() == "-cpuset"
    assert not (tmp_path / "gone").exists()
