"""Which server a listing is of that names none."""

from __future__ import annotations

from dataclasses import replace

from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts, Told

NO_SERVER = ""
"""Key of the server that is meant where no serial number is told."""


def to_the_only_server(facts: Facts) -> None:
    """Rows that name no server are of the one that other files tell of, if it is the only one."""
    servers = {key for key, _ in facts.partitions if key} | {key for key in facts.systems if key}
    if len(servers) != 1:
        return
    (server,) = servers
    if NO_SERVER in facts.systems:
        _merge(facts, facts.systems.pop(NO_SERVER), facts.system(server))
    for key, of in [(key, of) for key, of in facts.partitions.items() if key[0] is None]:
        del facts.partitions[key]
        _merge(facts, of, facts.partition(server, of.name))
    for kind in (facts.series, facts.beside, facts.affinity):
        owned = [replace(one, system=server) if one.system is None else one for one in kind]
        kind[:] = owned  # type: ignore[assignment]  # of its own kind


def _merge(
    facts: Facts, source: SystemFacts | PartitionFacts, target: SystemFacts | PartitionFacts
) -> None:
    """Add what one tells to another of the same kind."""
    for name, value in vars(source).items():
        if isinstance(value, Told):
            facts.tell(target, name, value)
        elif isinstance(value, dict):
            for of, told in value.items():
                getattr(target, name).setdefault(of, told)
