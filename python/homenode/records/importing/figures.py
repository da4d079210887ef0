"""What recordings tell of a partition beside its cores, and a run of it tells as well.

A reader gives each figure under the name that stands here, in the unit that stands here, whatever
its tool calls it; counts of an interval become rates. `homenode replay` holds them against a run's.
"""

from __future__ import annotations

from dataclasses import dataclass

THREADS = tuple(f"thread{number}_cores" for number in range(1, 9))
"""User and kernel time that first, second, ... threads of the cores were charged."""
REDISPATCHED = tuple(f"s{level}rd_pct" for level in range(6))
AT_HOME = tuple(f"s{level}hrd_pct" for level in (3, 4, 5))
SINCE_START = "_since_start"
"""Ends the name of a figure that is a mean since the recorded system was started."""

_AWAY = ("the same logical CPU", "the core", "the module", "the chip", "the node", "elsewhere")
_FROM_HOME = ("on the home chip", "in the home node", "beyond it")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True)
class Figure:
    """A figure of a partition over a time."""

    name: str
    unit: str
    meaning: str


FIGURES: tuple[Figure, ...] = (
    Figure("user_cores", "cores", "in user mode"),
    Figure("sys_cores", "cores", "in the kernel"),
    Figure("wait_cores", "cores", "idle with I/O outstanding"),
    Figure("idle_cores", "cores", "idle beside a busy thread"),
    Figure("folded", "VPs", "folded virtual processors"),
    Figure("runnable_threads", "threads", "running or waiting for a logical CPU"),
    Figure("lbusy_pct", "%", "logical CPUs busy"),
    Figure("context_switches_per_s", "1/s", "switches of threads"),
    Figure("involuntary_switches_per_s", "1/s", "of them against the thread's will"),
    Figure("vcsw_per_s", "1/s", "virtual processor switches"),
    Figure("vlcs_per_s", "1/s", "voluntary logical CPU switches"),
    Figure("ilcs_per_s", "1/s", "involuntary logical CPU switches"),
    Figure("phint_per_s", "1/s", "phantom interrupts"),
    Figure("interrupts_per_s", "1/s", "device interrupts"),
    *(
        Figure(name, "cores", f"user and kernel, charged to {ordinal} threads of cores")
        for name, ordinal in zip(THREADS, _ORDINALS, strict=True)
    ),
    *(
        Figure(name, "%", f"of the redispatches of threads: {where}")
        for name, where in zip(REDISPATCHED, _AWAY, strict=True)
    ),
    *(
        Figure(name, "%", f"of the dispatches of threads: {where}")
        for name, where in zip(AT_HOME, _FROM_HOME, strict=True)
    ),
)
"""In the order in which they are shown."""
NAMES = tuple(one.name for one in FIGURES)
