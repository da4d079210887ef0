"""What walking through a buffer costs on one core of a machine: an analytic memory-hierarchy walk.

The model is the engine's (`docs/background/memory-walk.md`); here machines and questions are put
into its form.

>>> from homenode import catalog
>>> from homenode.evidence.compare.walk import walk
>>> walk(catalog.machine("ibm-zec12"), "read", 32 << 20).level
'L3'
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from homenode import _engine
from homenode.errors import HomenodeError, MachineError, NotFoundError, hint, listed
from homenode.model.catalog import MachineDescription, machine, machines
from homenode.model.catalog.flatten import memory_load
from homenode.model.spec import MemoryLoadSpec
from homenode.model.units import SIZE, UnitError


class WalkCache(TypedDict):
    """A cache that holds data."""

    name: str
    bytes: int
    latency_ns: float


class WalkLink(TypedDict):
    """A way on which lines come."""

    name: str
    bytes_per_s: float


class WalkStreams(TypedDict):
    """How a core streams: what it can do in a cycle, and how its stores leave it."""

    instructions: float
    loads: float
    stores: float
    sum_cycles: float
    move_bytes: float
    move_start_cycles: float
    lines: float
    store_in: str
    store_width_bytes: float
    store_interval_cycles: float
    gather_bytes: float | None


class WalkMachine(TypedDict):
    """A machine in the walk's form (`crates/engine/src/walk/hierarchy.rs`)."""

    clock_hz: float
    line_bytes: int
    caches: list[WalkCache]
    memory_latency_ns: float
    memory_bytes_per_s: float
    memory_load: MemoryLoadSpec
    links: list[WalkLink]
    streams: WalkStreams


class WalkedMachine(TypedDict):
    """The same as a frozen spec has it, so that one path names a figure of either."""

    machine: WalkMachine


PATTERNS: dict[str, str] = {
    "read": "every 4-byte word is added to a sum",
    "partial-read": "every fourth word is added to a sum",
    "write": "every word is stored",
    "partial-write": "every fourth word is stored",
    "partial-read-write": "every fourth word is added to a sum and stored",
    "unrolled-copy": "every word is loaded and stored into a second buffer",
    "partial-copy": "every fourth word is loaded and stored into a second buffer",
    "copy": "the library copies to a second buffer",
    "zero": "the library clears the buffer",
    "mmap-read": "every 8-byte word of a mapped file is added to a sum",
    "file-read": "a cached file is copied into a small buffer, whose words are added to a sum",
}
"""Ways of going through a buffer, as the memory tests of lmbench do."""

LARGEST = 1 << 42
MOST_CORES = 1000
_KEYS = ("pattern", "buffer")


@dataclass(frozen=True)
class WalkResult:
    """What a walk costs each core, and the throughput of all; of copies the bytes of one buffer
    count.
    """

    level: str
    footprint_bytes: int
    latency_ns: float
    line_ns: float
    units_per_s: float
    parts: dict[str, float]

    @property
    def gb_per_s(self) -> float:
        """Throughput [10^9 bytes/s]."""
        return self.units_per_s / 1e9


def walk(described: MachineDescription, pattern: str, size: int, cores: int = 1) -> WalkResult:
    """Walk through a buffer of `size` bytes, as so many cores do beside one memory, each with
    buffers of its own; raises a `HomenodeError` where that cannot be.
    """
    return walk_bytes(walk_machine(described), pattern, size, cores)


def walk_machine(described: MachineDescription) -> WalkMachine:
    """A machine in the walk's form: numbers in base units, of split caches the part for data.

    Raises `MachineError` for a machine whose description says nothing about streaming.
    """
    streams, clock = described.streams, described.clock.value
    if streams is None:
        able = [name for name in machines() if machine(name).streams is not None]
        raise MachineError(
            f"{described.name} has no [streams] table, which a walk through memory needs",
            next_step=f"take one of {listed(able)}, or describe how its cores stream",
        )
    return {
        "clock_hz": clock,
        "line_bytes": described.line.value,
        "caches": [
            {
                "name": level.name,
                "bytes": level.size.value,
                "latency_ns": level.latency.value.nanoseconds(clock),
            }
            for level in described.cache
        ],
        "memory_latency_ns": described.memory.local.value.nanoseconds(clock),
        "memory_bytes_per_s": described.memory.bandwidth.value,
        "memory_load": memory_load(described),
        "links": [
            {"name": link.name, "bytes_per_s": link.bandwidth.value} for link in streams.link
        ],
        "streams": {
            "instructions": streams.instructions.value,
            "loads": streams.loads.value,
            "stores": streams.stores.value,
            "sum_cycles": streams.sum_latency.value,
            "move_bytes": streams.move.value,
            "move_start_cycles": streams.move_start.value,
            "lines": streams.lines.value,
            "store_in": streams.store_in.value,
            "store_width_bytes": streams.store_width.value,
            "store_interval_cycles": streams.store_interval.value,
            "gather_bytes": None if streams.gather is None else streams.gather.value,
        },
    }


