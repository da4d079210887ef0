"""How many logical processors a partition of z/VM can have, and what numbers they get.

z/VM supports processor numbers (addresses) up to a largest one, which depends on the machine. How
many processors and cores that makes depends on the partition's mode, the types of its cores and the
multithreading setting (ZVM-EIGHTY, Table 1, where the largest number is x'4F'):

- without multithreading there are no logical cores, processors are numbered one after another;
- with it, core n has the numbers 2n and 2n+1, so half as many cores fit. The second number is used
  by IFLs where two threads are on (SMT-2); otherwise no processor has it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from homenode.model.scenario.file.mainframe import CoreType, PartitionMode

Smt = Literal["off", "smt-1", "smt-2"]
SETTINGS: tuple[Smt, ...] = ("off", "smt-1", "smt-2")
TWO_THREADS: CoreType = "ifl"
"""The type of core whose second thread z/VM uses."""
ONE_THREAD: frozenset[CoreType] = frozenset(("cp", "icf"))
"""Types of cores that never run two threads, whatever system they have; multithreading is there
for IFLs and zIIPs (CURRAN-2015).
"""


@dataclass(frozen=True)
class Limits:
    """How much a partition of z/VM can have."""

    cores: int | None
    """Logical cores; None where the notion does not exist."""
    processors: int | None
    """Logical processors; None where the mix of core types decides."""
    even_only: bool
    """Whether only even processor numbers occur."""
    last: int
    """Largest processor number that can occur."""


def is_available(mode: PartitionMode, types: Collection[CoreType], smt: Smt) -> bool:
    """Whether z/VM offers a setting of multithreading in a partition of that mode and types."""
    if smt == "off":
        return True
    if mode == "linux-only":
        return set(types) == {TWO_THREADS}
    return mode == "z/vm"


def limits(
    mode: PartitionMode, types: Collection[CoreType], smt: Smt, numbers: int
) -> Limits | None:
    """The limits where `numbers` processor numbers are supported; None where multithreading is not
    available.
    """
    if not is_available(mode, types, smt):
        return None
    if smt == "off":
        return Limits(None, numbers, even_only=False, last=numbers - 1)
    cores = numbers // 2
    if smt == "smt-1":
        return Limits(cores, cores, even_only=True, last=2 * cores - 2)
    pure = set(types) == {TWO_THREADS}
    return Limits(cores, 2 * cores if pure else None, even_only=False, last=2 * cores - 1)


def numbers_of(types: Sequence[CoreType], smt: Smt) -> tuple[tuple[int, ...], ...]:
    """The processor numbers of each logical core, given the type of each."""
    if smt == "off":
        return tuple((core,) for core in range(len(types)))
    return tuple(
        (2 * core, 2 * core + 1) if smt == "smt-2" and kind == TWO_THREADS else (2 * core,)
        for core, kind in enumerate(types)
    )


def shown(number: int) -> str:
    """A processor number as z/VM writes it: `x'4F'`."""
    return f"x'{number:02X}'"
