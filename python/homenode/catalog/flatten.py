"""From a machine description to what the engine takes: base units, no provenance."""

from __future__ import annotations

from typing import Any

from homenode.catalog.machine import Distances, MachineDescription


def machine_spec(machine: MachineDescription) -> dict[str, Any]:
    """The `machine` part of the engine's input."""
    clock = machine.clock.value
    distance = machine.node_distance
    return {
        "name": machine.name,
        "generation": machine.generation,
        "clock_hz": clock,
        "nodes": machine.nodes,
        "chips_per_node": machine.chips_per_node,
        "cores_per_chip": machine.cores_per_chip,
        "threads_per_core": machine.threads_per_core,
        "active_cores": machine.active_cores,
        "line_bytes": machine.line.value,
        "caches": [
            {
                "name": level.name,
                "bytes": level.size.value,
                "scope": level.scope,
                "latency_ns": level.latency.value.nanoseconds(clock),
                "victim": level.victim,
            }
            for level in machine.cache
        ],
        "cache_to_cache_ns": _distances(machine.cache_to_cache, clock),
        "memory_ns": _distances(machine.memory, clock),
        "node_distance": (
            [] if distance is None else [factor for row in distance.value for factor in row]
        ),
        "memory_bytes_per_s": machine.memory.bandwidth.value,
        "chip_link_bytes_per_s": machine.links.chip.value,
        "node_link_bytes_per_s": machine.links.node.value,
        "smt": {
            "gain": list(machine.smt.gain.value),
            "reference_stall_share": machine.smt.reference_stall_share.value,
        },
        "accounting": machine.accounting.value,
        "hypervisor": _hypervisor(machine),
    }


def _distances(distances: Distances, clock_hz: float) -> dict[str, float]:
    return {
        "local": distances.local.value.nanoseconds(clock_hz),
        "near": distances.near.value.nanoseconds(clock_hz),
        "far": distances.far.value.nanoseconds(clock_hz),
    }


def _hypervisor(machine: MachineDescription) -> dict[str, Any]:
    constants = machine.hypervisor
    return {
        "window_ns": constants.window.value,
        "min_entitlement_per_vp": constants.min_entitlement_per_vp.value,
        "dispatch_ns": constants.dispatch.value,
        "cede_ns": constants.cede.value,
        "prod_ns": constants.prod.value,
        "confer_ns": constants.confer.value,
        "phantom_ns": constants.phantom.value,
        "excess_quantum_ns": constants.excess_quantum.value,
        "counts_redispatch": constants.counts_redispatch.value,
        "eviction": constants.eviction.value,
    }