def walk_bytes(hierarchy: WalkMachine, pattern: str, size: int, cores: int = 1) -> WalkResult:
    """Walk on a machine in the walk's form (`walk_machine`), some of whose figures may have been
    replaced.
    """
    check_pattern(pattern)
    check_size(size)
    check_cores(cores)
    question = {"machine": dict(hierarchy), "pattern": pattern, "bytes": size, "cores": cores}
    try:
        answer = json.loads(_engine.walk(json.dumps(question)))
    except _engine.SpecError as fault:
        raise MachineError(str(fault), next_step="correct the machine's description") from fault
    return WalkResult(
        level=answer["level"],
        footprint_bytes=answer["footprint_bytes"],
        latency_ns=answer["latency_ns"],
        line_ns=answer["line_ns"],
        units_per_s=answer["bytes_per_s"],
        parts=answer["parts"],
    )


def gain_pct(result: WalkResult, base: WalkResult) -> float:
    """By how much one walk's throughput exceeds another's [%]."""
    return 100 * (result.units_per_s / base.units_per_s - 1)


def walk_case(hierarchy: WalkMachine, table: Mapping[str, object]) -> WalkResult:
    """Walk as a suite's table `{pattern, buffer}` says."""
    check_walk(table)
    return walk_bytes(hierarchy, str(table["pattern"]), parse_size(table["buffer"]))


def check_walk(table: Mapping[str, object]) -> None:
    """Raise a `HomenodeError` that says what is wrong with a suite's table `{pattern, buffer}`."""
    for key in table:
        if key not in _KEYS:
            raise HomenodeError(
                f"a walk has no {key}{hint(key, _KEYS)}", there=f"it has {listed(_KEYS)}"
            )
    for key in _KEYS:
        if key not in table:
            raise HomenodeError(
                f"a walk needs a {key}",
                next_step='write walk = { pattern = "read", buffer = "64 KiB" }',
            )
    check_pattern(table["pattern"])
    check_size(parse_size(table["buffer"]))


def check_pattern(pattern: object) -> None:
    """Raise `NotFoundError` where there is no such pattern."""
    if not isinstance(pattern, str) or pattern not in PATTERNS:
        name = str(pattern)
        raise NotFoundError(
            f'no pattern of access is called "{name}"{hint(name, PATTERNS)}',
            asked=name,
            there=f"there are {listed(list(PATTERNS), len(PATTERNS))}",
        )


def check_size(size: int) -> None:
    """Raise a `HomenodeError` for a buffer that no machine could hold."""
    if not 1 <= size <= LARGEST:
        raise HomenodeError(
            f"a buffer of {size} bytes cannot be walked through",
            next_step=f"give 1 B to {SIZE.format(LARGEST)}",
        )


def check_cores(cores: int) -> None:
    """Raise a `HomenodeError` for a number of cores that no memory has beside it."""
    if not 1 <= cores <= MOST_CORES:
        raise HomenodeError(
            f"{cores} cores cannot walk beside one memory", next_step=f"give 1 to {MOST_CORES}"
        )


def parse_size(text: object) -> int:
    """Bytes of a text such as `24 MiB`."""
    try:
        exact = SIZE.parse(text)
    except UnitError as fault:
        raise HomenodeError(f"the size of a buffer: {fault}") from None
    if exact.denominator != 1:
        raise HomenodeError(f"{text} is not a whole number of bytes", next_step="round it")
    return exact.numerator


def powers_of_two(smallest: int, largest: int) -> Sequence[int]:
    """Sizes from one to the other, each twice the one before."""
    sizes = [smallest]
    while sizes[-1] * 2 <= largest:
        sizes.append(sizes[-1] * 2)
    return sizes
