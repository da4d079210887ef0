"""Machines of a family, one generation after the other: none is smaller or slower than the last."""

from __future__ import annotations

import functools
import itertools

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built")

from homenode.evidence.capability import Prediction
from homenode.evidence.capability.prediction import REFERENCE
from homenode.model.catalog import machine, machines, profiles

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


@functools.cache
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


@functools.cache
def without_lock(name: str, work: str, *, threads: int = 1) -> Prediction:
    """What the machine makes of a profile. Its lock is taken out: where it collapses, more
    processors do less, and the newer machine has more. Each is asked for twice, as the older and
    as the newer one of a pair.
    """
    found = Prediction.of(full_name(name), work, threads=threads)
    found.spec["partitions"][0]["profile"]["lock_share"] = 0.0
    return found


def have_streams(*names: str) -> bool:
    return all(machine(full_name(name)).streams is not None for name in names)


STREAMS = "stream"
FEWER_CONTROLLERS = {("power-795", "power-e880"), ("xeon-6140-2s", "xeon-6240-2s")}
"""An E880 has half the processors of a 795, and of the two Xeons a thread's bandwidth was measured
and the second one's is the lower: streams gain from neither in all and for a core alike.
"""


@pytest.mark.parametrize("work", profiles())
@pytest.mark.parametrize(("reference", "older", "newer"), PAIRS)
def test_a_newer_machine_is_neither_smaller_nor_slower(
    reference: str, older: str, newer: str, work: str
) -> None:
    """A core with all its threads busy, of Z with one, and all cores, in all work that is shipped.
    Of no machine that is shipped was it published that it is.
    """
    if work == STREAMS and (older, newer) in FEWER_CONTROLLERS:
        pytest.skip("of streams the opposite is published")

    if work == STREAMS and not have_streams(older, newer):
        pytest.skip("nothing is told of its streams")

    def busy(name: str) -> Prediction:
        alone = reference == REFERENCE
        threads = 1 if alone else machine(full_name(name)).threads_per_core
        return without_lock(name, work, threads=threads)

    before, after = busy(older), busy(newer)
    assert after.rate(1) >= before.rate(1)
    assert after.rate(after.largest) >= before.rate(before.largest)


FULL = 0.988
"""A drawer of the newer one may be full where the older one has begun another already, whose
caches and controllers come on top.
"""
FURTHER = {
    ("zec12", "z13", "oltp"): 0.98,
    ("z15", "z16", "oltp"): 0.98,
    ("z15", "z16", STREAMS): 0.965,
}
"""Published weights of the nest say that lines of other nodes are further on the z13 than those of
other books on the zEC12 (3.5 of LONGEX-RNI for 2.7), and it has twice as many nodes: transactions,
which share a third of their lines, lose by it from 42 processors on. Those of other drawers are
further on the z16 than on the z15 (5.0 for 3.2), and so is their memory.
"""


@pytest.mark.parametrize("work", profiles())
@pytest.mark.parametrize(("older", "newer"), list(itertools.pairwise(FAMILIES["z"][1])))
def test_as_many_processors_of_a_newer_mainframe_do_no_less(
    older: str, newer: str, work: str
) -> None:
    if work == STREAMS and not have_streams(older, newer):
        pytest.skip("nothing is told of its streams")
    before, after = without_lock(older, work), without_lock(newer, work)
    most = min(before.largest, after.largest)
    # Around a full drawer of the z14 and z15 every size counts; between them the curves are smooth.
    sizes = {1, 2, 4, 8, 16, 34, 35, 36, 38, 69, 70, 71, 76, 114, *range(24, most, 12), most}
    least = FURTHER.get((older, newer, work), FULL)
    gains = {n: before.point(n).ns / after.point(n).ns for n in sizes if n <= most}
    assert min(gains.values()) >= least
    below = [n for n, gain in gains.items() if gain < 1.0]
    assert least < FULL or len(below) <= len(gains) // 4, below


CLASSES = ("oltp", "integer-suite", "java", "query", "database-mix", "file-server", "kernel-call")
MOST = {("z10", "z196"): 1.42, ("z13", "z15"): 1.24}
"""Published are at most 1.40 a core, and 1.183."""


@pytest.mark.parametrize(("older", "newer"), MOST)
@pytest.mark.parametrize("work", CLASSES)
def test_no_class_gains_more_than_was_published(work: str, older: str, newer: str) -> None:
    before, after = (Prediction.of(full_name(name), work) for name in (older, newer))
    assert 1.0 < before.alone.ns / after.alone.ns < MOST[older, newer]
