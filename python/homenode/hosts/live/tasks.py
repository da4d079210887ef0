"""Switches, run time and run delay of all tasks of a group, living and ended.

`/proc/<task>/schedstat` is time on a processor, time runnable and waiting, and number of turns
(Linux kernel, Documentation/scheduler/sched-stats.rst); `/proc/<task>/status` counts the switches.
An ended task takes its account with it: it comes from the kernel's exit records where we may have
them, else from the last time that it was looked at.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from homenode.hosts.live.cgroups import Group
from homenode.hosts.live.taskstats import Exit, ExitRecords

_NS = 1e-9
_REMAINS_S = 5.0
"""A task may take that long to go after the kernel has told its end: its memory is freed then."""
_TIMES = slice(11, 15)
"""In what follows the name in `/proc/<pid>/stat`: utime, stime, cutime, cstime."""


@dataclass(frozen=True)
class TaskTotals:
    """Sums over tasks."""

    run_s: float = 0.0
    run_delay_s: float = 0.0
    """Runnable and waiting for a processor [s]; time throttled by a quota is in it."""
    slices: int = 0
    """Turns on a processor."""
    voluntary: int = 0
    involuntary: int = 0
    tasks: int = 0
    complete: bool = True
    """Whether nothing is missing of the tasks that ended."""

    def since(self, earlier: TaskTotals) -> TaskTotals:
        """What came after `earlier`."""
        return TaskTotals(
            self.run_s - earlier.run_s,
            self.run_delay_s - earlier.run_delay_s,
            self.slices - earlier.slices,
            self.voluntary - earlier.voluntary,
            self.involuntary - earlier.involuntary,
            self.tasks - earlier.tasks,
            self.complete,
        )


@dataclass(frozen=True)
class _Account:
    """Of one task: nanoseconds and counts."""

    run: int
    delay: int
    slices: int
    voluntary: int
    involuntary: int


class Reaped(Protocol):
    """What is known of a process that was waited for, its waited-for children included."""

    @property
    def voluntary(self) -> int:
        """Voluntary switches."""

    @property
    def involuntary(self) -> int:
        """Involuntary switches."""


class Ledger:
    """The accounts of a host's groups; asked by one thread."""

    def __init__(self, cpus: str) -> None:
        self._records = ExitRecords.open(cpus)
        self._runner = os.getpid()
        self._open: dict[int, _GroupLedger] = {}
        self._before_s = 0.0

    @property
    def exact(self) -> bool:
        """Whether ended tasks are told by the kernel."""
        return self._records is not None

    def watch(self, group: Group) -> None:
        """Keep accounts of a group from now on."""
        self._open.setdefault(id(group), _GroupLedger(group))

    def forget(self, group: Group) -> None:
        """Stop keeping them."""
        self._before_s += self.totals(group).run_s
        self._open.pop(id(group), None)

    def ended(self, group: Group, run_s: float, ended: Reaped) -> None:
        """A process of the group has ended: what the kernel says of it and of its children."""
        here: Group | None = group
        while here is not None:
            if id(here) in self._open:
                self._open[id(here)].ended(run_s, ended)
            here = here.parent

    def all_run_s(self) -> float:
        """Time on a processor of all groups so far [s]; for hosts without control groups."""
        living = [(ledger, ledger.living()) for ledger in self._open.values()]
        self.look()
        every = (ledger.totals(now, exact=self.exact).run_s for ledger, now in living)
        return self._before_s + sum(every)

    def look(self) -> None:
        """Take what can be had now; called now and then while something runs."""
        exits = list(self._records.drain()) if self._records is not None else []
        lost = self._records is not None and self._records.lost
        if self._records is not None:
            self._records.lost = False
        for ledger in self._open.values():
            ledger.look(exits, exact=self.exact)
            ledger.lost |= lost

    def totals(self, group: Group) -> TaskTotals:
        """All that the group's tasks have done so far."""
        ledger = self._open.get(id(group))
        if ledger is None:
            return TaskTotals()
        # Before the records are taken: a task that ends meanwhile is then in both, never in none.
        living = ledger.living()
        self.look()
        return ledger.totals(living, exact=self.exact)

    def close(self) -> None:
        """Stop listening."""
        if self._records is not None:
            self._records.close()


