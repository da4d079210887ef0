"""Columns of hyptop's list of systems, under PR/SM and under z/VM: letter, heading, unit, and how
the last line adds them up.

Taken from the tool's manual page (FIELDS) and its source (s390-tools, hyptop/sd_sys_items.c,
dg_debugfs_lpar.c, dg_debugfs_vm.c).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from homenode.tools.errors import UsageError
from homenode.tools.hyptop import units
from homenode.tools.hyptop.units import Value


@dataclass(frozen=True)
class Column:
    """A field of hyptop's list: its letter, heading and unit, and what it says."""

    letter: str
    head: str
    family: Mapping[str, Callable[[int], str]]
    unit: str
    about: str
    sums: bool = True
    """Whether the last line holds the sum; else it holds the largest value."""
    is_default: bool = True

    @property
    def heading(self) -> str:
        """As it stands over the column: the letter as one types it to choose the column."""
        return self.head.replace(self.letter.lower(), self.letter, 1)

    def text(self, value: Value) -> str:
        """A value as it is printed."""
        return units.shown(value, self.unit, self.family)

    def last(self, values: Sequence[Value]) -> Value:
        """What the last line says."""
        known = [value for value in values if isinstance(value, int)]
        if not known:
            return None
        return sum(known) if self.sums else max(known)


SYSTEM = Column("y", "system", units.NAME, "str", "Name")


def _count(letter: str, head: str, about: str, **more: bool) -> Column:
    return Column(letter, head, units.COUNT, "#", about, **more)


def _rate(letter: str, head: str, about: str, **more: bool) -> Column:
    return Column(letter, head, units.RATE, "%", about, **more)


def _time(letter: str, head: str, about: str, **more: bool) -> Column:
    return Column(letter, head, units.TIME, "hm", about, **more)


_ONLINE = Column("o", "online", units.TIME, "dhm", "Online time", sums=False)

LPAR = (
    _count("#", "#core", "Number of cores"),
    _count("T", "#the", "Number of threads", is_default=False),
    _rate("c", "core", "Core dispatch time per second"),
    _rate("e", "the", "Thread time per second", is_default=False),
    _rate("S", "smt", "Real CPU SMT utilization", is_default=False),
    _rate("m", "mgm", "Management time per second"),
    _time("C", "core+", "Total core dispatch time"),
    _time("E", "the+", "Total thread time", is_default=False),
    _time("M", "mgm+", "Total management time"),
    _ONLINE,
)
"""Under PR/SM, in the order they are shown."""
_OF_THREADS = "TeSE"
"""Letters that are shown without being asked for where a partition uses several threads."""

ZVM = (
    _count("#", "#cpu", "Number of CPUs"),
    _count("O", "#cpuop", "Number of operating CPUs", is_default=False),
    _rate("c", "cpu", "CPU time per second"),
    _time("C", "cpu+", "Total CPU time"),
    _ONLINE,
    Column("u", "memuse", units.MEMORY, "GiB", "Used memory"),
    Column("a", "memmax", units.MEMORY, "GiB", "Maximum memory"),
    _count("r", "wcur", "Current weight", sums=False),
    _count("x", "wmax", "Maximum weight", sums=False, is_default=False),
)
"""Under z/VM, in the order they are shown."""


def usual(there: Sequence[Column], *, threads: bool) -> list[Column]:
    """Those shown if none are asked for."""
    return [one for one in there if one.is_default or (threads and one.letter in _OF_THREADS)]


def chosen(fields: str, there: Sequence[Column]) -> list[Column]:
    """Fields as `c:ms,o` names them, in the order of the tool; raises `UsageError`."""
    by_letter = {one.letter: one for one in there}
    found: dict[str, Column] = {}
    for word in fields.split(","):
        letter, _, unit = word.partition(":")
        if letter not in by_letter:
            letters = " ".join(by_letter)
            raise UsageError(f'hyptop: Unknown field "{letter}"', there=f"there are {letters}")
        column = by_letter[letter]
        if unit:
            column = _with_unit(column, unit)
        found[letter] = column
    return [found[one.letter] for one in there if one.letter in found]


def _with_unit(column: Column, unit: str) -> Column:
    known = {name.lower(): name for name in column.family}
    if unit.lower() not in known:
        raise UsageError(
            f'hyptop: Invalid unit "{unit}" for field "{column.letter}"',
            there=f"there are {' '.join(column.family)}",
        )
    return replace(column, unit=known[unit.lower()])
