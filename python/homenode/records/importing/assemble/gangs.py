"""Daemons of several threads, out of what their processes were recorded to use.

Which they are is known by name: those that write files out. nmon lists how many threads a process
has and its processor time in each interval, and leaves out processes that used next to nothing.
Both are counted as user and kernel time is, so that of the partition's work in a window the daemon
did the share that it has of that time; the rest comes as bursts, as ever.

No recording tells how many of the threads wake at a time nor how often. All of them is assumed, so
that what the last threads of a core get is the most that such a daemon can give them; and ten times
in a window as it is played, so that a window's work is done within it. `syncd` has them wake every
60 seconds at least (IBM, AIX Performance Tuning Guide, "Performance Implications of sync/fsync");
in the recording of a POWER7 partition that has them the work of the threads of a core is the same
with wake-ups from 0.1 to 60 s apart, but more are unfolded the oftener they come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from homenode.records.importing.assemble.beside import Told, Values, by_window
from homenode.records.importing.assemble.plan import Planned, PlannedGang
from homenode.records.importing.assemble.windows import Windows
from homenode.records.importing.facts import Facts

_LEAST_SHARE = 0.01
"""Of a partition's busy time, below which a daemon is one of those that every guest has."""
WAKE_UPS = 10
"""In a window as it is played."""
_MOST_SHARE = 0.9
"""Of a window's work that is a daemon's at most: the rest is looked for by playing."""


def set_gangs(
    facts: Facts, planned: Sequence[Planned], windows: Windows, beside: Mapping[str, Told]
) -> bool:
    """Give each partition the daemons that were recorded of it; whether there are any. What they do
    is set when it is known what a core does.
    """
    for one in planned:
        states = beside[one.name].windows if one.name in beside else {}
        if one.recorded is None or not {"user_cores", "sys_cores"} <= set(states):
            continue
        both = zip(states["user_cores"], states["sys_cores"], strict=True)
        busy = [None if user is None or own is None else user + own for user, own in both]
        key = (one.facts.system, one.facts.name)
        for told in facts.gangs:
            if (told.system, told.partition) == key:
                shares = _shares(by_window(told.table, "cores", windows), busy)
                mean = _mean(shares, busy)
                if mean >= _LEAST_SHARE and told.threads.value > 1:
                    gang = PlannedGang(told.name, told.threads, told.report, shares)
                    one.gangs = (*one.gangs, gang)
    return any(one.gangs for one in planned)


def _shares(cores: Values, busy: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(
        min(_MOST_SHARE, used / all_of) if used and all_of else 0.0
        for used, all_of in zip(cores, busy, strict=True)
    )


def _mean(shares: Sequence[float], busy: Sequence[float | None]) -> float:
    every = sum(one or 0.0 for one in busy)
    used = sum(share * (one or 0.0) for share, one in zip(shares, busy, strict=True))
    return used / every if every else 0.0


def set_work(
    planned: Sequence[Planned], windows: Windows, per_core: Mapping[str, tuple[float, float]]
) -> None:
    """What the daemons do in each window, as the work of a core is now."""
    for one in planned:
        if one.recorded is None or one.name not in per_core:
            continue
        cores = [window.cores or 0.0 for window in windows.partitions[one.recorded.partition]]
        of_a_core = per_core[one.name][1]
        one.gangs = tuple(
            replace(
                gang,
                rates=tuple(
                    share * used * of_a_core for share, used in zip(gang.shares, cores, strict=True)
                ),
            )
            for gang in one.gangs
        )
