"""From a case of a suite to the scenarios that are simulated on a machine: a Linux guest on cores
of its own, or several beside each other, one frozen spec for each load.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from homenode.errors import InputError, SuiteError
from homenode.evidence.compare.suite import Case, GuestPart, Suite, WorkClass
from homenode.evidence.compare.walk import WalkedMachine
from homenode.model.catalog import MachineDescription
from homenode.model.catalog import machine as find_machine
from homenode.model.catalog.names import is_path
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import to_toml
from homenode.model.scenario import Scenario
from homenode.model.spec import CountedSpec, Spec
from homenode.model.units import TIME

Adjust = Callable[[Spec | WalkedMachine], None]
"""Changes values of a frozen spec or a walk's machine in place; a study that fits a figure does."""
GUEST = "linux"
"""Name of the partition of a case that has only one."""
SWITCH = "lan"
"""Name of the virtual switch of virtual machines."""


@dataclass(frozen=True)
class Point:
    """One simulation: a case on a machine under one load."""

    load: int | None
    spec: Spec
    replications: int


def case_points(
    suite: Suite, group: WorkClass, case: Case, machine: str, adjust: Adjust | None = None
) -> list[Point]:
    """All loads of a case on a machine."""
    timing = suite.timing(group, case)
    spec = _scenario(suite, group, case, machine).spec()
    if adjust is not None:
        adjust(spec)
    loads = suite.loads(group, case)
    if loads is None or case.partition:
        return [Point(None, spec, timing.replications)]
    points = []
    for load in loads.values:
        loaded = copy.deepcopy(spec)
        # The suite was refused before if a workload with loads had no count.
        counted = cast(CountedSpec, loaded["partitions"][0]["workload"])
        counted["count"] = load * loads.each
        points.append(Point(load, loaded, timing.replications))
    return points


def _scenario(suite: Suite, group: WorkClass, case: Case, machine: str) -> Scenario:
    text = to_toml(scenario_data(suite, group, case, machine))
    try:
        return Scenario.from_toml(text, f"case {case.name} of suite {suite.name} on {machine}")
    except InputError as error:
        raise SuiteError(
            f"case {case.name} of suite {suite.name} cannot be simulated on {machine}: "
            f"{error.problem}",
            asked=error.asked,
            there=error.there,
            next_step=error.next_step or "correct the suite, or leave the case out with --only",
        ) from error


def scenario_data(suite: Suite, group: WorkClass, case: Case, machine: str) -> dict[str, object]:
    """A case on a machine as a scenario file has it."""
    timing = suite.timing(group, case)
    parts = _parts(suite, group, case)
    partitions = [_partition(group, part) for part in parts]
    described = find_machine(machine)
    if described.hypervisor.policy in HOST_POLICIES:
        _pin(partitions, [part.cores for part in parts], described)
    return {
        "name": case.name,
        "title": f"{group.title}: {case.title}",
        "machine": {"file" if is_path(machine) else "model": machine},
        "partition": partitions,
        "run": {
            "warmup": TIME.format(timing.warmup),
            "duration": TIME.format(timing.duration),
            "interval": TIME.format(timing.duration),
            "replications": timing.replications,
            "seed": timing.seed,
        },
    }


def _parts(suite: Suite, group: WorkClass, case: Case) -> list[GuestPart]:
    """The guests of a case."""
    if case.partition:
        return case.partition
    cores, profile = case.cores or group.cores, case.profile or group.profile
    workload = case.workload or group.workload
    if cores is None or profile is None or workload is None:
        raise AssertionError("the suite was checked when it was read")
    loads = suite.loads(group, case)
    if loads is not None:
        workload = {**workload, "count": loads.values[0] * loads.each}
    return [GuestPart(name=GUEST, cores=cores, profile=profile, workload=workload)]


def _pin(
    partitions: Sequence[dict[str, object]],
    counts: Sequence[int],
    machine: MachineDescription,
) -> None:
    """On a host, a thread of a core for each core, next to each other."""
    core = 0
    for partition, count in zip(partitions, counts, strict=True):
        pins = [str((core + one) * machine.host_threads) for one in range(count)]
        partition["processors"] = {"mode": "shared", "virtual": count, "pins": pins}
        core += count


def _partition(group: WorkClass, part: GuestPart) -> dict[str, object]:
    guest = {"memory_used": group.memory_used}
    common = {
        "name": part.name,
        "processors": {"mode": "dedicated", "cores": part.cores},
        "memory": group.memory,
    }
    if part.virtual_machine is None:
        work = {**(part.workload or {}), "profile": part.profile}
        return {**common, "smt": 1, "guest": {"os": "linux", **guest}, "workload": work}
    machine = {"name": part.name, "switch": SWITCH, **part.virtual_machine}
    return {
        **common,
        "guest": {"os": "zvm", **guest},
        "workload": {"kind": "idle", "profile": part.profile},
        "switch": [{"name": SWITCH, "layer": 2}],
        "virtual_machine": [machine],
    }
