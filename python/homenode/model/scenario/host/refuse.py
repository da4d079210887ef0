"""Words of a host that mean nothing elsewhere, and the other way round; what must hold between the
numbers of one table. Each is named where it stands, with what to write instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.errors import listed, suggestion
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.policies import LISTED
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.guest import Linux
from homenode.model.scenario.file.host import MOST_CPUS, ROOT, Cgroup
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import DEFAULT_POOL, Dedicated, Shared
from homenode.model.scenario.file.scenario import ScenarioFile
from homenode.model.scenario.host.esxi import ESXI, check_words
from homenode.model.scenario.host.groups import SCOPE
from homenode.model.scenario.host.placing import is_host

_OF_LINUX = ("cgroup", "shares", "quota", "period", "burst", "cpuset", "nice", "slice")
_MOST_WEIGHT = {"linux": 10_000, "credit2": 65_535}
_ALIKE = tuple(one.name for one in LISTED if one.name != ESXI)
"""Schedulers that know threads and where they may run, and nothing else of them."""
_OF_ALL = ("mode", "virtual", "pins")
_OTHERWISE = 'choose policy = "linux" or "credit2"'
_LEAST_CAP = 0.01
_LINUX_SHARES = (6, 102_400)
"""Least and most `cpu.shares` of version 1."""
_MOST_OF_CHIP = 64
"""Processors of a chip that the engine can number."""


def refuse_host_words(file: ScenarioFile, machine: MachineDescription, problems: Problems) -> None:
    """Note what a machine that is no Linux or Xen host does not know."""
    there = f"only a Linux host has it, {machine.title} is none"
    if file.cgroup:
        path: Path = ("cgroup", 0)
        step = 'leave it out, or choose a host such as model = "amd-epyc-7742-2s"'
        problems.add(path, "no such thing here", there=there, next_step=step, at_key=True)
    if file.machine.policy is not None:
        step = "leave policy out"
        problems.add(("machine", "policy"), there=there, next_step=step)
    for row, table in enumerate(file.partition):
        _refuse_linux(table, ("partition", row), there, problems)


def _refuse_linux(table: Partition, path: Path, there: str, problems: Problems) -> None:
    processors = table.processors
    for key in (*_OF_LINUX, "pins", "soft_pins"):
        if isinstance(processors, Shared) and key in processors.model_fields_set:
            step = f"leave {key} out"
            problems.add((*path, "processors", key), there=there, next_step=step)
    if table.kvm is not None:
        problems.add((*path, "kvm"), there=there, next_step="leave kvm out")


def check_host(file: ScenarioFile, machine: MachineDescription, problems: Problems) -> None:
    """Note what does not fit on a host."""
    policy = machine.hypervisor.policy
    if machine.cores_per_chip * machine.host_threads > _MOST_OF_CHIP:
        cpus = machine.cores_per_chip * machine.host_threads
        there = f"a chip of {machine.title} has {cpus} processors, {_MOST_OF_CHIP} are possible"
        step = "describe a chip as what shares a last-level cache, or switch smt off"
        problems.add(("machine",), there=there, next_step=step, at_key=True)
    _check_groups(file.cgroup, policy, machine, problems)
    names = [group.name for group in file.cgroup]
    sets = _cpusets(file.cgroup, machine, problems)
    for row, table in enumerate(file.partition):
        path: Path = ("partition", row)
        _check_kind(table, path, machine, problems)
        if isinstance(table.processors, Shared):
            here = (*path, "processors")
            _check_words(table.processors, here, policy, problems)
            _check_shared(table.processors, here, names, machine, problems)
            _check_places(table.processors, here, sets, problems)


def _check_groups(
    groups: Sequence[Cgroup], policy: str, machine: MachineDescription, problems: Problems
) -> None:
    if groups and policy != "linux":
        step = "leave [[cgroup]] out and write weight and cap with each domain"
        there = "Xen has no control groups"
        if policy == ESXI:
            step = "leave [[cgroup]] out and write shares, entitlement and cap with each machine"
            there = "ESXi has no control groups"
        elif policy in _ALIKE:
            step = f"leave [[cgroup]] out, or {_OTHERWISE}"
            there = f"under {policy} all threads count alike"
        problems.add(("cgroup", 0), "no such thing here", there=there, next_step=step, at_key=True)
        return
    before: list[str] = []
    for index, group in enumerate(groups):
        path: Path = ("cgroup", index)
        if group.name in before:
            step = "give each group a name of its own"
            problems.add((*path, "name"), there="an earlier group has it", next_step=step)
        if group.name.endswith(SCOPE):
            there = f"so the groups are named that partitions have to themselves: NAME{SCOPE}"
            problems.add((*path, "name"), there=there, next_step="choose another name")
        if group.parent is not None and group.parent not in before:
            there = f"the groups before it are {listed(before)}" if before else "none is before it"
            step = suggestion(group.parent, before, "write outer groups before inner ones")
            problems.add((*path, "parent"), there=there, next_step=step)
        before.append(group.name)
        _check_quota(group, path, problems)
        _check_cpus(group.cpuset, (*path, "cpuset"), machine, problems)


def _check_quota(table: Cgroup | Shared, path: Path, problems: Problems) -> None:
    """A burst needs a quota, and no more than it; a period means nothing alone."""
    for key in ("period", "burst"):
        if table.quota is None and key in table.model_fields_set:
            there = f"without a quota there is no {key}"
            step = 'add quota = "50 ms", or leave it out'
            problems.add((*path, key), there=there, next_step=step)
    if table.quota is not None and table.burst > table.quota:
        there = "the kernel takes a burst up to the quota"
        problems.add((*path, "burst"), there=there, next_step="write at most the quota")


def _check_cpus(
    cpus: Sequence[int] | None, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    """Processors that there are."""
    most = min(machine.host_cpus, MOST_CPUS)
    beyond = [cpu for cpu in cpus or () if cpu >= most]
    if beyond:
        last = machine.host_cpus - 1
        there = f"{machine.title} has the processors 0 to {last}"
        if machine.host_threads > 1:
            there += f", {machine.host_threads} threads of a core after each other"
        problems.add(path, there=there, next_step=f"leave {beyond[0]} out")


def _check_kind(
    table: Partition, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    """A guest that runs there, threads of one each, no cores for good."""
    policy = machine.hypervisor.policy
    if not isinstance(table.guest, Linux):
        there = f"{machine.title} runs Linux guests here, not {table.guest.os}"
        step = 'write guest = { os = "linux" }'
        problems.add((*path, "guest", "os"), there=there, next_step=step)
    if isinstance(table.processors, Dedicated):
        there = "a host gives no cores away for good"
        step = 'write mode = "shared" with virtual = 2 and pins = ["0", "1"]'
        problems.add((*path, "processors", "mode"), there=there, next_step=step)
    if table.smt is not None and table.smt > 1:
        there = "a virtual processor is one thread of the host"
        step = "leave smt out and write as many virtual processors as threads"
        problems.add((*path, "smt"), there=there, next_step=step)
    if table.kvm is not None and policy == "credit2":
        problems.add((*path, "kvm"), there="Xen is no KVM", next_step="leave kvm out")
    if table.kvm is not None and policy == ESXI:
        there = "every partition is a virtual machine there"
        problems.add((*path, "kvm"), there=there, next_step="leave kvm out")


def _check_words(processors: Shared, path: Path, policy: str, problems: Problems) -> None:
    """Words of PowerVM and PR/SM, and of other hosts."""
    if policy == ESXI:
        check_words(processors, path, problems)
        return
    if policy in _ALIKE:
        _check_alike(processors, path, policy, problems)
        return
    name = "Linux" if policy == "linux" else "Xen"
    limit = "quota" if policy == "linux" else "cap"
    instead = {
        "entitlement": f"under {name} the weights of all give it; write weight",
        "pool": f"{name} has no such pools; write cpuset" if policy == "linux" else None,
        "group": f"{name} has none; write cgroup" if policy == "linux" else None,
        "capped": f"write {limit}, which says how much",
        "allow_performance_collection": None,
        "polarization": None,
        "defined_capacity": f"write {limit}",
        "type": None,
        "types": None,
    }
    for key, step in instead.items():
        default = type(processors).model_fields[key].default
        value = getattr(processors, key)
        if value != default and not (key == "pool" and value == DEFAULT_POOL):
            there = f"{name} does not know it"
            problems.add((*path, key), there=there, next_step=step or f"leave {key} out")
    instead = {"cap": "write quota", "soft_pins": "write pins"}
    foreign = tuple(instead) if policy == "linux" else _OF_LINUX
    for key in foreign:
        if key in processors.model_fields_set:
            there = "only Xen knows it" if policy == "linux" else "only Linux knows it"
            step = instead.get(key, "leave it out; weight and cap are Xen's")
            problems.add((*path, key), there=there, next_step=step)


def _check_alike(processors: Shared, path: Path, policy: str, problems: Problems) -> None:
    """Words that need a scheduler for which threads are not all alike."""
    for key in type(processors).model_fields:
        if key in processors.model_fields_set and key not in _OF_ALL:
            there = f"under {policy} all threads count alike"
            step = f"leave {key} out"
            if key == "cpuset":
                step = "write pins"
            elif key in (*_OF_LINUX, "weight", "cap"):
                step += f", or {_OTHERWISE}"
            problems.add((*path, key), there=there, next_step=step)


def _check_shared(
    processors: Shared,
    path: Path,
    groups: Sequence[str],
    machine: MachineDescription,
    problems: Problems,
) -> None:
    """Numbers that fit each other and the machine."""
    most = _MOST_WEIGHT.get(machine.hypervisor.policy)
    weight = processors.weight
    if most is not None and weight is not None and not 1 <= weight <= most:
        problems.add((*path, "weight"), there=f"1 to {most} is possible")
    least, most_shares = _LINUX_SHARES
    shares = processors.shares
    of_groups = None if machine.hypervisor.policy != "linux" else shares
    if of_groups is not None and not least <= of_groups <= most_shares:
        problems.add((*path, "shares"), there=f"{least} to {most_shares} is possible")
    if processors.cgroup not in (None, ROOT, *groups):
        there = f"the groups are {listed(groups)}" if groups else "the file has no [[cgroup]]"
        step = suggestion(str(processors.cgroup), groups, "add [[cgroup]] with that name")
        problems.add((*path, "cgroup"), there=there, next_step=step)
    if processors.cap is not None and processors.cap > processors.virtual:
        there = f"its {processors.virtual} virtual processors can use no more than as many"
        problems.add((*path, "cap"), there=there, next_step="leave cap out or lower it")
    if processors.cap is not None and processors.cap < _LEAST_CAP:
        there = f"Xen counts caps in hundredths of a processor: {_LEAST_CAP} is the least"
        problems.add((*path, "cap"), there=there)
    _check_quota(processors, path, problems)
    _check_cpus(processors.cpuset, (*path, "cpuset"), machine, problems)
    for key in ("pins", "soft_pins"):
        _check_pins(processors, key, path, machine, problems)
    for index, pin in enumerate(processors.pins or []):
        if processors.cpuset is not None and not set(pin) & set(processors.cpuset):
            here, there = (*path, "pins", index), "none of them is in its cpuset"
            problems.add(here, there=there, next_step="pin it to processors of the cpuset")


def _check_pins(
    processors: Shared, key: str, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    pins = getattr(processors, key) or []
    if len(pins) not in (0, 1, processors.virtual):
        there = f"{len(pins)} entries for {processors.virtual} virtual processors"
        step = "give one for each, or one for all"
        problems.add((*path, key), there=there, next_step=step)
    for index, pin in enumerate(pins):
        _check_cpus(pin, (*path, key, index), machine, problems)


def _cpusets(
    groups: Sequence[Cgroup], machine: MachineDescription, problems: Problems
) -> dict[str | None, set[int]]:
    """Processors that are left to each group by its own set and those of the groups it is in."""
    left: dict[str | None, set[int]] = {None: set(range(machine.host_cpus))}
    for index, group in enumerate(groups):
        around = left.get(group.parent, left[None])
        own = around if group.cpuset is None else around & set(group.cpuset)
        if not own and around and set(group.cpuset or ()) & left[None]:
            there = f"group {group.parent} leaves it none of them"
            step = "write processors of the group it is in"
            problems.add(("cgroup", index, "cpuset"), there=there, next_step=step)
        left[group.name] = own or around
    return left


def _check_places(
    processors: Shared, path: Path, sets: dict[str | None, set[int]], problems: Problems
) -> None:
    """A partition's own set and pins within its group's; what no machine has is told elsewhere."""
    around = sets.get(processors.cgroup)
    if processors.cgroup is None or around is None:
        return
    own = sets[None] if processors.cpuset is None else set(processors.cpuset) & sets[None]
    places: list[tuple[Path, set[int]]] = []
    if processors.cpuset is not None:
        places.append(((*path, "cpuset"), own))
    pins = processors.pins or []
    places += [((*path, "pins", at), set(pin) & own) for at, pin in enumerate(pins)]
    for here, cpus in places:
        if cpus and not cpus & around:
            there = f"group {processors.cgroup} leaves it none of them"
            step = "write processors of the group's cpuset"
            problems.add(here, there=there, next_step=step)


__all__ = ["check_host", "is_host", "refuse_host_words"]
