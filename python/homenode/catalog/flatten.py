"""From a machine description to what the engine takes: base units, no provenance."""

from __future__ import annotations

from typing import Any

from homenode.catalog.machine import Distances, MachineDescription


def machine_spec(machine: MachineDescription) -> dict[str, Any]:
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
        "smt": {
            "gain": list(machine.smt.gain.value),
            "reference_stall_share": machine.smt.reference_stall_share.value,
        },
        "accounting": machine.accounting.value,
        "hypervisor": machine.hypervisor.spec(),
    }


def _distances(distances: Distances, clock_hz: float) -> dict[str, float]:
    return {
        "local": distances.local.value.nanoseconds(clock_hz),
        "near": distances.near.value.nanoseconds(clock_hz),
        "far": distances.far.value.nanoseconds(clock_hz),
    }
