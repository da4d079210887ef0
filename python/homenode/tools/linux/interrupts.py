"""What processors of Linux do for interrupts: those of a host, or of the guest in a partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from homenode.simulate.kept.rows import select
from homenode.simulate.kept.store import table_path
from homenode.tools.linux.system import LinuxSystem


@dataclass(frozen=True)
class Taken:
    """Interrupts of a processor in an interval, and its time for them."""

    count: int = 0
    hard_ns: int = 0
    """For the interrupts themselves [ns]."""
    soft_ns: int = 0
    """For the work that follows [ns]."""

    def __add__(self, other: Taken) -> Taken:
        return Taken(
            self.count + other.count, self.hard_ns + other.hard_ns, self.soft_ns + other.soft_ns
        )


NONE = Taken()
ByCpu = Mapping[int, Taken]


def all_of(taken: ByCpu) -> Taken:
    """That of all processors together."""
    return sum(taken.values(), NONE)


def interrupts(system: LinuxSystem, window_ns: int, windows: int) -> dict[int, ByCpu]:
    """By number of the window and of the processor; nothing where no device interrupts."""
    source = table_path(system.run.path, "interrupt")
    if not source.exists():
        return {}
    own = "" if system.partition is None else f"AND partition = {system.own.index} "
    found = select(
        "(time_ns - 1) // $window AS window_, cpu, sum(interrupts), sum(hard_ns), sum(soft_ns)",
        source,
        f"WHERE replication = $replication {own}AND window_ < $windows GROUP BY ALL",
        window=window_ns,
        windows=windows,
        replication=system.view.replication,
    )
    by_window: dict[int, dict[int, Taken]] = {}
    for window, cpu, *values in found:
        by_window.setdefault(int(window), {})[int(cpu)] = Taken(*map(int, values))
    return {**by_window}
