"""Words of one hypervisor or guest that mean nothing under another: named where they stand."""

from __future__ import annotations

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import DEFAULT_POOL, Shared
from homenode.model.scenario.file.scenario import ScenarioFile
from homenode.model.scenario.file.workload import Idle, Web
from homenode.model.scenario.mainframe.kinds import is_mainframe

_OF_PRSM = ("polarization", "cap", "group", "defined_capacity")
_OF_ZVM = ("virtual_machine", "switch", "cpu_pool", "paging", "cp")


def refuse_words(file: ScenarioFile, machine: MachineDescription, problems: Problems) -> None:
    """Note every key that this machine's hypervisor or this guest does not know."""
    mainframe = is_mainframe(machine)
    if mainframe:
        _refuse_pools(file, machine, problems)
    else:
        _refuse_mainframe(file, machine, problems)
    for row, table in enumerate(file.partition):
        path: Path = ("partition", row)
        if mainframe:
            _refuse_powervm(table, path, machine, problems)
        else:
            _refuse_prsm(table, path, machine, problems)
        if isinstance(table.guest, Zvm):
            _check_zvm(table, path, machine, problems)
        else:
            _refuse_zvm(table, path, machine, problems)


def _refuse_pools(file: ScenarioFile, machine: MachineDescription, problems: Problems) -> None:
    if file.pool:
        there = f"{machine.title} shares its cores by type; PR/SM has no such pools"
        step = "leave [[pool]] out; [[group]] with a cap limits partitions together"
        problems.add(("pool", 0), "no such thing here", there=there, next_step=step, at_key=True)


def _refuse_mainframe(file: ScenarioFile, machine: MachineDescription, problems: Problems) -> None:
    there = f"{machine.title} is no mainframe"
    if file.group:
        step = "leave [[group]] out"
        problems.add(("group", 0), "no such thing here", there=there, next_step=step, at_key=True)
    if file.machine.characterized is not None:
        step = "leave characterized out"
        problems.add(("machine", "characterized"), there=there, next_step=step)


def _refuse_prsm(
    table: Partition, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    """What only PR/SM understands."""
    there = f"only PR/SM knows it, {machine.title} is no mainframe"
    if machine.hypervisor.policy in HOST_POLICIES:
        return  # told with what stands for it there
    for key in ("type", "types", *_OF_PRSM):
        if getattr(table.processors, key, None) is not None:
            step = f"leave {key} out"
            problems.add((*path, "processors", key), there=there, next_step=step)
    if table.mode is not None:
        problems.add((*path, "mode"), there=there, next_step="leave mode out")


def _refuse_powervm(
    table: Partition, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    """What PR/SM has otherwise."""
    processors = table.processors
    if not isinstance(processors, Shared):
        return
    here = (*path, "processors")
    if processors.entitlement is not None:
        there = "under PR/SM the weights of all partitions give it"
        step = "leave entitlement out and write weight = 1 to 999"
        problems.add((*here, "entitlement"), there=there, next_step=step)
    if processors.pool != DEFAULT_POOL:
        there = f"{machine.title} shares its cores by type; PR/SM has no such pools"
        step = "leave pool out; group names a [[group]] with a cap"
        problems.add((*here, "pool"), there=there, next_step=step)
    if processors.allow_performance_collection:
        there = "only PowerVM asks, in the partition's profile"
        step = "leave allow_performance_collection out"
        problems.add((*here, "allow_performance_collection"), there=there, next_step=step)


def _check_zvm(
    table: Partition, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    """z/VM runs on mainframes, and its work is in its virtual machines."""
    if machine.zvm is None:
        there = f"z/VM does not run on {machine.title}"
        step = 'choose a mainframe such as model = "ibm-z14", or another guest'
        problems.add((*path, "guest", "os"), there=there, next_step=step)
    if table.smt is not None:
        there = "under z/VM guest.smt says how many threads of a core are used"
        step = 'write guest = { os = "zvm", smt = "smt-2" } and leave smt out'
        problems.add((*path, "smt"), there=there, next_step=step)
    if not isinstance(table.workload, (Web, Idle)):
        there = "under z/VM the virtual machines work, by their role"
        step = 'write kind = "web", or "idle" with machines that have a workload or role = "loop"'
        problems.add((*path, "workload", "kind"), there=there, next_step=step)
    processors, own = table.processors, table.guest
    if isinstance(processors, Shared) and isinstance(own, Zvm):
        told = processors.polarization
        if told is not None and told != own.polarization:
            there = f"z/VM runs in {own.polarization} polarization"
            step = "write it in guest only"
            problems.add((*path, "processors", "polarization"), there=there, next_step=step)


def _refuse_zvm(
    table: Partition, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    """What only z/VM understands."""
    there = f"only z/VM has it, the guest is {table.guest.os}"
    other = " and a mainframe" if machine.zvm is None else ""
    step = f'leave it out, or write guest = {{ os = "zvm" }}{other}'
    for key in _OF_ZVM:
        if getattr(table, key):
            word = "no such thing here"
            problems.add((*path, key), word, there=there, next_step=step, at_key=True)
    if isinstance(table.workload, Web):
        said = f"clients and servers are virtual machines of z/VM, the guest is {table.guest.os}"
        step = f'write guest = {{ os = "zvm" }}{other}, or kind = "transactions"'
        problems.add((*path, "workload", "kind"), there=said, next_step=step)
