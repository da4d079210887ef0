"""Several workloads in one partition: what they are called, where they stand, what may be together.

They share the guest's run queues and virtual processors; each has its own arrivals, profile and
part of the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import Document, Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.checks import check_burst
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.placed import PlacedLoad, PlacedPartition
from homenode.model.scenario.profiles import choose_profile

_ALONE = {
    "cores": "what one of several takes cannot be told from what the others do",
    "web": "clients and servers are virtual machines of z/VM",
}
"""Kinds of work that stand beside no other, and why."""


def load_names(told: Sequence[object]) -> list[str]:
    """What workloads are called: their name, else their kind, with a number where that is taken."""
    tables = [one if isinstance(one, Mapping) else vars(one) for one in told]
    taken = {str(one["name"]) for one in tables if one.get("name") is not None}
    found = []
    for one in tables:
        name = kind = str(one.get("kind"))
        number = 1
        while one.get("name") is None and name in taken:
            number += 1
            name = f"{kind}{number}"
        found.append(str(one["name"]) if one.get("name") is not None else name)
        taken.add(found[-1])
    return found


def place_of_load(document: Document, row: int, number: int = 0) -> Path:
    """Where a workload of the partition in a row stands."""
    path: Path = ("partition", row, "workload")
    return (*path, number) if isinstance(document.value(path), list) else path


def check_loads(
    table: Partition, row: int, machine: MachineDescription, problems: Problems
) -> None:
    """Several workloads stand where a guest shares its processors among them, and each waits only
    between bursts.
    """
    _check_waits(table, row, problems)
    if len(table.loads) == 1:
        return
    path: Path = ("partition", row, "workload")
    _check_names(table, path, problems)
    for number, one in enumerate(table.loads):
        if one.kind in _ALONE:
            step = "give it a partition of its own, or another kind"
            problems.add((*path, number, "kind"), there=_ALONE[one.kind], next_step=step)
    count, step = len(table.loads), "write one workload, and a partition for each of the others"
    if isinstance(table.guest, Zvm):
        there = f"{count} workloads are told; under z/VM the virtual machines work"
        step = "write one of them, and the others as [[partition.virtual_machine]]"
        problems.add(path, "workloads of one guest", there=there, next_step=step, at_key=True)
    elif machine.hypervisor.policy in HOST_POLICIES and _is_processes(table, machine):
        there = f"{count} workloads are told; without kvm they are plain processes of the host"
        step += ", or kvm = {}"
        problems.add(path, "workloads of one guest", there=there, next_step=step, at_key=True)


def _check_waits(table: Partition, row: int, problems: Problems) -> None:
    """What is one burst never waits; who says that it is (`bursts = 1`) knows that, as a sweep."""
    loads = enumerate(table.loads)
    told = [(place_of_load(problems.document, row, at), one) for at, one in loads]
    machines = enumerate(table.virtual_machine)
    guests = [
        (("partition", row, "virtual_machine", at, "workload"), m.workload) for at, m in machines
    ]
    for place, one in (*told, *guests):
        waits: int = getattr(one, "wait", 0)
        if one is not None and waits and "bursts" not in one.model_fields_set:
            there = "it waits between two bursts, and without bursts there is one"
            step = "write bursts = 5, how many on the mean, or leave wait out"
            problems.add((*place, "wait"), there=there, next_step=step)


def _is_processes(table: Partition, machine: MachineDescription) -> bool:
    only_guests = machine.hypervisor.policy in ("credit2", "esxi")
    return not only_guests and table.kvm is None


def _check_names(table: Partition, path: Path, problems: Problems) -> None:
    seen: set[str] = set()
    for number, one in enumerate(table.loads):
        if one.name is not None and one.name in seen:
            there = "another workload of the partition has it"
            step = "give each workload a name of its own"
            problems.add((*path, number, "name"), there=there, next_step=step)
        seen.add(one.name or "")


def with_loads(
    partitions: Sequence[PlacedPartition],
    tables: Mapping[int, Partition],
    folder: FilePath,
    machine: MachineDescription,
    problems: Problems,
) -> tuple[PlacedPartition, ...]:
    """The partitions with the workloads beside their first; `tables` are those of the file."""
    beside = {
        row: tuple(_beside(table, row, folder, machine, problems)) for row, table in tables.items()
    }
    return tuple(replace(one, beside=beside[one.row]) for one in partitions)


def _beside(
    table: Partition,
    row: int,
    folder: FilePath,
    machine: MachineDescription,
    problems: Problems,
) -> Iterator[PlacedLoad]:
    """The workloads of a table beside its first."""
    named = list(zip(load_names(table.loads), table.loads, strict=True))
    for number, (name, one) in enumerate(named[1:], 1):
        path = place_of_load(problems.document, row, number)
        profile = choose_profile(one.profile, (*path, "profile"), folder, problems)
        check_burst(one, path, profile, machine, problems)
        yield PlacedLoad(name, one, profile)
