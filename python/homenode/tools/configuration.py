"""What a partition knows of itself, as on the `System configuration` line and in `lparstat -i`.

They come from the frozen scenario. What the engine does not need (the size of the memory, the
limits of a profile, the level of AIX) is given beside it; where it is not given, the defaults
stated at each field hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from homenode.model.spec import (
    MachineSpec,
    PartitionSpec,
    ProcessorsSpec,
    SharedSpec,
    Spec,
    chips_of,
    cores_of,
    processors_of,
    shared_of,
    spec_at,
    times_of_change,
)

Kind = Literal["Shared", "Dedicated"]
Mode = Literal["Capped", "Uncapped", "Donating"]

SOFT_CAP = -1
"""Weight of a partition that takes excess capacity only while nobody else wants it."""
FIRST_GROUP_ID = 32768
"""Partition Group-ID of a partition that is in no group: this plus its number, as every capture
shows it."""


@dataclass(frozen=True)
class Srad:
    """A scheduler resource affinity domain: a chip with memory or home processors of the
    partition.
    """

    ref1: int
    srad: int
    mem_mb: float
    cpus: tuple[int, ...]


@dataclass(frozen=True)
class Limits:
    """Minimum, maximum and desired values of a partition profile."""

    minimum: float
    maximum: float
    desired: float


@dataclass(frozen=True, kw_only=True)
class SystemConfiguration:
    """A partition as its own tools see it."""

    name: str
    kind: Kind = "Shared"
    mode: Mode = "Uncapped"
    smt: int
    """Hardware threads used of each core."""
    most_smt: int = 0
    """The most that are at any time of the run; 0 = those."""
    most_vps: int = 0
    """The most virtual processors that are online at any time of the run; 0 = those."""
    vps: int
    """Online virtual processors; of a dedicated partition its cores."""
    ent: float
    """Entitled capacity [cores]; of a dedicated partition its cores."""
    mem_mb: int = 0
    """Online memory [MB], 0 = not told."""
    psize: int = 0
    """Cores of the shared pool."""
    weight: int = 128
    level: str = "7.1"
    """Level of AIX; decides which columns there are."""
    pool_authority: bool = False
    """Whether the profile lets the partition see the pool's utilisation (column `app`)."""
    clock_hz: float = 0.0
    """Nominal clock of the cores [Hz]."""
    power: str = "Disabled"
    """Power saving mode."""
    node_name: str = ""
    """Host name; empty = the partition's name."""
    number: int = 1
    """Partition number."""
    group: int | None = None
    """Partition Group-ID; none = the first free id plus the number."""
    pool: int = 0
    """Shared Pool ID."""
    pool_maximum: float = 0.0
    """Maximum capacity of the partition's pool [cores]."""
    pool_entitled: float = 0.0
    """Sum of the entitlements in the partition's pool [cores]."""
    system_cores: int = 0
    """Cores that could be active in the system."""
    active_cores: int = 0
    """Cores that are active in the system."""
    shared_cores: int = 0
    """Cores of the physical shared pool."""
    window_ns: int = 0
    """Dispatch window of the hypervisor [ns]; 0 = not told."""
    vp_minimum: float = 0.0
    """Least entitlement that each virtual processor needs [cores]."""
    capacity: Limits | None = None
    """Limits of the entitled capacity [cores]; none = all equal to what is online."""
    processors: Limits | None = None
    """Limits of the virtual processors; none = all equal to what is online."""
    memory: Limits | None = None
    """Limits of the memory [MB]; none = all equal to what is online."""
    srads: tuple[Srad, ...] = ()
    """Affinity domains, in order of their number."""
    history: tuple[tuple[int, SystemConfiguration], ...] = ()
    """What it was from which time on [ns], if it changed during the run; the last one is this."""

    def at(self, end_ns: int) -> SystemConfiguration:
        """What it is at the end of a stretch of the run [ns]; a change that comes right then is
        none of the stretch.
        """
        last = self
        for from_ns, was in reversed(self.history):
            last = was
            if from_ns < end_ns:
                break
        return last

    def during(self, start_ns: int, end_ns: int) -> SystemConfiguration:
        """What percentages of a stretch of the run refer to: what it is at its end, with the mean
        of what it was entitled to.
        """
        if not self.history:
            return self
        starts = [from_ns for from_ns, _ in self.history]
        ends = [*starts[1:], end_ns]
        parts = [
            was.ent * max(0, min(until, end_ns) - max(from_ns, start_ns))
            for (from_ns, was), until in zip(self.history, ends, strict=True)
        ]
        return replace(self.at(end_ns), ent=math.fsum(parts) / (end_ns - start_ns))

    def has(self, cpu: Mapping[str, int]) -> bool:
        """Whether a logical processor is online, by its row."""
        return cpu["vp"] < self.vps and cpu["cpu"] % self.cpu_step < self.smt

    @property
    def cpu_step(self) -> int:
        """By how much the first logical processors of two neighbouring virtual ones differ: the
        most threads that the run had.
        """
        return self.most_smt or self.smt

    @property
    def cpu_rows(self) -> int:
        """Logical processors that are online at any time of the run, and those between them."""
        return (self.most_vps or self.vps) * self.cpu_step

    @property
    def capacity_limits(self) -> Limits:
        """Limits of the entitled capacity; where none are told, what there is."""
        return self.capacity or Limits(self.ent, self.ent, self.ent)

    @property
    def processor_limits(self) -> Limits:
        """Limits of the virtual processors; where none are told, what is online."""
        return self.processors or Limits(self.vps, self.vps, self.vps)

    @property
    def memory_limits(self) -> Limits:
        """Limits of the memory [MB]; where none are told, what is online."""
        return self.memory or Limits(self.mem_mb, self.mem_mb, self.mem_mb)

    @property
    def lcpu(self) -> int:
        """Online logical processors."""
        return self.vps * self.smt

    @property
    def is_shared(self) -> bool:
        """Whether the processors are virtual ones on the shared pool."""
        return self.kind == "Shared"

    @property
    def is_donating(self) -> bool:
        """Whether idle dedicated cores are lent to the pool."""
        return self.kind == "Dedicated" and self.mode == "Donating"

    @property
    def dispatch_latency_ns(self) -> int:
        """The longest a virtual processor with work can be away while its partition gets what it is
        entitled to [ns]: its slice came first in one window and comes last in the next.
        """
        if not self.is_shared or not self.vps:
            return 0
        slice_ns = min(self.ent / self.vps, 1.0) * self.window_ns
        return round(2 * (self.window_ns - slice_ns))

    @property
    def smt_text(self) -> str:
        """`Off`, `On` or the number of threads: two threads were all there was when the word was
        chosen.
        """
        if self.smt <= 1:
            return "Off"
        return "On" if self.smt == 2 or not self.at_least(6, 1) else str(self.smt)

    def at_least(self, version: int, release: int) -> bool:
        """Whether the level of AIX is that one or a later one."""
        parts = [int(part) for part in self.level.split(".")[:2]]
        return tuple([*parts, 0][:2]) >= (version, release)

    @property
    def shows_speed(self) -> bool:
        """Whether the columns on turbo cycles (`%nsp`, `%utcyc`) are there."""
        return self.at_least(7, 1)

    @property
    def line_end(self) -> str:
        """Levels up to 7.1 end configuration lines and lparstat rows with a blank, later ones do
        not.
        """
        return "" if self.at_least(7, 2) else " "


