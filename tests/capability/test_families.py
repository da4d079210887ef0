"""Machines of a family, one generation after the other: none is smaller or slower than the last."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built")

from homenode.evidence.capability import Prediction
from homenode.model.catalog import machine, machines

FAMILIES = {
    "z": (
        "reference",
        ["z9", "z10", "z196", "zec12", "z13", "z14", "z15", "z16"],
    ),
    "power-drawers": ("oltp", ["power-770", "power-e880", "power-e1080"]),
    "power-frames": ("oltp", ["power-795", "power-e880", "power-e1080"]),
    "hp-8-sockets": ("oltp", ["rx7640", "rx8640"]),
    "superdome": ("oltp", ["superdome-sx1000", "superdome-sx2000"]),
    "xeon": ("oltp", ["xeon-6140-2s", "xeon-6240-2s"]),
}
ALONE = {"amd-epyc-7742-2s", "ibm-p5-570"}
"""Machines without another of their family."""
MAKERS = ("ibm", "hp", "intel", "amd")
PAIRS = [
    (work, older, newer)
    for work, names in FAMILIES.values()
    for older, newer in itertools.pairwise(names)
]


def full_name(name: str) -> str:
    return next(f"{maker}-{name}" for maker in MAKERS if f"{maker}-{name}" in machines())


def test_every_machine_is_of_a_family() -> None:
    told = {full_name(name) for _, names in FAMILIES.values() for name in names}
    assert told | ALONE == set(machines())


def test_a_family_is_in_the_order_in_which_its_machines_came() -> None:
    for _, names in FAMILIES.values():
        described = [machine(full_name(name)) for name in names]
        for told in ([one.year for one in described], [one.pci for one in described]):
            known = [figure.value for figure in told if figure is not None]
            assert known == sorted(set(known))
    assert machine("ibm-z9").year is not None


@pytest.mark.parametrize(("work", "older", "newer"), PAIRS)
def test_a_newer_machine_is_neither_smaller_nor_slower(work: str, older: str, newer: str) -> None:
    """A core with all its threads busy, of Z with one, and all cores. Of no machine that is shipped
    was it published that it is.
    """

    def busy(name: str) -> Prediction:
        threads = machine(full_name(name)).threads_per_core if work == "oltp" else 1
        return Prediction.of(full_name(name), work, threads=threads)

    before, after = busy(older), busy(newer)
    assert after.rate(1) >= before.rate(1)
    assert after.rate(after.largest) >= before.rate(before.largest)


CLASSES = ("oltp", "integer-suite", "java", "query", "database-mix", "file-server", "kernel-call")
MOST = {("z10", "z196"): 1.42, ("z13", "z15"): 1.24}
"""Published are at most 1.40 a core, and 1.183."""


@pytest.mark.parametrize(("older", "newer"), MOST)
@pytest.mark.parametrize("work", CLASSES)
def test_no_class_gains_more_than_was_published(work: str, older: str, newer: str) -> None:
    before, after = (Prediction.of(full_name(name), work) for name in (older, newer))
    assert 1.0 < before.alone.ns / after.alone.ns < MOST[older, newer]
