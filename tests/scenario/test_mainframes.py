"""The mainframes' caches, shape and weights, against what the machines and their makers report."""

from __future__ import annotations

import pytest

from homenode.model import catalog

KIB, MIB = 1 << 10, 1 << 20

# Level: data or all of it, instructions where split, ways. From the instruction that tells them.
CACHES: dict[str, dict[str, tuple[int, int | None, int]]] = {
    "ibm-z10": {
        "L1": (128 * KIB, 64 * KIB, 8),
        "L1.5": (3 * MIB, None, 12),
        "L2": (48 * MIB, None, 24),
    },
    "ibm-z196": {
        "L1": (128 * KIB, 64 * KIB, 8),
        "L2": (1536 * KIB, None, 12),
        "L3": (24 * MIB, None, 12),
        "L4": (192 * MIB, None, 24),
    },
    "ibm-zec12": {
        "L1": (96 * KIB, 64 * KIB, 6),
        "L2": (MIB, MIB, 8),
        "L3": (48 * MIB, None, 12),
        "L4": (384 * MIB, None, 24),
    },
    "ibm-z13": {
        "L1": (128 * KIB, 96 * KIB, 8),
        "L2": (2 * MIB, 2 * MIB, 8),
        "L3": (64 * MIB, None, 16),
        "L4": (480 * MIB, None, 30),
    },
    "ibm-z14": {
        "L1": (128 * KIB, 128 * KIB, 8),
        "L2": (4 * MIB, 2 * MIB, 8),
        "L3": (128 * MIB, None, 32),
        "L4": (672 * MIB, None, 42),
    },
    "ibm-z15": {
        "L1": (128 * KIB, 128 * KIB, 8),
        "L2": (4 * MIB, 4 * MIB, 8),
        "L3": (256 * MIB, None, 32),
        "L4": (960 * MIB, None, 60),
    },
}
# Nodes, chips of a node, cores of a chip, threads of a core, cores for customers.
SHAPES = {
    "ibm-z9": (4, 8, 2, 1, 54),
    "ibm-z10": (4, 5, 4, 1, 64),
    "ibm-z196": (4, 6, 4, 1, 66),
    "ibm-zec12": (4, 6, 6, 1, 89),
    "ibm-z13": (8, 3, 8, 2, 141),
    "ibm-z14": (4, 6, 10, 2, 170),
    "ibm-z15": (5, 4, 12, 2, 190),
    "ibm-z16": (4, 8, 8, 2, 200),
}
# Factor, then the weights of L3, own L4, other L4 and memory.
WEIGHTS = {
    "ibm-z10": (1.0, None, 1.0, 2.4, 7.5),
    "ibm-z196": (1.6, 0.4, 1.0, 2.4, 7.5),
    "ibm-zec12": (2.3, 0.4, 1.2, 2.7, 8.2),
    "ibm-z13": (2.6, 0.4, 1.6, 3.5, 7.5),
    "ibm-z14": (2.4, 0.4, 1.5, 3.2, 7.0),
    "ibm-z15": (2.9, 0.45, 1.5, 3.2, 6.5),
    "ibm-z16": (4.3, 0.45, 1.3, 5.0, 6.1),
}


@pytest.mark.parametrize("name", CACHES)
def test_caches_are_as_the_machine_reports_them(name: str) -> None:
    found = {}
    for level in catalog.machine(name).cache:
        assert level.ways is not None
        half = level.instruction_size
        size = None if half is None else half.value
        found[level.name] = (level.size.value, size, level.ways.value)
    assert found == CACHES[name]


@pytest.mark.parametrize("name", SHAPES)
def test_nodes_chips_and_cores(name: str) -> None:
    machine = catalog.machine(name)
    shape = machine.topology
    counts = (shape.nodes, shape.chips_per_node, shape.cores_per_chip, shape.threads_per_core)
    assert (*(count.value for count in counts), machine.active_cores) == SHAPES[name]
    assert machine.line.value == 256


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_of_the_nest(name: str) -> None:
    weights = catalog.machine(name).rni
    assert weights is not None
    figures = (weights.scale, weights.l3, weights.l4_local, weights.l4_remote, weights.memory)
    assert tuple(None if f is None else f.value for f in figures) == WEIGHTS[name]
