"""Whom a scenario is made of: the partitions of a server, or all of it where none is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from homenode.errors import listed
from homenode.records.importing.assemble.options import AssembleOptions
from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts, Told, TopologyFacts
from homenode.records.importing.opening.sources import ListingError


def members(
    facts: Facts, options: AssembleOptions
) -> tuple[SystemFacts | None, list[PartitionFacts]]:
    """The server and its partitions; those of no server belong to the only one."""
    every = {**facts.partitions}
    for series in facts.series:
        key = (series.system, series.partition)
        every.setdefault(key, PartitionFacts(series.partition, series.system))
    keys = list(dict.fromkeys(key for key, _ in every if key is not None))
    keys += [key for key in facts.systems if key not in keys and not every]
    if options.system is not None:
        if options.system not in {*keys, *facts.systems}:
            raise ListingError(
                f'no file tells of a server "{options.system}"', there=f"there is {listed(keys)}"
            )
        keys = [options.system]
    elif len(keys) > 1 and options.machine is None:
        step = "name one with --system, or put all on one machine with --machine"
        if unnamed := [key for key in keys if key in {_stem(one.file) for one in facts.took}]:
            step += f"; {listed(unnamed)} are names of files that name no server: what is of one"
            step += " server belongs into one file"
        raise ListingError(f"the files tell of {len(keys)} servers: {listed(keys)}", next_step=step)
    members = [one for (key, _), one in every.items() if key is None or key in keys]
    system = facts.systems.get(keys[0]) if len(keys) == 1 else None
    if system is None and not keys and len(facts.systems) == 1:
        system = next(iter(facts.systems.values()))
    if members:
        return system, [_with_threads(one, system) for one in members]
    system, alone = _whole(facts, system)
    return system, [alone]


def _stem(file: str) -> str:
    """A file's name, as it stands for a server that is not named."""
    return PurePath(file).name.split(".")[0]


def _with_threads(one: PartitionFacts, system: SystemFacts | None) -> PartitionFacts:
    """Of a system that is a whole server, threads are those of its cores."""
    told = None if system is None else system.threads_per_core
    alone = one.entitlement is None and (one.mode is None or one.mode.value == "dedicated")
    if told is None or not alone or one.smt or one.virtual or one.logical is None:
        return one
    return replace(one, smt=told) if one.logical.value % told.value == 0 else one


def _whole(facts: Facts, system: SystemFacts | None) -> tuple[SystemFacts | None, PartitionFacts]:
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
