"""The guests of a KVM or Xen host, as virsh, virt-top and xentop know them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.tools.errors import ToolError
from homenode.tools.linux.readings import GroupReading, groups
from homenode.tools.linux.system import DomainMemory, LinuxSystem
from homenode.tools.usage import Grammar, Request, parse


@dataclass(frozen=True)
class Domain:
    """One guest over an interval."""

    id: int
    system: LinuxSystem
    reading: GroupReading
    total_ns: int
    """Time on processors since the start."""

    @property
    def name(self) -> str:
        """As the host calls it."""
        return self.reading.group.name

    @property
    def memory(self) -> DomainMemory:
        """What it has."""
        return self.system.memory_of(self.reading.group)

    @property
    def runs(self) -> bool:
        """Whether it used a processor at all in the interval."""
        return self.reading.cpu_ns > 0


@dataclass(frozen=True)
class Moment:
    """All guests at the end of an interval."""

    end_ns: int
    domains: list[Domain]


def moments(
    grammar: Grammar, system: LinuxSystem, argv: Sequence[str]
) -> tuple[Request, list[Moment]]:
    """The guests in each interval asked for. Raises `ToolError` for a host without any."""
    request = parse(grammar, argv)
    there = [one for one in system.groups if system.is_xen or one.is_guest]
    if not there:
        raise ToolError(
            f"{grammar.tool}: no partition of run {system.run.id} is a guest",
            there="all are groups of processes of the host",
            next_step="give one `kvm = {}` in the scenario, or see `homenode pidstat`",
        )
    shown = [one for one in there if request.partition in (None, one.name)]
    if not shown:
        raise ToolError(
            f"{grammar.tool}: {request.partition} of run {system.run.id} is a group of processes",
            there=f"guests are {', '.join(one.name for one in there)}",
            next_step="name one of them with -p",
        )
    totals = {one.name: 0 for one in shown}
    found = []
    for sample, readings in groups(system, request):
        domains = [_domain(system, one, totals) for one in readings if one.group in shown]
        found.append(Moment(sample.end_ns, domains))
    return request, found


def _domain(system: LinuxSystem, reading: GroupReading, totals: dict[str, int]) -> Domain:
    name = reading.group.name
    totals[name] += reading.cpu_ns
    return Domain(reading.group.index + 1, system, reading, totals[name])