def from_spec(
    spec: Spec, name: str, details: Mapping[str, object] | None = None
) -> SystemConfiguration:
    """The configuration of a partition of a frozen scenario, at the end of its run.

    `details` replaces or adds fields of `SystemConfiguration` by name; `mem_mb` is spread over
    the affinity domains. Limits that are not told are the least and the most of the run.
    """
    starts = sorted({0, *times_of_change(spec)})
    specs = [spec_at(spec, at + 1) for at in starts]
    most_smt = max(
        one["smt"] for then in specs for one in then["partitions"] if one["name"] == name
    )
    told = (_from_spec(then, name, details, most_smt) for then in specs)
    found = list(zip(starts, told, strict=True))
    history = [one for place, one in enumerate(found) if not place or one[1] != found[place - 1][1]]
    last = history[-1][1]
    if len(history) == 1:
        return last
    states = [was for _, was in history]
    facts: dict[str, Any] = {
        "most_smt": most_smt,
        "most_vps": max(was.vps for was in states),
        "capacity": _limits(last.capacity, [was.ent for was in states]),
        "processors": _limits(last.processors, [was.vps for was in states]),
    }
    whole = [(at, replace(was, **facts)) for at, was in history]
    return replace(whole[-1][1], history=tuple(whole))


def _limits(told: Limits | None, values: Sequence[float]) -> Limits:
    """Those told, as far as the run kept within what it was told of; else of the run."""
    told = told or Limits(values[0], values[0], values[0])
    return Limits(min(told.minimum, *values), max(told.maximum, *values), told.desired)


