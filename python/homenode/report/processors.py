"""Logical processors of a mainframe's partitions: what z/VM supports, and a layout's numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from rich.table import Table

from homenode.model.scenario.file.mainframe import CoreType, PartitionMode
from homenode.model.scenario.mainframe.numbering import SETTINGS, Limits, limits, shown
from homenode.report.tables import plain_table
from homenode.simulate.engine import load_engine

if TYPE_CHECKING:
    from homenode.model.catalog import MachineDescription
    from homenode.model.scenario import PlacedPartition

_CELLS: tuple[tuple[PartitionMode, str, tuple[CoreType, ...]], ...] = (
    ("linux-only", "all CPs", ("cp",)),
    ("linux-only", "all IFLs", ("ifl",)),
    ("z/vm", "mixed CPs and other types", ("cp", "ifl")),
    ("general", "any supported", ("cp",)),
)
"""Rows of the published table: mode, core types in words, an example of them."""


class Room(TypedDict):
    """What z/VM supports; the numbers only where it is available."""

    available: bool
    logical_cores: NotRequired[int | None]
    logical_processors: NotRequired[int | None]
    last_number: NotRequired[str]
    even_numbers_only: NotRequired[bool]


class Supported(Room):
    """The same of a mode, core types and a setting of multithreading."""

    mode: str
    core_types: str
    smt: str


def limits_json(machine: MachineDescription) -> list[Supported]:
    """A row for each mode, kind of core types and multithreading setting; none for a machine that
    does not run z/VM.
    """
    if machine.zvm is None:
        return []
    numbers = machine.zvm.processors.value
    rows: list[Supported] = []
    for mode, words, types in _CELLS:
        for smt in SETTINGS:
            usable = smt == "off" or machine.threads_per_core > 1
            found = limits(mode, types, smt, numbers) if usable else None
            rows.append({"mode": mode, "core_types": words, "smt": smt, **_cell_json(found)})
    return rows


def _cell_json(found: Limits | None) -> Room:
    if found is None:
        return {"available": False}
    return {
        "available": True,
        "logical_cores": found.cores,
        "logical_processors": found.processors,
        "last_number": shown(found.last),
        "even_numbers_only": found.even_only,
    }


def limits_table(machine: MachineDescription) -> Table:
    """The same for people: how many logical cores and processors, and the numbers they get."""
    table = plain_table("mode", title="What z/VM supports in a partition here")
    for column in ("core types", "SMT", "logical cores", "logical processors", "numbered"):
        table.add_column(column, no_wrap=True)
    for row in limits_json(machine):
        if not row["available"]:
            table.add_row(row["mode"], row["core_types"], row["smt"], "not available", "", "")
            continue
        cores = row.get("logical_cores")
        processors = row.get("logical_processors") or "two an IFL core, one any other"
        table.add_row(
            row["mode"],
            row["core_types"],
            row["smt"],
            "no such notion" if cores is None else str(cores),
            str(processors),
            _span(row),
        )
    return table


def _span(row: Supported) -> str:
    last = row["last_number"]
    if row["even_numbers_only"]:
        return f"{shown(0)}, {shown(2)}, {shown(4)}, ..., {last}"
    two = row["logical_cores"] is not None
    return f"{shown(0)} to {last}" + (", core n as 2n and 2n+1" if two else "")


def layout_json(partitions: Sequence[PlacedPartition]) -> list[dict[str, object]]:
    """A row for each logical core; processor numbers under z/VM only."""
    rows = []
    for partition in partitions:
        mainframe = partition.mainframe
        if mainframe is None:
            continue
        own, numbers = partition.cores, mainframe.numbers
        for core, kind in enumerate(mainframe.types):
            rows.append(
                {
                    "partition": partition.name,
                    "mode": mainframe.mode,
                    "core": core,
                    "type": kind,
                    "processors": [shown(n) for n in numbers[core]] if numbers else None,
                    "physical_core": None if own is None else own[core],
                }
            )
    return rows


def layout_table(partitions: Sequence[PlacedPartition]) -> Table:
    """A line for each partition: mode, types, entitlement and processor numbers."""
    table = plain_table("partition", title="Logical processors")
    for column in ("mode", "cores", "kind"):
        table.add_column(column, no_wrap=True)
    table.add_column("entitled", justify="right", no_wrap=True)
    table.add_column("polarization", no_wrap=True)
    table.add_column("numbered")
    for partition in partitions:
        mainframe = partition.mainframe
        if mainframe is None:
            continue
        counts = {kind: mainframe.types.count(kind) for kind in dict.fromkeys(mainframe.types)}
        table.add_row(
            partition.name,
            mainframe.mode,
            ", ".join(f"{count} {kind}" for kind, count in counts.items()),
            partition.table.processors.mode,
            f"{mainframe.entitlement:.2f}",
            _polarized(partition),
            _numbered(mainframe.numbers),
        )
    return table


def _polarized(partition: PlacedPartition) -> str:
    """How the entitlement lies on the logical cores: `8 VH, 1 VM, 3 VL`, or the word."""
    mainframe, count = partition.mainframe, partition.virtual
    if mainframe is None or mainframe.polarization != "vertical":
        return "" if mainframe is None else mainframe.polarization
    if partition.cores is not None:
        return f"{count} VH"
    polarize = getattr(load_engine(), "polarize", None)
    if polarize is None:  # an engine of an earlier build
        return mainframe.polarization
    *kinds, _ = polarize(mainframe.entitlement, count)
    named = zip(kinds, ("VH", "VM", "VL"), strict=True)
    return ", ".join(f"{many} {kind}" for many, kind in named if many)


def _numbered(cores: Sequence[Sequence[int]]) -> str:
    """The numbers of all cores: those with one and those with two are told apart, so that no run
    ends between the two threads of a core.
    """
    alike = itertools.groupby(cores, key=len)
    every = ([number for core in group for number in core] for _, group in alike)
    return ", ".join(in_short(numbers) for numbers in every)


def in_short(numbers: Sequence[int]) -> str:
    """Processor numbers with runs of one step written by their ends: `x'00' to x'0F'`."""
    parts = []
    start = 0
    while start < len(numbers):
        step, end = _run(numbers, start)
        if end - start < 2:
            parts.append(shown(numbers[start]))
            start += 1
            continue
        between = "" if step == 1 else f" by {step}"
        parts.append(f"{shown(numbers[start])} to {shown(numbers[end])}{between}")
        start = end + 1
    return ", ".join(parts)


def _run(numbers: Sequence[int], start: int) -> tuple[int, int]:
    """Step and end of the run of evenly spaced numbers that begins there."""
    if start + 1 >= len(numbers):
        return 1, start
    step, end = numbers[start + 1] - numbers[start], start + 1
    while end + 1 < len(numbers) and numbers[end + 1] - numbers[end] == step:
        end += 1
    return step, end
