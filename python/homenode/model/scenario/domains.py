"""Several memory domains a socket, as NPS of AMD's servers sets them: each part of a socket has
chips, controllers and memory of its own.

What one figure, the latency to the memory of its own quarter, says of all distances inside a
socket: undivided, lines are spread over all four quarters alike, so that the latency of the whole
socket is the mean of that to its own quarter and thrice that to another one. Other sockets are as
far as before. A part may use all of its socket's links to the others; that the parts share them is
not modelled.
"""

from __future__ import annotations

from typing import Any

from homenode.model.catalog import MachineDescription
from homenode.model.document import Problems, TomlTable

_QUARTERS = 4
_PARTS = (2, _QUARTERS)
_SAID = "set by nps of the scenario"


def divide(data: TomlTable, whole: MachineDescription, parts: int, problems: Problems) -> None:
    """Make each socket of a machine's data so many nodes. What cannot be is noted."""
    fault = _fault(whole, parts)
    if fault is not None:
        problems.add(("machine", "nps"), there=fault[0], next_step=fault[1])
        return
    own, other = distances(whole, parts)
    memory, load = data["memory"], whole.memory.load
    data["node_name"] = "NUMA node"
    data["topology"]["nodes"] = _set(whole.nodes * parts)
    data["topology"]["nodes_per_socket"] = _set(parts)
    data["topology"]["chips_per_node"] = _set(whole.chips_per_node // parts)
    memory["local"] = memory["near"] = _set(f"{own:.6f} ns")
    memory["bandwidth"] = _set(f"{whole.memory.bandwidth.value / parts / 1e9:.6f} GB/s")
    if load is not None:
        memory["load"]["channels"] = _set(load.channels.value // parts)
    far = whole.memory.far.value.nanoseconds(whole.clock.value)
    data["node_distance"] = _set(_factors(whole.nodes, parts, other / far))


def distances(whole: MachineDescription, parts: int) -> tuple[float, float]:
    """Latency to the memory of the own part of a socket, and to another part of it [ns]; alike
    where no figure says otherwise.
    """
    clock, memory = whole.clock.value, whole.memory
    nearest = (memory.quarter or memory.local).value.nanoseconds(clock)
    undivided = memory.local.value.nanoseconds(clock)
    other = (_QUARTERS * undivided - nearest) / (_QUARTERS - 1)
    # A half is the own quarter and another one.
    return (nearest if parts == _QUARTERS else (nearest + other) / 2), other


def _factors(sockets: int, parts: int, same: float) -> list[list[float]]:
    """On far latencies: 1 between sockets, and `same` inside of one."""
    nodes = range(sockets * parts)
    return [[1.0 if a == b or a // parts != b // parts else same for b in nodes] for a in nodes]


def _fault(whole: MachineDescription, parts: int) -> tuple[str, str] | None:
    """Why a socket cannot be divided so, and what to write."""
    memory, chips = whole.memory, whole.chips_per_node
    if parts not in _PARTS:
        return "a socket is one memory domain, two or four", "write nps = 1, 2 or 4"
    if memory.beside != "node":
        step = "write nps = 1, or describe a machine whose sockets are nodes of several chips"
        return f"on {whole.title} a socket is one chip with all of its memory", step
    if memory.quarter is None:
        step = (
            "write nps = 1, or in a machine file of your own, under [memory], "
            'quarter = { value = "113 ns", source = "..." }, the latency to the own quarter'
        )
        return f"of {whole.title} no latency inside of a socket is known: memory.quarter", step
    if whole.node_distance is not None:
        return "node_distance says it for the sockets themselves", "leave one of the two out"
    channels = parts if memory.load is None else memory.load.channels.value
    for count, what in ((chips, "chips"), (channels, "memory channels")):
        if count % parts:
            fits = [one for one in (1, *_PARTS) if chips % one == channels % one == 0]
            return f"a socket has {count} {what}", f"write nps = {fits[-1]}, or other cores"
    return None


def _set(value: Any) -> TomlTable:
    return {"value": value, "stated": _SAID}
