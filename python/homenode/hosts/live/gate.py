"""How quiet the host is: processor time of others, and time its own hypervisor took.

The time of others is the whole machine's less that of our own groups, of this process, and of the
kernel's own threads, which work for us too (writing back, network). The machine's total comes from
the root control group where that is exact, else from the time that processors were not idle, which
Linux counts exactly on a tickless kernel; busy ticks of `/proc/stat` are never summed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from homenode.hosts.live.cgroups import Groups, read_pairs

FOREIGN_LIMIT = 0.03
"""Share of the host's processors that others may use during a run; above it runs differ visibly."""
STEAL_LIMIT = 0.01
"""Share of the processors' time that the host's own hypervisor may take during a run."""
_LOOK_S = 0.2
_NS = 1e-9
_KERNEL_THREADS_OF = b"2"
IRQ, SOFTIRQ = 5, 6
"""Places of interrupts in the first line of `/proc/stat`, counted from 0 behind its name (proc(5)).
"""


@dataclass(frozen=True)
class Quiet:
    """What went on beside us in some time."""

    seconds: float
    busy_s: float
    """Processor time of the whole machine [s]."""
    own_s: float
    kernel_s: float
    """Of the kernel's own threads [s]."""
    foreign: float
    """Share of the host's processors [0..1]."""
    steal: float
    """Share of the host's processors [0..1]."""
    swapped_pages: int

    def reason(self, foreign_limit: float, steal_limit: float = STEAL_LIMIT) -> str | None:
        """Why a run in this time does not count; None if it does."""
        if self.foreign > foreign_limit:
            return (
                f"others used {100 * self.foreign:.1f} % of the host "
                f"(limit {100 * foreign_limit:g} %)"
            )
        if self.steal > steal_limit:
            return (
                f"the host's hypervisor stole {100 * self.steal:.1f} % "
                f"(limit {100 * steal_limit:g} %)"
            )
        if self.swapped_pages:
            return f"the host swapped {self.swapped_pages} pages"
        return None


@dataclass(frozen=True)
class _Moment:
    at: float
    busy_s: float
    steal_s: float
    own_s: float
    kernel_s: float
    swapped: int


class Watch:
    """From its making to `done`."""

    def __init__(self, now: Callable[[], _Moment]) -> None:
        self._now = now
        self._began = now()

    def done(self) -> Quiet:
        """What went on since."""
        then, now = self._began, self._now()
        seconds = max(now.at - then.at, 1e-9)
        most_s = seconds * (os.cpu_count() or 1)
        busy, own, kernel = (
            now.busy_s - then.busy_s,
            now.own_s - then.own_s,
            now.kernel_s - then.kernel_s,
        )
        return Quiet(
            seconds=seconds,
            busy_s=busy,
            own_s=own,
            kernel_s=kernel,
            foreign=min(1.0, max(0.0, (busy - own - kernel) / most_s)),
            steal=max(0.0, (now.steal_s - then.steal_s) / most_s),
            swapped_pages=now.swapped - then.swapped,
        )


class Gate:
    """Asks whether the host is quiet. `own_s` says what processor time was our own [s]."""

    def __init__(self, groups: Groups, own_s: Callable[[], float]) -> None:
        self._groups = groups
        self._own_s = own_s
        self.interrupts_are_ours = False
        """Whether time in interrupts is the measurement's, as where it works over a network: what
        comes in is charged to nobody, or to whoever happens to run.
        """

    def watch(self) -> Watch:
        """Watch from now on."""
        return Watch(self._now)

    def wait_quiet(
        self,
        limit_s: float,
        *,
        foreign_limit: float = FOREIGN_LIMIT,
        steal_limit: float = STEAL_LIMIT,
    ) -> bool:
        """Wait until others use, and steal, less than the limits; whether they do."""
        until = time.monotonic() + limit_s
        while True:
            watch = self.watch()
            time.sleep(_LOOK_S)
            quiet = watch.done()
            if quiet.foreign <= foreign_limit and quiet.steal <= steal_limit:
                return True
            if time.monotonic() >= until:
                return False

    def _now(self) -> _Moment:
        exact = self._groups.machine_s()
        busy, steal = not_idle()
        swap = read_pairs(Path("/proc/vmstat"))
        return _Moment(
            at=time.monotonic(),
            busy_s=busy if exact is None else exact,
            steal_s=steal,
            own_s=self._own_s(),
            kernel_s=kernel_threads_s() + (interrupts_s() if self.interrupts_are_ours else 0.0),
            swapped=swap.get("pswpin", 0) + swap.get("pswpout", 0),
        )


def not_idle(stat: Path = Path("/proc/stat")) -> tuple[float, float]:
    """Time that all processors together were not idle, and that was stolen from them [s]."""
    ticks = os.sysconf("SC_CLK_TCK")
    words = stat.read_text().split("\n", 1)[0].split()[1:]
    values = [int(word) / ticks for word in words] + [0.0] * 10
    idle, steal = values[3] + values[4], values[7]
    elapsed = time.clock_gettime(time.CLOCK_BOOTTIME) * (os.cpu_count() or 1)
    return elapsed - idle - steal, steal


def interrupts_s(stat: Path = Path("/proc/stat")) -> float:
    """Processor time in interrupts so far [s], by ticks."""
    words = stat.read_text().split("\n", 1)[0].split()[1:]
    return (int(words[IRQ]) + int(words[SOFTIRQ])) / os.sysconf("SC_CLK_TCK")


def kernel_threads_s(proc: Path = Path("/proc")) -> float:
    """Processor time of the kernel's own threads so far [s]."""
    total = 0
    for entry in os.scandir(proc):
        if not entry.name.isdigit():
            continue
        try:
            after_name = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
            if after_name[1] == _KERNEL_THREADS_OF:
                total += int(Path(entry.path, "schedstat").read_bytes().split()[0])
        except (OSError, IndexError, ValueError):
            continue
    return total * _NS
