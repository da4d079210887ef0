"""What the causes are called on a machine, and which of them can occur there.

A book of the engine fits every machine; people say `another cache, same cell` on one and `memory,
other drawer` on another. A table of one machine shows no row for what it does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from homenode.model.spec import MachineSpec
from homenode.simulate.kept.books import CAUSES

NODE = "node"
"""What a node is called where nobody says otherwise."""
_LEVELS = {1: "l2", 2: "l3"}


@dataclass(frozen=True)
class Vocabulary:
    """Labels by cause, for the causes that can occur, in their order."""

    node: str
    labels: Mapping[str, str]

    @classmethod
    def of_spec(cls, machine: MachineSpec, node: str = NODE) -> Vocabulary:
        """Of the machine of a frozen scenario whose nodes are called `node`."""
        levels = [(str(level["name"]), str(level["scope"])) for level in machine["caches"]]
        absent = _absent(machine, {_book(index, scope) for index, (_, scope) in enumerate(levels)})
        named = {cause.name: cause.label for cause in CAUSES if cause.name not in absent}
        for index, (name, scope) in enumerate(levels):
            book = _book(index, scope)
            if book in ("l2", "l3", "l4"):
                named[book] = f"{name} cache"
        beside_chip = machine["memory_beside"] == "chip"
        places = {
            "cache_near": f"another cache, same {node}",
            "cache_far": f"another cache, other {node}",
            "memory_local": f"memory, same {'chip' if beside_chip else node}",
            "memory_near": f"memory, same {node}",
            "memory_far": f"memory, other {node}",
        }
        return cls(node, {cause: places.get(cause, label) for cause, label in named.items()})

    def joined(self, other: Vocabulary) -> Vocabulary:
        """For a comparison of two machines: what both say, else what fits every machine."""
        if self == other:
            return self
        labels = {}
        for cause in CAUSES:
            said = {v.labels[cause.name] for v in (self, other) if cause.name in v.labels}
            if said:
                labels[cause.name] = said.pop() if len(said) == 1 else cause.label
        return Vocabulary(self.node if self.node == other.node else NODE, labels)

    def with_causes(self, causes: Iterable[str]) -> Vocabulary:
        """The same, with these causes too."""
        wanted = {*self.labels, *causes}
        return Vocabulary(
            self.node,
            {
                cause.name: self.labels.get(cause.name, cause.label)
                for cause in CAUSES
                if cause.name in wanted
            },
        )


def _book(index: int, scope: str) -> str:
    """Where the hits of a cache level are booked; the first level is part of the core's work."""
    if index == 0:
        return "useful"
    return "l4" if scope == "node" else _LEVELS.get(index, "cache_chip")


def _absent(machine: MachineSpec, levels: set[str]) -> set[str]:
    """Causes that cannot occur on a machine with caches that are booked so; a virtual switch is no
    part of a machine, and its list is told where it was searched.
    """
    absent = {"list", "l2", "l3", "l4"} - levels
    if machine["nodes"] == 1:
        absent |= {"cache_far", "memory_far"}
    if machine["chips_per_node"] == 1:
        absent |= {"cache_near", "memory_near"}
    if machine["memory_beside"] == "node":
        absent.add("memory_near")
    if machine["coherence"] == "home":
        absent |= {"cache_near", "cache_far"}
    if machine["threads_per_core"] == 1:
        absent.add("smt")
    if machine["translation"] is None and "walks" not in machine:
        absent.add("translation")
    if machine["stores"] is None:
        absent.add("store")
    return absent
