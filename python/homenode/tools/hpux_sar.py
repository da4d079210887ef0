"""sar of HP-UX: processors and run queue of a partition, interval by interval, then the averages.

`sar [ -u [ -M ] | -q ] [ -M ] [ Interval [ Number ] ]`. `%runocc` is the part of intervals in which
anything waited; swapping and all else is not modelled.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.tools.linux.layout import DAY, clock
from homenode.tools.linux.readings import FULL, Reading, States, mean, readings
from homenode.tools.linux.system import LinuxSystem
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar, Request, parse

GRAMMAR = Grammar(
    tool="sar",
    synopsis="[ -u | -q ] [ -M ] [ Interval [ Number ] ]",
    flags="uqM",
    combine=True,
    absent={
        **dict.fromkeys("abcdHLmStvwy", "devices, files and swapping are not modelled"),
        **dict.fromkeys("efiosp", "it reads or writes the system's own activity file"),
        "A": "most of what it shows is not modelled; ask with -u, -M or -q",
    },
)
NOT_MODELLED = ("swpq-sz", "%swpocc")
_TIMES = ("%usr", "%sys", "%wio", "%idle")
_QUEUE = ("runq-sz", "%runocc", *NOT_MODELLED)
_WIDTH = 8
_SYSTEM = "system"


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print."""
    request, reports = _asked(system, argv)
    by_processor = "M" in request.flags and "q" not in request.flags
    heads = _QUEUE if "q" in request.flags else _TIMES
    cpu = ["cpu"] if by_processor else []
    lines = ["", f"HP-UX {system.name} B.11.31 U ia64    {DAY}", ""]
    lines.append(_line(clock(reports[0].start_ns), [*cpu, *heads]))
    shown = [(clock(report.end_ns), report) for report in reports]
    average = [("Average", mean(reports))] if len(reports) > 1 else []
    for label, report in [*shown, *average]:
        lines += [""] if label == "Average" else []
        for number, (name, values) in enumerate(_rows(request, report)):
            named = [name] if by_processor else []
            words = [*named, *(f"{round(value)}" for value in values)]
            lines.append(_line("" if number else label, words))
    return page(lines)


def _line(label: str, words: Sequence[str]) -> str:
    return f"{label:<{_WIDTH}}" + "".join(f"{word:>{_WIDTH}}" for word in words)


def _rows(request: Request, report: Reading) -> list[tuple[str, tuple[float, ...]]]:
    """Processor and values; the whole system last, as -M has it."""
    if "q" in request.flags:
        busy = min(FULL, FULL * report.runnable)
        return [(_SYSTEM, (report.runnable, busy, 0.0, 0.0))]
    every = [(str(number), _times(one)) for number, one in enumerate(report.cpus)]
    return [*(every if "M" in request.flags else []), (_SYSTEM, _times(report.all))]


def _times(states: States) -> tuple[float, ...]:
    """Time that its monitor takes away looks idle to HP-UX."""
    return (states.usr, states.kernel, states.iowait, states.idle + states.steal)


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a line; averages are left to the reader."""
    request, reports = _asked(system, argv)
    heads = _QUEUE if "q" in request.flags else _TIMES
    return [
        {"time_s": report.end_ns / 1e9, "cpu": name, **dict(zip(heads, values, strict=True))}
        for report in reports
        for name, values in _rows(request, report)
    ]


def _asked(system: LinuxSystem, argv: Sequence[str]) -> tuple[Request, list[Reading]]:
    request = parse(GRAMMAR, argv)
    if {"u", "q"} <= set(request.flags):
        raise GRAMMAR.refuse("-u and -q exclude each other here")
    return request, readings(system, request)
