"""The bench that adapters work on: processes into the repetition's group, their outputs to files,
accounts between `measuring` and `measured`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from homenode.hosts.adapter import Clock, Finished
from homenode.hosts.errors import MeasureError
from homenode.hosts.live import Ended, Group, Host, Process, TaskTotals, Usage
from homenode.hosts.live.counters import Counters
from homenode.hosts.live.gate import Quiet, Watch
from homenode.hosts.live.network import Loopback, taken, wait_for_port
from homenode.hosts.live.packages import find
from homenode.hosts.live.processes import read, told
from homenode.hosts.record import CpuTime, Switches

PORTS = range(21_000, 30_000)
_PORTS_APART = 61
SURROUNDINGS = {"LANG": "C"} | {k: v for k, v in os.environ.items() if k == "PYTHONPATH"}
"""Nothing of the user's surroundings, but what a Python of ours may need to find us."""


@dataclass(frozen=True)
class Place:
    """Folders of a repetition."""

    folder: Path
    data: Path
    cache: Path
    raw: Path


class HostClock:
    """The monotonic clock of the host at hand."""

    def now_s(self) -> float:
        """What it shows now."""
        return time.monotonic()

    def wait_until(self, moment_s: float) -> None:
        """Sleep until it shows that."""
        time.sleep(max(0.0, moment_s - time.monotonic()))


@dataclass(frozen=True)
class Account:
    """What the repetition's processes used in the measured time."""

    cpu: CpuTime
    switches: Switches | None
    run_delay_s: float | None
    throttled_s: float | None
    instructions: float | None
    cycles: float | None
    seconds: float
    quiet: Quiet
    details: Mapping[str, object]


@dataclass(frozen=True)
class _Moment:
    at: float
    usage: Usage
    roles: Mapping[str, Usage]
    tasks: TaskTotals
    counted: Mapping[str, float] | None


