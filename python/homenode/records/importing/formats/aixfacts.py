"""What `lparstat -i`, `System configuration` lines and `lssrad -av` say of a partition and its
server.

AIX prints sizes in megabytes of 2^20 bytes, Linux in kB of 2^10; capacities of pools are hundredths
of a core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from homenode.errors import Where
from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts, Told
from homenode.records.importing.shared.servers import NO_SERVER
from homenode.records.importing.shared.words import number, size, unsound, whole

At = Callable[[int], Where]

_MB = 1 << 20
_THREADS = {"off": 1, "on": 2}
"""What `smt=On` means: with more than two threads a core the number is printed."""


def tell_information(
    listing: Mapping[str, Any],
    facts: Facts,
    at: At,
    system_key: str | None = None,
    partition: PartitionFacts | None = None,
) -> PartitionFacts:
    """Add a listing of `lparstat -i`; `partition` is the one it is about, if that is known."""
    told = {label: (value, line) for label, value, line in listing["facts"]}
    if partition is None:
        name = next(
            (told[label][0] for label in ("Partition Name", "Node Name") if label in told), ""
        )
        partition = facts.partition(system_key, name or "partition")
    reader = _Reader(facts, at, told)
    reader.partition(partition)
    reader.limits(partition)
    reader.system(facts.system(system_key if system_key is not None else NO_SERVER))
    return partition


class _Reader:
    """Takes facts out of one listing."""

    def __init__(self, facts: Facts, at: At, told: Mapping[str, tuple[str, int]]) -> None:
        self.facts, self.at, self.told = facts, at, told

    def tell(
        self,
        of: PartitionFacts | SystemFacts,
        attribute: str,
        label: str,
        read: Callable[[str], object | None],
    ) -> None:
        """Tell an attribute if its label is there with a sound value."""
        if label not in self.told:
            return
        text, line = self.told[label]
        if text == "-":
            return
        value = read(text)
        if value is not None:
            self.facts.tell(of, attribute, Told(value, self.at(line)))
        elif read in (number, whole, size, _hundredths):
            self.facts.notices.append(unsound(label, text, self.at(line)))

    def partition(self, of: PartitionFacts) -> None:
        """How it is dispatched, and how large it is."""
        self.tell(of, "number", "Partition Number", whole)
        self.tell(of, "mode", "Type", _mode)
        self.tell(of, "smt", "Type", _threads)
        shared = of.mode is None or of.mode.value == "shared"
        self.tell(of, "capped" if shared else "donating", "Mode", _capped if shared else _donating)
        if shared:
            self.tell(of, "entitlement", "Entitled Capacity", number)
            self.tell(of, "weight", "Variable Capacity Weight", whole)
            self.tell(of, "pool", "Shared Pool ID", str.strip)
        self.tell(of, "virtual", "Online Virtual CPUs", whole)
        self.tell(of, "memory_bytes", "Online Memory", size)
        self.tell(of, "os", "Online Memory", _system)
        if of.pool is not None and of.pool.value != "0":
            self.tell(of, "pool_maximum", "Maximum Capacity of Pool", _hundredths)

    def limits(self, of: PartitionFacts) -> None:
        """Minimum, maximum and what its profile asks for."""
        kinds = {"Minimum": of.minimum, "Maximum": of.maximum, "Desired": of.desired}
        quantities: dict[str, tuple[str, Callable[[str], float | None]]] = {
            "Capacity": ("entitlement", number),
            "Virtual CPUs": ("virtual", number),
            "Memory": ("memory_bytes", size),
        }
        for kind, limits in kinds.items():
            for label, (quantity, read) in quantities.items():
                text, line = self.told.get(f"{kind} {label}", ("-", 0))
                value = read(text)
                if value is not None:
                    limits.setdefault(quantity, Told(float(value), self.at(line)))

    def system(self, of: SystemFacts) -> None:
        """What it sees of its server."""
        self.tell(of, "cores", "Active Physical CPUs in system", whole)
        self.tell(of, "installed_cores", "Maximum Physical CPUs in system", whole)
        self.tell(of, "pool_cores", "Shared Physical CPUs in system", whole)
        self.tell(of, "hypervisor", "Partition Number", lambda _: "powervm")
        self.tell(of, "architecture", "Partition Number", lambda _: "power")


def _mode(text: str) -> str | None:
    kind = text.split("-", maxsplit=1)[0].strip().lower()
    return kind if kind in ("shared", "dedicated") else None


def _threads(text: str) -> int | None:
    words = text.strip().split("-")
    if len(words) < 2 or words[1].upper() != "SMT":
        return None
    return whole(words[2]) if len(words) > 2 else _THREADS["on"]


def _capped(text: str) -> bool | None:
    return {"capped": True, "uncapped": False}.get(text.strip().lower())


def _donating(text: str) -> bool | None:
    return {"capped": False, "donating": True}.get(text.strip().lower())


def _hundredths(text: str) -> float | None:
    value = number(text)
    return None if value is None else value / 100


def _system(text: str) -> str | None:
    """AIX counts megabytes, Linux kilobytes."""
    return {"MB": "aix", "KB": "linux"}.get(text.strip()[-2:].upper())


def tell_configuration(
    configuration: Mapping[str, Any], partition: PartitionFacts, facts: Facts, at: At
) -> None:
    """Add a `System configuration` line."""
    where = at(configuration["line"])
    values = dict(configuration["values"])

    for key in ("ent", "lcpu", "psize"):
        if key in values and number(values[key]) is None:
            facts.notices.append(unsound(key, values[key], where))

    def tell(attribute: str, value: object | None, of: Any = partition) -> None:
        if value is not None:
            facts.tell(of, attribute, Told(value, where))

    kind = _mode(values.get("type", ""))
    if kind is None and "ent" in values:
        kind = "shared"
    tell("mode", kind)
    tell("capped" if kind == "shared" else "donating", _mode_of(kind, values.get("mode", "")))
    tell("entitlement", number(values.get("ent", "")))
    tell("smt", threads(values))
    memory = values.get("mem", "")
    tell("memory_bytes", size(memory))
    # Only AIX's mpstat has such a line without the memory; Linux sets the unit apart.
    tell("os", ("linux" if " " in memory else _system(memory)) if memory else "aix")
    tell("virtual" if counts_virtual(values) else "logical", whole(values.get("lcpu", "")))
    pool = whole(values.get("psize", ""))
    if pool is not None:
        key = partition.system if partition.system is not None else NO_SERVER
        tell("pool_cores", pool, facts.system(key))


def tell_architecture(banner: Mapping[str, Any], facts: Facts, at: At) -> None:
    """Add the processors' architecture, which sysstat writes into its first line."""
    told = banner["architecture"]
    if told:
        family = "power" if told.startswith("ppc") else told
        where = at(banner["line"])
        facts.tell(facts.system(NO_SERVER), "architecture", Told(family, where))


