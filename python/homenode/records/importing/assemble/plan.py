"""What the scenario says of each partition: what recordings tell, else what is assumed, each value
with its origin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor
from typing import Generic, TypeVar

from homenode.errors import Where, listed
from homenode.records.importing.assemble.bursts import Switched
from homenode.records.importing.assemble.generations import Generation, threads_started_with
from homenode.records.importing.assemble.windows import Recorded
from homenode.records.importing.facts import PartitionFacts, Told
from homenode.records.importing.opening.sources import Notice

MB = 1 << 20
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.+-]")
_LONGEST_NAME = 64
_MOST_NUMBER = 65_535
_ASSUMED_MEMORY = 4 << 30
_MOST_WEIGHT = {"phyp": 255, "prsm": 999}
_EQUAL_WEIGHT = 100
_SYSTEMS = {"aix": "aix", "linux": "linux", "hp-ux": "linux"}
_SHARING = ("kvm", "qemu", "vmware", "xen", "virtual machine", "z/vm", "pr/sm")
"""Hypervisors whose guests have no cores of their own, or few of them do."""
_SLACK = 1e-9
_HOUSEKEEPING = 0.05
"""Below so many cores a guest's daemons, which are part of what was recorded, would count: they
take some thousandths of a core, more or less by chance.
"""


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Value(Generic[T_co]):
    """A value with where it comes from."""

    value: T_co
    origin: str


Line = tuple[str, Value[object]]
"""A key of a table of the scenario."""


@dataclass(frozen=True)
class Part:
    """A part of a partition's memory."""

    size: int
    """How much memory it is [bytes]."""
    place: str
    origin: str
    floats: bool = False
    """Whether a running partition can be without it."""


@dataclass(frozen=True)
class Bursts:
    """Bursts that a partition's demand is played in."""

    instructions: float
    """Work of one."""
    switched: Switched


@dataclass(frozen=True)
class PlannedGang:
    """A daemon of which several threads wake at once."""

    name: str
    threads: Told[int]
    report: str
    """Which section of which file lists it."""
    shares: tuple[float, ...]
    """Of the busy time of each window."""


@dataclass
class Planned:
    """A partition of the scenario."""

    name: str
    facts: PartitionFacts
    shared: bool
    virtual: int
    recorded: Recorded | None
    name_origin: str = "as recorded"
    more: tuple[Line, ...] = ()
    """What a partition of a server of cells has besides."""
    processors: dict[str, Value[object]] = field(default_factory=dict)
    smt: Value[int] | None = None
    memory: Value[int] = field(default_factory=lambda: Value(_ASSUMED_MEMORY, "assumed"))
    parts: tuple[Part, ...] = ()
    """Where it is known how its memory lies."""
    home: tuple[str, ...] = ()
    home_origin: str = ""
    kvm: Value[dict[str, object]] | None = None
    """That it is a KVM guest of a Linux host, and what is told of it as one."""
    memory_used: str | None = None
    """How much of its memory its work touches, where that is not all."""
    pins: tuple[str, ...] = ()
    """Processors of a host that each virtual processor may use, as lists of the kernel's form."""
    guest: Value[str] = field(default_factory=lambda: Value("linux", "assumed"))
    workload: Value[object] | None = None
    """What it runs, where that is not what was recorded."""
    inside: tuple[Line, ...] = ()
    """Settings of z/VM, where its virtual machines are told."""
    machines: tuple[tuple[Line, ...], ...] = ()
    """These."""
    gangs: tuple[PlannedGang, ...] = ()
    """Its daemons of several threads, where they were listed."""
    bursts: Bursts | None = None
    """How long its threads ran at a time, where recorded switches tell it."""

    @property
    def entitlement(self) -> float:
        """Cores, or 0 if it is not told."""
        told = self.facts.entitlement
        return told.value if told is not None else 0.0

    @property
    def is_quiet(self) -> bool:
        """Whether it was recorded to use so little that a guest's daemons would count."""
        samples = self.recorded.samples if self.recorded is not None else ()
        return min((one.cores for one in samples), default=1.0) < _HOUSEKEEPING


