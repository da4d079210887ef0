"""A server of which no partition is told, as one partition that has all of it."""

from __future__ import annotations

from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts, Told, TopologyFacts
from homenode.records.importing.opening.sources import ListingError


def whole(facts: Facts, system: SystemFacts | None) -> tuple[SystemFacts | None, PartitionFacts]:
    """The server, as far as it or a topology tells, and its only partition.

    Raises `ListingError` if nothing tells of either.
    """
    if system is None and not facts.topologies:
        raise ListingError(
            "nothing in the files tells of a server, a partition or its use",
            next_step="import recordings such as those of nmon, lparstat or sar",
        )
    topology = facts.topologies[0] if facts.topologies else None
    if system is None and topology is not None:
        system = _system(topology)
    found = PartitionFacts(system.key if system and system.key else "host", None)
    if system is not None:
        found.virtual, found.smt = system.cores, system.threads_per_core
        found.memory_bytes = system.memory_bytes
    if topology is not None:
        _fill(found, topology)
    return system, found


def _system(topology: TopologyFacts) -> SystemFacts:
    """What a topology says of the server itself."""
    told, where = topology.root.attributes, topology.where
    found = SystemFacts("")
    if told.get("architecture"):
        found.architecture = Told(str(told["architecture"]), where)
    if told.get("model"):
        model = str(told["model"]).removeprefix("CHRP ").removeprefix("IBM,")
        found.model = Told(model, where)
    if told.get("processor"):
        found.processor = Told(str(told["processor"]), where)
    if told.get("clock_hz"):
        found.clock_hz = Told(float(told["clock_hz"]), where)
    return found


def _fill(found: PartitionFacts, topology: TopologyFacts) -> None:
    """Cores, threads and memory that the topology has, where nothing else tells them."""
    every, where = list(topology.root.walk()), topology.where
    cores = sum(one.kind == "Core" for one in every)
    threads = sum(one.kind == "PU" for one in every)
    memory = sum(int(one.attributes.get("memory", 0)) for one in every if one.kind == "NUMANode")
    if cores and found.virtual is None:
        found.virtual = Told(cores, where)
        if threads and threads % cores == 0 and found.smt is None:
            found.smt = Told(threads // cores, where)
    if memory and found.memory_bytes is None:
        found.memory_bytes = Told(memory, where)
