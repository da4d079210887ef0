"""The host at hand: makes groups, starts processes in them, accounts for them, ends them all."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from homenode.hosts.live import processes
from homenode.hosts.live.cgroups import Group, Groups, Setting, cpu_list, gone
from homenode.hosts.live.cpus import allowed
from homenode.hosts.live.detect import open_groups
from homenode.hosts.live.gate import Gate
from homenode.hosts.live.guard import Guard
from homenode.hosts.live.network import Loopback
from homenode.hosts.live.processes import Ended, Launch, Process
from homenode.hosts.live.tasks import Ledger, TaskTotals

_SET_CHILD_SUBREAPER = 36
BASE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games"


class Host:
    """Everything that is started here ends with it; used as a context, by one thread."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.cpus = allowed()
        self.ledger = Ledger(cpu_list(range(os.cpu_count() or 1)))
        self.gate = Gate(groups, self.own_s)
        self._guard = Guard(groups.folders(), groups.enabled())
        self._groups: list[Group] = []
        self._processes: dict[int, Process] = {}
        self._namespaces: list[Loopback] = []

    @classmethod
    def open(cls, *, prefer: str | None = None) -> Host:
        """Take what control groups there are: `prefer` one of `v1`, `v2`, `none` for tests."""
        groups = open_groups(prefer=prefer)
        try:
            return cls(groups)
        except BaseException:
            groups.close()
            raise

    def __enter__(self) -> Self:
        _adopt_orphans(True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what still runs and remove our groups; what does not end is told at the end."""
        with ExitStack() as last_first:
            last_first.callback(_adopt_orphans, False)
            last_first.callback(self._reap_orphans)
            last_first.callback(self.ledger.close)
            last_first.callback(self.groups.close)
            # Before that: it may be in a group that we moved into, which goes then.
            last_first.callback(self._guard.close)
            for namespace in self._namespaces:
                last_first.callback(namespace.close)
            for process in self._processes.values():
                last_first.callback(process.end)
            for group in self._groups:
                last_first.callback(self.end, group)

    def group(
        self, name: str, setting: Setting | None = None, *, parent: Group | None = None
    ) -> Group:
        """A new group with a setting.

        Raises `MeasureError` where this host cannot do it.
        """
        if setting is not None:
            self.groups.check(setting)
        group = self.groups.make(name, parent=parent)
        self._groups.append(group)
        self.ledger.watch(group)
        if setting is not None:
            group.set(setting)
        return group

    def role(self, name: str, group: Group) -> Group:
        """A group in `group` for the account alone; `group` itself where that cannot be."""
        if "roles" not in self.groups.can:
            return group
        return self.groups.make(name, parent=group, account_only=True)

    def start(
        self,
        argv: Sequence[str],
        *,
        group: Group | None = None,
        cpus: Sequence[int] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        user: str | None = None,
        namespace: Loopback | None = None,
        stdin: Path | None = None,
        stdout: Path | None = None,
        stderr: Path | None = None,
    ) -> Process:
        """Start a program; `cpus` are set as its affinity, on top of the group's.

        Raises `MeasureError` for a program or user that is not there.
        """
        launch = Launch(
            joins=[] if group is None else group.joins(),
            enter=[] if namespace is None else namespace.enter(),
            cpus=cpus,
            env={"PATH": BASE_PATH, "LC_ALL": "C", "TZ": "UTC"} | self._guard.env | dict(env or {}),
            cwd=cwd,
            user=user,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
        process = processes.start(argv, launch)
        self._guard.started(process.pid)
        process.look = self.ledger.look
        if group is not None:
            group.roots.add(process.pid)
        self._processes[process.pid] = process
        process.reaped = lambda ended: self._reaped(process, group, ended)
        return process

    def _reaped(self, process: Process, group: Group | None, ended: Ended) -> None:
        self._processes.pop(process.pid, None)
        if group is None:
            self._guard.forget([process.pid])
        else:
            self.ledger.ended(group, ended.user_s + ended.system_s, ended)

    def namespace(self) -> Loopback:
        """A network namespace with only loopback, let go at the end."""
        made = Loopback()
        self._namespaces.append(made)
        return made

    def release(self, namespace: Loopback) -> None:
        """Let a namespace go before that."""
        self._namespaces.remove(namespace)
        namespace.close()

    def totals(self, group: Group) -> TaskTotals:
        """Switches and run delay of all that ran in a group."""
        return self.ledger.totals(group)

    def end(self, group: Group, *, patience_s: float = 0.0) -> None:
        """End what runs in a group, take its accounts, and remove it."""
        for process in [*self._processes.values()]:
            if process.pid in _all_roots(group) and not process.alive():
                process.reap()
        group.end(patience_s=patience_s)
        for process in [*self._processes.values()]:
            if process.pid in _all_roots(group):
                process.end()
        if self.groups.kind == "none":
            self._end_orphans()
        self._reap_orphans()
        self._guard.forget(_all_roots(group))
        self.ledger.forget(group)
        if group in self._groups:
            self._groups.remove(group)

    def own_s(self) -> float:
        """Processor time of all we started, and of this process itself [s]."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        own = used.ru_utime + used.ru_stime
        if "account" in self.groups.can:
            return own + self.groups.account().total_s
        return own + self.ledger.all_run_s()

    def _orphans(self) -> Iterator[int]:
        """Processes that lost their parents to us: all that we start are in sessions of their own,
        so children in ours are somebody else's.
        """
        ours = os.getsid(0)
        namespaces = (namespace.pid for namespace in self._namespaces)
        known = {self._guard.pid, *self._processes, *namespaces}
        for pid in _children():
            with suppress(OSError):
                if pid not in known and os.getsid(pid) != ours:
                    yield pid

    def _reap_orphans(self) -> None:
        """Let the remains of orphans go."""
        for pid in self._orphans():
            if gone(pid):
                with suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)

    def _end_orphans(self) -> None:
        """Without control groups, whoever left its family is found among our own children."""
        while living := [pid for pid in self._orphans() if not gone(pid)]:
            for pid in living:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _all_roots(group: Group) -> set[int]:
    return group.roots.union(*(_all_roots(child) for child in group.children))


def _children() -> Iterator[int]:
    """Children of this process, as far as the kernel tells (CONFIG_PROC_CHILDREN)."""
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError, ValueError):
            yield from map(int, (thread / "children").read_text().split())


def _adopt_orphans(adopt: bool) -> None:
    """Have processes that lose their parents handed to us (prctl(2))."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)
