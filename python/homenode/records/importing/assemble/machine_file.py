"""A machine description for a host that none of the shipped ones describes.

The topology gives the shape, the sizes of the caches and how far memory is in relation; what it
cannot tell (latencies, bandwidths, the gain of hardware threads, the hypervisor's costs) is taken
of a machine of the same family, or of a file of plain assumptions for x86-64, and stands there as
assumed, with a range.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from homenode.errors import MachineError
from homenode.model.catalog import machine, machines
from homenode.model.catalog.names import machine_document
from homenode.model.document import TomlTable, shipped_document
from homenode.model.units import FREQUENCY, SIZE
from homenode.records.importing.assemble.generations import generation_of
from homenode.records.importing.assemble.shape import Cache, Scope, Shape, shape_of
from homenode.records.importing.assemble.toml_text import machine_text
from homenode.records.importing.facts import SystemFacts, TopologyFacts
from homenode.records.importing.opening.sources import ListingError, Notice

Figure = TomlTable
_FAMILIES = {"ppc": "ibm-power-e1080", "power": "ibm-power-e1080", "s390": "ibm-z15"}
_ITANIUM = "hp-superdome-sx2000"
_QUANTITY = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit> ?[A-Za-z/]+)?")
_NAMED_CLOCK = re.compile(r"@ ?(\d+\.\d+) ?GHz")
"""As in names of Intel's processors."""
_GIB_BITS = 30
_POLICIES = {"xen": "credit2", "vmware": "esxi"}
"""Who dispatches under a hypervisor that is told; under any other, Linux."""
_KEPT = (
    *("cache_to_cache", "memory", "links", "walks", "smt"),
    *("hypervisor", "accounting", "clock", "line"),
)


@dataclass(frozen=True)
class MachineFile:
    """A machine description that was made of what a recording tells."""

    text: str
    cores: int
    """Cores in use."""
    notices: tuple[Notice, ...]
    """What was assumed."""


@dataclass(frozen=True)
class _Base:
    """Where numbers come from that no listing tells."""

    title: str
    figures: TomlTable
    caches: list[TomlTable]
    coherence: str = "owner"


def machine_file(
    topology: TopologyFacts | None, system: SystemFacts | None, name: str
) -> MachineFile:
    """The description, as text that the loader of machines accepts.

    Raises `ListingError` if neither a topology nor a number of cores is told, or if the machine is
    larger than a description can be.
    """
    told = _told(topology, system)
    shape = _counted(system) if topology is None else shape_of(topology)
    _refuse_large(shape, topology)
    base = _base(told, system)
    source = told["source"]
    notices = [Notice(text, told["where"]) for text in shape.remarks]
    table: TomlTable = {
        "name": name,
        "title": str(told.get("model") or told.get("processor") or name).strip() + ", as imported",
        "model": str(told.get("model") or "unknown"),
        "generation": str(told.get("processor") or told.get("architecture") or "unknown"),
        "node_name": shape.node_name,
    }
    if base.coherence != "owner":
        table["coherence"] = base.coherence
    table |= {key: base.figures[key] for key in _KEPT if key in base.figures}
    table["clock"] = _clock(told, base, notices)
    table["line"] = _line(shape, base, source)
    table["topology"] = _topology(shape, source)
    table["cache"] = _caches(shape, base, source)
    _place_memory(table, shape, source)
    table["smt"] = _gains(base.figures["smt"], shape.threads_per_core)
    text = (
        f"latencies and bandwidths are assumed, as on {base.title}; each has its range in the file"
    )
    notices.append(Notice(text, told["where"]))
    return MachineFile(machine_text(table, source), shape.active_cores, tuple(notices))


def _told(topology: TopologyFacts | None, system: SystemFacts | None) -> TomlTable:
    """What is said of the whole; the server's own facts count first."""
    told: TomlTable = {}
    if topology is not None:
        about = topology.root.attributes
        keys = ("architecture", "processor", "model", "clock_hz")
        told |= {key: about[key] for key in keys if key in about}
        told |= {"source": f"the topology in {topology.where}", "where": topology.where}
    if system is not None:
        for key in ("architecture", "processor", "model", "clock_hz"):
            fact = getattr(system, key)
            if fact is not None:
                told[key] = fact.value
                told.setdefault("where", fact.where)
        if system.cores is not None:
            told.setdefault("source", f"the recording, {system.cores.where}")
    named = _NAMED_CLOCK.search(str(told.get("processor") or ""))
    if named is not None:
        told.setdefault("clock_hz", float(named[1]) * 1e9)
    return {"source": "the recording", "where": None, **told}


