"""Which processors a partition of z/VM can have: every cell of the published table, and each number
of the cores it allows.
"""

from __future__ import annotations

import pytest

from homenode.model import catalog
from homenode.model.scenario.file.mainframe import CoreType, PartitionMode
from homenode.model.scenario.mainframe.numbering import (
    SETTINGS,
    Limits,
    Smt,
    is_available,
    limits,
    numbers_of,
    shown,
)

PLAIN = Limits(cores=None, processors=80, even_only=False, last=0x4F)
ONE_THREAD = Limits(cores=40, processors=40, even_only=True, last=0x4E)
TWO_THREADS = Limits(cores=40, processors=80, even_only=False, last=0x4F)
MIXED = Limits(cores=40, processors=None, even_only=False, last=0x4F)

CELLS: list[tuple[PartitionMode, set[CoreType], tuple[Limits | None, ...]]] = [
    ("linux-only", {"cp"}, (PLAIN, None, None)),
    ("linux-only", {"ifl"}, (PLAIN, ONE_THREAD, TWO_THREADS)),
    ("z/vm", {"cp", "ifl"}, (PLAIN, ONE_THREAD, MIXED)),
    ("z/vm", {"cp", "ifl", "ziip", "icf"}, (PLAIN, ONE_THREAD, MIXED)),
    ("general", {"cp"}, (PLAIN, None, None)),
    ("general", {"cp", "ziip"}, (PLAIN, None, None)),
]


@pytest.mark.parametrize(("mode", "types", "cells"), CELLS)
def test_every_cell_of_the_table(
    mode: PartitionMode, types: set[CoreType], cells: tuple[Limits | None, ...]
) -> None:
    support = catalog.machine("ibm-z14").zvm
    assert support is not None
    numbers = support.processors.value
    assert tuple(limits(mode, types, smt, numbers) for smt in SETTINGS) == cells
    assert [is_available(mode, types, smt) for smt in SETTINGS] == [c is not None for c in cells]


@pytest.mark.parametrize(
    ("smt", "cores", "first", "last", "count"),
    [
        ("off", 80, ("x'00'", "x'01'", "x'02'"), "x'4F'", 80),
        ("smt-1", 40, ("x'00'", "x'02'", "x'04'"), "x'4E'", 40),
        ("smt-2", 40, ("x'00'", "x'01'", "x'02'"), "x'4F'", 80),
    ],
)
def test_numbers_of_the_largest_partition_of_ifls(
    smt: Smt, cores: int, first: tuple[str, ...], last: str, count: int
) -> None:
    every = [number for core in numbers_of(["ifl"] * cores, smt) for number in core]
    assert tuple(shown(number) for number in every[:3]) == first
    assert (shown(every[-1]), len(every)) == (last, count)
    assert sorted(set(every)) == every


def test_mixed_cores_leave_gaps_where_a_core_has_one_thread() -> None:
    types: list[CoreType] = ["cp", "ifl", "ziip", "ifl", "icf"]
    assert numbers_of(types, "smt-2") == ((0,), (2, 3), (4,), (6, 7), (8,))
    assert numbers_of(types, "smt-1") == ((0,), (2,), (4,), (6,), (8,))
    assert numbers_of(types, "off") == ((0,), (1,), (2,), (3,), (4,))


def test_a_mix_reaches_as_many_processors_as_its_cores_have_threads() -> None:
    types: list[CoreType] = ["cp"] * 10 + ["ifl"] * 30
    every = [number for core in numbers_of(types, "smt-2") for number in core]
    assert len(every) == 10 + 2 * 30
    assert max(every) == 0x4F


@pytest.mark.parametrize(
    ("machine", "supported"), [("ibm-z13", 64), ("ibm-z14", 80), ("ibm-z196", 64)]
)
def test_the_limit_is_the_machines(machine: str, supported: int) -> None:
    zvm = catalog.machine(machine).zvm
    assert zvm is not None
    found = limits("linux-only", {"ifl"}, "smt-2", zvm.processors.value)
    assert found is not None
    assert (found.cores, found.processors) == (supported // 2, supported)


def test_other_machines_do_not_run_it() -> None:
    assert catalog.machine("ibm-power-795").zvm is None
    assert catalog.machine("hp-rx8640").zvm is None
