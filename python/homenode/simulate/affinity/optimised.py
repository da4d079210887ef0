"""The layout that a run of the Dynamic Platform Optimizer would leave: all partitions placed anew,
the largest first, on the empty frame.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from homenode.errors import NotFoundError, nearest
from homenode.model.scenario import PlacedPartition, Resolved, Scenario
from homenode.model.scenario.placed import PlacedMemory
from homenode.model.scenario.placement import Seat, Wish, place


def optimised(resolved: Resolved, protected: Collection[str] = ()) -> Resolved:
    """The frame after the run; protected partitions stay where they are."""
    names = [partition.name for partition in resolved.partitions]
    for name in protected:
        if name not in names:
            raise NotFoundError(
                f'there is no partition called "{name}"{nearest(name, names)}', asked=name
            )
    seats = place(
        resolved.machine,
        [_wish(one, stays=one.name in protected) for one in resolved.partitions],
    )
    partitions = tuple(
        one if one.name in protected else _seated(one, seat)
        for one, seat in zip(resolved.partitions, seats, strict=True)
    )
    return replace(resolved, partitions=partitions)


def placed_anew(scenario: Scenario) -> Scenario:
    """The scenario without stated places: what `optimised` does to its layout, to be simulated."""
    changes: dict[str, object] = {"machine.placing": None}
    for row, table in enumerate(scenario.file.partition):
        changes[f"partition.{row}.home"] = None
        if any(part.on is not None for part in table.memory):
            for index in range(len(table.memory)):
                changes[f"partition.{row}.memory.{index}.on"] = None
    return scenario.with_(changes)


def _wish(partition: PlacedPartition, *, stays: bool) -> Wish:
    """What a partition needs of a frame, or what it has of it and keeps."""
    needs = Wish(
        partition.entitlement,
        partition.memory_bytes,
        dedicated=partition.cores is not None,
        chips=None,
        virtual=partition.virtual,
    )
    if not stays:
        return needs
    lies: dict[int, int] = {}
    for part in partition.memory:
        for domain in part.domains:
            lies[domain] = lies.get(domain, 0) + part.bytes // len(part.domains)
    return replace(needs, memory_bytes=0, chips=partition.home, own=partition.cores, lies=lies)


def _seated(partition: PlacedPartition, seat: Seat) -> PlacedPartition:
    memory = tuple(PlacedMemory((domain,), size) for domain, size in sorted(seat.memory.items()))
    return replace(partition, home=seat.chips, cores=seat.cores, memory=memory)
