"""Virtual machines and switches of z/VM, spelt out one by one, and what must hold between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.errors import listed, suggestion
from homenode.model.catalog.control_program import ControlProgram
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.mainframe import (
    MOST_VIRTUAL_CPUS,
    CpuPool,
    PagingSpace,
    Switch,
    VirtualMachine,
)
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.workload import Idle, Web
from homenode.model.scenario.mainframe.pools import check_pools
from homenode.model.units import SHARE, SIZE

_MOST_MACHINES = 20_000
_SLACK = 1e-9


@dataclass(frozen=True)
class PlacedSwitch:
    """One virtual switch."""

    name: str
    table: Switch


@dataclass(frozen=True)
class PlacedMachine:
    """One virtual machine."""

    name: str
    table: VirtualMachine
    switch: int | None
    """Index of its switch among all of the partition."""


@dataclass(frozen=True)
class Members:
    """All switches and virtual machines of a partition, in the order of every result table."""

    switches: tuple[PlacedSwitch, ...]
    machines: tuple[PlacedMachine, ...]


def spell_members(
    table: Partition, row: int, program: ControlProgram, problems: Problems
) -> Members:
    """Switches by number, and for each of them its machines; what is wrong is noted."""
    path: Path = ("partition", row)
    before = len(problems)
    _check_names(table.switch, "switch", path, problems)
    _check_names(table.virtual_machine, "virtual_machine", path, problems)
    _check_names(table.cpu_pool, "cpu_pool", path, problems)
    check_pools(table, path, problems)
    if not table.virtual_machine:
        step = 'write [[partition.virtual_machine]] with name, memory and role = "client"'
        problems.add(path, "virtual_machine is missing", next_step=step, at_key=True)
    _check_machines(table, path, problems)
    if len(problems) == before:
        _check_switches(table, path, problems)
    _check_shares(table, path, problems)
    if len(problems) > before:
        return Members((), ())
    members = _spell(table)
    _check_memory(members, table, program.paging.guest_frames.value, path, problems)
    _check_twice(members, path, problems)
    return members


def _spell(table: Partition) -> Members:
    switches: list[PlacedSwitch] = []
    places: dict[str, list[int]] = {}
    for switch in table.switch:
        for name in _names(switch.name, switch.count):
            places.setdefault(switch.name, []).append(len(switches))
            switches.append(PlacedSwitch(name, switch))
    machines: list[PlacedMachine] = []
    for one in table.virtual_machine:
        on: Sequence[int | None] = places[one.switch] if one.switch is not None else [None]
        where = [place for place in on for _ in range(one.count)]
        names = _names(one.name, len(where))
        machines += [PlacedMachine(n, one, place) for n, place in zip(names, where, strict=True)]
    return Members(tuple(switches), tuple(machines))


def _names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}{number + 1}" for number in range(count)]


def _check_names(
    tables: Sequence[Switch | VirtualMachine | CpuPool], key: str, path: Path, problems: Problems
) -> None:
    seen: set[str] = set()
    word = "CPU pool" if key == "cpu_pool" else key.replace("_", " ")
    for index, table in enumerate(tables):
        if table.name in seen:
            more = "" if key == "cpu_pool" else ", or write count"
            step = f"give each {word} a name of its own{more}"
            there = f"another {word} has it"
            problems.add((*path, key, index, "name"), there=there, next_step=step)
        seen.add(table.name)


def _check_twice(members: Members, path: Path, problems: Problems) -> None:
    """Numbers behind names do not make two of the same."""
    counted = Counter(one.name for one in members.machines)
    twice = [name for name, count in counted.items() if count > 1]
    if twice:
        there = f"with their numbers two are called {twice[0]}"
        step = "give one of them another name"
        problems.add((*path, "virtual_machine"), there=there, next_step=step)
    if len(members.machines) > _MOST_MACHINES:
        there = f"that makes {len(members.machines):,} virtual machines"
        step = f"at most {_MOST_MACHINES:,} are possible"
        problems.add((*path, "virtual_machine"), there=there, next_step=step)


def _check_machines(table: Partition, path: Path, problems: Problems) -> None:
    """Each virtual machine by itself."""
    names = [switch.name for switch in table.switch]
    idle = isinstance(table.workload, Idle)
    for index, one in enumerate(table.virtual_machine):
        here = (*path, "virtual_machine", index)
        if one.cpus > MOST_VIRTUAL_CPUS:
            there = f"z/VM gives a virtual machine at most {MOST_VIRTUAL_CPUS} virtual processors"
            step = "ask for fewer, or for more machines with count"
            problems.add((*here, "cpus"), there=there, next_step=step)
        if one.switch is not None and one.switch not in names:
            there = f"the switches are {listed(names)}" if names else "there is no switch"
            step = suggestion(one.switch, names, "add [[partition.switch]] with that name")
            problems.add((*here, "switch"), there=there, next_step=step)
        if one.workload is not None and one.workload.answer and one.switch is None:
            there = "what it answers goes over a virtual switch"
            step = f'write switch = "{names[0] if names else "lan"}", or leave answer out'
            problems.add((*here, "workload", "answer"), there=there, next_step=step)
        if one.role not in ("client", "server"):
            continue
        if one.switch is None:
            there = f"a {one.role} is coupled to a virtual switch"
            step = f'write switch = "{names[0] if names else "lan"}"'
            problems.add((*here, "role"), there=there, next_step=step)
        if idle:
            there = "the partition's workload is idle, which sends no requests"
            step = 'write workload = { kind = "web", ... } or role = "loop"'
            problems.add((*here, "role"), there=there, next_step=step)


def _check_switches(table: Partition, path: Path, problems: Problems) -> None:
    """Every switch has members, its clients have servers, its servers have clients."""
    for index, switch in enumerate(table.switch):
        members = [
            (number, one)
            for number, one in enumerate(table.virtual_machine)
            if one.switch == switch.name
        ]
        if not members:
            there = "no virtual machine is coupled to it"
            step = f'write switch = "{switch.name}" at those that are, or leave the switch out'
            here = (*path, "switch", index)
            problems.add(here, "it has no members", there=there, next_step=step, at_key=True)
        for role, other in (("client", "server"), ("server", "client")):
            mine = [number for number, one in members if one.role == role]
            if mine and not any(one.role == other for _, one in members):
                verb = "answers" if role == "client" else "asks"
                there = f"no {other} on switch {switch.name} {verb} it"
                step = f'couple one with role = "{other}" to that switch'
                problems.add(
                    (*path, "virtual_machine", mine[0], "role"), there=there, next_step=step
                )
    if isinstance(table.workload, Web) and not any(
        one.role == "client" for one in table.virtual_machine
    ):
        there = "no virtual machine is a client, so nothing is asked for"
        step = 'write role = "client" at one, or workload = { kind = "idle" }'
        problems.add((*path, "workload"), there=there, next_step=step, at_key=True)


def _check_shares(table: Partition, path: Path, problems: Problems) -> None:
    """Absolute shares of all virtual machines together leave no less than nothing."""
    tiles = {switch.name: switch.count for switch in table.switch}
    total = 0.0
    for index, one in enumerate(table.virtual_machine):
        here = (*path, "virtual_machine", index)
        absolute = one.share.absolute
        if absolute is None:
            continue
        copies = one.count * (tiles.get(one.switch, 1) if one.switch is not None else 1)
        total += absolute * copies
        if total > 1 + _SLACK:
            there = f"all absolute shares up to this one make {total:.6g} times the partition"
            step = "lower them to 100 % together, or write { relative = 100 }"
            problems.add((*here, "share"), there=there, next_step=step)
            return
        limit = one.limit
        if limit is not None and limit.absolute is not None and limit.absolute < absolute:
            there = "its share is more than that"
            step = "make the limit at least the share"
            problems.add((*here, "limit"), there=there, next_step=step)


def _check_memory(
    members: Members, table: Partition, frames: float, path: Path, problems: Problems
) -> None:
    """The machines' memory fits central memory and paging space together."""
    central = sum(part.size for part in table.memory)
    asked = sum(one.table.memory for one in members.machines)
    paging: PagingSpace | None = table.paging
    said = f"the virtual machines have {_size(asked)} of memory, central memory is {_size(central)}"
    if paging is None and asked > central:
        there = f"{said}, and nothing can be paged out"
        step = "add [partition.paging] with volumes and size, or make central memory larger"
        problems.add((*path, "memory"), there=there, next_step=step)
    elif paging is not None and asked > int(central * frames) + paging.size:
        there = f"{said}, {SHARE.format(frames)} of it for guests' pages; the rest does not fit"
        step = "make the paging space or central memory larger"
        problems.add((*path, "paging", "size"), there=there, next_step=step)


def _size(size: int) -> str:
    return SIZE.format(size)