def plan(
    every: Sequence[PartitionFacts],
    recorded: Mapping[tuple[str | None, str], Recorded],
    hypervisor: str | None,
    notices: list[Notice],
) -> list[Planned]:
    """The partitions, without what depends on the machine."""
    names = names_of([(one.name, None) for one in every], notices)
    planned = []
    numbers: set[int] = set()
    for told, name in zip(every, names, strict=True):
        facts = _with_own_number(told, numbers, notices)
        own = recorded.get((facts.system, facts.name))
        virtual = _virtual(facts, own, notices)
        found = Planned(name, facts, _is_shared(facts, hypervisor), virtual, own)
        if facts.name != name:
            found.name_origin = f"was {facts.name}"
        found.memory = _memory(facts)
        if own is None:
            text = f"nothing tells what {name} used; it runs nothing in the scenario"
            notices.append(Notice(text))
        planned.append(found)
    return planned


def _with_own_number(
    facts: PartitionFacts, taken: set[int], notices: list[Notice]
) -> PartitionFacts:
    """Without its number if another partition has it, or it is none."""
    told = facts.number
    if told is None or (0 < told.value <= _MOST_NUMBER and told.value not in taken):
        if told is not None:
            taken.add(told.value)
        return facts
    why = "another has it" if told.value in taken else "it is none"
    notices.append(
        Notice(f"the number {told.value} of {facts.name} is left out: {why}", told.where)
    )
    return replace(facts, number=None)


def names_of(listed: Sequence[tuple[str, Where | None]], notices: list[Notice]) -> list[str]:
    """Names as a scenario takes them, each once; given with the line that tells each."""
    names: list[str] = []
    for told, where in listed:
        name = _NOT_A_NAME.sub("-", told).lstrip("_.+-")[:_LONGEST_NAME] or "partition"
        stem, number = name, 2
        while name in names:
            name, number = f"{stem[: _LONGEST_NAME - 5]}-{number}", number + 1
        if name != told:
            notices.append(Notice(f'"{told}" is called {name} in the scenario', where))
        names.append(name)
    return names


def _is_shared(facts: PartitionFacts, hypervisor: str | None) -> bool:
    if facts.mode is not None:
        return facts.mode.value == "shared"
    return facts.entitlement is not None or facts.weight is not None or hypervisor in _SHARING


