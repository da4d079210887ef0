"""Refuses a table `[advise]` that names what is not there, or asks for what cannot be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from homenode.errors import ScenarioError, listed, suggestion
from homenode.model.catalog import MachineDescription
from homenode.model.document import Document, Problems
from homenode.model.document.positions import Path, split_key
from homenode.model.scenario.file.advise import Advise
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.places import name_of_chip, node_word

_ROOM = {"machine", "merge"}
"""What may bring more places, or fewer partitions."""


def check_advise(
    told: Advise | None,
    tables: Mapping[str, Partition],
    machine: MachineDescription,
    document: Document,
) -> None:
    """`tables` are those of the partitions, by their names."""
    names = [*tables]
    if told is None:
        return
    problems = Problems(document, ScenarioError)
    for path, name in _named(told):
        if name not in names:
            step = suggestion(name, names, "name one of them")
            there = f"the partitions are {listed(names)}"
            problems.add(path, there=there, next_step=step)
    for at, limit in enumerate(told.limit):
        if limit.response is None and limit.p95 is None:
            there, step = "it limits nothing", 'write response = "50 ms" or p95 = "200 ms"'
            problems.add(("advise", "limit", at), there=there, next_step=step, at_key=True)
    for row, group in enumerate(told.apart):
        for at, name in enumerate(group):
            if name in group[:at]:
                there, step = f"{name} is named twice", "name each partition once"
                problems.add(("advise", "apart", row, at), there=there, next_step=step)
    if not _ROOM & {*told.free}:
        _check_room(told, machine, problems)
    if "machine" not in told.free:
        _check_loss(told, machine, problems)
    _check_values(told, names, problems)
    _check_money(told, problems)
    _check_cpu_pools(told, tables, problems)
    problems.raise_any()


def _named(told: Advise) -> Iterator[tuple[Path, str]]:
    for at, name in enumerate(told.pinned):
        yield ("advise", "pinned", at), name
    for at, name in enumerate(told.gives_way):
        yield ("advise", "gives_way", at), name
    for row, group in enumerate(told.apart):
        for at, name in enumerate(group):
            yield ("advise", "apart", row, at), name
    for row, limit in enumerate(told.limit):
        if limit.partition is not None:
            yield ("advise", "limit", row, "partition"), limit.partition
    for row, licence in enumerate(told.licence):
        for at, name in enumerate(licence.partitions):
            yield ("advise", "licence", row, "partitions", at), name


def _check_room(told: Advise, machine: MachineDescription, problems: Problems) -> None:
    """Who is kept apart has a place of his own: a node, or a chip of a machine that is one node."""
    places = _places(machine)
    for row, group in enumerate(told.apart):
        members = list(dict.fromkeys(group))
        if len(members) > len(places):
            there = (
                f"{listed(members)} are {len(members)}, and {machine.name} has {len(places)}"
                f" place{'' if len(places) == 1 else 's'} for them: {listed(places)}"
            )
            step = "keep fewer of them apart, or let the machine change (free)"
            problems.add(("advise", "apart", row), there=there, next_step=step, at_key=True)


def _check_loss(told: Advise, machine: MachineDescription, problems: Problems) -> None:
    """A node may be lost where another one has active cores."""
    nodes = _nodes(machine)
    if told.node_lost and len(nodes) == 1:
        there = f"all active cores are on {nodes[0]}, so that nothing is left without it"
        step = "leave it out, or let the machine change (free)"
        problems.add(("advise", "node_lost"), there=there, next_step=step)


def _places(machine: MachineDescription) -> list[str]:
    """Where somebody can be at home."""
    if machine.nodes == 1:
        return [name_of_chip(chip, machine) for chip in _active(machine)]
    return _nodes(machine)


def _nodes(machine: MachineDescription) -> list[str]:
    """Those with active cores."""
    nodes = dict.fromkeys(chip // machine.chips_per_node for chip in _active(machine))
    return [f"{node_word(machine)}{node}" for node in nodes]


def _active(machine: MachineDescription) -> list[int]:
    """Chips with active cores."""
    return [chip for chip in range(machine.chips) if machine.active_cores_of(chip)]


def _check_values(told: Advise, names: Sequence[str], problems: Problems) -> None:
    """Each path leads into a partition."""
    for text in told.values:
        parts = split_key(text) or ()
        if len(parts) < 3 or parts[0] != "partition" or parts[1] not in names:
            step = 'write one like "partition.lpar1.processors.virtual" = [10, 20]'
            there = f'"{text}" is no path into a partition'
            problems.add_key(("advise", "values", text), there, step)


def _check_cpu_pools(told: Advise, tables: Mapping[str, Partition], problems: Problems) -> None:
    """A licence counts the cores of a CPU pool of z/VM where its partitions have one that is told
    in cores: licence tools do not count one that is a part of them.
    """
    for row, licence in enumerate(told.licence):
        wanted, where = licence.cpu_pool, ("advise", "licence", row, "cpu_pool")
        for name in licence.partitions if wanted is not None else ():
            pools = tables[name].cpu_pool if name in tables else []
            found = next((pool for pool in pools if pool.name == wanted), None)
            if found is not None and found.capacity is not None:
                continue
            own = [pool.name for pool in pools if pool.capacity is not None]
            there = f"{name} has no such CPU pool with a capacity in cores"
            there += f", but {listed(own)}" if own else ""
            step = "name one of them" if own else "write [[partition.cpu_pool]] with a capacity"
            problems.add(where, there=there, next_step=suggestion(wanted or "", own, step))
            break


def _check_money(told: Advise, problems: Problems) -> None:
    currencies = sorted({one.currency for one in told.licence})
    if len(currencies) > 1:
        there = f"costs are told in {listed(currencies)}"
        step = "tell all of them in one currency: homenode knows no rates"
        problems.add(("advise", "licence"), there=there, next_step=step, at_key=True)
    if told.goal == "money" and not told.licence:
        there = "no licence tells a price"
        step = "add [[advise.licence]] with product, partitions, cost and currency"
        problems.add(("advise", "goal"), there=there, next_step=step)
