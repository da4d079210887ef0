"""From a machine description to what the engine takes: base units, no provenance."""

from __future__ import annotations

from typing import cast

from homenode.model.catalog.machine_model import Distances, MachineDescription
from homenode.model.catalog.names import profile
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.spec import (
    ByDistance,
    HypervisorSpec,
    MachineSpec,
    ProfileSpec,
    StoresSpec,
)


def machine_spec(machine: MachineDescription) -> MachineSpec:
    """The `machine` part of the engine's input."""
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
        "chip_link_bytes_per_s": machine.links.chip.value,
        "node_link_bytes_per_s": machine.links.node.value,
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
            "reference": cast("ProfileSpec", profile(machine.smt.reference).spec()),
            "parts": 1 if machine.smt.parts is None else machine.smt.parts.value,
        },
        "accounting": machine.accounting.value,
        "hypervisor": _hypervisor(machine),
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
