"""Reports of z/VM's Performance Toolkit of a run, by their number or name.

FCX102 SYSTEM, FCX108 DEVICE and FCX265 LOCKLOG have the headings of the original. Of the others
only the names of the fields are known; they are plain tables, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from homenode.errors import listed, nearest
from homenode.tools.errors import ToolError
from homenode.tools.fcx import device, locks, machine, processors, system
from homenode.tools.fcx.plain import PlainTable
from homenode.tools.guestview import GuestView

Rows = Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class Report:
    """A report of the Performance Toolkit: its rows, and how they are printed."""

    number: str
    name: str
    about: str
    rows: Callable[[GuestView, str, bool], Rows]
    """Of a partition with z/VM; the last argument asks for every device or processor by itself."""
    render: Callable[[GuestView, str, bool], str]
    is_original: bool = False
    """Whether the heading is that of the original."""


def _plain(number: str, name: str, about: str, table: PlainTable) -> Report:
    return Report(
        number,
        name,
        about,
        lambda view, partition, _every: table.rows(view, partition),
        lambda view, partition, _every: table.render(view, partition, f"{number} {name}"),
    )


REPORTS = (
    Report("FCX102", "SYSTEM", "operations of the system", system.rows, system.render, True),
    Report("FCX108", "DEVICE", "paging volumes", device.rows, device.render, True),
    _plain("FCX112", "USER", "processors that virtual machines use", machine.USER),
    _plain("FCX114", "USTAT", "what virtual machines wait for", machine.USTAT),
    _plain("FCX126", "LPAR", "partitions of the machine", machine.LPAR),
    _plain("FCX176", "CTLUNIT", "control units and their read cache", device.CTLUNIT),
    _plain("FCX225", "SYSSUMLG", "the system by interval", processors.SYSSUMLG),
    Report(
        "FCX265", "LOCKLOG", "spin locks by interval", locks.locklog, locks.render_locklog, True
    ),
    _plain("FCX299", "PUCFGLOG", "parked and unparked cores by interval", processors.PUCFGLOG),
    _plain("FCX302", "PHYSLOG", "physical cores by type and interval", machine.PHYSLOG),
    _plain("FCX304", "PRCLOG", "logical processors", processors.PRCLOG),
    _plain("FCX326", "LOCKACT", "formal spin locks", locks.LOCKACT),
)
"""In the order of their numbers."""


def is_report(which: str) -> bool:
    """Whether a word is the number or name of a report."""
    return any(_spelt(which) in (one.number, one.name) for one in REPORTS)


def _spelt(which: str) -> str:
    """As reports are called: 108 is FCX108."""
    return f"FCX{which}" if which.isdecimal() else which.upper()


def is_number(which: str) -> bool:
    """Whether a word looks like the number of a report, of one that there is or not."""
    return which[:3].upper() == "FCX" and which[3:].isdecimal()


def report(which: str) -> Report:
    """A report by number or name, in any case; raises `ToolError` for one that is not there."""
    asked = _spelt(which)
    for one in REPORTS:
        if asked in (one.number, one.name):
            return one
    if is_number(asked):
        # A number that is near another one tells something else: none is proposed.
        there = listed((f"{one.number} {one.name}" for one in REPORTS), len(REPORTS))
        raise ToolError(f"there is no report {which}; there are {there}", asked=which)
    names = [one.name for one in REPORTS]
    raise ToolError(f"there is no report {which}{nearest(asked, names)}", asked=which)


def listing() -> Sequence[tuple[str, str, str, str]]:
    """Number, name, what it tells, and whose heading it has."""
    return [
        (one.number, one.name, one.about, "original" if one.is_original else "ours")
        for one in REPORTS
    ]
