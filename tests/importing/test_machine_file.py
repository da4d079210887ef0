"""Descriptions made of topologies: what the loader of machines accepts, with the shape that is told
and the rest as assumptions with ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from homenode.errors import MachineError, Where
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.names import load_machine
from homenode.model.document import parse_document
from homenode.records.importing.assemble.machine_file import machine_file
from homenode.records.importing.facts import SystemFacts, Told, TopologyFacts, TopologyObject
from homenode.records.importing.opening.sources import ListingError

HERE = Where("host.xml")
GIB = 1 << 30
Distances = tuple[tuple[float, ...], ...]
NEAR: Distances = ((10.0, 21.0), (21.0, 10.0))


def thing(
    kind: str,
    number: int | None = None,
    *children: TopologyObject,
    **attributes: str | int,
) -> TopologyObject:
    """An object of a tree."""
    return TopologyObject(kind, number, attributes, children)


def cores(first: int, count: int, threads: int) -> list[TopologyObject]:
    """Cores with their threads and first-level caches."""
    found = []
    for core in range(first, first + count):
        inside = [thing("PU", core * threads + thread) for thread in range(threads)]
        found.append(
            thing("L1d", None, thing("Core", core, *inside), size=48 << 10, ways=12, line=64)
        )
    return found


def packages(count: int, each: int, threads: int = 2) -> list[TopologyObject]:
    """Packages with memory of their own and a third-level cache."""
    found = []
    for number in range(count):
        cache = thing("L3", None, *cores(number * each, each, threads), size=24 << 20)
        memory = thing("NUMANode", number, memory=64 * GIB)
        found.append(thing("Package", number, memory, cache))
    return found


def topology(
    *inside: TopologyObject, distances: Distances = (), **about: str | int
) -> TopologyFacts:
    """A host."""
    root = TopologyObject("Machine", 0, {"architecture": "x86_64", **about}, inside)
    return TopologyFacts(None, root, HERE, distances)


def made(facts: TopologyFacts | None, system: SystemFacts | None = None) -> MachineDescription:
    """The description that its own file gives."""
    text = machine_file(facts, system, "imported").text
    return load_machine(parse_document(text, "machine.toml", MachineError))


def shape(found: MachineDescription) -> tuple[int, int, int, int, int]:
    """Nodes, chips of each, cores of those, threads, active cores."""
    counts = (found.nodes, found.chips_per_node, found.cores_per_chip, found.threads_per_core)
    return (*counts, found.active_cores)


def scopes(found: MachineDescription) -> Mapping[str, str]:
    """Who shares which cache."""
    return {level.name: level.scope for level in found.cache}


def test_two_sockets_are_two_chips_of_one_node() -> None:
    """With the distance of firmware as near memory."""
    found = made(topology(*packages(2, 4), distances=NEAR))
    assert shape(found) == (1, 2, 4, 2, 8)
    assert found.memory.beside == "chip"
    ratio = found.memory.near.value.amount / found.memory.local.value.amount
    assert ratio == pytest.approx(2.1)
    assert scopes(found) == {"L1": "core", "L3": "chip"}
    assert found.memory.maximum.value == 128 * GIB


def test_what_is_told_has_its_source_and_what_is_not_a_range() -> None:
    """Every number of the description."""
    found = made(topology(*packages(2, 4), clock_hz=2_100_000_000))
    assert found.clock.value == 2.1e9
    for name, figure in found.figures():
        told = figure.source is not None
        assert told or figure.range is not None, name
        if not name.startswith("hypervisor."):  # those of the kernel have their own sources
            assert told == (name.startswith("topology.") or name in TOLD), name


TOLD = ("clock", "line", "cache.L1.size", "cache.L1.ways", "cache.L3.size", "memory.maximum")


def test_boards_over_packages_are_nodes_with_their_distances() -> None:
    """Three boards of two packages, the third further away."""
    boards = []
    for board in range(3):
        both = packages(2, 2)
        inside = [
            replace(one, children=(one.children[1],), os_index=board * 2 + number)
            for number, one in enumerate(both)
        ]
        renumbered = [_moved(one, board * 8) for one in inside]
        boards.append(thing("Group", None, thing("NUMANode", board, memory=GIB), *renumbered))
    rows = ((10.0, 20.0, 30.0), (20.0, 10.0, 30.0), (30.0, 30.0, 10.0))
    found = made(topology(*boards, distances=rows))
    assert shape(found) == (3, 2, 2, 2, 12)
    assert (found.memory.beside, found.node_name) == ("node", "board")
    assert found.memory.far.value.amount == 2 * found.memory.local.value.amount
    assert found.node_distance is not None
    assert found.node_distance.value[0] == [1, 1.0, 1.5]


def _moved(one: TopologyObject, by: int) -> TopologyObject:
    """With processors of other numbers."""
    number = one.os_index + by if one.kind == "PU" and one.os_index is not None else one.os_index
    children = tuple(_moved(child, by) for child in one.children)
    return TopologyObject(one.kind, number, one.attributes, children)


def test_several_last_level_caches_of_a_package_are_its_chips() -> None:
    """As on processors of several complexes of cores."""
    sockets = []
    for socket in range(2):
        first = socket * 8
        caches = [
            thing("L3", None, *cores(first + part * 4, 4, 2), size=32 << 20) for part in range(2)
        ]
        memory = thing("NUMANode", socket, memory=GIB)
        sockets.append(thing("Package", socket, memory, *caches))
    found = made(topology(*sockets, distances=NEAR))
    assert shape(found) == (2, 2, 4, 2, 16)
    assert (found.node_name, found.memory.beside) == ("socket", "node")
    assert scopes(found)["L3"] == "chip"


def test_uneven_parts_count_as_the_largest_and_are_named() -> None:
    """Three cores in one package, one in the other."""
    first, second = packages(1, 3)[0], _moved(packages(1, 1)[0], 6)
    text = machine_file(topology(first, second), None, "imported")
    assert text.cores == 4
    assert any("1 have 1, 1 have 3" in notice.text for notice in text.notices)


def test_a_named_clock_counts_where_none_is_told() -> None:
    """As in names of processors."""
    found = made(topology(*packages(1, 2), processor="Some CPU @ 2.60GHz"))
    assert found.clock.value == 2.6e9


def test_families_bring_the_numbers_of_their_shipped_machine() -> None:
    """As assumptions, with the policy of their hypervisor."""
    itanium = made(topology(*packages(2, 2), architecture="ia64"))
    assert itanium.hypervisor.policy == "dedicated"
    assert itanium.coherence == "home"
    power = made(topology(*packages(2, 2, 4), architecture="ppc64", processor="POWER8"))
    assert power.memory.local.reason.startswith("as on IBM Power E880")


def test_numbers_without_a_tree_make_one_node() -> None:
    """With a sentence that says so."""
    system = SystemFacts("host")
    with pytest.raises(ListingError, match="neither a topology nor a number of cores"):
        machine_file(None, system, "imported")
    system.cores = Told(8, HERE)
    system.chips = Told(2, HERE)
    assert shape(made(None, system)) == (1, 2, 4, 1, 8)


def test_a_tree_beyond_a_description_is_refused() -> None:
    """With the limit."""
    with pytest.raises(ListingError, match="at most 64 cores of a chip"):
        machine_file(topology(*packages(1, 65, 1)), None, "imported")
    with pytest.raises(ListingError, match="no processors"):
        machine_file(topology(), None, "imported")


def test_the_same_topology_gives_the_same_bytes() -> None:
    """No hash order in it."""
    facts = topology(*packages(2, 4), distances=NEAR)
    assert machine_file(facts, None, "a").text == machine_file(facts, None, "a").text
