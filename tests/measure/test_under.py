"""The surroundings in which continuous integration repeats these tests: what a command sees there,
and that no load outlives it.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from under import LOOPS, NOT_HERE, UP_S
from waiting import LIMIT_S, until

from homenode.hosts.live.cgroups import gone

UNDER = Path(__file__).with_name("under.py")
BESIDE = """\
import os, pathlib, sys, time
def of(folder):
    try: return folder.joinpath("stat").read_text().rpartition(")")[2].split()[1]
    except OSError: return ""
every = [f.name for f in pathlib.Path("/proc").iterdir() if f.name.isdigit()]
found = [i for i in every if of(pathlib.Path("/proc", i)) == str(os.getppid())]
part = pathlib.Path(sys.argv[1] + ".part")
part.write_text(" ".join(found))
part.rename(sys.argv[1])
"""
"""Notes the ids of all children of its parent, its own among them."""


def under(*words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, UNDER, *words],
        env=None if path is None else {"PATH": path},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_on_a_fresh_host_all_clocks_begin_anew() -> None:
    clocks = "time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME"
    told = f"import time; print(*map(time.clock_gettime, ({clocks})))"
    done = under("fresh", "sh", "-c", f"'{sys.executable}' -c '{told}'; exit 5")
    if done.returncode == NOT_HERE:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 5
    for shown in map(float, done.stdout.split()):
        assert UP_S - 1 <= shown < UP_S + LIMIT_S


@pytest.mark.parametrize("refuses", [True, False])
def test_where_no_clock_can_be_set_back_that_is_said(tmp_path: Path, refuses: bool) -> None:
    if refuses:
        program = tmp_path / "unshare"
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
    done = under("fresh", "echo", "run", path=str(tmp_path))
    assert (done.returncode, done.stdout) == (NOT_HERE, "")
    assert "NOT RUN" in done.stderr
    assert "echo run" in done.stderr


def test_a_load_lasts_as_long_as_its_command(tmp_path: Path) -> None:
    done = under("loaded", sys.executable, "-c", BESIDE + "sys.exit(3)", str(tmp_path / "ids"))
    assert done.returncode == 3
    beside = (tmp_path / "ids").read_text().split()
    assert len(beside) == LOOPS + 1
    assert all(gone(int(one)) for one in beside)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_load_does_not_outlive_who_asked_for_it(tmp_path: Path, number: signal.Signals) -> None:
    ids = tmp_path / "ids"
    command = [sys.executable, "-c", BESIDE + "sys.stdin.read()", str(ids)]
    with subprocess.Popen(
        [sys.executable, UNDER, "loaded", *command], stdin=subprocess.PIPE
    ) as running:
        until(lambda: ids.exists() or running.poll() is not None, "the ids of all")
        running.send_signal(number)
    beside = ids.read_text().split()
    assert len(beside) == LOOPS + 1
    until(lambda: all(gone(int(one)) for one in beside), "the end of all")


@pytest.mark.parametrize("words", [(), ("fresh",), ("busy", "true")])
def test_wrong_words_get_the_usage(words: tuple[str, ...]) -> None:
    done = under(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: under.py fresh|loaded COMMAND")
