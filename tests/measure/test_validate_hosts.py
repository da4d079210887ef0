"""What the judge reads of a host besides its own processes: debugfs, and the turns of others."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from homenode.judge.debugfs import NAMES, marked, read_debugfs
from homenode.judge.kernel import read_kernel
from homenode.judge.others import Thread, Turns, between, look

REPORT = """\
Sched Debug Version: v0.11, 6.18.1 #1

sysctl_sched
  .sysctl_sched_base_slice                 : 2.800000
  .sysctl_sched_features                   : {mask}
  .sysctl_sched_tunable_scaling            : 1 (logarithmic)
"""
"""Made up, in the form of the kernel's report."""


def locked_down(folder: Path, mask: int) -> Path:
    """A host whose debugfs has the report only."""
    there = folder / "sys/kernel/debug/sched"
    there.mkdir(parents=True)
    (there / "debug").write_text(REPORT.format(mask=mask))
    return folder


@pytest.mark.parametrize(
    ("release", "mask", "lag", "parity"),
    [
        ("6.18.1", 0b01001, True, True),
        ("6.18.1", 0b00110, False, False),
        ("6.6.30", 0b00101, True, True),
        ("6.6.30", 0b01010, False, False),
    ],
)
def test_a_locked_down_kernel_still_tells_features_in_its_report(
    release: str, mask: int, lag: bool, parity: bool, tmp_path: Path
) -> None:
    found = read_kernel(locked_down(tmp_path, mask), release)
    told = {name: one.value for name, one in found.settings.items()}
    assert (told["place_lag"], told["run_to_parity"]) == (lag, parity)
    assert told["base_slice"] == 2_800_000
    assert any("migration cost" in text for text in found.unread)
    assert not any("features" in text for text in found.unread)


def test_features_of_a_kernel_before_them_are_not_guessed(tmp_path: Path) -> None:
    found = read_kernel(locked_down(tmp_path, 15), "5.15.0")
    assert "place_lag" not in found.settings
    assert any("features" in text for text in found.unread)


def test_autogroups_are_noted_where_they_are_on(tmp_path: Path) -> None:
    path = tmp_path / "proc/sys/kernel/sched_autogroup_enabled"
    path.parent.mkdir(parents=True)
    path.write_text("1\n")
    assert "autogroups are on" in read_kernel(tmp_path, "6.18.1").notes[0]
    path.write_text("0\n")
    assert read_kernel(tmp_path, "6.18.1").notes == ()


def test_texts_come_apart_at_their_marks() -> None:
    told = "== features\nPLACE_LAG NO_HRTICK\n\n== base_slice_ns\n\n== debug\n  .x : 1\n"
    assert marked(told) == {"features": "PLACE_LAG NO_HRTICK", "debug": ".x : 1"}
    assert marked("mount: not permitted\n") == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_what_is_mounted_for_a_child_is_seen_by_nobody_else() -> None:
    mounts = Path("/proc/self/mounts")
    before = mounts.read_text()
    found = read_debugfs()
    assert mounts.read_text() == before
    if not found:
        pytest.skip("this host lets nobody mount debugfs, or has none")
    assert set(found) <= set(NAMES)
    assert "PLACE_LAG" in found.get("features", "") or "sysctl_sched" in found.get("debug", "")


# Turns of others


def test_turns_are_those_of_threads_seen_twice() -> None:
    before = {
        1: Thread(10, 1_000, bound=False),
        2: Thread(5, 500, bound=True),
        3: Thread(7, 700, bound=False),  # ends
        5: Thread(9, 9_000, bound=False),  # its number is taken by another
    }
    after = {
        1: Thread(14, 1_800, bound=False),
        2: Thread(6, 530, bound=True),
        4: Thread(100, 9_999, bound=False),  # new
        5: Thread(9, 40, bound=False),
    }
    assert between(before, after) == Turns(free=4, free_ns=800, bound=1, bound_ns=30)


def proc(folder: Path, number: int, allowed: str, turns: int, run_ns: int) -> None:
    task = folder / str(number) / "task" / str(number)
    task.mkdir(parents=True)
    (task / "status").write_text(
        f"Name:\tmade-up\nCpus_allowed_list:\t{allowed}\n"
        f"voluntary_ctxt_switches:\t{turns}\nnonvoluntary_ctxt_switches:\t99\n"
    )
    (task / "schedstat").write_text(f"{run_ns} 5 6\n")


def test_a_thread_is_bound_that_may_run_on_one_processor_of_several(tmp_path: Path) -> None:
    proc(tmp_path, 11, "3", 4, 40)
    proc(tmp_path, 12, "0-3", 5, 50)
    proc(tmp_path, os.getpid(), "0-3", 6, 60)  # ourselves
    (tmp_path / "13").mkdir()  # ended while we looked
    (tmp_path / "uptime").write_text("1 1")
    assert look(tmp_path, 4) == {
        11: Thread(4, 40, bound=True),
        12: Thread(5, 50, bound=False),
    }
    assert not look(tmp_path, 1)[11].bound


def test_a_sleeper_of_this_host_is_seen() -> None:
    with subprocess.Popen(["sh", "-c", "while :; do sleep 0.01; done"]) as child:
        try:
            before = after = look()
            until = time.monotonic() + 30.0
            while after[child.pid].turns == before[child.pid].turns and time.monotonic() < until:
                time.sleep(0.05)
                after = look()
        finally:
            child.kill()
    turns = after[child.pid].turns - before[child.pid].turns
    assert turns > 0
    found = between(before, after)
    # A test that may use one processor only starts children that may not use another either.
    assert (found.bound if after[child.pid].bound else found.free) >= turns
