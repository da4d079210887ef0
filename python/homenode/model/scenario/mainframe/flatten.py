"""From z/VM in a scenario to the engine's input (`crates/engine/src/spec/zvm.rs`, `devices.rs`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, cast

from homenode.model.catalog.control_program import ControlProgram
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.file.mainframe import (
    GuestShare,
    GuestTransactions,
    GuestUsers,
    GuestWork,
    PagingSpace,
)
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.file.workload import Web
from homenode.model.scenario.mainframe.members import PlacedMachine, PlacedSwitch
from homenode.model.scenario.mainframe.placing import InMainframe, VirtualSystem
from homenode.model.spec import (
    ArrivalsSpec,
    CpLocksSpec,
    CpPathsSpec,
    CpShareSpec,
    PagingSpec,
    SharedSpec,
    StepsSpec,
    SwitchSpec,
    VirtualMachineSpec,
    WebSpec,
    ZvmSpec,
)

_LAYERS: dict[int, Literal["ethernet", "ip"]] = {2: "ethernet", 3: "ip"}


def zvm_spec(
    guest: Zvm,
    system: VirtualSystem,
    paging: PagingSpace | None,
    instructions: float,
    steps: Callable[[str], StepsSpec | None],
) -> ZvmSpec:
    """The `guest` part of a partition with z/VM; `instructions` are those of a transaction of which
    none are told, `steps` gives a machine's work where that is recorded or told by the cores that
    it takes.
    """
    program, members = system.control_program, system.members
    dispatcher = program.dispatcher
    names = [pool["name"] for pool in system.pools]
    found: ZvmSpec = {
        "os": "zvm",
        "vertical": guest.polarization == "vertical",
        "unparking": guest.unparking,
        "cpupad": guest.cpupad,
        "excessuse": guest.excessuse,
        "park_interval_ns": dispatcher.park_interval.value,
        "minor_slice_ns": dispatcher.minor_slice.value,
        "daemon_rate_per_s": guest.daemons.rate,
        "daemon_ns": guest.daemons.work,
        "steal_barrier": {
            "local": dispatcher.steal_local.value,
            "near": dispatcher.steal_near.value,
            "far": dispatcher.steal_far.value,
        },
        "paths": cast(CpPathsSpec, _values(program, "paths")),
        "locks": cast(CpLocksSpec, _values(program, "locks")),
        "machines": [
            _machine(one, instructions, steps(one.name), names) for one in members.machines
        ],
        "switches": [_switch(one, program) for one in members.switches],
        "paging": None if paging is None else _paging(paging, program),
    }
    if system.pools:
        found["cpu_pools"] = [*system.pools]
    return found


def web_spec(workload: Web) -> WebSpec:
    """The `workload` part of virtual machines that ask for files."""
    return {
        "kind": "web",
        "request_bytes": workload.request,
        "file_bytes": workload.file,
        "files": workload.files,
        "client_share": workload.client_share,
        "think_ns": workload.think,
        "work": workload.work,
    }


def shared_spec(
    processors: Shared, mainframe: InMainframe, pool: int, groups: dict[str, int]
) -> SharedSpec:
    """The `processors` part of a partition that shares cores under PR/SM."""
    soft = processors.defined_capacity
    return {
        "mode": "shared",
        "entitlement": mainframe.entitlement,
        "virtual": processors.virtual,
        "capped": processors.capped,
        "weight": processors.weight,
        "pool": pool,
        "prsm": {
            "polarization": mainframe.polarization,
            "cap": processors.cap,
            "group": None if processors.group is None else groups[processors.group],
            "defined_capacity": None
            if soft is None
            else {"cores": soft.cores, "window_ns": soft.window, "start_cores": soft.start},
        },
    }


def _values(program: ControlProgram, part: str) -> dict[str, float]:
    table = getattr(program, part)
    return {name: getattr(table, name).value for name in type(table).model_fields}


def _machine(
    machine: PlacedMachine, instructions: float, steps: StepsSpec | None, pools: Sequence[str]
) -> VirtualMachineSpec:
    table = machine.table
    found: VirtualMachineSpec = {
        "name": machine.name,
        "cpus": table.cpus,
        "memory_bytes": table.memory,
        "role": table.role or "work",
        "share": _share(table.share),
        "maximum": None if table.limit is None else _share(table.limit),
        "limit_hard": table.limit is not None and table.limit.hard,
        "switch": machine.switch,
    }
    if table.cpu_pool is not None:
        found["cpu_pool"] = pools.index(table.cpu_pool)
    work = table.workload
    if work is not None:
        found["work"] = {
            **_arrivals(work, steps),
            "instructions": work.instructions or instructions,
            "work": work.work,
            "answer_bytes": work.answer,
        }
    return found


def _arrivals(work: GuestWork, steps: StepsSpec | None) -> ArrivalsSpec:
    """When transactions come to a virtual machine, and in how many bursts if not in one."""
    found: ArrivalsSpec = {"rate_per_s": 0.0}
    if isinstance(work, GuestTransactions):
        found["rate_per_s"] = work.rate
    elif isinstance(work, GuestUsers):
        found |= {"users": work.count, "think_ns": work.think}
    elif steps is None:
        raise AssertionError("what is told by cores or recorded is resolved before")
    else:
        found["played"] = steps
    if isinstance(work, GuestTransactions | GuestUsers) and work.bursts != 1.0:
        found |= {"bursts": work.bursts, "wait_ns": work.wait}
    return found


def _share(share: GuestShare) -> CpShareSpec:
    if share.absolute is not None:
        return {"absolute": share.absolute}
    return {"relative": share.relative or 0}


def _switch(switch: PlacedSwitch, program: ControlProgram) -> SwitchSpec:
    return {
        "name": switch.name,
        "layer": _LAYERS[switch.table.layer],
        "frame_bytes": program.frame.value,
    }


def _paging(paging: PagingSpace, program: ControlProgram) -> PagingSpec:
    figures, storage = program.paging, program.storage
    found: PagingSpec = {
        "volumes": paging.volumes,
        "control_units": paging.control_units,
        "aliases": paging.aliases,
        "transport": paging.mode == "transport",
        "bytes": paging.size,
        "block_pages": figures.block_pages.value,
        "changed": figures.changed.value,
        "guest_frames": figures.guest_frames.value,
        "pend_ns": figures.pend.value,
        "connect_ns": figures.connect.value,
        "command_page_ns": figures.command_page.value,
        "page_ns": figures.page.value,
        "storage": {
            "cache_bytes": storage.cache.value,
            "stage_pages": storage.stage_pages.value,
            "disks": storage.disks.value,
            "disk_ns": storage.disk.value,
        },
    }
    if paging.paths:
        found["paths"] = paging.paths
    if paging.paths and paging.mode == "transport":
        found["exchange_ns"] = figures.exchange.value
        found["link_page_ns"] = figures.link_page.value
    return found
