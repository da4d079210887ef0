"""Guests and processes of x86 servers as a Linux or Xen host has them: threads with weights, quotas
and pins.

libvirt's numbers are the host's own and are taken as they stand, and so are vSphere's shares and
limits where ESXi dispatches; on another host they stand as weights and quotas. Shares
of control groups of version 1 and weights of version 2 are told apart by their size, since libvirt
calls both shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import TYPE_CHECKING

from homenode.errors import MachineError
from homenode.model.scenario.file.host import SHARES_OF_DEFAULT, read_cpus
from homenode.model.units import SIZE, TIME
from homenode.records.importing.assemble.plan import (
    MB,
    Planned,
    Value,
    guest_of,
    mode_of,
    scaled_weights,
)
from homenode.records.importing.facts import PartitionFacts, SystemFacts, Told, TopologyFacts
from homenode.records.importing.opening.sources import Notice

if TYPE_CHECKING:
    from homenode.model.catalog import MachineDescription

PROCESSES = "processes"
"""What runs on a server of which no hypervisor is told."""
GUESTS = ("kvm", "qemu", "vmware", "xen", "virtual machine")
_MOST = {"linux": 10_000, "credit2": 65_535, "esxi": 1_000_000}
_PERIOD_US = 100_000
_LEAST_US = 1000
_PARTS = 1_000_000
"""Into which the share of memory that is used is cut, downwards."""
_X86 = ("x86", "i386", "i486", "i586", "i686", "amd64")
Spans = Mapping[int, int]
"""Processors of the scenario's machine by their number on the host that was recorded."""


def hosting(system: SystemFacts | None, every: Sequence[PartitionFacts]) -> str | None:
    """The hypervisor of an x86 server, `processes` if none is told; None for any other server."""
    told = None if system is None else system.hypervisor
    if told is not None:
        return told.value if told.value in GUESTS else None
    own = next((one.hypervisor for one in every if one.hypervisor is not None), None)
    if own is not None:
        return own.value
    architecture = None if system is None else system.architecture
    if architecture is not None and architecture.value.startswith(_X86):
        return PROCESSES
    return None


def set_on_host(
    planned: Sequence[Planned],
    machine: MachineDescription,
    under: str | None,
    topology: TopologyFacts | None,
    notices: list[Notice],
) -> None:
    """Threads, weight, quota and pins of each partition, as the machine's hypervisor has them."""
    policy = machine.hypervisor.policy
    if policy not in _MOST:
        step = 'give the machine file policy = "linux", and choose another in the scenario'
        there = f"{policy} knows no weights and quotas, which recordings of hosts have"
        raise MachineError(there, next_step=step)
    key = _weight_key(planned, policy, notices)
    most = 102_400 if key == "shares" and policy == "linux" else _MOST[policy]
    scaled_weights(planned, most, notices)
    numbers = _numbers(planned, machine, topology, notices)
    for one in planned:
        count = _threads(one)
        one.virtual, one.shared = count.value, True
        found: dict[str, Value[object]] = {
            "mode": mode_of(one.facts, "shared"),
            "virtual": count,
        }
        weight = one.facts.weight
        if weight is not None:
            least = 6 if key == "shares" and policy == "linux" else 1
            found[key] = Value(max(least, weight.value), str(weight.where))
        found |= _limit(one, policy)
        found |= _places(one, machine.host_cpus, numbers, policy, notices)
        one.processors, one.smt = found, None
        if policy == "linux" and under != PROCESSES:
            io = _io_threads(one, machine.host_cpus, numbers, notices)
            io |= _balloon(one)
            if len(one.facts.memory_by_node) > 1:  # Its own kernel, or its domain, names them.
                io["numa"] = True
            one.kvm = Value(io, _guest_origin(one.facts, under))
        one.guest = guest_of(one.facts, runs_aix=False, notices=notices)
    if under == "vmware" and policy != "esxi":
        text = "vSphere's shares and limits stand as weights and quotas of Linux"
        notices.append(Notice(f"{text}; it also keeps a guest's processors together, Linux not"))


def _threads(one: Planned) -> Value[int]:
    """Virtual processors: what the guest sees of each is a thread of the host."""
    facts = one.facts
    if facts.logical is not None:
        return Value(max(1, facts.logical.value), str(facts.logical.where))
    smt = 1 if facts.smt is None else max(1, facts.smt.value)
    told = facts.virtual
    return Value(one.virtual * smt, "by the most it used" if told is None else str(told.where))


def _guest_origin(facts: PartitionFacts, under: str | None) -> str:
    if facts.hypervisor is not None:
        return str(facts.hypervisor.where)
    return "assumed: no hypervisor is told" if under is None else f"a guest of {under}"


def _weight_key(planned: Sequence[Planned], policy: str, notices: list[Notice]) -> str:
    """Which of the two libvirt means: its default of version 1, or more than version 2 has, gives
    version 1 away.
    """
    told = [one.facts.weight for one in planned if one.facts.weight is not None]
    pinned = [one for one in planned if one.facts.hypervisor is not None]
    if policy == "esxi":
        return "shares"
    if policy != "linux" or not pinned:
        return "weight"
    most = _MOST["linux"]
    old = [one for one in told if one.value == SHARES_OF_DEFAULT or one.value > most]
    if not old:
        return "weight"
    first = old[0]
    text = f"shares of {first.value} are those of control groups of version 1"
    notices.append(Notice(text, first.where))
    return "shares"