def _from_spec(
    spec: Spec, name: str, details: Mapping[str, object] | None, most_smt: int
) -> SystemConfiguration:
    """The same of a spec in which nothing changes."""
    partitions = spec["partitions"]
    index = next(i for i, partition in enumerate(partitions) if partition["name"] == name)
    partition = partitions[index]
    shared, vps = shared_of(partition), int(processors_of(partition))
    facts: dict[str, Any] = {
        "name": name,
        "kind": "Shared" if shared is not None else "Dedicated",
        "mode": _mode(partition["processors"]),
        "smt": int(partition["smt"]),
        "vps": vps,
        "ent": float(vps if shared is None else shared["entitlement"]),
        "weight": 0 if shared is None else _weight(shared),
        "clock_hz": float(spec["machine"]["clock_hz"]),
        "number": index + 1,
        "window_ns": int(spec["machine"]["hypervisor"]["window_ns"]),
        "vp_minimum": float(spec["machine"]["hypervisor"]["min_entitlement_per_vp"]),
        **_system(spec["machine"], partitions),
    }
    if shared is not None:
        facts |= _pool(spec, int(shared["pool"]), facts["shared_cores"])
    facts |= {key: value for key, value in (details or {}).items() if key not in _OF_NO_TOOL}
    if "srads" not in facts:
        facts["srads"] = affinity_domains(
            partition, facts["smt"], facts.get("mem_mb", 0), spec["machine"], most_smt
        )
    return SystemConfiguration(**facts)


_OF_NO_TOOL = ("score", "granule")
"""Details that reports and advice ask for."""


def _weight(shared: SharedSpec) -> int:
    """The weight for excess capacity; a soft cap is AIX's -1."""
    return SOFT_CAP if shared.get("soft_cap") else int(shared["weight"] or 0)


def _mode(processors: ProcessorsSpec) -> Mode:
    if processors["mode"] == "shared":
        return "Capped" if processors["capped"] else "Uncapped"
    return "Donating" if processors["donating"] else "Capped"


def _system(machine: MachineSpec, partitions: Sequence[PartitionSpec]) -> dict[str, int]:
    """Cores of the whole machine; what is not dedicated is the physical shared pool."""
    dedicated = sum(len(cores_of(p)) for p in partitions)
    active = int(machine["active_cores"])
    return {
        "system_cores": machine["nodes"] * machine["chips_per_node"] * machine["cores_per_chip"],
        "active_cores": active,
        "shared_cores": active - dedicated,
    }


def _pool(spec: Spec, pool: int, shared_cores: int) -> dict[str, float]:
    """The partition's shared processor pool."""
    shared = [one for p in spec["partitions"] if (one := shared_of(p)) is not None]
    members = [one for one in shared if one["pool"] == pool]
    facts = spec["pools"][pool]
    maximum = facts["maximum"] if facts["maximum"] is not None else float(shared_cores)
    return {
        "pool": pool,
        "psize": min(math.ceil(maximum), shared_cores),
        "pool_maximum": maximum,
        "pool_entitled": sum(p["entitlement"] for p in members) + facts["reserved"],
    }


def affinity_domains(
    partition: PartitionSpec, smt: int, mem_mb: int, machine: MachineSpec, most_smt: int = 0
) -> tuple[Srad, ...]:
    """The chips that hold memory or home processors of a partition, nodes and chips renumbered from
    0. Logical processors are numbered by the most threads that a core has during the run.
    """
    step = most_smt or smt
    home = chips_of(partition, int(machine["cores_per_chip"]))
    chips_per_node = int(machine["chips_per_node"])
    memory = _memory_by_chip(partition, 1 if machine["memory_beside"] == "chip" else chips_per_node)
    chips = sorted({*home, *memory})
    nodes = sorted({chip // chips_per_node for chip in chips})
    cpus: dict[int, list[int]] = {chip: [] for chip in chips}
    for vp, chip in enumerate(home):
        cpus[chip] += range(vp * step, vp * step + smt)
    return tuple(
        Srad(
            nodes.index(chip // chips_per_node),
            number,
            mem_mb * memory.get(chip, 0.0),
            tuple(cpus[chip]),
        )
        for number, chip in enumerate(chips)
    )


def _memory_by_chip(partition: PartitionSpec, chips: int) -> dict[int, float]:
    """Share of its memory at each chip that holds some, each memory domain `chips` chips long; that
    of several chips counts for the first of them, interleaved memory evenly for all its domains.
    """
    total = sum(part["bytes"] for part in partition["memory"])
    found: dict[int, float] = {}
    for part in partition["memory"]:
        for domain in part["domains"]:
            share = part["bytes"] / total / len(part["domains"])
            found[domain * chips] = found.get(domain * chips, 0.0) + share
    return found