@dataclass
class HostBench:
    """A bench on the host at hand; see `homenode.hosts.adapter.Bench`."""

    host: Host
    group: Group
    place: Place
    processors: Sequence[int]
    deadline: float
    """By the monotonic clock."""
    namespace: Loopback | None = None
    affinity: Sequence[int] | None = None
    """Set on each process where the group has no cpuset."""
    env: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=HostClock)
    ports: range = PORTS
    """Those that servers may listen at."""

    def __post_init__(self) -> None:
        self.folder = self.place.folder
        self.data = self.place.data
        self.cache = self.place.cache
        self._roles: dict[str, Group] = {}
        self._started: list[OnBench] = []
        self._ports: set[int] = set()
        self._counters = Counters()
        self._watch: Watch = self.host.gate.watch()
        self._from = self._moment()
        self._window: tuple[_Moment, Quiet] | None = None

    # What adapters call

    def run(
        self,
        argv: Sequence[str],
        *,
        limit_s: float,
        role: str = "client",
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        folder: Path | None = None,
        user: str | None = None,
        good: Sequence[int] = (0,),
    ) -> Finished:
        """Run a program to its end."""
        started = self._launch(argv, role, env, folder, user, stdin)
        return started.wait(limit_s=limit_s, good=good)

    def start(
        self,
        argv: Sequence[str],
        *,
        role: str = "server",
        env: Mapping[str, str] | None = None,
        folder: Path | None = None,
        user: str | None = None,
    ) -> OnBench:
        """Start a program that runs on."""
        return self._launch(argv, role, env, folder, user, None)

    def wait_for_port(self, port: int, *, limit_s: float, of: object = None) -> None:
        """Wait until something listens."""
        process = of.process if isinstance(of, OnBench) else None
        wait_for_port(port, limit_s=self._bounded(limit_s), pid=self._net(), of=process)

    def free_port(self) -> int:
        """A port that nobody uses now."""
        every = self.ports
        # Two sessions at once begin at different places, or each could take the other's server
        # for its own; in a namespace there is nobody else.
        first = 0 if self.namespace is not None else os.getpid() * _PORTS_APART % len(every)
        ports: list[int] = [*every[first:], *every[:first]]
        for port in ports:
            if port not in self._ports and not taken(port, self._net()):
                self._ports.add(port)
                return port
        raise MeasureError(
            f"no TCP port from {every.start} to {every.stop - 1} is free",
            next_step="see `ss -ltn` for who listens",
        )

    def program(self, name: str) -> str:
        """Full path of a program."""
        path = name if "/" in name else find(name)
        if path is None:
            raise MeasureError(
                f"{name} is not on this host",
                next_step="`homenode measure tools` says which package brings it",
            )
        return path

    def give(self, path: Path, user: str) -> None:
        """Let another user own a file or folder."""
        if os.geteuid() != 0:
            return
        for each in [path, *path.rglob("*")]:
            with suppress(FileNotFoundError):
                shutil.chown(each, user)

    def measuring(self) -> None:
        """Begin the accounts: what is used from now on is the case's."""
        self._watch = self.host.gate.watch()
        self._from = self._moment()
        self._window = None

    def measured(self) -> None:
        """End the accounts: what is used from now on is not the case's."""
        self._window = (self._moment(), self._watch.done())

    # What the runner calls

    def account(self) -> Account:
        """The accounts, ended now if the adapter did not."""
        if self._window is None:
            self.measured()
        to, quiet = self._window or (self._moment(), self._watch.done())
        used = to.usage.since(self._from.usage)
        tasks = to.tasks.since(self._from.tasks)
        known = "account" in self.host.groups.can
        # The kernel shares the exact total out by ticks: a part of a short time may exceed it.
        user = min(max(0.0, used.user_s), used.total_s)
        cpu = CpuTime(
            total=used.total_s if known else tasks.run_s,
            user=user if known else None,
            system=used.total_s - user if known else None,
            by_role=self._by_role(to),
        )
        details: dict[str, object] = {
            "account_seconds": to.at - self._from.at,
            "kernel_threads_s": quiet.kernel_s,
            "tasks": tasks.tasks,
        }
        if used.periods:
            details |= {"periods": used.periods, "throttled_periods": used.throttled_periods}
        counted = self._counted(to)
        return Account(
            cpu=cpu,
            switches=Switches(tasks.voluntary, tasks.involuntary) if _whole(tasks) else None,
            run_delay_s=tasks.run_delay_s if _whole(tasks) else None,
            throttled_s=used.throttled_s if "quota" in self.host.groups.can else None,
            instructions=counted.get("instructions"),
            cycles=counted.get("cycles"),
            seconds=to.at - self._from.at,
            quiet=quiet,
            details=details,
        )

    def tidy(self) -> None:
        """End what still runs, servers by request first."""
        self.host.end(self.group, patience_s=5.0)
        for started in self._started:
            if started.process.ended is None:
                started.process.end()
        self._counters.close()

    # Inside

    def _launch(
        self,
        argv: Sequence[str],
        role: str,
        env: Mapping[str, str] | None,
        folder: Path | None,
        user: str | None,
        stdin: bytes | None,
    ) -> OnBench:
        words = [self.program(argv[0]), *argv[1:]]
        number = len(self._started)
        stem = f"{number:02d}-{role}-{Path(argv[0]).name}"
        fed = None
        if stdin is not None:
            fed = self.place.raw / f"{stem}.in"
            fed.write_bytes(stdin)
        command = shlex.join(words) + (f" < {fed.name}" if fed else "") + "\n"
        (self.place.raw / f"{stem}.cmd").write_text(command, "utf-8", "backslashreplace")
        process = self.host.start(
            words,
            group=self._role(role),
            cpus=self.affinity,
            env={**SURROUNDINGS, "HOME": str(self.folder), **self.env, **(env or {})},
            cwd=folder or self.folder,
            user=user,
            namespace=self.namespace,
            stdin=fed,
            stdout=self.place.raw / f"{stem}.out",
            stderr=self.place.raw / f"{stem}.err",
        )
        self._counters.follow(process.pid)
        started = OnBench(self, process, words)
        self._started.append(started)
        return started

    def _role(self, role: str) -> Group:
        if role not in self._roles:
            self._roles[role] = self.host.role(role, self.group)
        return self._roles[role]

    def _by_role(self, to: _Moment) -> dict[str, float]:
        if "roles" not in self.host.groups.can or len(to.roles) < 2:
            return {}
        return {
            role: usage.since(self._from.roles.get(role, Usage())).total_s
            for role, usage in to.roles.items()
        }

    def _counted(self, to: _Moment) -> dict[str, float]:
        if to.counted is None:
            return {}
        before = self._from.counted or {}
        return {name: value - before.get(name, 0.0) for name, value in to.counted.items()}

    def _moment(self) -> _Moment:
        return _Moment(
            at=time.monotonic(),
            usage=self.group.usage(),
            roles={role: group.usage() for role, group in self._roles.items()},
            tasks=self.host.totals(self.group),
            counted=self._counters.read(),
        )

    def _net(self) -> int | str:
        return "self" if self.namespace is None else self.namespace.pid

    def _bounded(self, limit_s: float) -> float:
        """Nothing waits beyond the repetition's own limit."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise MeasureError(
                "the repetition takes longer than its adapter allows",
                next_step="ask for fewer --seconds, or see what the host is busy with",
            )
        return min(limit_s, left)


def _whole(tasks: TaskTotals) -> bool:
    """Whether the account of tasks holds all of them: without the kernel's word on those that ended
    a part would be missing, and where one is, sums may even run backwards.
    """
    least = min(tasks.voluntary, tasks.involuntary, tasks.run_delay_s)
    return tasks.complete and least >= 0


class OnBench:
    """A process on the bench; see `homenode.hosts.adapter.Started`."""

    def __init__(self, bench: HostBench, process: Process, argv: Sequence[str]) -> None:
        self.process = process
        self.pid = process.pid
        self._bench = bench
        self._argv = tuple(argv)

    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.alive()

    def output(self) -> bytes:
        """What it has printed so far."""
        return self.process.output()

    def wait(self, *, limit_s: float, good: Sequence[int] = (0,)) -> Finished:
        """Wait for its end; a code that is not good is a failure with the tool's own words."""
        ended: Ended = self.process.wait(limit_s=self._bench._bounded(limit_s))  # noqa: SLF001
        launch = self.process.launch
        finished = Finished(
            argv=self._argv,
            code=ended.code,
            stdout=read(launch.stdout),
            stderr=read(launch.stderr),
            seconds=ended.seconds,
        )
        if ended.code not in good:
            raise MeasureError(
                f"{Path(self._argv[0]).name} ended with {_code(ended.code)}",
                there=told(finished.stderr or finished.stdout),
                next_step=f"its outputs lie beside the result; it was: {_short(self._argv)}",
            )
        return finished


def _code(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"


def _short(argv: Sequence[str]) -> str:
    text = " ".join(argv)
    return text if len(text) <= 200 else text[:200] + " ..."
