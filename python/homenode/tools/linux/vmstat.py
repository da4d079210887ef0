"""vmstat of procps: threads, switches and the processors of a host or a guest.

`vmstat [ Interval [ Count ] ]`. Memory, swap and block devices are not modelled: their columns are
0, `b` among them, for it holds those that wait for a disk. As vmstat has it, time in guests is in
`us`.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.tools.linux.mpstat import asked_of
from homenode.tools.linux.readings import Reading
from homenode.tools.linux.system import LinuxSystem
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar

GRAMMAR = Grammar(
    tool="vmstat",
    synopsis="[ Interval [ Count ] ]",
    flags="",
    absent={
        **dict.fromkeys("afmsdDS", "memory and devices are not modelled"),
        "n": "the heading stands once anyway",
        "w": "use --json for output that programs read",
        "t": "simulated time has no date; --json gives the end of each interval",
    },
)
NOT_MODELLED = ("b", "swpd", "free", "buff", "cache", "si", "so", "bi", "bo")
_GROUPS = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----"
_COLUMNS = (
    *(("r", 2), ("b", 2)),
    *((name, 6) for name in ("swpd", "free", "buff", "cache")),
    *(("si", 4), ("so", 4), ("bi", 5), ("bo", 5), ("in", 4), ("cs", 4)),
    *((name, 2) for name in ("us", "sy", "id", "wa", "st")),
)


def figures(report: Reading) -> dict[str, float]:
    """One line by heading, exact."""
    states = report.all
    return {
        **dict.fromkeys((name for name, _ in _COLUMNS), 0.0),
        "r": report.runnable,
        "in": report.interrupts_per_s,
        "cs": report.switches_per_s,
        "us": states.usr + states.guest,
        "sy": states.kernel,
        "id": states.idle,
        "wa": states.iowait,
        "st": states.steal,
    }


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print, but for the line since boot, which no interval is."""
    _, reports = asked_of(GRAMMAR, system, argv)
    lines = [_GROUPS, " ".join(f"{name:>{width}}" for name, width in _COLUMNS)]
    for report in reports:
        told = figures(report)
        lines.append(" ".join(f"{round(told[name]):>{width}}" for name, width in _COLUMNS))
    return page(lines)


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a line."""
    _, reports = asked_of(GRAMMAR, system, argv)
    return [{"time_s": report.end_ns / 1e9, **figures(report)} for report in reports]