def counts_virtual(values: Mapping[str, str]) -> bool:
    """Whether `lcpu` of a configuration line counts virtual processors or dedicated cores: Linux's
    lparstat does, with memory in kB, unless it is asked for the legacy form (`-l`), which has MB.
    """
    return _system(values.get("mem", "")) == "linux"


def _mode_of(kind: str | None, text: str) -> bool | None:
    if kind is None:
        return None
    return _capped(text) if kind == "shared" else _donating(text)


def threads(values: Mapping[str, str]) -> int | None:
    """Threads a core of a configuration line: `smt=8`, `smt=On`, `smt=Off`."""
    text = values.get("smt", "").strip()
    return _THREADS.get(text.lower(), whole(text)) or None


def tell_srads(listing: Mapping[str, Any], partition: PartitionFacts, facts: Facts, at: At) -> None:
    """Add a listing of `lssrad -av`: memory and logical processors by affinity domain."""
    for domain in listing["domains"]:
        where, srad = at(domain["line"]), domain["srad"]
        memory = round(domain["memory_mb"] * _MB)
        partition.memory_by_node.setdefault(srad, Told(memory, where))
        count = _count(domain["processors"])
        partition.processors_by_node.setdefault(srad, Told(count, where))
    del facts


def _count(ranges: Sequence[Sequence[int]]) -> int:
    return sum(last - first + 1 for first, last in ranges)