class _GroupLedger:
    """The accounts of one group."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._processes: set[int] = set()
        self._ended = [0, 0, 0, 0, 0]
        """Sums of an account's figures over tasks of which the kernel told the end."""
        self._ends = 0
        self._lately: dict[int, float] = {}
        """When an end was told, by the task; its remains may still be seen."""
        self._seen: dict[int, _Account] = {}
        self._stray: list[Exit] = []
        self._waited: list[float] = [0.0, 0, 0]
        self.lost = False

    def ended(self, run_s: float, reaped: Reaped) -> None:
        """Without exit records this is what is known of those that ended."""
        self._waited[0] += run_s
        self._waited[1] += reaped.voluntary
        self._waited[2] += reaped.involuntary

    def look(self, exits: Iterable[Exit], *, exact: bool) -> None:
        living = self._group.pids()
        self._processes.update(living, roots_of(self._group))
        if exact:
            self._take([*self._stray, *exits])
        else:
            self._seen.update(accounts(living))

    def _take(self, exits: list[Exit]) -> None:
        """Exits of our processes and of their descendants; a child may be told before its parent
        is known, so what is left is tried again next time.
        """
        now = time.monotonic()
        self._lately = {tid: at for tid, at in self._lately.items() if now - at < _REMAINS_S}
        while True:
            ours = [e for e in exits if e.pid in self._processes or e.parent in self._processes]
            if not ours:
                break
            for found in ours:
                self._processes.add(found.pid)
                # Summed at once: ids are given again, and a second task of an id is another.
                figures = (
                    found.run_ns,
                    found.delay_ns,
                    found.slices,
                    found.voluntary,
                    found.involuntary,
                )
                self._ended = [a + b for a, b in zip(self._ended, figures, strict=True)]
                self._ends += 1
                self._lately[found.tid] = now
            taken = set(map(id, ours))
            exits = [e for e in exits if id(e) not in taken]
        self._stray = exits[-10_000:]

    def living(self) -> dict[int, _Account]:
        """The accounts of tasks that live now, by task."""
        pids = self._group.pids()
        self._processes.update(pids)
        return dict(accounts(pids))

    def totals(self, living: Mapping[int, _Account], *, exact: bool) -> TaskTotals:
        """All so far, with what lived just before the last look."""
        return self._told(living) if exact else self._looked(living)

    def _told(self, living: Mapping[int, _Account]) -> TaskTotals:
        """With the kernel's word on those that ended, which counts in place of their remains."""
        now = [vars(account).values() for tid, account in living.items() if tid not in self._lately]
        run, delay, slices, voluntary, involuntary = map(sum, zip(self._ended, *now, strict=True))
        return TaskTotals(
            run_s=run * _NS,
            run_delay_s=delay * _NS,
            slices=slices,
            voluntary=voluntary,
            involuntary=involuntary,
            tasks=self._ends + len(now),
            complete=not self.lost,
        )

    def _looked(self, living: Mapping[int, _Account]) -> TaskTotals:
        """With what was seen of them last, and what waiting for them told."""
        past = [account for tid, account in self._seen.items() if tid not in living]
        every = [*past, *living.values()]
        waited_s, least_voluntary, least_involuntary = self._waited
        # The remains of those that have ended and nobody waited for still have their account.
        unwaited = {*self._group.pids(), *roots_of(self._group)}
        return TaskTotals(
            run_s=waited_s + sum(map(process_s, unwaited)),
            run_delay_s=sum(a.delay for a in every) * _NS,
            slices=sum(a.slices for a in every),
            voluntary=sum(a.voluntary for a in living.values())
            + max(sum(a.voluntary for a in past), int(least_voluntary)),
            involuntary=sum(a.involuntary for a in living.values())
            + max(sum(a.involuntary for a in past), int(least_involuntary)),
            tasks=len(every),
            complete=False,
        )


def roots_of(group: Group) -> set[int]:
    """Processes started in a group and in the groups in it."""
    return group.roots.union(*(roots_of(child) for child in group.children))


def process_s(pid: int, proc: Path = Path("/proc")) -> float:
    """Processor time of a living process, of its threads that ended, and of its children that it
    waited for [s]; in steps of the kernel's clock ticks, 10 ms as a rule.
    """
    try:
        fields = (proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return sum(map(int, fields[_TIMES])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def accounts(pids: Iterable[int], proc: Path = Path("/proc")) -> Iterator[tuple[int, _Account]]:
    """The accounts of all living tasks of processes."""
    for pid in pids:
        try:
            tasks = os.listdir(proc / str(pid) / "task")  # noqa: PTH208 - names are enough
        except OSError:
            continue
        for tid in tasks:
            account = account_of(proc / str(pid) / "task" / tid)
            if account is not None:
                yield int(tid), account


def account_of(folder: Path) -> _Account | None:
    """A task's account; None when it is gone. Kernels without schedstat leave the times zero."""
    try:
        status = (folder / "status").read_text()
    except OSError:
        return None
    counts = {"voluntary_ctxt_switches": 0, "nonvoluntary_ctxt_switches": 0}
    for line in status.splitlines()[-4:]:
        name, _, value = line.partition(":")
        if name in counts:
            counts[name] = int(value)
    try:
        run, delay, slices = map(int, (folder / "schedstat").read_text().split())
    except (OSError, ValueError):
        run = delay = slices = 0
    return _Account(run, delay, slices, *counts.values())
