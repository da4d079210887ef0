"""Ends what a measurement started when its runner is killed and can end nothing itself.

A script of its own, so that it starts at once and imports nothing of the package. Its runner tells
it, line by line, what there is to end; the runner's end, however it comes, closes the pipe. Unless
`done` was said before, everything is ended then, each process by its id: all in the runner's
control groups, the sessions that it started with all their children, and whoever carries a mark in
its environment, which children inherit, daemons too.

Controllers that the runner had handed down in somebody else's control group are taken back.

Lines: `folder <control group>`, `enabled <file> <controller>`, `mark <NAME=value>`,
`started <id> <when, in the kernel's ticks>`, `forget <id>`, `done`.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a process to end, and all of a session at once."""
_STEP_S = 0.02
_QUIET_S = 0.5
"""Nobody to end for so long is the end: one that was being started may appear late."""
_LIMIT_S = 60.0
_REMAINS = (b"Z", b"X")
_CHUNK = 65_536


@dataclass
class Told:
    """What the runner has said."""

    folders: list[str] = field(default_factory=list)
    enabled: list[tuple[str, str]] = field(default_factory=list)
    """Files in which controllers were handed down, and which."""
    started: dict[int, int] = field(default_factory=dict)
    """When a process began [ticks of the kernel], by its id: ids are given again."""
    mark: bytes = b""
    done: bool = False

    def take(self, line: str) -> None:
        """One line of the runner's."""
        word, _, value = line.partition(" ")
        if word == "folder":
            self.folders.append(value)
        elif word == "enabled":
            file, _, controller = value.rpartition(" ")
            self.enabled.append((file, controller))
        elif word == "started":
            pid, start = map(int, value.split())
            self.started[pid] = start
        elif word == "forget":
            self.started.pop(int(value), None)
        elif word == "mark":
            self.mark = os.fsencode(value)
        elif word == "done":
            self.done = True


@dataclass
class Row:
    """A process, from `/proc/<id>/stat` (proc_pid_stat(5))."""

    parent: int
    session: int
    start: int
    """When it began [ticks of the kernel since its start]."""
    remains: bool
    """Whether it has ended, and is not yet waited for."""


def row_of(pid: int | str) -> "Row | None":
    """None for one that is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - imports little
            fields = file.read().rpartition(b")")[2].split()
        parent, session, start = (int(fields[at]) for at in (1, 3, 19))
        return Row(parent, session, start, fields[0] in _REMAINS)
    except (OSError, IndexError, ValueError):
        return None


def _listen(runner: int) -> Told:
    """Take lines until the runner is gone or has closed the pipe."""
    told, rest = Told(), b""
    waiting = select.poll()
    waiting.register(0, select.POLLIN | select.POLLHUP)
    ended = -1
    with suppress(OSError, AttributeError):
        ended = os.pidfd_open(runner)
        if os.getppid() == runner:
            # A process forked from the runner may hold the pipe open after it.
            waiting.register(ended, select.POLLIN)
    while True:
        events = dict(waiting.poll())
        if 0 not in events:
            return told
        chunk = os.read(0, _CHUNK)
        if not chunk:
            return told
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            told.take(os.fsdecode(line))


def _processes() -> "dict[int, Row]":
    rows = ((name, row_of(name)) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208
    return {int(name): row for name, row in rows if row is not None}


def _victims(told: Told) -> "dict[int, int]":
    """Living processes that are to end, and when each began."""
    table = _processes()
    inside = {pid for folder in told.folders for pid in _members(folder)}
    # A number is not given again as long as a session has it. Process groups are not asked: those
    # of our sessions are in them, and of a number that was given again they may be somebody's.
    leaders = {
        pid for pid, start in told.started.items() if pid not in table or table[pid].start == start
    }
    found = {
        pid
        for pid, row in table.items()
        if pid in inside or {pid, row.session} & leaders or _marked(pid, told.mark)
    }
    while more := {pid for pid, row in table.items() if row.parent in found} - found:
        found |= more
    found -= {os.getpid()}
    return {pid: table[pid].start for pid in found if not table[pid].remains}


def _members(folder: str) -> "list[int]":
    """Processes of a control group and of those in it."""
    found = []
    for place, _, files in os.walk(folder):
        if "cgroup.procs" in files:
            path = f"{place}/cgroup.procs"
            with suppress(OSError, ValueError), open(path, "rb") as file:  # noqa: PTH123
                found += [int(word) for word in file.read().split()]
    return found


def _marked(pid: int, mark: bytes) -> bool:
    if not mark:
        return False
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def _end(pid: int, start: int) -> None:
    """End one process, and no other that was given its id meanwhile."""
    with suppress(OSError):
        try:
            descriptor = os.pidfd_open(pid)
        except AttributeError:
            os.kill(pid, signal.SIGKILL)
            return
        try:
            row = row_of(pid)
            if row is not None and row.start == start:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)


def _end_all(told: Told) -> None:
    """End everything until nobody is left, then remove the control groups."""
    now = time.monotonic()
    until, quiet_from = now + _LIMIT_S, now
    while now < until and now - quiet_from < _QUIET_S:
        victims = _victims(told)
        for pid, start in victims.items():
            _end(pid, start)
        _remove(told)
        time.sleep(_STEP_S)
        now = time.monotonic()
        if victims:
            quiet_from = now


def _remove(told: Told) -> None:
    for folder in told.folders:
        for place, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):
                os.rmdir(place)  # noqa: PTH106


def _take_back(told: Told) -> None:
    """Hand no controller down any more that was not before us. A group in which others have made
    groups with settings meanwhile refuses.
    """
    for path, controller in told.enabled:
        with suppress(OSError), open(path, "w") as file:  # noqa: PTH123
            file.write(f"-{controller}")


def main() -> None:
    """Wait for the runner's end; signals that end a whole session's processes do not come first."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    told = _listen(int(sys.argv[1]))
    if not told.done:
        _end_all(told)
        _take_back(told)


if __name__ == "__main__":
    main()
