"""sar of sysstat: processors, run queue and switches of a host or a guest, interval by interval.

`sar [ -u [ ALL ] | -q | -w ] [ -P { ALL | cpu[,cpu] ... } ] [ Interval [ Count ] ]`. Load averages
need minutes that no run has, numbers of tasks are not modelled: these columns are 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from homenode.tools.linux.layout import AVERAGE, clock, heads, line, system_line, wide
from homenode.tools.linux.mpstat import asked_of, chosen
from homenode.tools.linux.readings import Reading, States, mean
from homenode.tools.linux.system import LinuxSystem
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar, Request

_NOT_KEPT = "memory, devices and networks are not modelled"
GRAMMAR = Grammar(
    tool="sar",
    synopsis="[ -u [ ALL ] | -q | -w ] [ -P { ALL | cpu [,cpu] ... } ] [ Interval [ Count ] ]",
    flags="uqwP",
    valued="P",
    combine=True,
    absent={
        **dict.fromkeys("bBdFHhIjmnrRSvWy", _NOT_KEPT),
        **dict.fromkeys("efiosx", "it reads or writes the system's own activity file"),
        "A": "most of what it shows is not modelled; ask with -u ALL, -q or -w",
    },
)
NOT_MODELLED = ("%nice", "%gnice", "plist-sz", "ldavg", "blocked", "proc/s")
_USUAL = {
    "%user": "usr", "%nice": "", "%system": "sys", "%iowait": "iowait", "%steal": "steal",
    "%idle": "idle",
}  # fmt: skip
_ALL = {
    "%usr": "usr", "%nice": "", "%sys": "sys", "%iowait": "iowait", "%steal": "steal",
    "%irq": "irq", "%soft": "soft", "%guest": "guest", "%gnice": "", "%idle": "idle",
}  # fmt: skip
_QUEUE = ("runq-sz", "plist-sz", "ldavg-1", "ldavg-5", "ldavg-15", "blocked")
_WIDTH = 10
_EVERYTHING = "ALL"


def _times(states: States, *, every: bool) -> dict[str, float]:
    """As sar has it without ALL, time in guests is in `%user`, that of interrupts in `%system`."""
    found = {
        head: float(getattr(states, name)) if name else 0.0
        for head, name in (_ALL if every else _USUAL).items()
    }
    if every:
        return found
    return {**found, "%user": states.usr + states.guest, "%system": states.kernel}


def _queue(report: Reading) -> dict[str, float]:
    return {**dict.fromkeys(_QUEUE, 0.0), "runq-sz": report.runnable}


def _switches(report: Reading) -> dict[str, float]:
    return {"proc/s": 0.0, "cswch/s": report.switches_per_s}


_OF_SYSTEM: dict[str, Callable[[Reading], dict[str, float]]] = {"q": _queue, "w": _switches}


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print; averages below several intervals."""
    request, reports, every = _asked(system, argv)
    lines = [system_line(system), ""]
    by_processor = "P" in request.flags
    for number, report in enumerate(reports):
        told = _lines(system, request, report, every=every)
        if not number or by_processor:
            lines += [""] if number else []
            lines.append(_heading(clock(report.start_ns), told))
        lines += [_line(clock(report.end_ns), *one) for one in told]
    if len(reports) > 1:
        told = _lines(system, request, mean(reports), every=every)
        lines += ["", _heading(AVERAGE, told)] if by_processor else []
        lines += [_line(AVERAGE, *one) for one in told]
    return page(lines)


def _lines(
    system: LinuxSystem, request: Request, report: Reading, *, every: bool
) -> list[tuple[str | None, dict[str, float]]]:
    """Processor (None of figures of the system) and figures by heading."""
    for flag, figures in _OF_SYSTEM.items():
        if flag in request.flags:
            return [(None, figures(report))]
    asked = chosen(GRAMMAR, system, request, report)
    return [(name, _times(states, every=every)) for name, states in asked]


def _heading(label: str, told: Sequence[tuple[str | None, dict[str, float]]]) -> str:
    name, figures = told[0]
    cpu = [] if name is None else [f"{'CPU':>11}"]
    # The first of a system's figures stands a little further right than the others.
    words = heads(list(figures), _WIDTH)
    return line(label, [*cpu, *(words if cpu else [f"   {words[0]}", *words[1:]])])


def _line(label: str, name: str | None, figures: dict[str, float]) -> str:
    if name is not None:
        return line(label, [f"{name:>11}", *wide(figures.values(), _WIDTH)])
    words = [
        f"{round(value):>{_WIDTH}}"
        if head in ("runq-sz", "plist-sz", "blocked")
        else f"{value:>{_WIDTH}.2f}"
        for head, value in figures.items()
    ]
    return line(label, [f"   {words[0]}", *words[1:]])


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a line; averages are left to the reader."""
    request, reports, every = _asked(system, argv)
    return [
        {"time_s": report.end_ns / 1e9, **({} if name is None else {"CPU": name}), **figures}
        for report in reports
        for name, figures in _lines(system, request, report, every=every)
    ]


def _asked(system: LinuxSystem, argv: Sequence[str]) -> tuple[Request, list[Reading], bool]:
    """`ALL` behind -u is a word of its own, not an interval."""
    alone = [pair == ("-u", _EVERYTHING) for pair in itertools.pairwise(["", *argv])]
    words = [word for word, is_all in zip(argv, alone, strict=True) if not is_all]
    request, reports = asked_of(GRAMMAR, system, words)
    kinds = set(request.flags) & {"u", "q", "w"}
    if len(kinds) > 1 or ("P" in request.flags and kinds & {"q", "w"}):
        raise GRAMMAR.refuse("-u, -q and -w exclude each other, and -P is of -u")
    return request, reports, any(alone)
