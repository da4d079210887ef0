"""pidstat of sysstat, with a group of threads of a host where it has a process.

`pidstat [ -u ] [ -w ] [ -h | -H ] [ -p NAME ] [ Interval [ Count ] ]`. `%usr`, `%system`, `%guest`
and `%wait` are percentages of one processor. Groups are numbered for want of processes; the
processor of a group is none (`-`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from homenode.tools.intervals import Sample
from homenode.tools.linux.layout import AVERAGE, clock, heads, line, system_line, wide
from homenode.tools.linux.readings import GroupReading, groups
from homenode.tools.linux.system import LinuxSystem, refuse_foreign
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar, Request, parse

GRAMMAR = Grammar(
    tool="pidstat",
    synopsis="[ -u ] [ -w ] [ -h | -H ] [ Interval [ Count ] ]",
    flags="uwhH",
    combine=True,
    absent={
        **dict.fromkeys("drRsv", "memory and devices are not modelled"),
        "t": "single threads are not kept",
        "I": "divide by the number of processors",
    },
)
_TIMES = ("%usr", "%system", "%guest", "%wait", "%CPU")
_SWITCHES = ("cswch/s", "nvcswch/s")
_ON_NONE = "     -"


def _times(one: GroupReading) -> tuple[float, ...]:
    return (one.usr, one.sys, one.guest, one.wait, one.cpu)


def _switches(one: GroupReading) -> tuple[float, ...]:
    return (one.voluntary_per_s, one.involuntary_per_s)


_Report = tuple[str, Callable[[GroupReading], str]]
"""Headings, and how a group's line goes on beneath them."""


def _kinds(request: Request) -> list[_Report]:
    """The reports asked for; all in one where a line holds all."""
    asked: list[_Report] = []
    if "u" in request.flags or "w" not in request.flags:
        asked.append(("".join([*heads(_TIMES, 8), "   CPU"]), _times_text))
    if "w" in request.flags:
        asked.append(("".join(heads(_SWITCHES, 10)), _switches_text))
    if not _in_one_line(request):
        return asked
    together = "".join(head for head, _ in asked)
    return [(together, lambda one: "".join(text(one) for _, text in asked))]


def _times_text(one: GroupReading) -> str:
    return "".join([*wide(_times(one), 8), _ON_NONE])


def _switches_text(one: GroupReading) -> str:
    return "".join(wide(_switches(one), 10))


def _in_one_line(request: Request) -> bool:
    return bool(set(request.flags) & {"h"})


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print; averages below several intervals, unless all is in one line."""
    request, reports = _asked(system, argv)
    lines = [system_line(system)]
    blocks = [
        (_stamp(request, s.start_ns), _stamp(request, s.end_ns), found) for s, found in reports
    ]
    if len(reports) > 1 and not _in_one_line(request):
        blocks.append((AVERAGE, AVERAGE, _mean([found for _, found in reports])))
    for before, label, found in blocks:
        first = "# Time  " if _in_one_line(request) else before
        for head, text in _kinds(request):
            lines += ["", line(first, [f"{'UID':>9}{'PID':>10}", head, "  Command"])]
            lines += [
                line(label, [f"{0:>9}{one.group.pid:>10}", text(one), f"  {one.group.name}"])
                for one in found
            ]
    return page(lines)


def _mean(reports: Sequence[Sequence[GroupReading]]) -> list[GroupReading]:
    """Of intervals that are equally long."""
    found = []
    for ones in zip(*reports, strict=True):
        names = ("usr", "sys", "guest", "wait", "voluntary_per_s", "involuntary_per_s")
        means = {name: sum(getattr(one, name) for one in ones) / len(ones) for name in names}
        found.append(replace(ones[0], **means, cpu_ns=sum(one.cpu_ns for one in ones)))
    return found


def _stamp(request: Request, time_ns: int) -> str:
    """The clock; with -H seconds since the start."""
    return str(time_ns // 1_000_000_000) if "H" in request.flags else clock(time_ns)


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a group and interval."""
    _, reports = _asked(system, argv)
    return [
        {"time_s": sample.end_ns / 1e9, "PID": one.group.pid, "Command": one.group.name}
        | dict(zip(_TIMES, _times(one), strict=True))
        | dict(zip(_SWITCHES, _switches(one), strict=True))
        for sample, found in reports
        for one in found
    ]


def _asked(
    system: LinuxSystem, argv: Sequence[str]
) -> tuple[Request, list[tuple[Sample, list[GroupReading]]]]:
    refuse_foreign(system, GRAMMAR.tool)
    request = parse(GRAMMAR, argv)
    return request, [
        (sample, [one for one in found if request.partition in (None, one.group.name)])
        for sample, found in groups(system, request)
    ]
