"""Run a command as on a host that was just started, or as on one that is busy.

    python tests/measure/under.py fresh .venv/bin/pytest tests/measure
    python tests/measure/under.py loaded .venv/bin/pytest tests/measure

`fresh`: the monotonic clock and the one since the start show a minute to the command and to all
that it starts, by a time namespace (`unshare --time`). It takes root, or a kernel that lets users
have namespaces of their own; where neither is so, that is said and the exit status is 77.

`loaded`: eight processes compute beside the command until it has ended. They end too if this
program is killed, and after an hour at the latest.

The exit status is the command's otherwise.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

UP_S = 60
"""What the clocks show."""
LOOPS = 8
LONGEST_S = 3600
NOT_HERE = 77
"""Exit status of a test that was skipped, as make's testers of old have it."""
_LOOP = """\
import os, sys, time
parent, until = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
while os.getppid() == parent and time.monotonic() < until:
    for _ in range(100_000): pass
"""
_OFFSETS = Path("/proc/self/timens_offsets")
_MAPPED = ("--user", "--map-current-user")
"""A user namespace, in which everybody may have a time namespace."""


def started_a_minute_ago() -> list[str] | None:
    """The words before a command that set its clocks back; none where this host refuses."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    clocks = {"monotonic": time.CLOCK_MONOTONIC, "boottime": time.CLOCK_BOOTTIME}
    words, already = ["--time"], offsets()
    for name, clock in clocks.items():
        shift = UP_S - round(time.clock_gettime(clock)) + already.get(name, 0)
        words += [f"--{name}", str(shift)]
    for more in ((), _MAPPED):
        before = [unshare, *more, *words]
        if subprocess.run([*before, "true"], capture_output=True, check=False).returncode == 0:
            return before
    return None


def offsets() -> dict[str, int]:
    """By how many seconds this process's clocks differ from the kernel's, which a new difference is
    counted from.
    """
    try:
        rows = [line.split() for line in _OFFSETS.read_text().splitlines()]
    except OSError:  # a kernel without time namespaces
        return {}
    return {name: int(seconds) for name, seconds, _ in rows}


@contextmanager
def load() -> Iterator[None]:
    """Loops beside the block; each is ended by its id, however the block ends."""
    words = [sys.executable, "-c", _LOOP, str(os.getpid()), str(LONGEST_S)]
    running: list[subprocess.Popen[bytes]] = []
    try:
        running += (subprocess.Popen(words) for _ in range(LOOPS))
        yield
    finally:
        for one in running:
            one.kill()
        for one in running:
            one.wait()


def fresh(command: Sequence[str]) -> int:
    """The command's exit status, or that of one that cannot be run here."""
    before = started_a_minute_ago()
    if before is None:
        print(
            "under.py: NOT RUN: this host lets nobody set a clock back (unshare --time); run it "
            f"as root on Linux 5.6 or later, or within {UP_S} s of a start: {' '.join(command)}",
            file=sys.stderr,
        )
        return NOT_HERE
    return subprocess.run([*before, *command], check=False).returncode


def loaded(command: Sequence[str]) -> int:
    """The command's exit status."""
    with load():
        return subprocess.run(command, check=False).returncode


UNDER: dict[str, Callable[[Sequence[str]], int]] = {"fresh": fresh, "loaded": loaded}


def main(words: Sequence[str]) -> int:
    """Run it; a signal that asks this program to end ends the command and the load with it."""
    if len(words) < 2 or words[0] not in UNDER:
        print(f"usage: under.py {'|'.join(UNDER)} COMMAND...", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    return UNDER[words[0]](words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
