"""Virtual machines of a z/VM (FCX112 USER), each with the processors that it used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from homenode.errors import Where
from homenode.records.importing.facts import MachineFacts, Told
from homenode.records.importing.formats.fcxtimes import Line, Times
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.shared.words import counted

MOST_CPUS = 64
"""Virtual processors that CP gives a virtual machine at most."""
_SUMS = ("TOTAL", "TOTALS", "SUM", "MEAN", "AVERAGE")
"""Names of rows about several machines; so are those with brackets, such as `>System<`."""

WhereOf = Callable[[int], Where]


def users_of(rows: Iterable[Line], where_of: WhereOf, notices: list[Notice]) -> list[Line]:
    """Rows of one virtual machine each. Totals and means are left out; of totals, which do not
    tell it by brackets, that is said.
    """
    users: list[Line] = []
    sums: list[Line] = []
    for row in rows:
        name = row.cells.get("Userid", "")
        if name.upper() in _SUMS:
            sums.append(row)
        elif name and not set("<>") & set(name):
            users.append(row)
    if sums:
        text = f'"{sums[0].cells["Userid"]}" is taken for a row about all virtual machines and is'
        notices.append(Notice(f"{text} left out", where_of(sums[0].line)))
    return users


def machines_of(
    rows: Sequence[Line], times: Times, where_of: WhereOf, notices: list[Notice]
) -> tuple[MachineFacts, ...]:
    """Virtual machines in the order in which they are first told; of several screens the mean over
    the time of all, 0 where one is not among them. A screen in which its %CPU cannot be is none of
    its time. %CPU is assumed to be raw time, with SMT-2 that of a thread: what CP's monitor has in
    VMDTTIME (IBM, "Virtual CPU Time: Raw Time, MT-1 Equivalent Time, and Prorated Core Time").
    """
    weights = _weights(rows, times)
    found: list[MachineFacts] = []
    silent: list[Line] = []
    for name, own in _by_name(users_of(rows, where_of, notices), where_of, notices).items():
        used = seconds = 0.0
        for row in own:
            weight, percent = weights[row.report["line"]], percent_of(row)
            if percent is None:
                silent.append(row)
                seconds -= weight
            else:
                used += weight * percent / 100.0
        if any(percent_of(row) is not None for row in own):
            where = where_of(own[0].line)
            cores = used / (seconds + sum(weights.values()))
            virtual = _virtual(name, own, where_of, notices)
            found.append(MachineFacts(Told(name, where), Told(cores, where), virtual))
    if silent:
        text = f"%CPU is no figure up to {100 * MOST_CPUS} in {counted(len(silent), 'row')}, the"
        text += f" first of {silent[0].cells['Userid']}; left out"
        if not found:
            text += ", so that no virtual machine is known: what z/VM's processors did is played"
        notices.append(Notice(text, where_of(silent[0].line)))
    return tuple(found)


def _weights(rows: Iterable[Line], times: Times) -> Mapping[int, float]:
    """The length of each screen's interval [s], by its line; the others' mean where one tells
    none.
    """
    spans = {row.report["line"]: times.of(row.report) for row in rows}
    told = [span.seconds for span in spans.values() if span is not None]
    mean = sum(told) / len(told) if told else 1.0
    return {line: mean if span is None else span.seconds for line, span in spans.items()}


def _by_name(
    rows: Iterable[Line], where_of: WhereOf, notices: list[Notice]
) -> dict[str, list[Line]]:
    """A row a screen of each virtual machine; it is said where one has two in a screen."""
    found: dict[str, list[Line]] = {}
    for row in rows:
        name = row.cells["Userid"]
        own = found.setdefault(name, [])
        if own and own[-1].report is row.report:
            text = f"{name} is in line {own[-1].line} of the same screen already; that counts"
            notices.append(Notice(text, where_of(row.line)))
        else:
            own.append(row)
    return found


def percent_of(row: Line) -> float | None:
    """%CPU, if a virtual machine can use as much."""
    value = row.number("%CPU")
    return None if value is None or value > 100 * MOST_CPUS else value


def _virtual(
    name: str, own: Iterable[Line], where_of: WhereOf, notices: list[Notice]
) -> Told[int] | None:
    """How many virtual processors it has; the first that can be counts."""
    found: Told[int] | None = None
    said = set()
    for row in own:
        cell, count = row.cells.get("CPUs", ""), row.whole("CPUs")
        if not cell or cell in said:
            continue
        said.add(cell)
        where = where_of(row.line)
        if not 1 <= count <= MOST_CPUS:
            text = f'CPUs "{cell}" of {name} is no count from 1 to {MOST_CPUS}; it is left out'
            notices.append(Notice(text, where))
        elif found is None:
            found = Told(count, where)
        elif found.value != count:
            text = f"{name} has {counted(count, 'processor')} here; {found.value} of {found.where}"
            notices.append(Notice(f"{text} counts", where))
    return found
