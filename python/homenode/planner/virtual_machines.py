"""What of a z/VM may change beside its processors: on how many switches its virtual machines are,
the switches' layer, how many machines do the work of a kind.

The work stays the same: tiles divide the machines that there are, and machines of a kind divide
its transactions, virtual processors and memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from homenode.model.scenario import PlacedPartition
from homenode.model.scenario.file.mainframe import GuestTransactions, GuestUsers, VirtualMachine
from homenode.model.scenario.paths import spelt
from homenode.model.units import RATE, SIZE

_MIB = 1 << 20
_MOST = 16
"""Switches, and times as many machines, that are tried."""
_MOST_CPUS = 0x40
"""Of a virtual machine: CP knows addresses 00 to 3F (DEFINE CPU)."""
_TIMES = (2, 3, 4)
"""Times as many machines of a kind that are tried, beside every fewer among whom they divide."""


class Varied(NamedTuple):
    """What may change: the path below the partition, what it is, what it may be."""

    below: str
    now: object
    values: list[object]
    also: Mapping[str, Mapping[str, object]] = {}
    """By value (`as_key`), what else changes with it, by path below the partition."""


def as_key(value: object) -> str:
    """A value as a key of what else changes with it: tables are values too."""
    return repr(value)


def tiles(one: PlacedPartition) -> Iterator[Varied]:
    """The machines of each switch on more switches of its kind, or on fewer."""
    for switch in one.table.switch:
        on_it = [vm for vm in one.table.virtual_machine if vm.switch == switch.name]
        totals = {vm.name: switch.count * vm.count for vm in on_it}
        counts = [
            count
            for count in range(1, _MOST + 1)
            if totals and not any(total % count for total in totals.values())
        ]
        also: dict[str, dict[str, object]] = {
            as_key(count): {f"{_of(name)}.count": total // count for name, total in totals.items()}
            for count in counts
        }
        below = f"switch.{spelt(switch.name)}.count"
        yield Varied(below, switch.count, [*counts], also)


def switches(one: PlacedPartition) -> Iterator[Varied]:
    """The layer of each switch."""
    for switch in one.table.switch:
        yield Varied(f"switch.{spelt(switch.name)}.layer", switch.layer, [2, 3])


def guests(one: PlacedPartition) -> Iterator[Varied]:
    """More machines of a kind that has work of its own, or fewer, for the same work."""
    for machine in one.table.virtual_machine:
        also: dict[int, Mapping[str, object]] = {}
        fewer = (n for n in range(1, machine.count) if machine.count % n == 0)
        for count in (*fewer, *(machine.count * times for times in _TIMES)):
            parts = _parts(machine, Fraction(machine.count, count))
            if parts is not None:
                also[count] = {f"{_of(machine.name)}.{k}": v for k, v in parts.items()}
        if also:
            yield Varied(f"{_of(machine.name)}.count", machine.count, [*also], _keyed(also))


def _keyed(also: Mapping[int, Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    return {as_key(value): told for value, told in also.items()}


def _parts(machine: VirtualMachine, share: Fraction) -> dict[str, object] | None:
    """What each has of the same work; None where that cannot be divided, or CP has no machine of
    so many processors.
    """
    work: dict[str, object]
    if ceil(machine.cpus * share) > max(machine.cpus, _MOST_CPUS):
        return None
    match machine.workload:
        case GuestTransactions(rate=rate):
            work = {"workload.rate": RATE.format(round(rate * float(share), 6))}
        case GuestUsers(count=users) if (users * share).denominator == 1:
            work = {"workload.count": int(users * share)}
        case _:
            return None
    return {
        **work,
        "cpus": ceil(machine.cpus * share),
        "memory": SIZE.format(_MIB * ceil(machine.memory * share / _MIB)),
    }


def _of(name: str) -> str:
    return f"virtual_machine.{spelt(name)}"
