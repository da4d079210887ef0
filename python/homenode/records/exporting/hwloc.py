"""The machine of a run as hwloc XML, for lstopo and every program that reads topologies with hwloc.

Nodes are groups with what their users call them as subtype, chips packages; memory stands beside
what it is near to, with distances in tenths of the local latency, as firmware tells them. Cores
that are not activated are left out. Of two cache levels of one number, which hwloc has no room for,
the inner one is written: the outer is the same memory seen from the chip. Latencies, bandwidths and
links have no place in it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _engine
from homenode.model.spec import CacheSpec, MachineSpec
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind

if TYPE_CHECKING:
    from homenode.simulate.run import Run

Object = dict[str, Any]
_LOCAL = 10
_MATRIX = {"name": "NUMALatency", "of": "NUMANode", "meaning": 5}
_DEEPEST = 5


@dataclass(frozen=True)
class HwlocXml:
    """The machine as hwloc's XML, in one file."""

    name: str = "hwloc"
    title: str = "hwloc XML of the machine, for lstopo"
    kind: Kind = "file"
    suffix: str = ".xml"
    takes: Collection[str] = ()

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """See `Exporter.write`."""
        del options
        tree = topology(run.spec["machine"], run.node_name, run.memory_room)
        text = _engine.topology_xml(json.dumps(tree))
        target.write_text(text, encoding="utf-8")
        return [target]


def topology(machine: MachineSpec, node_name: str, room: Mapping[int, int]) -> Object:
    """The tree of a machine as the engine takes it; `room` is memory by domain [bytes]."""
    tree = _Tree(machine, room)
    nodes = [node for index in range(machine["nodes"]) if (node := tree.node(index, node_name))]
    inside = nodes[0]["children"] if len(nodes) == 1 else nodes
    about = {"PlatformName": "homenode", "PlatformModel": machine["name"]}
    root = {"kind": "Machine", "os_index": 0, "infos": _infos(about), "children": inside}
    answer: Object = {"root": root, "distances": []}
    if len(tree.domains) > 1:
        rows = [[tree.distance(a, b) for b in tree.domains] for a in tree.domains]
        objects = list(range(len(rows)))
        answer["distances"] = [{**_MATRIX, "objects": objects, "rows": rows}]
    return answer


def _relative(ratio: float) -> int:
    """A distance to another domain; firmware keeps that of its own for itself."""
    return max(_LOCAL + 1, round(_LOCAL * ratio))


def _infos(named: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in named.items()]


class _Tree:
    """Objects of a machine, counted through."""

    def __init__(self, machine: MachineSpec, room: Mapping[int, int]) -> None:
        self.machine, self.room = machine, room
        self.domains: list[int] = []
        """Memory domains that were made, in their order."""
        levels: dict[int, CacheSpec] = {}
        for place, level in enumerate(machine["caches"], 1):
            digits = [int(c) for c in level["name"] if c.isdigit()] or [place]
            levels.setdefault(min(digits[0], _DEEPEST), level)
        self._caches = sorted(levels.items(), reverse=True)

    def node(self, index: int, name: str) -> Object | None:
        """A node with its active chips; None if it has none."""
        chips = [chip for n in range(self._chips) if (chip := self.chip(index * self._chips + n))]
        if not chips:
            return None
        inside = self._cached("node", chips)
        beside = [self.memory(index)] if self.machine["memory_beside"] == "node" else []
        word = name.rsplit(maxsplit=1)[-1].capitalize()
        return {
            "kind": "Group",
            "subtype": word,
            "os_index": index,
            "children": [*beside, *inside],
        }

    def chip(self, index: int) -> Object | None:
        """A chip with its active cores; None if it has none."""
        cores = self.machine["cores_per_chip"]
        active = range(index * cores, min((index + 1) * cores, self.machine["active_cores"]))
        inside = self._cached("chip", [one for core in active for one in self.core(core)])
        if not active:
            return None
        beside = [self.memory(index)] if self.machine["memory_beside"] == "chip" else []
        about = _infos({"CPUModel": self.machine["generation"]})
        children = [*beside, *inside]
        return {"kind": "Package", "os_index": index, "infos": about, "children": children}

    def core(self, index: int) -> list[Object]:
        """A core within its own caches."""
        threads = self.machine["threads_per_core"]
        numbers = range(index * threads, (index + 1) * threads)
        children = [{"kind": "PU", "os_index": number} for number in numbers]
        core = {"kind": "Core", "os_index": index, "children": children}
        return self._cached("core", [core])

    def memory(self, domain: int) -> Object:
        """A memory domain as a NUMANode of its size; it is noted in `domains`."""
        self.domains.append(domain)
        size = {"bytes": self.room[domain]} if self.room.get(domain) else {}
        return {"kind": "NUMANode", "os_index": domain, **size}

    def distance(self, a: int, b: int) -> int:
        """Between two domains, 10 for its own."""
        latency, each = self.machine["memory_ns"], self._chips
        beside_chip = self.machine["memory_beside"] == "chip"
        nodes = (a // each, b // each) if beside_chip else (a, b)
        if a == b:
            return _LOCAL
        if nodes[0] == nodes[1]:
            return _relative(latency["near"] / latency["local"])
        pairs = self.machine["node_distance"]
        factor = pairs[nodes[0] * self.machine["nodes"] + nodes[1]] if pairs else 1.0
        return _relative(factor * latency["far"] / latency["local"])

    @property
    def _chips(self) -> int:
        return int(self.machine["chips_per_node"])

    def _cached(self, scope: str, inside: list[Object]) -> list[Object]:
        """What is inside, in the caches of a scope, the outermost around all."""
        for level, cache in reversed(self._caches):
            if cache["scope"] == scope and inside:
                size = {"bytes": cache["bytes"], "line_bytes": self.machine["line_bytes"]}
                inside = [{"kind": f"L{level}", **size, "children": inside}]
        return inside


EXPORTER: Exporter = HwlocXml()
