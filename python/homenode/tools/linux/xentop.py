"""`xentop -b`: the domains of a Xen host, interval by interval.

`xentop [ -p NAME ] [ Interval [ Count ] ]`. `CPU(%)` is of one processor. Domain 0, networks and
block devices are not modelled: the domain is left out, the columns are 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.tools.errors import ToolError
from homenode.tools.linux.domains import Domain, moments
from homenode.tools.linux.system import LinuxSystem, refuse_foreign
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar

GRAMMAR = Grammar(tool="xentop", synopsis="[ Interval [ Count ] ]", flags="")
_COLUMNS = (
    ("NAME", 10), ("STATE", 6), ("CPU(sec)", 10), ("CPU(%)", 6), ("MEM(k)", 10), ("MEM(%)", 6),
    ("MAXMEM(k)", 10), ("MAXMEM(%)", 9), ("VCPUS", 5), ("NETS", 4), ("NETTX(k)", 8),
    ("NETRX(k)", 8), ("VBDS", 4), ("VBD_OO", 8), ("VBD_RD", 8), ("VBD_WR", 8), ("VBD_RSECT", 10),
    ("VBD_WSECT", 10), ("SSID", 4),
)  # fmt: skip
NOT_MODELLED = tuple(name for name, _ in _COLUMNS[9:])
_RUNNING, _BLOCKED = "-----r", "--b---"


def figures(system: LinuxSystem, one: Domain) -> dict[str, str | int | float]:
    """One line by heading, exact; memory is of what all domains have."""
    whole, memory = system.given_kib, one.memory
    return {
        **dict.fromkeys(NOT_MODELLED, 0),
        "NAME": one.name,
        "STATE": _RUNNING if one.runs else _BLOCKED,
        "CPU(sec)": one.total_ns // 1_000_000_000,
        "CPU(%)": one.reading.cpu,
        "MEM(k)": memory.current_kib,
        "MEM(%)": 100.0 * memory.current_kib / whole,
        "MAXMEM(k)": memory.maximum_kib,
        "MAXMEM(%)": 100.0 * memory.maximum_kib / whole,
        "VCPUS": one.reading.group.virtual,
    }


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print: the headings and all domains, once an interval."""
    _refuse_others(system)
    lines = []
    for moment in moments(GRAMMAR, system, argv)[1]:
        lines.append(" ".join(f"{name:>{width}}" for name, width in _COLUMNS))
        for one in moment.domains:
            told = figures(system, one)
            lines.append(" ".join(_cell(told[name], width) for name, width in _COLUMNS))
    return page(lines)


def _cell(value: str | float, width: int) -> str:
    return f"{value:>{width}.1f}" if isinstance(value, float) else f"{value!s:>{width}}"


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a domain and interval."""
    _refuse_others(system)
    return [
        {"time_s": moment.end_ns / 1e9, **figures(system, one)}
        for moment in moments(GRAMMAR, system, argv)[1]
        for one in moment.domains
    ]


def _refuse_others(system: LinuxSystem) -> None:
    if not system.is_xen:
        refuse_foreign(system, GRAMMAR.tool)
        raise ToolError(
            f"xentop: run {system.run.id} is of a host of Linux",
            next_step="see `homenode virt-top` for its guests, `homenode pidstat` for all groups",
        )
