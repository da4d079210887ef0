"""Granules and cores on machines of cells: what holds for every request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homenode import HomenodeError, Scenario, _engine
from homenode.model.catalog import machine
from homenode.model.document import to_toml
from homenode.model.scenario.cellular.cores import take
from homenode.model.scenario.cellular.granules import is_power_of_two, rounded_up, shortened
from homenode.model.units import SIZE

QUICK = settings(max_examples=150, deadline=None)
MIB = 2**20
CELLS = Path(__file__).with_name("cells.toml").read_text(encoding="utf-8")
granules = st.integers(26, 36).map(lambda power: 2**power)


@QUICK
@given(st.integers(0, 2**50), granules)
def test_a_request_is_rounded_up_by_less_than_a_granule(size: int, granule: int) -> None:
    granted = rounded_up(size, granule)
    assert granted % granule == 0
    assert 0 <= granted - size < granule
    assert rounded_up(granted, granule) == granted
    # Larger granules never grant less.
    assert rounded_up(size, 2 * granule) >= granted


def test_powers_of_two() -> None:
    assert [n for n in range(20) if is_power_of_two(n)] == [1, 2, 4, 8, 16]


@QUICK
@given(st.lists(st.integers(0, 1000), max_size=6), st.integers(0, 6000))
def test_what_is_missing_is_missing_from_the_last(requests: list[int], available: int) -> None:
    fitting = shortened(requests, available)
    assert sum(fitting) == min(sum(requests), available)
    assert all(0 <= left <= asked for left, asked in zip(fitting, requests, strict=True))
    changed = [i for i, (a, b) in enumerate(zip(fitting, requests, strict=True)) if a != b]
    # Whoever comes after one that lost something has lost everything.
    assert not changed or not any(fitting[changed[0] + 1 :])


@QUICK
@given(st.sets(st.integers(0, 15)), st.integers(0, 20), st.sampled_from([1, 2, 4]))
def test_cores_are_taken_by_whole_processors(free: set[int], count: int, per_chip: int) -> None:
    left = sorted(free)
    taken = take(left, count, per_chip)
    assert len(taken) == min(count, len(free))
    assert sorted([*taken, *left]) == sorted(free)
    chips: dict[int, set[int]] = {}
    for core in free:
        chips.setdefault(core // per_chip, set()).add(core)
    split = [chip for chip in chips.values() if chip & set(taken) and chip & set(left)]
    assert len(split) <= 1
    if count % per_chip == 0 and all(len(chip) == per_chip for chip in chips.values()):
        assert not split


cores = st.fixed_dictionaries(
    {"mode": st.just("dedicated"), "cores": st.integers(1, 10)},
    optional={
        "cells": st.dictionaries(
            st.sampled_from(["cell0", "cell1", "cell2"]), st.integers(1, 8), max_size=2
        ),
        "paths": st.lists(st.sampled_from(["0.10", "0.11", "1/12", "2.17"]), max_size=2),
        "boot": st.sampled_from(["0.10", "1.12"]),
        "minimum": st.integers(1, 4),
        "maximum": st.integers(4, 12),
    },
)
sizes = st.integers(1, 80).map(lambda quarters: SIZE.format(quarters * 256 * MIB))
part = st.fixed_dictionaries(
    {"size": sizes},
    optional={
        "on": st.sampled_from(["cell0", "cell1", "interleaved"]),
        "use": st.sampled_from(["base", "floating"]),
    },
)
partition = st.fixed_dictionaries(
    {
        "processors": cores,
        "memory": st.one_of(sizes, st.lists(part, min_size=1, max_size=3)),
        "guest": st.sampled_from(
            [{"os": "hp-ux"}, {"os": "linux"}, {"os": "hp-ux", "memory_policy": "strict"}]
        ),
    },
    optional={"io": st.sampled_from(["cell0", "cell1"])},
)
npartition = st.fixed_dictionaries(
    {"cells": st.just(["cell0", "cell1"]), "memory": st.sampled_from(["8 GiB", "32 GiB"])},
    optional={
        "clm": st.sampled_from(["4 GiB", "7.5 GiB"]),
        "vpars": st.booleans(),
        "ilm_granule": st.sampled_from(["64 MiB", "256 MiB", "1 GiB"]),
        "clm_granule": st.sampled_from(["64 MiB", "256 MiB", "1 GiB"]),
    },
)


def written(one: dict[str, Any], partitions: list[dict[str, Any]]) -> str:
    rest = {"workload": {"kind": "warehouses", "count": 4, "profile": "java"}}
    rows = [{"name": f"p{index}x", **row, **rest} for index, row in enumerate(partitions)]
    return to_toml(
        {
            "machine": {"model": "hp-rx8640"},
            "npartition": [{"name": "n", **one}],
            "partition": rows,
        }
    )


@QUICK
@given(npartition, st.lists(partition, min_size=1, max_size=3))
def test_random_layouts_are_sound_or_explained(
    one: dict[str, Any], partitions: list[dict[str, Any]]
) -> None:
    scenario = problem = None
    try:
        scenario = Scenario.from_toml(written(one, partitions))
    except HomenodeError as error:
        problem = error
    if scenario is None:
        assert problem is not None
        assert str(problem).strip()
        return
    _engine.check(scenario.spec_json())
    npar = scenario.resolved.npartitions[0]
    taken = [core for p in scenario.partitions for core in p.cores or ()]
    assert len(taken) == len(set(taken))
    local: dict[int, int] = {}
    interleaved = 0
    for placed in scenario.partitions:
        where = placed.in_cells
        assert where is not None
        assert where.cores.all == placed.cores
        assert where.cores.boot in where.cores.all
        assert len(where.cores.all) == placed.virtual
        asked = sum(p.size for p in placed.table.memory)
        granted = sum(part.granted for part in where.memory)
        assert placed.memory_bytes == sum(part.bytes for part in placed.memory) <= granted
        assert asked <= granted if npar.vpars else asked == granted
        for part in where.memory:
            granule = npar.ilm_granule if part.cell is None else npar.clm_granule
            assert not npar.vpars or part.granted % granule == 0
        for part in placed.memory:
            if len(part.domains) == 1:
                local[part.domains[0]] = local.get(part.domains[0], 0) + part.bytes
            else:
                interleaved += part.bytes
    assert all(size <= npar.cells[cell].local for cell, size in local.items())
    assert interleaved <= npar.interleaved


@pytest.mark.parametrize("size", range(1, 41))
def test_least_base_memory_follows_the_table(size: int) -> None:
    platform = machine("hp-rx7640").platform
    assert platform is not None
    gib = 2**30
    expected = gib if size <= 3 else size * gib // 2 if size <= 8 else 4 * gib
    assert platform.least_base(size * gib) == (expected if size <= 16 else size * gib // 4)
    assert platform.least_base(gib // 2) == gib // 2
