"""The even shape of a topology: so many nodes of so many chips of so many cores of so many threads,
which is what a machine description can say.

What is a chip and what a node is read off the memory and the caches: processors that share a
last-level cache are a chip where a package has several of them, else a package is; a node is what
holds several chips beside one memory, or a drawer, book or board that the topology names or that
distances give away. Where parts differ, the largest counts and a sentence says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from homenode.records.importing.facts import TopologyFacts, TopologyObject
from homenode.records.importing.opening.sources import ListingError

Scope = Literal["core", "chip", "node"]
_NODES = ("Drawer", "Book", "Group")
_CACHES = ("L1d", "L1i", "L1", "L2d", "L2i", "L2", "L3", "L4", "L5")
_LATENT = 10.0
"""Distance to a memory node's own processors, as firmware tells it."""


@dataclass
class Cache:
    """Caches of a level that are alike."""

    level: int
    scope: Scope
    size: int
    """Bytes, for data."""
    instruction_size: int | None = None
    ways: int | None = None
    line: int | None = None


@dataclass
class Shape:
    """What a description says of the tree."""

    nodes: int
    chips_per_node: int
    cores_per_chip: int
    threads_per_core: int
    active_cores: int
    node_name: str
    memory_beside: Literal["chip", "node"]
    memory_bytes: int
    caches: list[Cache] = field(default_factory=list)
    near: float | None = None
    """Distance to memory of another chip of the node, relative to the own; None if not told."""
    far: list[list[float]] = field(default_factory=list)
    """The same between nodes; empty if not told."""
    remarks: list[str] = field(default_factory=list)


def shape_of(topology: TopologyFacts) -> Shape:
    """The shape; `ListingError` if the tree has no processors."""
    root = topology.root
    processors = _of(root, "PU")
    if not processors:
        raise ListingError("the topology has no processors", where=topology.where)
    remarks: list[str] = []
    cores = _of(root, "Core") or processors
    chips, chip_is = _chips(root, cores)
    nodes, name = _nodes(root, chips)
    if len(nodes) == 1 and not _memory_beside(nodes, chips):
        name = "server"
    beside: Literal["chip", "node"] = "chip" if _memory_beside(nodes, chips) else "node"
    shape = Shape(
        nodes=len(nodes),
        chips_per_node=_most(nodes, chips, f"{chip_is}s", remarks),
        cores_per_chip=_most(chips, cores, "cores", remarks),
        threads_per_core=_most(cores, processors, "threads", remarks),
        active_cores=len(cores),
        node_name=name,
        memory_beside=beside,
        memory_bytes=sum(int(one.attributes.get("memory", 0)) for one in _of(root, "NUMANode")),
        remarks=remarks,
    )
    shape.caches = _caches(root, {"core": cores, "chip": chips, "node": nodes}, remarks)
    _distances(topology, nodes, chips, shape)
    return shape


def _of(root: TopologyObject, kind: str) -> list[TopologyObject]:
    return [one for one in root.walk() if one.kind == kind]


def _numbers(one: TopologyObject) -> frozenset[int | None]:
    return frozenset(inner.os_index for inner in one.walk() if inner.kind == "PU")


def _chips(root: TopologyObject, cores: list[TopologyObject]) -> tuple[list[TopologyObject], str]:
    """Packages, or what shares a last-level cache where that is several of a package."""
    packages = [one for one in _of(root, "Package") if _numbers(one)] or [root]
    last = next((found for kind in reversed(_CACHES) if (found := _of(root, kind))), [])
    several = len(packages) < len(last) < len(cores) and len(last) % len(packages) == 0
    if several and all(sum(1 for _ in _of(one, last[0].kind)) > 1 for one in packages):
        return last, "last-level cache"
    dies = _of(root, "Die")
    return (dies, "die") if len(dies) > len(packages) else (packages, "package")


def _nodes(root: TopologyObject, chips: list[TopologyObject]) -> tuple[list[TopologyObject], str]:
    """The innermost that hold several chips each, and what they are called."""
    for kind in ("Package", *_NODES[::-1]):
        name = "socket" if kind == "Package" else "board" if kind == "Group" else kind.lower()
        found = [one for one in _of(root, kind) if _inside(one, chips)]
        inner = [one for one in found if not any(_inside(one, [o]) for o in found if o is not one)]
        held = sum(len(_inside(one, chips)) for one in inner)
        if held == len(chips) and 1 < len(inner) < len(chips):
            return inner, name
    return [root], "server"


