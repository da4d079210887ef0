"""Virtual machines of a z/VM (FCX112 USER), each with the processors that it used."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from homenode.errors import Where
from homenode.records.importing.facts import MachineFacts, Told
from homenode.records.importing.formats.fcxtimes import Line


def machines_of(rows: Iterable[Line], where_of: Callable[[int], Where]) -> tuple[MachineFacts, ...]:
    """Virtual machines in the order in which they are first told; of several screens the mean over
    all, 0 where one is not among them.
    """
    first: dict[str, Line] = {}
    busy: dict[str, float] = {}
    screens: set[int] = set()
    for row in rows:
        name, percent = row.cells.get("Userid", ""), row.number("%CPU")
        screens.add(row.report["line"])
        if name and percent is not None:
            first.setdefault(name, row)
            busy[name] = busy.get(name, 0.0) + percent
    found = []
    for name, row in first.items():
        where, count = where_of(row.line), row.whole("CPUs")
        cores = busy[name] / 100.0 / len(screens)
        virtual = Told(count, where) if count else None
        found.append(MachineFacts(Told(name, where), Told(cores, where), virtual))
    return tuple(found)
