"""Placements against all there are: the fullest machine is as little full as it can be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from uses_made import GIB, loads, put, random_loads, room

from homenode.planner.consolidation import spread as module
from homenode.planner.consolidation.spread import (
    Loads,
    Placing,
    Room,
    fewest,
    machine_peak,
    spread,
)
from homenode.simulate.engine import load_engine

NEAR = 1.01
"""Of the best level: what the search is held to."""


def all_placements(of: Loads, into: Room) -> Iterator[Placing]:
    """Every placement that keeps apart what must be."""
    machines = range(len(into.cores))
    for at in itertools.product(machines, repeat=len(of.use)):
        if all(len({at[one] for one in group}) == len(group) for group in of.apart):
            yield put(of, into, at)


def best(of: Loads, into: Room) -> float:
    """The level of the best of those whose memory fits, of all if none does."""
    return min((max(1.0, one.memory_level), one.level) for one in all_placements(of, into))[1]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("partitions", "cores"), [(6, (4.0, 4.0)), (6, (3.0, 6.0)), (5, (4.0, 4.0, 4.0))]
)
def test_small_cases_against_all_placements(
    seed: int, partitions: int, cores: tuple[float, ...]
) -> None:
    of, into = random_loads(seed, partitions), room(cores)
    found = spread(of, into, 1)
    assert best(of, into) <= found.level * (1 + 1e-12)
    assert found.level <= NEAR * best(of, into)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_placing_says_of_itself(seed: int) -> None:
    of, into = random_loads(seed, 7), room((4.0, 5.0, 6.0), (64.0, 64.0, 64.0))
    of = Loads(of.use, np.arange(7) * GIB, (), of.percentile)
    found = spread(of, into, 1)
    assert set(found.at.tolist()) <= {0, 1, 2}
    for number in range(3):
        mine = found.at == number
        assert found.peaks[number] == machine_peak(of, mine)
    assert found.level == (found.peaks / into.cores).max()
    assert found.memory_level == max(np.bincount(found.at, np.arange(7.0), 3)) / 64


def test_partitions_that_peak_at_one_time_are_parted() -> None:
    """Two by day and two by night: each machine gets one of each."""
    day, night = [3.0] * 5 + [0.0] * 5, [0.0] * 5 + [3.0] * 5
    found = spread(loads([day, day, night, night], percentile=100), room((4.0, 4.0)), 1)
    assert found.level == 0.75
    assert found.at[0] != found.at[1]
    assert found.at[2] != found.at[3]


def on_threads(count: int) -> Callable[[], Any]:
    """The engine, which searches with so many threads whatever it is asked."""

    class Engine:
        def place(self, *given: Any, **named: Any) -> object:
            return load_engine().place(*given, **{**named, "threads": count})

    return Engine


def test_the_same_for_the_same_seed_on_one_thread_or_many(monkeypatch: pytest.MonkeyPatch) -> None:
    of, into = random_loads(3, 20, 48), room((9.0, 9.0, 9.0))
    first = spread(of, into, 5)
    assert (spread(of, into, 5).at == first.at).all()
    for count in (1, 4):
        monkeypatch.setattr(module, "load_engine", on_threads(count))
        assert (spread(of, into, 5).at == first.at).all()


@pytest.mark.parametrize("seed", range(4))
def test_what_must_be_apart_is(seed: int) -> None:
    of = random_loads(seed, 6)
    of = Loads(of.use, of.memory, ((0, 1, 2), (3, 5)), of.percentile)
    into = room((2.0, 4.0, 6.0))
    found = spread(of, into, 1)
    assert len({int(found.at[one]) for one in (0, 1, 2)}) == 3
    assert found.at[3] != found.at[5]
    assert found.level <= NEAR * best(of, into)


def test_memory_must_fit_first() -> None:
    """By cores the two large ones would be parted; only one machine holds their memory."""
    of = loads([[4.0] * 4, [4.0] * 4, [1.0] * 4], [60, 60, 4])
    into = room((8.0, 8.0), (128.0, 32.0))
    found = spread(of, into, 1)
    assert found.memory_level <= 1
    assert found.at.tolist() == [0, 0, 1]
    assert found.fits
    short = spread(of, room((8.0, 8.0), (64.0, 32.0)), 1)
    assert not short.fits


@pytest.mark.parametrize("seed", range(4))
def test_more_load_leaves_no_more_and_more_machines_no_less(seed: int) -> None:
    of, into = random_loads(seed, 6), room((4.0, 4.0))
    level = spread(of, into, 1).level
    for more in (
        Loads(of.use * 1.1, of.memory, (), of.percentile),
        Loads(np.vstack((of.use, of.use[:1])), np.zeros(7), (), of.percentile),
        Loads(of.use, of.memory, (), 100.0),
    ):
        assert spread(more, into, 1).level * NEAR >= level
    assert spread(of, into.largest(3), 1).level <= level * NEAR
    twice = Loads(of.use * 2, of.memory, (), of.percentile)
    assert spread(twice, into, 1).level == pytest.approx(2 * level, rel=0.01)


def test_one_machine_has_them_all_and_nothing_is_no_load() -> None:
    of = random_loads(1, 5)
    assert spread(of, room((4.0,)), 1).peaks.tolist() == [machine_peak(of, np.ones(5, dtype=bool))]
    idle = spread(loads(np.zeros((3, 4))), room((4.0, 4.0)), 1)
    assert (idle.level, idle.fits) == (0.0, True)


@pytest.mark.parametrize("seed", range(4))
def test_the_fewest_machines_hold_all_and_one_less_does_not(seed: int) -> None:
    of, one = random_loads(seed, 6), room((8.0,))
    count = fewest(of, one, 1, 10)
    assert count is not None
    assert spread(of, one.largest(count), 1).fits
    if count > 1:
        assert best(of, one.largest(count - 1)) > 1
    assert fewest(of, one, 1, count - 1) is None


def test_fewest_minds_memory_groups_and_what_no_machine_holds() -> None:
    flat = [[0.1] * 4] * 4
    assert fewest(loads(flat), room((4.0,)), 1, 9) == 1
    assert fewest(loads(flat, [10] * 4), room((4.0,), (20.0,)), 1, 9) == 2
    assert fewest(loads(flat, apart=((0, 1, 3),)), room((4.0,)), 1, 9) == 3
    assert fewest(loads([[5.0] * 4]), room((4.0,)), 1, 9) is None
    assert fewest(loads(flat, [30, 1, 1, 1]), room((4.0,), (20.0,)), 1, 9) is None


def test_the_fewest_of_several_kinds_are_the_largest() -> None:
    of = loads([[1.0] * 4] * 4)
    assert fewest(of, room((1.0, 8.0)), 1, 2) == 1
    assert fewest(of, room((1.0, 1.0, 3.0)), 1, 3) == 2