def _virtual(facts: PartitionFacts, recorded: Recorded | None, notices: list[Notice]) -> int:
    if facts.virtual is not None:
        return max(1, facts.virtual.value)
    if facts.logical is not None and facts.smt is not None:
        return max(1, facts.logical.value // max(1, facts.smt.value))
    if facts.logical is not None:
        return max(1, facts.logical.value)
    samples = recorded.samples if recorded is not None else ()
    most = max(1, ceil(max((one.cores for one in samples), default=1.0) - _SLACK))
    text = f"how many processors {facts.name} has is not told; {most} hold the most it used"
    notices.append(Notice(text))
    return most


def _memory(facts: PartitionFacts) -> Value[int]:
    told = facts.memory_bytes
    if told is not None and told.value >= MB:
        return Value(told.value, str(told.where))
    return Value(_ASSUMED_MEMORY, "assumed: its memory is not told")


def set_on_power(
    planned: Sequence[Planned],
    cores: int,
    least: float,
    threads: int,
    generation: Generation | None,
    notices: list[Notice],
) -> None:
    """Processors as PowerVM has them: entitlement, virtual processors, weight, pool."""
    started = {
        one.name: threads_started_with(
            generation, "aix" if one.facts.os is None else one.facts.os.value, threads
        )
        for one in planned
        if (generation or _is_of_power(one.facts)) and one.facts.logical is None
    }
    _remark_threads(planned, started, notices)
    scaled_weights(planned, _MOST_WEIGHT["phyp"], notices)
    told = sum(one.entitlement for one in planned if one.shared)
    own = sum(one.virtual for one in planned if not one.shared)
    untold = [one for one in planned if one.shared and one.facts.entitlement is None]
    each = max(least, _each(untold, cores - own - told))
    for one in planned:
        _set_threads(one, threads, notices, started.get(one.name))
        if one.shared:
            one.processors = _shared(one, each, least, notices)
        else:
            one.processors = _dedicated(one)
        one.guest = guest_of(one.facts, runs_aix=True, notices=notices)


def _each(untold: Sequence[Planned], left: float) -> float:
    """Entitlement of a virtual processor where none is told: an equal part of what is left."""
    virtual = sum(one.virtual for one in untold)
    return min(1.0, left / virtual) if virtual else 1.0


def _shared(
    one: Planned, each: float, least: float, notices: list[Notice]
) -> dict[str, Value[object]]:
    facts = one.facts
    if facts.entitlement is not None:
        entitlement = Value(facts.entitlement.value, str(facts.entitlement.where))
    elif facts.capped is not None and facts.capped.value and "entitlement" in facts.maximum:
        # What it may use at most is told, and that is what entitles a capped partition.
        most = facts.maximum["entitlement"]
        entitlement = Value(most.value, f"{most.where}: the most it may use")
    else:
        share = max(0.01, floor(each * one.virtual * 100 + _SLACK) / 100)
        entitlement = Value(share, "assumed: what is left, by virtual processors")
    capacity = float(entitlement.value)
    lowest = ceil(least * one.virtual * 100 - 1e-6) / 100
    if capacity < lowest - _SLACK:
        text = f"{one.name} is entitled to {capacity:g} cores; the machine needs {lowest:g} of it"
        notices.append(Notice(text))
        entitlement = Value(lowest, f"least for {one.virtual} virtual processors")
    elif capacity > one.virtual + _SLACK:
        text = f"{one.name} has {one.virtual} virtual processors for {capacity:g} cores"
        notices.append(Notice(f"{text}; {one.virtual} count"))
        entitlement = Value(float(one.virtual), "as many as its virtual processors")
    found: dict[str, Value[object]] = {
        "mode": mode_of(facts, "shared"),
        "entitlement": entitlement,
        "virtual": _count(one),
    }
    if facts.capped is not None:
        found["capped"] = Value(facts.capped.value, str(facts.capped.where))
    if facts.weight is not None:
        found["weight"] = _weight(one, 0, _MOST_WEIGHT["phyp"], notices)
    if facts.pool is not None and pool_of(facts) is not None:
        found["pool"] = Value(pool_of(facts) or "", str(facts.pool.where))
    return found


def _dedicated(one: Planned) -> dict[str, Value[object]]:
    found = own_cores(one)
    if one.facts.donating is not None and one.facts.donating.value:
        found["donating"] = Value(True, str(one.facts.donating.where))
    return found


def own_cores(one: Planned) -> dict[str, Value[object]]:
    """Processors of a partition that shares none."""
    return {"mode": mode_of(one.facts, "dedicated"), "cores": _count(one)}


def scaled_weights(planned: Sequence[Planned], most: int, notices: list[Notice]) -> None:
    """Weights of another scale, such as vSphere's shares, in proportion to the largest."""
    told = [one.facts.weight for one in planned if one.shared and one.facts.weight is not None]
    largest = max((one.value for one in told), default=0)
    if largest <= most:
        return
    notices.append(Notice(f"weights up to {largest} are scaled, so that the largest is {most}"))
    for one in planned:
        weight = one.facts.weight
        if weight is not None:
            scaled = max(1, round(weight.value * most / largest))
            one.facts = replace(one.facts, weight=Told(scaled, weight.where))


def set_without_sharing(planned: Sequence[Planned], threads: int, notices: list[Notice]) -> None:
    """Processors of a machine on which every partition has cores of its own."""
    for one in planned:
        _set_threads(one, threads, notices)
        one.processors = own_cores(one)
        one.guest = guest_of(one.facts, runs_aix=False, notices=notices)


def set_on_mainframe(planned: Sequence[Planned], threads: int, notices: list[Notice]) -> None:
    """Processors as PR/SM has them: logical cores, weight, type."""
    scaled_weights(planned, _MOST_WEIGHT["prsm"], notices)
    for one in planned:
        _set_threads(one, threads, notices)
        if one.shared:
            weight = _weight(one, 1, _MOST_WEIGHT["prsm"], notices)
            mode = mode_of(one.facts, "shared")
            found: dict[str, Value[object]] = {
                "mode": mode,
                "virtual": _count(one),
                "weight": weight,
            }
            if one.facts.capped is not None:
                found["capped"] = Value(one.facts.capped.value, str(one.facts.capped.where))
            if (told := one.facts.polarization) is not None:
                found["polarization"] = Value(told.value, str(told.where))
        else:
            found = own_cores(one)
            if (told := one.facts.polarization) is not None:
                text = f"polarization {told.value} of {one.name} is left out: its cores are its own"
                notices.append(Notice(text, told.where))
        if one.facts.core_type is not None:
            kind = one.facts.core_type
            found["type"] = Value(kind.value, str(kind.where))
        one.processors = found
        one.guest = guest_of(one.facts, runs_aix=False, notices=notices)


def _is_of_power(facts: PartitionFacts) -> bool:
    """Whether it is entitled to cores or runs AIX; any other may be a virtual machine of whatever
    kind, set on Power because nothing says what it ran on.
    """
    return facts.entitlement is not None or (facts.os is not None and facts.os.value == "aix")


def _remark_threads(
    planned: Sequence[Planned], started: Mapping[str, int], notices: list[Notice]
) -> None:
    """Say once for how many partitions threads of a core are those their system starts with."""
    names: dict[int, list[str]] = {}
    for one in planned:
        if one.facts.smt is None and one.name in started:
            names.setdefault(started[one.name], []).append(one.name)
    for count, those in sorted(names.items()):
        text = f"how many threads a core they use is not told of {listed(those, 4)}"
        notices.append(Notice(f"{text}; {count}, as their system starts with, are assumed"))


def _set_threads(
    one: Planned, threads: int, notices: list[Notice], started: int | None = None
) -> None:
    """Threads of a core that it uses, `started` where nothing tells; nothing where they are all of
    the machine's.
    """
    facts = one.facts
    if facts.smt is not None:
        found = Value(facts.smt.value, str(facts.smt.where))
    elif facts.virtual is not None and facts.logical is not None:
        count = max(1, facts.logical.value // max(1, facts.virtual.value))
        found = Value(count, f"{facts.logical.where}: logical processors of each")
    elif started is not None:
        found = Value(started, "assumed: as its system starts on this generation")
    else:
        found = Value(1, "assumed: a virtual processor is a thread to its guest")
        if facts.logical is not None and facts.entitlement is not None:
            text = (
                f"how many threads a core {one.name} uses is not told: each of its"
                f" {facts.logical.value} logical processors is taken for a virtual one"
            )
            notices.append(Notice(text, facts.logical.where))
    if found.value > threads:
        text = f"{one.name} uses {found.value} threads of a core, the machine has {threads}"
        notices.append(Notice(text))
        found = Value(threads, "all that a core has")
    one.smt = found


def mode_of(facts: PartitionFacts, mode: str) -> Value[str]:
    """The kind of its processors, with who told of it."""
    told = facts.mode
    return Value(mode, "assumed" if told is None else str(told.where))


def _count(one: Planned) -> Value[int]:
    told = one.facts.virtual or one.facts.logical
    return Value(one.virtual, "by the most it used" if told is None else str(told.where))


def _weight(one: Planned, least: int, most: int, notices: list[Notice]) -> Value[int]:
    told = one.facts.weight
    if told is None:
        return Value(_EQUAL_WEIGHT, "assumed: equal weights")
    if told.value >= least:
        return Value(min(most, told.value), str(told.where))
    text = f"the weight {told.value} of {one.name} is not possible here; {least} is the least"
    notices.append(Notice(text, told.where))
    return Value(least, "the least possible")


def pool_of(facts: PartitionFacts) -> str | None:
    """Name of its shared processor pool; none for the default one."""
    if facts.pool is None or facts.pool.value.strip() in ("0", "DefaultPool", ""):
        return None
    name = _NOT_A_NAME.sub("-", facts.pool.value.strip()).lstrip("_.+-")[:_LONGEST_NAME]
    return f"pool{name}" if name.isdigit() else name or None


def guest_of(facts: PartitionFacts, *, runs_aix: bool, notices: list[Notice]) -> Value[str]:
    """Its operating system, or the one that stands for it."""
    told: Told[str] | None = facts.os
    asked = "" if told is None else told.value
    known = asked if asked == "z/vm" and facts.machines else _SYSTEMS.get(asked)
    if known == asked and (known != "aix" or runs_aix):
        return Value(known, str(told.where) if told is not None else "")
    if not asked:
        return Value("linux", "assumed: its operating system is not told")
    where = told.where if told is not None else None
    notices.append(Notice(f"{facts.name} runs {asked}; Linux's scheduler stands for it", where))
    return Value("linux", f"stands for {asked}")
