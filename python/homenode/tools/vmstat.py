"""vmstat: run queue, paging and processor of a partition.

`vmstat [ Interval [ Count ] ]`. Rates are per second. The run queue holds running threads as well
as waiting ones, as on AIX. Memory, paging and disks are not modelled: their columns are 0, `b`
among them, for on AIX it holds only those that wait for a disk. Without an interval the report
covers all that was kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.tools.changed import announced, first_line
from homenode.tools.configuration import SystemConfiguration
from homenode.tools.figures import consumed_pct, cores, partition_shares
from homenode.tools.intervals import Sample, samples
from homenode.tools.text_columns import Column, Value, columns, heading, page, row
from homenode.tools.usage import Grammar, Request, parse
from homenode.tools.view import RunView

__all__ = ["GRAMMAR", "NOT_MODELLED", "figures", "render", "rows"]

GRAMMAR = Grammar(
    tool="vmstat",
    synopsis="[ Interval [ Count ] ]",
    flags="",
    absent={
        **dict.fromkeys("fsvliI", "memory, paging and devices are not modelled"),
        "t": "simulated time has no date; --json gives the end of each interval",
        "W": "waits for raw devices are not modelled",
        "w": "its wide layout is not on record",
        "P": "pages are not modelled",
        "S": "its scaled layout is not on record",
        "c": "memory compression is not modelled",
        "h": "hypervisor paging is not modelled",
        "@": "workload partitions are not modelled",
        "X": "use --json for output that programs read",
        "o": "use --json for output that programs read",
    },
)
NOT_MODELLED = ("b", "avm", "fre", "re", "pi", "po", "fr", "sr", "cy", "sy")
"""Columns that are always 0: waits for disks, memory, paging and (the first `sy`) system calls."""

_NS_PER_S = 1_000_000_000
_SYSTEM_CALLS = "sy (calls)"
_COLUMNS = (
    *columns("r b", 2),
    *columns("avm fre", 5),
    *columns("re pi po fr", 3),
    Column("sr", 4),
    *columns("cy in", 3),
    Column(_SYSTEM_CALLS, 4),
    Column("cs", 3),
    *columns("us sy id wa", 2),
)
_SHARED = (Column("pc", 5, 2), Column("ec", 5, 1))
_GROUPS = {
    True: (
        "kthr    memory              page              faults              cpu          ",
        "----- ----------- ------------------------ ------------ -----------------------",
    ),
    False: (
        "kthr    memory              page              faults        cpu    ",
        "----- ----------- ------------------------ ------------ -----------",
    ),
}


def figures(configuration: SystemConfiguration, sample: Sample) -> dict[str, Value]:
    """One report by heading, exact; system calls stand under `sy (calls)`, for `sy` is the
    system's time.
    """
    counted, elapsed_ns = sample.partition, sample.elapsed_ns
    usage = partition_shares(configuration, counted, elapsed_ns)
    return {
        "r": cores(counted["runq_ns"], elapsed_ns),
        **dict.fromkeys(NOT_MODELLED, 0),
        "in": _per_second(counted["interrupts"], elapsed_ns),
        _SYSTEM_CALLS: _per_second(counted["syscalls"], elapsed_ns),
        "cs": _per_second(counted["context_switches"], elapsed_ns),
        "us": usage.user,
        "sy": usage.sys,
        "id": usage.idle,
        "wa": usage.wait,
        "pc": cores(counted["busy_ns"], elapsed_ns),
        "ec": consumed_pct(configuration, counted["busy_ns"], elapsed_ns),
    }


def _per_second(count: int, elapsed_ns: int) -> float:
    return count * _NS_PER_S / elapsed_ns if elapsed_ns > 0 else 0.0


def _columns(configuration: SystemConfiguration) -> tuple[Column, ...]:
    return _COLUMNS + (_SHARED if configuration.is_shared else ())


def configuration_line(configuration: SystemConfiguration) -> str:
    """The first line."""
    c = configuration
    ent = f" ent={c.ent:.2f}" if c.is_shared else ""
    return f"System configuration: lcpu={c.lcpu} mem={c.mem_mb}MB{ent}"


def render(view: RunView, argv: Sequence[str]) -> str:
    """What the tool would print."""
    request, configuration, reports = _reports(view, argv)
    shown = _columns(configuration)
    headings = heading(shown).replace(_SYSTEM_CALLS.rjust(4), "  sy")
    first = first_line(configuration, request, reports, configuration_line)
    head = [*_GROUPS[configuration.is_shared], headings]
    lines = ["", first, "", *head]
    for sample, then, notice in announced(configuration, reports, first, configuration_line):
        lines += [*notice, *head] if notice else []
        lines.append(row(shown, figures(then, sample)))
    return page(lines)


def rows(view: RunView, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a line."""
    _, configuration, reports = _reports(view, argv)
    names = [column.name for column in _columns(configuration)]
    return [
        {
            "time_s": sample.end_ns / _NS_PER_S,
            **{name: figures(sample.during(configuration), sample)[name] for name in names},
        }
        for sample in reports
    ]


def _reports(
    view: RunView, argv: Sequence[str]
) -> tuple[Request, SystemConfiguration, list[Sample]]:
    request = parse(GRAMMAR, argv)
    configuration = view.partition(request.partition)
    return (
        request,
        configuration,
        samples(view, configuration.name, request.interval_ns, request.count, ("partition",)),
    )