def _inside(one: TopologyObject, others: Iterable[TopologyObject]) -> list[TopologyObject]:
    """Those of others that are below it, itself not."""
    below = {id(inner) for inner in one.walk()} - {id(one)}
    return [other for other in others if id(other) in below]


def _memory_beside(nodes: list[TopologyObject], chips: list[TopologyObject]) -> bool:
    """Whether each chip has memory of its own."""
    del nodes
    return len(chips) > 1 and all(_of(one, "NUMANode") for one in chips)


def _most(
    outer: list[TopologyObject], inner: list[TopologyObject], what: str, remarks: list[str]
) -> int:
    """The largest number of inner ones in an outer one."""
    known = {id(one) for one in inner}
    counts = Counter(sum(id(below) in known for below in one.walk()) for one in outer)
    counts.pop(0, None)
    if len(counts) > 1:
        listed = ", ".join(f"{number} have {count}" for count, number in sorted(counts.items()))
        remarks.append(f"not all have as many {what}: {listed}; the most count")
    return max(counts, default=1)


def _caches(
    root: TopologyObject, scopes: dict[str, list[TopologyObject]], remarks: list[str]
) -> list[Cache]:
    """The levels, from the core outwards."""
    found: dict[int, Cache] = {}
    for kind in _CACHES:
        every = [one for one in _of(root, kind) if "size" in one.attributes]
        if not every:
            continue
        level, size = int(kind[1]), max(int(one.attributes["size"]) for one in every)
        if kind.endswith("i"):
            if level in found:
                found[level].instruction_size = size
            continue
        scope, share = _scope(len(every), scopes)
        if share > 1:
            remarks.append(f"{share} cores share an {kind}, each is given its part of it")
        first = every[0].attributes
        ways, line = int(first.get("ways", 0)), int(first.get("line", 0))
        whole = ways if ways > 0 else None
        found.setdefault(level, Cache(level, scope, size // share, None, whole, line or None))
    return [found[level] for level in sorted(found)]


def _scope(count: int, scopes: dict[str, list[TopologyObject]]) -> tuple[Scope, int]:
    """Who shares one of so many, and how many cores divide one where it is some of a chip."""
    cores, chips, nodes = (len(scopes[name]) for name in ("core", "chip", "node"))
    if count >= cores:
        return "core", 1
    if count <= nodes and nodes < chips:
        return "node", 1
    if count <= chips:
        return "chip", 1
    return "core", -(-cores // count)


def _distances(
    topology: TopologyFacts,
    nodes: list[TopologyObject],
    chips: list[TopologyObject],
    shape: Shape,
) -> None:
    """Relative latencies from the firmware's distances."""
    rows = topology.distances
    memory = sorted(_of(topology.root, "NUMANode"), key=lambda one: one.os_index or 0)
    if not rows:
        return
    places = {id(one): place for place, one in enumerate(memory)}
    node_of = {
        places[id(one)]: number
        for number, node in enumerate(nodes)
        for one in _of(node, "NUMANode")
        if id(one) in places
    }
    beside = [_of(one, "NUMANode") for one in chips]
    known = {places[id(one)] for found in beside for one in found[:1]}
    if shape.memory_beside == "chip":
        near = [
            rows[a][b] / rows[a][a]
            for a in known
            for b in known
            if a != b and node_of.get(a) == node_of.get(b)
        ]
        shape.near = sum(near) / len(near) if near else None
    count = len(nodes)
    if count > 1 and len(set(node_of.values())) == count:
        shape.far = [[_mean(rows, node_of, a, b) for b in range(count)] for a in range(count)]
    alone = len(memory) - len(node_of)
    if alone:
        shape.remarks.append(f"{alone} memory nodes without processors are left out")


def _mean(rows: tuple[tuple[float, ...], ...], node_of: dict[int, int], a: int, b: int) -> float:
    """Mean distance between the memory of two nodes, relative to its own."""
    if a == b:
        return 1.0
    pairs = [
        rows[i][j] / (rows[i][i] or _LATENT)
        for i, node in node_of.items()
        for j, other in node_of.items()
        if node == a and other == b
    ]
    return sum(pairs) / len(pairs)
