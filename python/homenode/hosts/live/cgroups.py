"""Control groups of version 1, version 2 or none, behind one set of words.

A group is a setting (weight, quota, processors) and an account (processor time, throttling) over
all processes in it. What is neutral here is the meaning: weight 100 is the default share, a quota
is in processors, a burst in microseconds. Version 1 says the same with 1024 shares (Linux kernel,
Documentation/scheduler/sched-bwc.rst; Documentation/admin-guide/cgroup-v2.rst, `cpu.weight`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from homenode.hosts.errors import MeasureError

DEFAULT_WEIGHT = 100
DEFAULT_PERIOD_US = 100_000
LEAST_QUOTA_US = 1_000
"""The kernel refuses a quota or period below 1 ms."""
MOST_PROCESSORS = 8_192
"""Of a Linux kernel on x86 (its build option NR_CPUS)."""
WEIGHTS = range(1, 10_001)
_ENDING_STEP_S = 0.02
_REMOVE_TRIES = 50
_KILL_LIMIT_S = 30.0
"""A process that waits for a busy disk ends only after it."""


@dataclass(frozen=True)
class Setting:
    """What a group is allowed; None leaves the host's default."""

    weight: int | None = None
    """1..10000, 100 is the default; version 1 gets 1024/100 of it as shares."""
    quota: float | None = None
    """Processors' worth of time a period, such as 0.5 or 1.5."""
    period_us: int = DEFAULT_PERIOD_US
    """Length of the quota's period [us], kernel's default 100 ms, 1 ms..1 s."""
    burst_us: int = 0
    """Unused quota that may be carried on [us]."""
    cpus: tuple[int, ...] | None = None
    """Logical processors it may run on."""
    idle: bool = False
    """Whether it only gets what others leave (SCHED_IDLE)."""

    def asked(self) -> frozenset[str]:
        """Abilities that the host must have for this setting."""
        wanted = {
            "weight": self.weight is not None,
            "quota": self.quota is not None,
            "burst": self.burst_us > 0,
            "cpuset": self.cpus is not None,
            "idle": self.idle,
        }
        return frozenset(name for name, needed in wanted.items() if needed)

    def quota_us(self) -> int | None:
        """Quota of one period [us]."""
        return None if self.quota is None else round(self.quota * self.period_us)

    def check(self) -> None:
        """Raise `MeasureError` for what the kernel would refuse."""
        if self.weight is not None and self.weight not in WEIGHTS:
            raise MeasureError(
                f"weight {self.weight} is out of range",
                next_step="a group's weight is 1 to 10000, 100 is the default",
            )
        if not LEAST_QUOTA_US <= self.period_us <= 1_000_000:
            raise MeasureError(
                f"a period of {self.period_us} us is out of range",
                next_step="the kernel takes 1000 us to 1000000 us",
            )
        if self.quota is not None and not 0 < self.quota <= MOST_PROCESSORS:
            raise MeasureError(
                f"a quota of {self.quota} processors makes no sense",
                next_step="write processors' worth of time, such as 0.5 or 2",
            )
        quota = self.quota_us()
        if quota is not None and self.burst_us > quota:
            raise MeasureError(
                f"a burst of {self.burst_us} us is more than the quota of {quota} us a period",
                next_step="the kernel takes a burst up to the quota",
            )
        if quota is not None and quota < LEAST_QUOTA_US:
            raise MeasureError(
                f"a quota of {self.quota} processors is {quota} us a period of {self.period_us} us",
                next_step=f"the kernel takes {LEAST_QUOTA_US} us or more: raise quota or period",
            )


@dataclass(frozen=True)
class Usage:
    """What a group has used since it was made; differences are meant to be taken."""

    total_s: float = 0.0
    """Processor time [s], exact (not sampled by the tick)."""
    user_s: float = 0.0
    system_s: float = 0.0
    periods: int = 0
    """Quota periods in which it ran."""
    throttled_periods: int = 0
    throttled_s: float = 0.0
    """Time its queues were kept from running, summed over processors [s]."""

    def since(self, earlier: Usage) -> Usage:
        """What was used after `earlier`."""
        return Usage(
            self.total_s - earlier.total_s,
            self.user_s - earlier.user_s,
            self.system_s - earlier.system_s,
            self.periods - earlier.periods,
            self.throttled_periods - earlier.throttled_periods,
            self.throttled_s - earlier.throttled_s,
        )


