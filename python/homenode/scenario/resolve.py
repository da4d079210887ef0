"""From the tables of a file to partitions with a place: counts are spelt out, names resolved, everything put somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath

from homenode.catalog import MachineDescription, profile, profiles
from homenode.catalog.names import is_path
from homenode.catalog.profile import ENGINE_NAMES, ProfileDescription
from homenode.document import Document, Problems
from homenode.document.positions import Path
from homenode.errors import HomenodeError, NotFoundError, ProfileError, ScenarioError, closest, listed
from homenode.scenario.checks import check_machine_fit, check_partition, check_pools, check_run, check_totals
from homenode.scenario.models import DEFAULT_POOL, Dedicated, Partition, Pool, ScenarioFile, Shared
from homenode.scenario.override import choose_machine
from homenode.scenario.places import PlaceError, find_place
from homenode.scenario.placement import Seat, Wish, place
from homenode.scenario.workload import ProfileChoice


@dataclass(frozen=True)
class PlacedPartition:
    """One partition with everything decided."""

    name: str
    number: int
    table: Partition
    """Its table in the file; partitions of one `count` share it."""
    row: int
    """Index of that table in the file."""
    smt: int
    memory_bytes: int
    home: tuple[int, ...]
    """Chips its virtual processors are homed on, in turn."""
    cores: tuple[int, ...] | None
    """Its cores if it is dedicated."""
    memory_shares: tuple[tuple[int, float], ...]
    """Chips its memory lies on, with the share of each."""
    profile: dict[str, float | int | str]
    """The profile as the engine takes it."""

    @property
    def virtual(self) -> int:
        """Virtual processors, or cores if it is dedicated."""
        processors = self.table.processors
        return processors.virtual if isinstance(processors, Shared) else processors.cores

    @property
    def logical_cpus(self) -> int:
        """Hardware threads the guest sees."""
        return self.virtual * self.smt


@dataclass(frozen=True)
class Resolved:
    """A whole scenario with everything decided."""

    machine: MachineDescription
    pools: tuple[Pool, ...]
    partitions: tuple[PlacedPartition, ...]

    @property
    def pool_cores(self) -> int:
        """Active cores that are not dedicated."""
        return self.machine.active_cores - sum(len(partition.cores or ()) for partition in self.partitions)


def resolve(file: ScenarioFile, document: Document, folder: FilePath) -> Resolved:
    """Decide everything the file leaves open, and check all of it; raises every problem found at once."""
    problems = Problems(document, ScenarioError)
    check_run(file.run, problems)
    machine = choose_machine(file.machine, document, folder, problems)
    check_pools(file.pool, problems)
    named = _spell_out(file.partition, problems)
    chosen = [_profile(table, row, folder, problems) for row, table in enumerate(file.partition)]
    if machine is None:
        problems.raise_any()
        raise AssertionError("a missing machine is always noted as a problem")
    pools = (Pool(name=DEFAULT_POOL), *file.pool)
    for row, table in enumerate(file.partition):
        check_partition(table, row, machine, [pool.name for pool in pools], problems)
    partitions = _placed(named, chosen, machine, problems)
    resolved = Resolved(machine, pools, partitions)
    if not problems:
        check_machine_fit(machine, partitions, problems)
        check_totals(resolved.pool_cores, pools, partitions, file.run, problems)
    problems.raise_any()
    return resolved


@dataclass(frozen=True)
class _Named:
    name: str
    number: int
    table: Partition
    row: int


def _spell_out(tables: list[Partition], problems: Problems) -> list[_Named]:
    """One entry a partition, with names and numbers of their own."""
    taken = {table.number for table in tables if table.number is not None}
    names: dict[str, int] = {}
    numbers: dict[int, str] = {}
    entries = []
    following = 1
    for row, table in enumerate(tables):
        for copy in range(table.count):
            name = table.name if table.count == 1 else f"{table.name}{copy + 1}"
            if table.number is not None:
                number = table.number + copy
            else:
                while following in taken:
                    following += 1
                number, following = following, following + 1
            if name in names and names[name] != row:
                there = f"partition number {names[name] + 1} of the file is called {name} too"
                problems.add(("partition", row, "name"), there=there, next_step="give each partition a name of its own")
            elif number in numbers:
                there = f"{numbers[number]} has the number {number} too"
                problems.add(("partition", row, "number"), there=there, next_step="give each partition a number of its own")
            names[name] = row
            numbers[number] = name
            entries.append(_Named(name, number, table, row))
    return entries


def _profile(table: Partition, row: int, folder: FilePath, problems: Problems) -> dict[str, float | int | str]:
    """The profile of a partition as the engine takes it; empty after noting a problem."""
    choice = table.workload.profile
    replaced = {ENGINE_NAMES.get(name, name): value for name, value in choice.replaced().items()}
    if choice.base is None:
        return {"name": choice.name or "own", **replaced}
    path: Path = ("partition", row, "workload", "profile")
    if isinstance(problems.document.value(path), dict):
        path = (*path, "base")
    base = _base_profile(choice, choice.base, folder, path, problems)
    return {} if base is None else {**base.spec(), "name": choice.name or base.name, **replaced}


def _base_profile(
    choice: ProfileChoice, name: str, folder: FilePath, path: Path, problems: Problems
) -> ProfileDescription | None:
    try:
        return profile(folder / name if is_path(name) else name)
    except ProfileError:
        raise
    except NotFoundError as error:
        if is_path(name):
            problems.add(path, there=error.problem)
        else:
            near = closest(name, profiles())
            step = f"did you mean {near}?" if near else 'for one of your own write profile = "mine.toml"'
            problems.add(path, there=f"the profiles are {listed(profiles())}", next_step=step)
    except HomenodeError as error:  # pragma: no cover - whatever else may become of a file
        problems.add(path, there=str(error))
    return None


def _placed(
    named: list[_Named],
    chosen: list[dict[str, float | int | str]],
    machine: MachineDescription,
    problems: Problems,
) -> tuple[PlacedPartition, ...]:
    """Every partition at its place."""
    homes = {entry.row: _home(entry.table, entry.row, machine, problems) for entry in named}
    memories = {entry.row: _memory_places(entry.table, entry.row, machine, problems) for entry in named}
    seats = place(machine, [_wish(entry.table, homes[entry.row]) for entry in named])
    placed = []
    for entry, seat in zip(named, seats, strict=True):
        _check_dedicated(entry, seat, machine, problems)
        placed.append(
            PlacedPartition(
                name=entry.name,
                number=entry.number,
                table=entry.table,
                row=entry.row,
                smt=entry.table.smt if entry.table.smt is not None else machine.threads_per_core,
                memory_bytes=memory_bytes(entry.table),
                home=homes[entry.row] or seat.chips,
                cores=seat.cores,
                memory_shares=_memory_shares(entry.table, memories[entry.row], homes[entry.row] or seat.chips),
                profile=chosen[entry.row],
            )
        )
    return tuple(placed)


def memory_bytes(table: Partition) -> int:
    """All memory of a partition [bytes]."""
    return sum(part.size for part in table.memory)


def _wish(table: Partition, home: tuple[int, ...] | None) -> Wish:
    processors = table.processors
    if isinstance(processors, Dedicated):
        return Wish(processors.cores, memory_bytes(table), True, home)
    return Wish(processors.entitlement, memory_bytes(table), False, home)


def _home(table: Partition, row: int, machine: MachineDescription, problems: Problems) -> tuple[int, ...] | None:
    """The chips of a stated home."""
    if table.home is None:
        return None
    chips: list[int] = []
    for index, text in enumerate(table.home):
        path: Path = ("partition", row, "home")
        if isinstance(problems.document.value(path), list):
            path = (*path, index)
        chips.extend(_find(text, path, machine, problems))
    return tuple(dict.fromkeys(chips)) or None


def _find(text: str, path: Path, machine: MachineDescription, problems: Problems) -> list[int]:
    try:
        return find_place(text, machine)
    except PlaceError as error:
        problems.add(path, there=error.there, next_step=error.next_step)
        return []


def _memory_places(
    table: Partition, row: int, machine: MachineDescription, problems: Problems
) -> list[tuple[int, ...] | None]:
    """The chips of each part of the memory; None where it goes with the home."""
    places: list[tuple[int, ...] | None] = []
    for index, part in enumerate(table.memory):
        path = ("partition", row, "memory", index, "on")
        places.append(None if part.on is None else tuple(_find(part.on, path, machine, problems)))
    return places


def _memory_shares(
    table: Partition, places: list[tuple[int, ...] | None], home: tuple[int, ...]
) -> tuple[tuple[int, float], ...]:
    """Share of the memory on each chip: each part evenly over the chips of its place."""
    total = memory_bytes(table)
    shares: dict[int, float] = {}
    for part, chips in zip(table.memory, places, strict=True):
        where = home if chips is None else chips
        for chip in where:
            shares[chip] = shares.get(chip, 0.0) + part.size / total / len(where)
    return tuple(sorted(shares.items()))


def _check_dedicated(entry: _Named, seat: Seat, machine: MachineDescription, problems: Problems) -> None:
    processors = entry.table.processors
    if isinstance(processors, Dedicated) and seat.cores is None:
        where = "at its home" if entry.table.home is not None else f"in {machine.title}"
        there = f"so many cores are not left {where} for {entry.name}"
        step = "ask for fewer cores, give it a larger home or move other dedicated partitions"
        problems.add(("partition", entry.row, "processors", "cores"), there=there, next_step=step)
