"""mpstat of sysstat: how the processors of a host or a guest spent their time.

`mpstat [ -u | -I SUM ] [ -P { ALL | cpu[,cpu] ... } ] [ -o JSON ] [ Interval [ Count ] ]`.
Priorities are not modelled: their columns are 0. Interrupts take time where the scenario says what
those of a partition's devices cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from homenode.tools.linux.layout import AVERAGE, DAY, RELEASE, clock, heads, line, system_line, wide
from homenode.tools.linux.readings import Reading, States, mean, readings
from homenode.tools.linux.system import LinuxSystem, refuse_foreign
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar, Request, parse

GRAMMAR = Grammar(
    tool="mpstat",
    synopsis="[ -u | -I SUM ] [ -P { ALL | cpu [,cpu] ... } ] [ -o JSON ] [ Interval [ Count ] ]",
    flags="uPoI",
    valued="PoI",
    combine=True,
    absent={
        "A": "kinds of interrupts are not modelled; their sum is shown with -I SUM",
        "N": "processors by node are not kept; `homenode show` has the cores of each chip",
        "n": "it shows configuration alone; `homenode show` has it",
        "T": "topology is shown by `homenode show`",
        "H": "no processor goes off line",
    },
)
NOT_MODELLED = ("%nice", "%gnice")
NAMES = ("usr", "nice", "sys", "iowait", "irq", "soft", "steal", "guest", "gnice", "idle")
_WIDTH = 8
EVERY = "all"


def figures(states: States) -> dict[str, float]:
    """By heading without its sign."""
    return {name: float(getattr(states, name, 0.0)) for name in NAMES}


def chosen(
    grammar: Grammar, system: LinuxSystem, request: Request, report: Reading
) -> list[tuple[str, States]]:
    """The rows asked for with -P; without it the sum alone."""
    asked = request.flags.get("P")
    if asked is None:
        return [(EVERY, report.all)]
    if system.kind == "host" and not report.cpus:
        raise grammar.refuse(
            "of a host the sum of all processors is kept, and each only where `[run]` says "
            "record_dispatches = true; `homenode show` has what each chip used"
        )
    every = [(EVERY, report.all), *((str(n), one) for n, one in enumerate(report.cpus))]
    wanted = asked.lower().split(",")
    if wanted == [EVERY]:
        return every
    known = [name for name, _ in every]
    if not set(wanted) <= set(known):
        raise grammar.refuse(f"no such processor: {asked} (there are 0 to {len(known) - 2})")
    return [row for row in every if row[0] in wanted]


def sums(system: LinuxSystem, request: Request, report: Reading) -> list[tuple[str, float]]:
    """Interrupts a second of all processors together, with -P of those asked for."""
    every = [(EVERY, report.interrupts_per_s)]
    asked = request.flags.get("P")
    if asked is None:
        return every
    each = report.cpu_interrupts_per_s
    every += [(str(cpu), each.get(cpu, 0.0)) for cpu in range(system.cpus)]
    wanted = asked.lower().split(",")
    known = {name for name, _ in every}
    if wanted != [EVERY] and not set(wanted) <= known:
        raise GRAMMAR.refuse(f"no such processor: {asked} (there are 0 to {system.cpus - 1})")
    return [row for row in every if wanted == [EVERY] or row[0] in wanted]


def _asked(system: LinuxSystem, argv: Sequence[str]) -> tuple[Request, list[Reading]]:
    """Of interrupts their sum alone is shown."""
    request, reports = asked_of(GRAMMAR, system, argv)
    kind = request.flags.get("I", "SUM")
    if kind != "SUM":
        raise GRAMMAR.refuse(f"-I shows SUM, not {kind}: kinds of interrupts are not modelled")
    if {"I", "u"} <= set(request.flags):
        raise GRAMMAR.refuse("-I SUM and -u are shown one at a time")
    return request, reports


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print: a block an interval, then the averages of several."""
    request, reports = _asked(system, argv)
    if "o" in request.flags:
        return _json(system, request, reports)
    lines = [system_line(system)]
    for report in reports:
        lines += [
            "",
            *_block(system, request, report, clock(report.start_ns), clock(report.end_ns)),
        ]
    if len(reports) > 1:
        lines += ["", *_block(system, request, mean(reports), AVERAGE, AVERAGE)]
    return page(lines)


def _block(
    system: LinuxSystem, request: Request, report: Reading, before: str, label: str
) -> Iterator[str]:
    if "I" in request.flags:
        yield line(before, [f"{'CPU':>8}", *heads(["intr/s"], _WIDTH)])
        for name, rate in sums(system, request, report):
            yield line(label, [f"{name:>8}", *wide([rate], _WIDTH)])
        return
    yield line(before, [f"{'CPU':>8}", *heads([f"%{name}" for name in NAMES], _WIDTH)])
    for name, states in chosen(GRAMMAR, system, request, report):
        yield line(label, [f"{name:>8}", *wide(figures(states).values(), _WIDTH)])


def _json(system: LinuxSystem, request: Request, reports: list[Reading]) -> str:
    import json

    if request.flags["o"] != "JSON":
        raise GRAMMAR.refuse(f"-o knows JSON, not {request.flags['o']}")
    statistics = [
        {
            "timestamp": clock(report.end_ns),
            **_told(system, request, report),
        }
        for report in reports
    ]
    host = {
        "nodename": system.name,
        "sysname": "Linux",
        "release": RELEASE,
        "machine": system.architecture,
        "number-of-cpus": system.cpus,
        "date": DAY,
        "statistics": statistics,
    }
    return json.dumps({"sysstat": {"hosts": [host]}}, indent=1) + "\n"


def _told(system: LinuxSystem, request: Request, report: Reading) -> dict[str, object]:
    """What of an interval sysstat puts in a document."""
    if "I" in request.flags:
        found = sums(system, request, report)
        return {"sum-interrupts": [{"cpu": cpu, "intr": round(rate, 2)} for cpu, rate in found]}
    return {
        "cpu-load": [
            {"cpu": name, **{k: round(v, 2) for k, v in figures(states).items()}}
            for name, states in chosen(GRAMMAR, system, request, report)
        ]
    }


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a line; averages are left to the reader."""
    request, reports = _asked(system, argv)
    if "I" in request.flags:
        return [
            {"time_s": report.end_ns / 1e9, "CPU": name, "intr/s": rate}
            for report in reports
            for name, rate in sums(system, request, report)
        ]
    return [
        {"time_s": report.end_ns / 1e9, "CPU": name}
        | {f"%{key}": value for key, value in figures(states).items()}
        for report in reports
        for name, states in chosen(GRAMMAR, system, request, report)
    ]


def asked_of(
    grammar: Grammar, system: LinuxSystem, argv: Sequence[str]
) -> tuple[Request, list[Reading]]:
    """The request, and what it asks for."""
    request = parse(grammar, argv)
    refuse_foreign(system, grammar.tool, in_guests=True)
    return request, readings(system, request)