def _limit(one: Planned, policy: str) -> dict[str, Value[object]]:
    """The time it may use: a quota, or Xen's cap in processors."""
    facts = one.facts
    told: Told[tuple[int, int]] | None = facts.quota
    most = facts.maximum.get("entitlement")
    if told is None and facts.capped is not None and facts.capped.value and most is not None:
        threads = one.virtual if facts.virtual is None else one.virtual / facts.virtual.value
        whole = round(most.value * max(1.0, threads) * _PERIOD_US)
        told = Told((whole, _PERIOD_US), most.where)
    if told is None:
        return {}
    quota, period = told.value
    where = str(told.where)
    if policy != "linux":
        return {"cap": Value(min(float(one.virtual), quota / period), where)}
    found: dict[str, Value[object]] = {
        "quota": Value(TIME.format(max(_LEAST_US, quota) * 1000), where)
    }
    if period != _PERIOD_US:
        found["period"] = Value(TIME.format(max(_LEAST_US, period) * 1000), where)
    return found


def _places(
    one: Planned, cpus: int, numbers: Spans | None, policy: str, notices: list[Notice]
) -> dict[str, Value[object]]:
    """The processors that it may use, by the numbers of the scenario's machine."""
    facts = one.facts
    found: dict[str, Value[object]] = {}
    told_set = facts.cpuset
    own = [] if told_set is None else _mapped(told_set.value, cpus, numbers)
    if facts.pins:
        told = [facts.pins.get(vp) for vp in range(one.virtual)]
        lists = [None if pin is None else _mapped(pin.value, cpus, numbers) for pin in told]
        every = _spans(own or range(cpus))  # of those that have no pin of their own
        first = next(iter(facts.pins.values()))
        if [] in lists:
            text = f"{one.name} is pinned to processors that the machine here has not; left out"
            notices.append(Notice(text, first.where))
        else:
            one.pins = tuple(every if pin is None else _spans(pin) for pin in lists)
    elif told_set is not None and own:
        if policy == "linux":
            found["cpuset"] = Value(_spans(own), str(told_set.where))
        else:
            one.pins = (_spans(own),)
    return found


def _io_threads(
    one: Planned, cpus: int, numbers: Spans | None, notices: list[Notice]
) -> dict[str, object]:
    """Threads that do its I/O and where they may run; recorded use has their time in it."""
    facts = one.facts
    told = facts.io_threads or facts.emulator
    if told is None:
        return {}
    if one.recorded is not None:
        text = f"I/O threads and emulatorpin of {one.name} are left out: the use that was recorded"
        notices.append(Notice(f"{text} has their time in it", told.where))
        return {}
    found: dict[str, object] = {}
    if facts.io_threads is not None:
        found["io_threads"] = facts.io_threads.value
        pins = [facts.io_pins.get(at) for at in range(1, facts.io_threads.value + 1)]
        lists = [None if pin is None else _mapped(pin.value, cpus, numbers) for pin in pins]
        if any(lists):
            found["io_pins"] = [_spans(one or range(cpus)) for one in lists]
    emulator = [] if facts.emulator is None else _mapped(facts.emulator.value, cpus, numbers)
    if emulator:
        found["emulator_pins"] = _spans(emulator)
    return found


def _balloon(one: Planned) -> dict[str, object]:
    """What its balloon holds of the memory that it was given. What that left it is taken to be all
    in use, for no recording tells how much of it the work touches; so nothing of that is away.
    """
    told, has = one.facts.maximum.get("memory_bytes"), one.facts.memory_bytes
    if told is None or has is None or has.value < MB:
        return {}
    given = sum(part.size for part in one.parts) or int(told.value) // MB * MB
    left = one.memory.value
    if given - left < MB:
        return {}
    origin = f"{told.where}; {one.memory.origin} left by its balloon"
    one.memory = Value(given, origin)
    one.memory_used = f"{floor(left / given * _PARTS) / _PARTS * 100:.6g} %"
    return {"balloon": SIZE.format(given - left)}


def _mapped(text: str, cpus: int, numbers: Spans | None) -> list[int]:
    named = read_cpus(text)
    if numbers is not None:
        named = [numbers[cpu] for cpu in named if cpu in numbers]
    return sorted({cpu for cpu in named if cpu < cpus})


def _spans(cpus: Sequence[int]) -> str:
    """Numbers as the kernel prints them: `0-3,8`."""
    parts: list[list[int]] = []
    for cpu in cpus:
        if parts and cpu == parts[-1][1] + 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def _names_processors(facts: PartitionFacts) -> bool:
    told = (facts.cpuset, facts.emulator)
    return bool(facts.pins or facts.io_pins) or any(one is not None for one in told)


def _numbers(
    planned: Sequence[Planned],
    machine: MachineDescription,
    topology: TopologyFacts | None,
    notices: list[Notice],
) -> Spans | None:
    """From the host's numbers to the scenario's, where a topology of the same size tells them."""
    named = [one for one in planned if _names_processors(one.facts)]
    if not named:
        return None
    units = [one for one in topology.root.walk() if one.kind == "PU"] if topology else []
    if len(units) == machine.host_cpus and all(one.os_index is not None for one in units):
        return {int(one.os_index or 0): place for place, one in enumerate(units)}
    text = "numbers of processors are taken as they stand: threads of a core after each other"
    if machine.host_threads > 1:
        notices.append(Notice(f"{text}; give lscpu's output or hwloc XML of the host too"))
    return None