class Group(ABC):
    """One group, made by `Groups.make`; ended with everything in it."""

    def __init__(self, name: str, parent: Group | None) -> None:
        self.name = name
        self.parent = parent
        self.children: list[Group] = []
        self.roots: set[int] = set()
        """Processes that were started in it."""
        if parent is not None:
            parent.children.append(self)

    @abstractmethod
    def set(self, setting: Setting) -> None:
        """Apply a setting; raises `MeasureError` where the host cannot."""

    @abstractmethod
    def joins(self) -> list[Path]:
        """Files that a process writes its id to; none where groups are not there."""

    @abstractmethod
    def usage(self) -> Usage:
        """What it and the groups in it have used."""

    @abstractmethod
    def pids(self) -> list[int]:
        """Living processes in it and in the groups in it."""

    @abstractmethod
    def remove(self) -> None:
        """Remove its folders; nothing may run in it."""

    def end(self, *, patience_s: float = 0.0) -> None:
        """End everything in it and remove it: a request first, if there is patience, then by
        force; each process by its id.
        """
        if patience_s > 0:
            self._signal(signal.SIGTERM, patience_s)
        if not self._signal(signal.SIGKILL, _KILL_LIMIT_S):
            left = ", ".join(map(str, self.pids()))
            raise MeasureError(
                f"processes {left} of group {self.name} do not end",
                next_step="they wait for a device in the kernel; see `ps -o pid,stat,wchan,cmd`",
            )
        for child in [*self.children]:
            child.end()
        self.remove()
        if self.parent is not None and self in self.parent.children:
            self.parent.children.remove(self)

    def _signal(self, number: signal.Signals, limit_s: float) -> bool:
        """Send to all, again and again for those that appear, until none lives."""
        until = time.monotonic() + limit_s
        told: set[int] = set()
        while True:
            living = [pid for pid in self.pids() if not gone(pid)]
            if not living:
                return True
            for pid in living:
                if number is signal.SIGKILL or pid not in told:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, number)
                    told.add(pid)
            if time.monotonic() > until:
                return False
            time.sleep(_ENDING_STEP_S)


class Groups(ABC):
    """The host's control groups, below a folder of our own."""

    kind: str
    """`v1`, `v2` or `none`."""
    can: frozenset[str]
    """Of `account`, `roles` (an account of its own that changes nothing else), `weight`, `quota`,
    `burst`, `cpuset`, `idle`."""
    why_not: str
    """Why it cannot do more, and what would help; empty where all is there."""

    @abstractmethod
    def make(self, name: str, *, parent: Group | None = None, account_only: bool = False) -> Group:
        """A new group; one for the account alone needs the ability `roles`."""

    @abstractmethod
    def folders(self) -> list[Path]:
        """Folders of our own that hold everything we start; none where groups are not there."""

    def enabled(self) -> list[tuple[Path, str]]:
        """Files in which we have handed controllers down, and which: they are to be taken back."""
        return []

    @abstractmethod
    def account(self) -> Usage:
        """What all our groups have used since they were opened, ended ones included."""

    @abstractmethod
    def machine_s(self) -> float | None:
        """Processor time of the whole machine, exact [s]; None where no group tells it."""

    @abstractmethod
    def close(self) -> None:
        """Remove our own folder; groups left in it are ended."""

    def check(self, setting: Setting) -> None:
        """Raise `MeasureError` for a setting that makes no sense or that this host cannot do."""
        setting.check()
        missing = sorted(setting.asked() - self.can)
        if missing:
            raise MeasureError(
                f"this host does not let us set {', '.join(missing)} of a group",
                there=self.why_not or f"control groups here are of kind {self.kind}",
                next_step="run as root, or in a delegated tree: "
                "systemd-run --user --scope -p Delegate=yes homenode ...",
            )


def make_folder(folder: Path) -> None:
    """A group's folder; the kernel fills it."""
    folder.mkdir(exist_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove a group's folder, which may take the kernel a moment after the last process went."""
    for _ in range(_REMOVE_TRIES):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(_ENDING_STEP_S)
            continue
        return


def gone(pid: int) -> bool:
    """Whether a process has ended: no longer there, or only its remains."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True
    return text.rpartition(b")")[2].split()[:1] in ([b"Z"], [b"X"])


def read_number(path: Path) -> int:
    """The only number of a file; 0 where there is none."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


def read_pairs(path: Path) -> dict[str, int]:
    """Lines of a name and a number; empty where the file is not there."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines)
    return {p[0]: int(p[1]) for p in pairs if len(p) == 2 and p[1].lstrip("-").isdigit()}


def read_numbers(path: Path) -> list[int]:
    """Numbers of a file, such as a group's processes; empty where it is not there."""
    try:
        return [int(word) for word in path.read_text().split()]
    except (OSError, ValueError):
        return []


def write(path: Path, text: str, *, what: str) -> None:
    """Write a setting; a refusal of the kernel becomes our message."""
    try:
        # Not created: a control file that is not there is a host that cannot.
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise MeasureError(
            f"the kernel refuses {what} {text}: {error.strerror}",
            there=f"written to {path}",
            next_step="see whether the group's parent allows it",
        ) from error


def cpu_list(cpus: Sequence[int]) -> str:
    """Logical processors as the kernel writes them: `0-3,8`."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """The logical processors of `0-3,8`."""
    found: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.strip().isdigit():
            found += range(int(first), int(last or first) + 1)
    return tuple(found)
