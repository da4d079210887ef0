"""Where partitions and their memory lie: affinity domains as guests number them, on chips.

A guest numbers its domains from 0 and does not say which chip each of them is. The domains of a
partition are taken to be different chips, those with processors first, each the chip that has the
least yet.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.records.importing.assemble.plan import MB, Part, Planned
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.shared.words import counted


def lay_out(
    planned: Sequence[Planned], chips: Sequence[str], cores_per_chip: int, notices: list[Notice]
) -> None:
    """Give each partition that tells of its domains a home and parts of its memory."""
    load = dict.fromkeys(chips, 0.0)
    for one in planned:
        domains = _domains(one)
        if not domains:
            continue
        if len(domains) > len(chips):
            has = counted(len(chips), "chip")
            text = f"{one.name} has {len(domains)} affinity domains, the machine {has}"
            notices.append(Notice(f"{text}; where its memory lies is left out"))
            continue
        free = sorted(chips, key=lambda chip: (load[chip], chips.index(chip)))
        names = dict(zip(domains, free, strict=False))
        weights = _weights(one, domains)
        for domain, chip in names.items():
            load[chip] += weights[domain] * (one.entitlement or one.virtual)
        _place(one, names, notices)
        if not one.shared and len(one.home) * cores_per_chip < one.virtual:
            one.home = ()  # its cores are more than those chips have


def _domains(one: Planned) -> list[int]:
    """Its domains, those with processors first."""
    facts = one.facts
    processors = {number: told.value for number, told in facts.processors_by_node.items()}
    memory = {number: told.value for number, told in facts.memory_by_node.items()}
    every = [n for n in {**memory, **processors} if memory.get(n, 0) or processors.get(n, 0)]
    return sorted(every, key=lambda number: (not processors.get(number, 0), number))


def _weights(one: Planned, domains: Sequence[int]) -> dict[int, float]:
    told = one.facts.processors_by_node or one.facts.memory_by_node
    values = {number: float(told[number].value) if number in told else 0.0 for number in domains}
    total = sum(values.values())
    return {number: value / total if total else 0.0 for number, value in values.items()}


def _place(one: Planned, names: dict[int, str], notices: list[Notice]) -> None:
    facts = one.facts
    assumed = "assumed: each domain a chip, in this order"
    homes = [name for number, name in names.items() if _has(facts.processors_by_node, number)]
    if homes:
        first = next(iter(facts.processors_by_node.values()))
        one.home, one.home_origin = tuple(homes), f"{first.where}; {assumed}"
    sizes = {
        n: told.value // MB * MB for n, told in facts.memory_by_node.items() if told.value >= MB
    }
    if not sizes:
        return
    total = sum(sizes.values())
    if facts.memory_bytes is not None and total > facts.memory_bytes.value:
        where = facts.memory_bytes.where
        text = f"{one.name}'s domains hold {total} bytes, more than its {facts.memory_bytes.value}"
        notices.append(Notice(f"{text}; those of the domains count", where))
    # What no domain tells of, such as page tables, lies where most of it does.
    rest = max(0, one.memory.value - total) if facts.memory_bytes is not None else 0
    largest = max(sizes, key=lambda number: sizes[number])
    sizes[largest] += rest
    first_told = next(iter(facts.memory_by_node.values()))
    origin = f"{first_told.where}; {assumed}"
    one.parts = tuple(Part(sizes[number], names[number], origin) for number in sorted(sizes))


def _has(told: object, number: int) -> bool:
    return isinstance(told, dict) and number in told and told[number].value > 0
