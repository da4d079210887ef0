"""Where partitions without a home go: largest first, a chip if it fits, else a node, else all."""

from __future__ import annotations

import pytest

from homenode.model import catalog
from homenode.model.scenario.placement import Wish, place
from homenode.model.scenario.places import PlaceError, find_place, name_of_chip

GIB = 2**30
P795 = catalog.machine("ibm-power-795")
P570 = catalog.machine("ibm-p5-570")


def shared(cores: float, gib: int = 1, chips: tuple[int, ...] | None = None) -> Wish:
    return Wish(cores, gib * GIB, dedicated=False, chips=chips)


def dedicated(cores: int, chips: tuple[int, ...] | None = None) -> Wish:
    return Wish(cores, GIB, dedicated=True, chips=chips)


def test_names_of_places() -> None:
    assert find_place("book5", P795) == [20, 21, 22, 23]
    assert find_place("Book5.Chip2", P795) == [22]
    assert find_place("node5.chip2", P795) == [22]
    assert find_place("chip22", P795) == [22]
    assert find_place("block2", P570) == [4, 5]
    assert find_place("buildingblock2.chip1", P570) == [5]
    assert name_of_chip(22, P795) == "book5.chip2"
    for wrong in ("book", "5", "book8", "book5.chip4", "chip32", "book5.core1", "drawer1", ""):
        with pytest.raises(PlaceError):
            find_place(wrong, P795)


def test_a_small_partition_goes_on_one_chip() -> None:
    assert place(P795, [shared(2.0)])[0].chips == (0,)


def test_many_virtual_processors_do_not_matter_but_capacity_does() -> None:
    seats = place(P795, [shared(8.0), shared(9.0)])
    assert seats[1].chips == (0, 1, 2, 3)
    assert seats[0].chips == (4,)
    assert place(P795, [shared(33.0)])[0].chips == tuple(range(32))


def test_memory_counts_too() -> None:
    each_chip = P795.memory.maximum.value // P795.chips // GIB
    seats = place(P795, [shared(1.0, each_chip + 1)])
    assert seats[0].chips == (0, 1, 2, 3)


def test_partitions_spread_over_the_chips_with_most_left() -> None:
    seats = place(P795, [shared(3.0) for _ in range(3)])
    assert len({seat.chips for seat in seats}) == 3


def test_dedicated_partitions_get_whole_cores_before_others_are_placed() -> None:
    seats = place(P570, [shared(2.0), dedicated(3)])
    assert seats[1].cores == (0, 1, 2)
    assert seats[1].chips == (0, 1)
    assert seats[0].chips == (2,)
    with_home = place(P570, [dedicated(1, (5,)), dedicated(3, (5, 4)), dedicated(2, (4,))])
    assert with_home[1].cores == (10, 11, 8)
    assert with_home[2].cores is None
    assert with_home[0].cores is None


def test_dark_cores_are_nobodys_home() -> None:
    for seat in place(P570, [shared(9.0), shared(0.1)]):
        assert all(P570.active_cores_of(chip) for chip in seat.chips)
