"""From a machine description to what the engine takes: base units, no provenance."""

from __future__ import annotations

from typing import cast

from homenode.errors import MachineError
from homenode.model.catalog.figure import Figure
from homenode.model.catalog.machine_model import Distances, MachineDescription, Walks
from homenode.model.catalog.names import machine as described
from homenode.model.catalog.names import profile
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.catalog.profile_model import undrained
from homenode.model.spec import (
    ByDistance,
    CacheSpec,
    HypervisorSpec,
    MachineSpec,
    MemoryLoadSpec,
    PipelineSpec,
    ProfileSpec,
    SmtSpec,
    StoresSpec,
    StreamsSpec,
    WalksSpec,
)


def machine_spec(
    machine: MachineDescription,
    *,
    streams: bool = False,
    copies: bool = False,
    walks: bool = False,
) -> MachineSpec:
    """The `machine` part of the engine's input; how its cores stream is told where work does, how
    long lines are on their way where work copies, how tables of translations are walked where
    there are virtual machines.
    """
    spec = _machine_spec(machine)
    if copies and machine.streams is not None:
        streams, spec = True, {**spec, "caches": _with_lines(machine, spec["caches"])}
    pipeline = pipeline_spec(machine)
    if pipeline is not None:
        reference = profile(machine.smt.reference).spec()
        smt: SmtSpec = {**spec["smt"], "reference": cast(ProfileSpec, reference)}
        spec = {**spec, "pipeline": pipeline, "smt": smt}
    if machine.turbo is not None:
        spec = {**spec, "turbo_hz": list(machine.turbo.value)}
    parts = machine.topology.nodes_per_socket
    if parts is not None:
        spec = {**spec, "nodes_per_socket": parts.value}
    if walks and machine.walks is not None:
        spec = {**spec, "walks": _walks(machine.walks)}
    path = _streams(machine) if streams else None
    return spec if path is None else {**spec, "streams": path}


def _machine_spec(machine: MachineDescription) -> MachineSpec:
    clock = machine.clock.value
    distance, translation = machine.node_distance, machine.translation
    return {
        "name": machine.name,
        "generation": machine.generation,
        "clock_hz": clock,
        "core_rate": 1.0 if machine.core_rate is None else machine.core_rate.value,
        "nodes": machine.nodes,
        "chips_per_node": machine.chips_per_node,
        "cores_per_chip": machine.cores_per_chip,
        "threads_per_core": machine.threads_per_core,
        "active_cores": machine.active_cores,
        "line_bytes": machine.line.value,
        "caches": [
            {
                "name": level.name,
                "bytes": level.bytes,
                "scope": level.scope,
                "latency_ns": level.latency.value.nanoseconds(clock),
                "victim": level.victim,
                "bytes_per_s": None if level.bandwidth is None else level.bandwidth.value,
            }
            for level in machine.cache
        ],
        "cache_to_cache_ns": _distances(machine.cache_to_cache, clock),
        "coherence": machine.coherence,
        "memory_beside": machine.memory.beside,
        "memory_ns": _distances(machine.memory, clock),
        "node_distance": (
            [] if distance is None else [factor for row in distance.value for factor in row]
        ),
        "memory_bytes_per_s": machine.memory.bandwidth.value,
        "memory_load": memory_load(machine),
        "chip_link_bytes_per_s": machine.links.chip.value,
        "node_link_bytes_per_s": machine.links.node.value,
        "chip_links": _links(machine.links.chip_links),
        "node_links": _links(machine.links.node_links),
        "translation": (
            None
            if translation is None
            else {
                "entries": translation.entries.value,
                "walk_ns": translation.walk.value.nanoseconds(clock),
            }
        ),
        "stores": _stores(machine),
        "smt": {
            "gain": list(machine.smt.gain.value),
            "reference": cast(ProfileSpec, undrained(profile(machine.smt.reference).spec())),
            "parts": 1 if machine.smt.parts is None else machine.smt.parts.value,
        },
        "accounting": machine.accounting.value,
        "hypervisor": _hypervisor(machine),
    }


def pipeline_spec(machine: MachineDescription) -> PipelineSpec | None:
    """What empties its pipelines, beside the core of profiles; none if unknown, or the same."""
    told = machine.pipeline
    if told is None:
        return None
    reference = described(told.reference).pipeline
    if reference is None:
        raise MachineError(
            f"machine {machine.name}: pipeline.reference is {told.reference}, of which nothing is"
            " known that empties pipelines",
            next_step="name a machine that has a table [pipeline], as ibm-z196",
        )
    own = told.spec()
    return None if own == reference.spec() else {"own": own, "reference": reference.spec()}


def _with_lines(machine: MachineDescription, caches: list[CacheSpec]) -> list[CacheSpec]:
    """Cache levels with the time of a line on the narrowest link between each and the core."""
    told = {} if machine.streams is None else {one.name: one for one in machine.streams.link}
    found: list[CacheSpec] = []
    longest = 0.0
    for cache in caches:
        if cache["name"] in told:
            own = machine.line.value * 1e9 / told[cache["name"]].bandwidth.value
            longest = max(longest, own)
        found.append({**cache, "line_ns": longest} if longest else cache)
    return found


def _streams(machine: MachineDescription) -> StreamsSpec | None:
    """How its cores get through data in order; none if unknown. A line takes its time on the
    narrowest link between memory and the core.
    """
    streams = machine.streams
    if streams is None:
        return None
    links = [link.bandwidth.value for link in streams.link]
    narrowest = min([machine.memory.bandwidth.value, *links])
    return {"lines": streams.lines.value, "transfer_ns": machine.line.value * 1e9 / narrowest}


def _walks(walks: Walks) -> WalksSpec:
    """How its tables of translations are walked."""
    return {
        "entries": walks.entries.value,
        "large_entries": walks.large_entries.value,
        "upper": walks.upper.value,
        "guest_tables": walks.guest_tables.value,
        "cache_share": walks.cache_share.value,
    }


def _links(count: Figure[int] | None) -> int:
    """Links that make up a bandwidth; one where nothing is said."""
    return 1 if count is None else count.value


def memory_load(machine: MachineDescription) -> MemoryLoadSpec:
    """How its controllers serve; one channel with random arrivals where nothing is said."""
    load = machine.memory.load
    if load is None:
        return {"channels": 1, "bank_ns": 0.0, "channel_wait": 0.5, "write_cost": 1.0}
    return {
        "channels": load.channels.value,
        "bank_ns": load.bank.value.nanoseconds(machine.clock.value),
        "channel_wait": load.channel_wait.value,
        "write_cost": load.write_cost.value,
    }


def _hypervisor(machine: MachineDescription) -> HypervisorSpec:
    """Its constants; of a host also how many threads of a core it counts as processors."""
    spec = machine.hypervisor.spec()
    if machine.hypervisor.policy in HOST_POLICIES:
        spec["siblings"] = machine.host_threads
    return spec


def _stores(machine: MachineDescription) -> StoresSpec | None:
    """The way of stores to the level that keeps them; none where that is the first, or unknown."""
    streams = machine.streams
    if streams is None or streams.store_in.value == machine.cache[0].name:
        return None
    return {
        "interval_ns": streams.store_interval.value * 1e9 / machine.clock.value,
        "width_bytes": streams.store_width.value,
        "gather_bytes": None if streams.gather is None else streams.gather.value,
    }


def _distances(distances: Distances, clock_hz: float) -> ByDistance:
    return {
        "local": distances.local.value.nanoseconds(clock_hz),
        "near": distances.near.value.nanoseconds(clock_hz),
        "far": distances.far.value.nanoseconds(clock_hz),
    }