def _counted(system: SystemFacts | None) -> Shape:
    """One node with all cores in its chips, where only numbers are told."""
    if system is None or system.cores is None:
        raise ListingError(
            "no machine can be described",
            there="neither a topology nor a number of cores is told",
            next_step="give lscpu's output or hwloc XML too, or name a machine with --machine",
        )
    cores = system.cores.value
    chips = system.chips.value if system.chips else 1
    threads = system.threads_per_core.value if system.threads_per_core else 1
    memory = system.memory_bytes.value if system.memory_bytes else 0
    shape = Shape(1, chips, -(-cores // chips), threads, cores, "server", "node", memory)
    if chips > 1:
        shape.memory_beside = "chip"
    else:
        shape.remarks.append("how many chips there are is not told; one of all cores is taken")
    return shape


def _refuse_large(shape: Shape, topology: TopologyFacts | None) -> None:
    limits = (
        ("nodes", shape.nodes, 64),
        ("chips of a node", shape.chips_per_node, 64),
        ("cores of a chip", shape.cores_per_chip, 64),
        ("threads of a core", shape.threads_per_core, 8),
    )
    for what, count, most in limits:
        if count > most:
            raise ListingError(
                f"a machine description has at most {most} {what}",
                there=f"there are {count}",
                where=None if topology is None else topology.where,
                next_step="describe it by hand, see homenode machines",
            )


def _base(told: TomlTable, system: SystemFacts | None) -> _Base:
    architecture = str(told.get("architecture") or "x86_64")
    family = next((name for key, name in _FAMILIES.items() if architecture.startswith(key)), None)
    if architecture == "ia64":
        family = _ITANIUM
    wanted = generation_of(told.get("processor"), told.get("model"))
    if wanted is not None:
        family = _nearest(wanted) or family
    return _plain(system) if family is None else _shipped(family)


def _nearest(wanted: tuple[str, float]) -> str | None:
    """The shipped machine of the nearest generation."""
    near = [
        (abs(found[1] - wanted[1]), name)
        for name in machines()
        if (found := generation_of(machine(name).generation)) and found[0] == wanted[0]
    ]
    return min(near)[1] if near else None


def _shipped(name: str) -> _Base:
    """A shipped machine's numbers, which are assumptions here."""
    data: TomlTable = dict(machine_document(name).data)
    title = str(data["title"])
    figures = {key: _assumed(data[key], title) for key in _KEPT if key in data}
    caches = [_assumed(level, title) for level in data["cache"]]
    return _Base(title, figures, caches, str(data.get("coherence", "owner")))


def _plain(system: SystemFacts | None) -> _Base:
    """Plain assumptions for x86-64; Linux dispatches unless Xen or VMware's ESXi is told."""
    data = shipped_document("assumptions", "x86_64", MachineError).data
    told = None if system is None else system.hypervisor
    policy = None if told is None else _POLICIES.get(told.value)
    data["hypervisor"] = {"policy": policy or "linux"}
    return _Base("x86-64 servers in general", data, data["cache"])


def _assumed(table: Any, title: str) -> Any:
    """A table with every figure as an assumption."""
    if not isinstance(table, dict):
        return table
    if "value" not in table:
        return {key: _assumed(inner, title) for key, inner in table.items()}
    said = table.get("assumed")
    why = f"as on {title}" + (f": {said}" if said else "")
    value = table["value"]
    return {"value": value, "assumed": why, "range": table.get("range") or _around(value)}


def _around(value: object) -> list[object]:
    """From half to double of a number, a share staying below 1; a list or a word as it is."""
    if isinstance(value, bool):
        return [value, value]
    if isinstance(value, int):
        return [-(-value // 2), value * 2]
    if isinstance(value, float):
        high = min(value * 2, (1 + value) / 2) if value < 1 else value * 2
        return [round(value / 2, 6), round(high, 6)]
    if isinstance(value, list):
        return [value, value]
    found = _QUANTITY.fullmatch(str(value))
    if found is None:
        return [value, value]
    number, unit = float(found["number"]), found["unit"] or ""
    return [f"{number / 2:g}{unit}", f"{number * 2:g}{unit}"]


def _clock(told: TomlTable, base: _Base, notices: list[Notice]) -> Figure:
    clock = told.get("clock_hz")
    if clock:
        return {"value": FREQUENCY.format(round(clock)), "source": str(told["source"])}
    notices.append(Notice(f"the clock is not told; {base.figures['clock']['value']} is assumed"))
    return dict(base.figures["clock"])


def _line(shape: Shape, base: _Base, source: str) -> Figure:
    lines = [cache.line for cache in shape.caches if cache.line]
    if lines:
        return {"value": f"{max(lines)} B", "source": source}
    return dict(base.figures["line"])


def _topology(shape: Shape, source: str) -> dict[str, Figure]:
    counts = {
        "nodes": shape.nodes,
        "chips_per_node": shape.chips_per_node,
        "cores_per_chip": shape.cores_per_chip,
        "threads_per_core": shape.threads_per_core,
        "active_cores": shape.active_cores,
    }
    return {key: {"value": count, "source": source} for key, count in counts.items()}


def _caches(shape: Shape, base: _Base, source: str) -> list[TomlTable]:
    """The levels that are told, each with the latency of the base's level of that number; the
    base's levels if none are.
    """
    if not shape.caches:
        return [_with_latency(dict(level), base) for level in base.caches]
    return [_cache(cache, base, source) for cache in _ordered(shape.caches)]


def _ordered(caches: list[Cache]) -> list[Cache]:
    """Outer levels are shared by no fewer than inner ones."""
    order: tuple[Scope, ...] = ("core", "chip", "node")
    kept: list[Cache] = []
    for cache in caches:
        least = order.index(kept[-1].scope) if kept else 0
        scope = order[max(least, order.index(cache.scope))]
        kept.append(replace(cache, scope=scope))
    return kept


def _cache(cache: Cache, base: _Base, source: str) -> TomlTable:
    table: TomlTable = {
        "name": f"L{cache.level}",
        "scope": cache.scope,
        "victim": False,
        "size": {"value": SIZE.format(cache.size), "source": source},
    }
    if cache.instruction_size:
        size = SIZE.format(cache.instruction_size)
        table["instruction_size"] = {"value": size, "source": source}
    if cache.ways and cache.ways <= 1 << 12:
        table["ways"] = {"value": cache.ways, "source": source}
    return _with_latency(table, base)


def _with_latency(table: TomlTable, base: _Base) -> TomlTable:
    """A cache with the latency of the base's of its number, or of the next one inside."""
    number = int(str(table["name"])[1])
    latencies = base.figures.get("latency", {})
    if not latencies:
        levels = {int(level["name"][1]): level["latency"] for level in reversed(base.caches)}
        latencies = {str(level): latency for level, latency in levels.items()}
    nearest = max((key for key in latencies if int(key) <= number), key=int, default="1")
    return {**table, "latency": latencies[nearest]}


def _place_memory(table: TomlTable, shape: Shape, source: str) -> None:
    """Where memory hangs, and latencies by the distances that are told."""
    memory = {key: value for key, value in table["memory"].items() if key != "beside"}
    if shape.memory_beside == "node":
        memory["near"] = memory["local"]
    elif shape.near is not None:
        memory["near"] = _times(memory["local"], shape.near, source)
    rows = [row[:] for row in shape.far]
    apart = [value for a, row in enumerate(rows) for b, value in enumerate(row) if a != b]
    if apart:
        least = max(1.0, min(apart))
        memory["far"] = _times(memory["local"], least, source)
        factors = [
            [1 if a == b else round(max(1.0, value / least), 4) for b, value in enumerate(row)]
            for a, row in enumerate(rows)
        ]
        if any(factor != 1 for row in factors for factor in row):
            table["node_distance"] = {"value": factors, "source": f"distances of {source}"}
    memory["near"] = _no_less(memory["near"], memory["local"])
    memory["far"] = _no_less(memory["far"], memory["near"])
    if shape.memory_bytes:
        size = SIZE.format(-(-shape.memory_bytes // 2**_GIB_BITS) * 2**_GIB_BITS)
        memory["maximum"] = {"value": size, "source": f"{source}: so much is in it"}
    table["memory"] = {"beside": shape.memory_beside, **memory}


def _times(figure: Figure, ratio: float, source: str) -> Figure:
    """A latency that is so many times another."""
    number, unit = _parts(str(figure["value"]))
    low, high = ((n * ratio, u) for n, u in (_parts(str(end)) for end in figure["range"]))
    why = f"{ratio:.4g} times local, by the distances in {source}; local is assumed"
    ends = [f"{low[0] * 0.8:.4g}{low[1]}", f"{high[0] * 1.2:.4g}{high[1]}"]
    return {"value": f"{number * ratio:.4g}{unit}", "assumed": why, "range": ends}


def _no_less(figure: Figure, than: Figure) -> Figure:
    """A latency, or the other if that is longer."""
    mine, other = _parts(str(figure["value"])), _parts(str(than["value"]))
    return dict(than) if mine[1] == other[1] and mine[0] < other[0] else figure


def _parts(text: str) -> tuple[float, str]:
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no quantity")
    return float(found["number"]), found["unit"] or ""


def _gains(smt: TomlTable, threads: int) -> TomlTable:
    """The gain for so many threads; the last counts for those beyond."""

    def fit(gain: list[float]) -> list[float]:
        return [*gain, *[gain[-1]] * threads][:threads]

    gain = smt["gain"]
    fitted = {**gain, "value": fit(gain["value"]), "range": [fit(end) for end in gain["range"]]}
    return {**smt, "gain": fitted}
