"""How long a partition's threads ran at a time: burst lengths from recorded switches.

A burst of recorded demand is the work of a thread from its wake-up until it sleeps again, so there
are as many bursts as voluntary switches of threads, and

    work of a burst = work of the recording / voluntary switches of threads in the same time

What counts as one differs by tool and system:

- AIX (`pswitch` of nmon and njmon, `cs` of vmstat and mpstat, `cswch/s` of sar): switches of
  threads. Those against the thread's will (`ics`) end no burst and are taken off, by the same rows
  or else by the share since the start of the system; where that is not told, all count. No manual
  says whether a switch to the wait process counts as well. It is taken not to: in the one recording
  that tells both, voluntary switches of threads and of logical CPUs, of which there can be no more
  than there are times without work, are within 4 % of each other. If it did, the bursts were half
  as many: that is the lower end of the range.
- Linux (`ctxt`): a burst counts 2 - r times, r being the busy share of the logical processors
  (see `linux_switches_each`); 1 to 2 times is the range.
- `vcsw` alone: switches of virtual processors. One of them is in one dispatch at least as long as
  one of its threads has work, so there are at least as many bursts; how many more is not told.

The wake-ups of a guest's own daemons, which the scenario has beside the demand, are taken off.
"""

from __future__ import annotations

from dataclasses import dataclass

from homenode.records.importing.assemble.beside import Told, Values
from homenode.tools.linux.switches import linux_switches_each

Seconds = tuple[float, ...]
"""Lengths of windows."""
SWITCHES = "context_switches_per_s"
FORCED = "involuntary_switches_per_s"
_MACHINES = "vcsw_per_s"
_DAEMONS_PER_S = 20.0
"""Wake-ups of the daemons of a scenario's guest, where they are not switched off."""
_MOST_DAEMONS = 0.5
"""Share of recorded bursts that daemons may be at most."""


@dataclass(frozen=True)
class Switched:
    """Bursts of a recording."""

    per_s: float
    """Bursts, in the mean of the windows in which they were recorded."""
    least_per_s: float
    most_per_s: float | None
    """None where it is open upwards."""
    cores: float
    """Recorded cores in the mean of the same windows."""
    windows_us: tuple[float, float]
    """Core time of a burst by windows, from the shortest tenth to the longest."""
    told_by: str
    """What was counted, and how."""

    @property
    def core_us(self) -> float:
        """Core time of a burst, in the mean."""
        return 1e6 * self.cores / self.per_s

    @property
    def sentence(self) -> str:
        """How they were counted, and how sure that is."""
        most = "more" if self.most_per_s is None else f"{self.most_per_s:,.0f}"
        span = f"{self.per_s:,.0f} bursts/s ({self.least_per_s:,.0f} to {most})"
        low, high = self.windows_us
        each = f"{self.core_us:,.0f} us of a core each ({low:,.0f} to {high:,.0f} by windows)"
        return f"{self.told_by}: {span}, {each}"


@dataclass(frozen=True)
class Guest:
    """What decides how a partition's switches are counted."""

    os: str
    logical: int
    has_daemons: bool


@dataclass(frozen=True)
class _Mean:
    """Switches and cores over the windows that tell both."""

    switches: float
    cores: float
    rows: tuple[tuple[float, float], ...]
    """Switches [1/s] and cores of each window."""


def switched(told: Told, cores: Values, seconds: Seconds, guest: Guest) -> Switched | None:
    """Bursts of a partition; none where nothing was switched, or no use was recorded."""
    if SWITCHES in told.windows:
        found = _mean(told.windows[SWITCHES], cores, seconds)
        return None if found is None else _of_threads(told, found, cores, seconds, guest)
    if _MACHINES in told.windows:
        found = _mean(told.windows[_MACHINES], cores, seconds)
        if found is not None:
            by = f"{found.switches:,.0f} switches of virtual processors/s"
            by += f" ({told.reports[_MACHINES]}), at least a burst each"
            return _switched(found, 1.0, (1.0, None), by, guest)
    return None


def _of_threads(
    told: Told, found: _Mean, cores: Values, seconds: Seconds, guest: Guest
) -> Switched | None:
    """Bursts of switches of threads: what of them is voluntary, and how often each counts."""
    by = f"{found.switches:,.0f} switches of threads/s ({told.reports[SWITCHES]})"
    forced, since = _forced(told, cores, seconds)
    own = 1.0 if forced is None else 1.0 - forced
    if forced is not None:
        by += f", {100 * own:.0f} % of them voluntary{since}"
    if guest.os == "linux":
        times = linux_switches_each(found.cores / guest.logical)
        by += f", counted {times:.2f} times each (to and from the idle task)"
        return _switched(found, own / times, (own / 2.0, own), by, guest)
    return _switched(found, own, (own / 2.0, 1.0), by, guest)


def _forced(told: Told, cores: Values, seconds: Seconds) -> tuple[float | None, str]:
    """Share of switches against the thread's will, and where it is of another time, that."""
    every = told.windows[SWITCHES]
    forced = told.windows.get(FORCED)
    if forced is not None:
        both = tuple(
            one if other is not None else None for one, other in zip(every, forced, strict=True)
        )
        all_of, of_them = _mean(both, cores, seconds), _mean(forced, cores, seconds)
        if all_of is not None and of_them is not None and of_them.switches <= all_of.switches:
            return of_them.switches / all_of.switches, ""
    whole, part = (told.since_start.get(name) for name in (SWITCHES, FORCED))
    if whole and part is not None and part <= whole:
        return part / whole, " since the start of the system"
    return None, ""


def _mean(values: Values, cores: Values, seconds: Seconds) -> _Mean | None:
    rows = [
        (value, used, length)
        for value, used, length in zip(values, cores, seconds, strict=True)
        if value is not None and used is not None
    ]
    time = sum(length for _, _, length in rows)
    switches = sum(value * length for value, _, length in rows)
    used = sum(used * length for _, used, length in rows)
    if not (switches > 0 and used > 0):
        return None
    windows = tuple((value, cores) for value, cores, _ in rows if value > 0)
    return _Mean(switches / time, used / time, windows)


def _switched(
    found: _Mean, share: float, span: tuple[float, float | None], by: str, guest: Guest
) -> Switched:
    """Bursts that are this share of the switches."""
    daemons = _DAEMONS_PER_S if guest.has_daemons else 0.0

    def bursts(part: float, switches: float = found.switches) -> float:
        every = switches * part
        return max(every - daemons, _MOST_DAEMONS * every)

    least, most = span
    each = sorted(1e6 * cores / bursts(share, rate) for rate, cores in found.rows)
    tenth = (len(each) - 1) // 10
    return Switched(
        per_s=bursts(share),
        least_per_s=bursts(least),
        most_per_s=None if most is None else bursts(most),
        cores=found.cores,
        windows_us=(each[tenth], each[-1 - tenth]),
        told_by=by,
    )
