"""/proc/sysinfo as Linux on the machine would print it, in a partition or in a virtual machine of
z/VM.

The lines are those of the kernel (arch/s390/kernel/sysinfo.c), in its order and widths. Lines whose
value is not modelled are left out: sequence code, plant, capacity ratings, capability. Factors
(`Adjustment nn-way`) are those of the shipped table of the machine's generation, in 65536ths; a
table that has some points only gives those lines only, and a machine without a table none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from homenode.errors import NotFoundError, nearest
from homenode.model.catalog.capability_factors import STEPS
from homenode.model.catalog.capability_table import (
    CapabilityTable,
    capability_table,
    capability_tables,
)
from homenode.model.spec import MachineSpec, shared_of
from homenode.tools.guestview import GuestView, refuse_other_machines, zvm_partition

MANUFACTURER = "IBM"
_PER_MILLE = 1000
_LEVELS = 6
"""Nesting levels of the topology that are printed."""
_VM_PROGRAM = "z/VM"

Line = tuple[str, str]
"""What stands before the value, blanks included, and the value."""


@dataclass(frozen=True)
class Facts:
    """What the lines are made of; blocks as the instruction STSI has them, by level."""

    machine: list[Line]
    topology: list[Line]
    processors: list[Line]
    partition: list[Line]
    virtual_machine: list[Line]

    def text(self) -> str:
        """The file."""
        first = [*self.machine, ("", ""), *self.topology, *self.processors]
        rest = [block for block in (self.partition, self.virtual_machine) if block]
        lines = [*first, *(line for block in rest for line in (("", ""), *block))]
        return "".join(f"{head}{value}\n" for head, value in lines)

    def as_json(self) -> dict[str, str]:
        """Names and values as they are printed, without their blanks."""
        blocks = (self.machine, self.topology, self.processors, self.partition)
        lines = [line for block in (*blocks, self.virtual_machine) for line in block]
        return {head.rstrip().removesuffix(":"): value.strip() for head, value in lines}


def sysinfo(view: GuestView, partition: str, guest: str | None = None) -> Facts:
    """In a partition, or with `guest` in one of its virtual machines; raises `NotFoundError` where
    there is none of that name, `ToolError` on a machine that has no such file.
    """
    refuse_other_machines(view, "sysinfo")
    machine = view.spec["machine"]
    return Facts(
        machine=[*_model(view)],
        topology=[*_topology(view)],
        processors=[*_processors(machine, table_of(machine))],
        partition=[*_partition(view, partition)],
        virtual_machine=[] if guest is None else [*_guest(view, partition, guest)],
    )


def table_of(machine: MachineSpec) -> CapabilityTable | None:
    """The shipped factors of a machine's generation, if there are any."""
    name = str(machine["generation"])
    return capability_table(name) if name in capability_tables() else None


def _named(name: str, value: object) -> Line:
    """A name and its value from the 23rd column on."""
    return f"{name + ':':<22}", str(value)


def _model(view: GuestView) -> Iterator[Line]:
    number, _, model = view.model.partition("-")
    yield _named("Manufacturer", f"{MANUFACTURER:<16.16}")
    yield _named("Type", f"{number:<4.4}")
    # The capacity model comes first; which one a customer has is not modelled.
    yield _named("Model", f"{'':<16} {model:<16.16}")


def nodes_of_drawer(node_name: str) -> int | None:
    """How many nodes make a drawer, by what a node is called; None where there are no drawers but
    books.
    """
    return {"drawer": 1, "node": 2}.get(node_name)


def _topology(view: GuestView) -> Iterator[Line]:
    """Containers by level, the outermost first: drawers where there are any, books, chips; below
    them the cores of a chip.
    """
    machine, of_drawer = view.spec["machine"], nodes_of_drawer(view.node_name)
    levels = [machine["nodes"], machine["chips_per_node"], machine["cores_per_chip"]]
    if of_drawer is not None:
        levels[:1] = [machine["nodes"] // of_drawer, of_drawer]
    counts = "".join(f" {count}" for count in [0] * (_LEVELS - len(levels)) + levels)
    for kind in ("HW", "SW"):
        yield f"CPU Topology {kind}:     ", counts


def _processors(machine: MachineSpec, table: CapabilityTable | None) -> Iterator[Line]:
    total = int(machine["active_cores"])
    yield _named("CPUs Total", total)
    yield _named("CPUs Configured", total)
    yield _named("CPUs Standby", 0)
    yield _named("CPUs Reserved", 0)
    if machine["threads_per_core"] > 1:
        yield _named("CPUs G-MTID", 0)
        yield _named("CPUs S-MTID", machine["threads_per_core"] - 1)
    for count, factor in () if table is None else table.factors.items():
        if 2 <= count <= total:
            yield f"Adjustment {count:02d}-way:    ", str(round(factor * STEPS))


def _partition(view: GuestView, name: str) -> Iterator[Line]:
    machine, index = view.spec["machine"], view.index(name)
    shared, cores = shared_of(view.partitions[index]), view.processors(name)
    entitled = float(cores if shared is None else shared["entitlement"])
    capped = shared is not None and shared["capped"]
    words = ["Dedicated" if shared is None else "Shared", *(["Limited"] if capped else [])]
    yield _named("LPAR Number", view.details.get(name, {}).get("number") or index + 1)
    yield _named("LPAR Characteristics", "".join(f"{word} " for word in words))
    yield _named("LPAR Name", f"{name.upper():<8.8}")
    yield _named("LPAR Adjustment", round(_PER_MILLE * entitled / machine["active_cores"]))
    yield _named("LPAR CPUs Total", cores)
    yield _named("LPAR CPUs Configured", cores)
    yield _named("LPAR CPUs Standby", 0)
    yield _named("LPAR CPUs Reserved", 0)
    yield _named("LPAR CPUs Dedicated", 0 if shared is not None else cores)
    yield _named("LPAR CPUs Shared", cores if shared is not None else 0)
    if machine["threads_per_core"] > 1:
        most = machine["threads_per_core"] - 1
        yield _named("LPAR CPUs G-MTID", 0)
        yield _named("LPAR CPUs S-MTID", most)
        yield _named("LPAR CPUs PS-MTID", view.smt(name) - 1)


def _guest(view: GuestView, partition: str, guest: str) -> Iterator[Line]:
    machines = view.zvm(zvm_partition(view, partition))["machines"]
    by_name = {str(one["name"]).upper(): one for one in machines}
    if guest.upper() not in by_name:
        raise NotFoundError(
            f"partition {partition} has no virtual machine {guest}{nearest(guest, by_name)}",
            asked=guest,
        )
    cpus = int(by_name[guest.upper()]["cpus"])
    online = view.processors(partition) * view.smt(partition)
    yield _named("VM00 Name", f"{guest.upper():<8.8}")
    yield _named("VM00 Control Program", f"{_VM_PROGRAM:<16.16}")
    yield _named("VM00 Adjustment", min(round(_PER_MILLE * cpus / online), _PER_MILLE))
    yield _named("VM00 CPUs Total", cpus)
    yield _named("VM00 CPUs Configured", cpus)
    yield _named("VM00 CPUs Standby", 0)
    yield _named("VM00 CPUs Reserved", 0)
