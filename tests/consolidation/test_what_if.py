"""Lost machines, lost nodes, and how many more: by hand and by counting."""

from __future__ import annotations

import numpy as np
import pytest
from uses_made import GIB, loads, put, random_loads, room

from homenode.planner.consolidation.spread import Loads, Placing, Room, machine_peak, spread
from homenode.planner.consolidation.what_if import (
    MOST_COPIES,
    Lost,
    how_many_more,
    machine_lost,
    node_lost,
)


def after(of: Loads, into: Room, now: Placing, lost: Lost) -> Placing:
    """The placement with the moves that are told."""
    at = now.at.copy()
    for one, machine in lost.moves.items():
        at[one] = machine
    return put(of, into, at.tolist())


@pytest.mark.parametrize("seed", range(6))
def test_nobody_is_on_the_lost_machine_and_others_stay(seed: int) -> None:
    of, into = random_loads(seed, 9), room((8.0, 9.0, 10.0))
    now = spread(of, into, 1)
    lost = machine_lost(of, into, now)
    assert lost is not None
    assert set(lost.moves) == set(np.flatnonzero(now.at == lost.machine).tolist())
    assert lost.machine not in lost.moves.values()
    then = after(of, into, now, lost)
    others = [number for number in range(3) if number != lost.machine]
    left = min(into.cores[number] - then.peaks[number] for number in others)
    assert lost.left == pytest.approx(left)
    assert lost.fits == (left >= 0)


def test_the_worst_loss_is_told() -> None:
    of = loads([[4.0] * 4, [1.0] * 4, [1.0] * 4])
    lost = machine_lost(of, room((5.0, 5.0, 3.0)), put(of, room((5.0, 5.0, 3.0)), [0, 1, 2]))
    assert lost == Lost(0, 0.0, True, {0: 1})
    small = room((5.0, 4.0, 3.0))
    assert machine_lost(of, small, put(of, small, [0, 1, 2])) == Lost(0, -1.0, False, {0: 1})


def test_one_machine_alone_is_not_lost() -> None:
    of = loads([[1.0]])
    assert machine_lost(of, room((4.0,)), put(of, room((4.0,)), [0])) is None


def test_memory_counts_when_a_machine_is_lost() -> None:
    of, into = loads([[1.0] * 4] * 3, [10, 10, 10]), room((9.0, 9.0, 9.0), (20.0, 20.0, 10.0))
    lost = machine_lost(of, into, put(of, into, [0, 1, 2]))
    assert lost is not None
    assert lost.fits
    assert lost.moves in ({0: 1}, {1: 0}, {2: 0})
    tight = room((9.0, 9.0, 9.0), (10.0, 10.0, 10.0))
    worst = machine_lost(of, tight, put(of, tight, [0, 1, 2]))
    assert worst is not None
    assert not worst.fits
    assert worst.left > 0


def test_what_is_apart_stays_apart_after_a_loss_where_it_can() -> None:
    of, into = loads([[1.0] * 4, [1.0] * 4, [5.0] * 4], apart=((0, 1),)), room((9.0, 9.0, 9.0))
    now = put(of, into, [0, 1, 2])
    lost = machine_lost(of, into, now)
    assert lost is not None
    then = after(of, into, now, lost)
    assert then.at[0] != then.at[1]


def test_a_node_lost_takes_its_share_of_the_cores() -> None:
    of, into = loads([[6.0] * 4, [2.0] * 4]), room((16.0, 8.0))
    now = put(of, into, [0, 1])
    assert node_lost(into, now, np.array([4, 1])) == Lost(0, 6.0, True, {})
    assert node_lost(into, now, np.array([4, 2])) == Lost(1, 2.0, True, {})
    assert node_lost(into, now, np.array([1, 1])) is None
    full = put(of, into, [0, 0])
    assert node_lost(into, full, np.array([2, 4])) == Lost(0, 0.0, True, {})
    assert node_lost(room((14.0, 8.0)), full, np.array([2, 4])) == Lost(0, -1.0, False, {})


def with_copies(of: Loads, one: int, machine: int, count: int, now: Placing) -> Placing:
    """The placement with so many copies of a partition on a machine."""
    use = np.vstack((of.use, np.repeat(of.use[one : one + 1], count, axis=0)))
    memory = np.append(of.memory, np.repeat(of.memory[one], count))
    more = Loads(use, memory, (), of.percentile)
    return put(more, room((7.0, 9.0), (40.0, 50.0)), [*now.at.tolist(), *[machine] * count])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("percentile", [60.0, 97.0, 100.0])
def test_that_many_more_fit_and_one_more_does_not(seed: int, percentile: float) -> None:
    plain, into = random_loads(seed, 5, percentile=percentile), room((7.0, 9.0), (40.0, 50.0))
    of = Loads(plain.use, np.array([0.0, 1.0, 4.0, 9.0, 2.0]) * GIB, (), percentile)
    now = put(of, into, [0, 1, 0, 1, 0])
    for one in range(5):
        counts = []
        for machine in (0, 1):
            count = 0
            while with_copies(of, one, machine, count + 1, now).fits:
                count += 1
            counts.append(count)
        told = how_many_more(of, into, now, one) if now.fits else None
        assert told in (None, sum(counts))


def test_a_machine_that_is_full_takes_none_and_the_other_still_does() -> None:
    of, into = loads([[6.0] * 4, [2.0] * 4]), room((4.0, 9.0))
    assert how_many_more(of, into, put(of, into, [0, 1]), 1) == 3
    assert how_many_more(of, into, put(of, into, [0, 1]), 0) == 1


def test_what_uses_nothing_fits_without_end_but_for_its_memory() -> None:
    of, into = loads([[0.0] * 4, [1.0] * 4], [0, 0]), room((4.0, 4.0))
    assert how_many_more(of, into, put(of, into, [0, 1]), 0) == MOST_COPIES
    of, into = loads([[0.0] * 4, [1.0] * 4], [8, 0]), room((4.0, 4.0), (20.0, 20.0))
    assert how_many_more(of, into, put(of, into, [0, 1]), 0) == 3


def test_more_fit_on_what_a_percentile_forgives() -> None:
    """One step of ten is full; at the 90th percentile it does not count."""
    use = [[1.0] * 9 + [8.0]]
    assert machine_peak(loads(use, percentile=90), np.array([True])) == 1
    into = room((8.0,))
    for percentile, expected in ((90.0, 7), (100.0, 0)):
        of = loads(use, percentile=percentile)
        assert how_many_more(of, into, put(of, into, [0]), 0) == expected
