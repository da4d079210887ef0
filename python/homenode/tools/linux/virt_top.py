"""`virt-top --stream`: the KVM guests of a host, interval by interval.

`virt-top [ -p NAME ] [ Interval [ Count ] ]`. `%CPU` is of all processors of the host; requests of
block devices and bytes of networks are not modelled and 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.tools.linux.domains import Domain, moments
from homenode.tools.linux.layout import clock
from homenode.tools.linux.system import LinuxSystem, refuse_foreign
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar

GRAMMAR = Grammar(tool="virt-top", synopsis="[ Interval [ Count ] ]", flags="")
NOT_MODELLED = ("RDRQ", "WRRQ", "RXBY", "TXBY")
_HEAD = "   ID S RDRQ WRRQ RXBY TXBY %CPU %MEM   TIME    NAME"
_CENTISECOND_NS = 10_000_000


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print; memory is what a guest's balloon has left it, of what all guests
    have so, for no host tells its own.
    """
    refuse_foreign(system, GRAMMAR.tool)
    machine = system.run.spec["machine"]
    mhz, mib = round(machine["clock_hz"] / 1e6), system.given_kib >> 10
    lines = []
    for moment in moments(GRAMMAR, system, argv)[1]:
        lines.append(
            f"virt-top time  {clock(moment.end_ns)} Host {system.name} {system.architecture} "
            f"{system.cpus}/{system.cpus}CPU {mhz}MHz {mib}MB "
        )
        lines.append(_HEAD)
        lines += [_line(system, one) for one in moment.domains]
    return page(lines)


def _figures(system: LinuxSystem, one: Domain) -> tuple[str, float, float]:
    """State, shares of processors and memory [%]."""
    share = 100.0 * one.memory.current_kib / system.given_kib
    return ("R" if one.runs else "S", one.reading.cpu / system.cpus, share)


def _line(system: LinuxSystem, one: Domain) -> str:
    state, cpu, memory = _figures(system, one)
    hundredths = one.total_ns // _CENTISECOND_NS
    minutes, rest = divmod(hundredths, 6000)
    time = f"{minutes:3d}:{rest // 100:02d}.{rest % 100:02d}"
    return f"{one.id:5d} {state} {'   0 ' * 4}{cpu:4.1f} {memory:4.1f} {time} {one.name}"


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a guest and interval."""
    refuse_foreign(system, GRAMMAR.tool)
    found: list[dict[str, object]] = []
    for moment in moments(GRAMMAR, system, argv)[1]:
        for one in moment.domains:
            state, cpu, memory = _figures(system, one)
            found.append(
                {
                    "time_s": moment.end_ns / 1e9,
                    "ID": one.id,
                    "S": state,
                    "%CPU": cpu,
                    "%MEM": memory,
                    "TIME": one.total_ns / 1e9,
                    "NAME": one.name,
                }
            )
    return found
