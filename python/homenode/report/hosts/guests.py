"""What cases gave in virtual machines beside what they give on the host alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.markup import escape
from rich.table import Table

from homenode.errors import listed
from homenode.hosts.reduce.guests import TOGETHER, GuestFigures, guests_of
from homenode.hosts.reduce.repetitions import Cell
from homenode.model.numbers import NOTHING, number, significant
from homenode.report.hosts.words import percent
from homenode.report.tables import plain_table

_HOW_TO_READ = (
    "Real: processor time that the host spent for a guest, by the account of the guest's process; "
    "virtual: what the guest counts itself; both for a unit of work, beside what a unit takes on "
    "the host alone. In the guest: share of the real time in which virtual processors ran it; the "
    "rest is the hypervisor's. Of the host: work a second by that of the host alone."
)


def guests_tables(cells: Sequence[Cell]) -> list[Table]:
    """A row a case and guest, and one for all of them; no table without guests."""
    found = guests_of(cells)
    if not found:
        return []
    table = plain_table(
        "case",
        "guest",
        "of the host %",
        "host us/unit",
        "virtual us/unit",
        "real us/unit",
        "real/virtual",
        "in the guest %",
        "steal %",
        title="Real over virtual",
    )
    table.columns[1].justify = "left"
    for one in found:
        for index, guest in enumerate((*one.guests, one.together)):
            table.add_row("" if index else escape(one.case), *_figures(guest))
    return [table]


def _figures(guest: GuestFigures) -> list[str]:
    return [
        escape(guest.name),
        percent(guest.of_the_host),
        *(_shown(value) for value in (guest.host_us, guest.virtual_us, guest.real_us)),
        number(guest.real_over_virtual, 3),
        percent(guest.in_guest),
        percent(guest.steal),
    ]


def _shown(value: float | None) -> str:
    return NOTHING if value is None else significant(value)


def guests_sentences(cells: Sequence[Cell]) -> list[str]:
    """How to read the table, and what it cannot tell."""
    found = guests_of(cells)
    if not found:
        return []
    every = [guest for one in found for guest in one.guests]
    lines = [_HOW_TO_READ]
    lost = _names(every, lambda guest: guest.real_us is None)
    if lost:
        lines.append(
            f"Real time of {listed(lost, 6)} is not known: no process of this host is started with "
            "-name and that name (QEMU's -name guest=NAME, as libvirt writes it)."
        )
    emulated = _names(every, lambda guest: guest.real_us is not None and guest.in_guest is None)
    if emulated:
        lines.append(
            f"The kernel tells no time in the guest of {listed(emulated, 6)}: its processors are "
            "emulated, or its hypervisor is none of KVM's."
        )
    apart = _names(every, lambda guest: guest.beside is not None and guest.beside < TOGETHER)
    if apart:
        lines.append(
            f"{listed(apart, 6)}: less than {100 * TOGETHER:g} % of a measured time lay beside "
            "those of all others; lengthen the runs with --seconds."
        )
    return lines


def _names(guests: Sequence[GuestFigures], which: Callable[[GuestFigures], bool]) -> list[str]:
    return list(dict.fromkeys(guest.name for guest in guests if which(guest)))
