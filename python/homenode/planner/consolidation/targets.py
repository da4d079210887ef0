"""The machines that partitions go to: which, how many, what of each may be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.errors import InputError
from homenode.model.catalog import machine, machines
from homenode.model.catalog.names import is_path

_TIMES = re.compile(r"(?P<name>.+?)\s*[x\u00d7*]\s*(?P<count>\d{1,4})")
MOST_MACHINES = 1000


@dataclass(frozen=True)
class Target:
    """One machine."""

    name: str
    """Its own, such as power10-2: its model or file and its number among those."""
    reference: str
    """Model or file of its description."""
    title: str
    cores: int
    """Physical cores in use."""
    units: float
    """The same as recorded use is counted: cores, on hosts hardware threads."""
    memory_bytes: int
    nodes: int
    """Nodes that hold the cores in use."""


def targets_of(onto: Sequence[str], cores: int | None, memory_bytes: int | None) -> list[Target]:
    """Machines of words such as `ibm-power-e1080x2`; `cores` of each are in use, or as many as its
    description says, and each has `memory_bytes`, or the most that it can hold.

    Raises `InputError` for what is no machine or more than one has.
    """
    if not onto:
        raise InputError("onto which machine?", next_step="say --onto MACHINE or --onto MACHINExN")
    found: list[Target] = []
    for word in onto:
        reference, count = _counted(word)
        found += [_target(reference, cores, memory_bytes) for _ in range(count)]
    if len(found) > MOST_MACHINES:
        raise InputError(f"--onto: {len(found):,} machines are more than {MOST_MACHINES:,}")
    return _numbered(found)


def _counted(word: str) -> tuple[str, int]:
    """Model or file, and how many of it."""
    match = _TIMES.fullmatch(word.strip())
    if word.strip() in machines() or match is None:
        return word.strip(), 1
    count = int(match["count"])
    if count < 1:
        raise InputError(f"--onto {word}: none of that machine is no target")
    return match["name"], count


def _target(reference: str, cores: int | None, memory_bytes: int | None) -> Target:
    found = machine(reference)
    active = found.active_cores if cores is None else cores
    if not 0 < active <= found.cores:
        raise InputError(
            f"--cores {active}: {found.title} has {found.cores} cores",
            next_step=f"name 1 to {found.cores}",
        )
    memory = found.memory.maximum.value if memory_bytes is None else memory_bytes
    if memory > found.memory.maximum.value:
        most = found.memory.maximum.value / 2**30
        raise InputError(f"--memory: {found.title} holds at most {most:,.0f} GiB")
    nodes = -(-active // (found.chips_per_node * found.cores_per_chip))
    units = float(active * found.host_threads)
    return Target(found.name, reference, found.title, active, units, memory, nodes)


def _numbered(found: Sequence[Target]) -> list[Target]:
    names = [one.name for one in found]
    seen: dict[str, int] = {}
    numbered = []
    for one in found:
        seen[one.name] = seen.get(one.name, 0) + 1
        alone = names.count(one.name) == 1
        name = one.name if alone else f"{one.name}-{seen[one.name]}"
        numbered.append(Target(**{**vars(one), "name": name}))
    return numbered


def is_file(one: Target) -> bool:
    """Whether its description is a file of someone's own."""
    return is_path(one.reference)
