"""Where partitions without a home go: largest first, a chip if it fits, else a node, else as few
nodes as can be; memory beside processors.
"""

from __future__ import annotations

from collections import Counter

import pytest

from homenode.errors import ScenarioError
from homenode.model import catalog
from homenode.model.catalog import MachineDescription
from homenode.model.scenario import Scenario
from homenode.model.scenario.placement import Wish, place
from homenode.model.scenario.placement.homes import homes_in_turn
from homenode.model.scenario.places import PlaceError, find_place, name_of_chip

GIB = 2**30
P795 = catalog.machine("ibm-power-795")
P570 = catalog.machine("ibm-p5-570")
E1080 = catalog.machine("ibm-power-e1080")
Z14 = catalog.machine("ibm-z14")
ROME = catalog.machine("amd-epyc-7742-2s")


def shared(cores: float, gib: int = 1, chips: tuple[int, ...] | None = None) -> Wish:
    return Wish(cores, gib * GIB, dedicated=False, chips=chips)


def dedicated(cores: int, chips: tuple[int, ...] | None = None) -> Wish:
    return Wish(cores, GIB, dedicated=True, chips=chips)


def books(count: int, more: str = "") -> MachineDescription:
    """A Power 795 of fewer books."""
    nodes = f'topology.nodes = {{ value = {count}, why = "made in a test" }}'
    idle = 'name = "a"\nmemory = "1 GiB"\nworkload = { kind = "idle" }\n'
    processors = 'processors = { mode = "shared", entitlement = 1.0, virtual = 1 }\n'
    text = f'[machine]\nmodel = "ibm-power-795"\nactive_cores = {32 * count}\n{nodes}\n{more}\n'
    return Scenario.from_toml(f"{text}[[partition]]\n{idle}{processors}").machine


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


def test_more_than_a_chip_takes_as_few_chips_of_a_node() -> None:
    nine = place(P795, [shared(9.0)])[0]
    assert Counter(nine.chips) == {0: 8, 1: 1}
    assert set(place(P795, [shared(31.0)])[0].chips) == {0, 1, 2, 3}


def test_more_than_a_node_takes_as_few_nodes() -> None:
    homes = Counter(place(P795, [shared(33.0)])[0].chips)
    assert homes == {0: 8, 1: 8, 2: 8, 3: 8, 4: 1}, "was: 32 chips of 8 books"
    assert {chip // 4 for chip in place(P795, [shared(64.0)])[0].chips} == {0, 1}
    assert {chip // 4 for chip in place(P795, [shared(65.0)])[0].chips} == {0, 1, 2}


@pytest.mark.parametrize("wish", [shared, dedicated])
def test_parts_of_a_large_partition_lie_in_nodes_of_their_own(wish: object) -> None:
    """A building block of the p5-570 has four cores on two chips."""
    make = dedicated if wish is dedicated else shared
    eight, four = place(P570, [make(8), make(4)])
    assert (set(eight.chips), set(four.chips)) == ({0, 1, 2, 3}, {4, 5})
    six, other = place(P570, [make(6), make(6)])
    assert (set(six.chips), set(other.chips)) == ({0, 1, 2}, {3, 4, 5})
    assert [set(seat.chips) for seat in place(P570, [make(4)] * 3)] == [{0, 1}, {2, 3}, {4, 5}]


def test_four_partitions_of_24_cores_on_three_books() -> None:
    """SG24-8079, 3.2.3: three are contained in a book each, the fourth lies on all three."""
    three_books = books(3)
    seats = place(three_books, [shared(24.0)] * 4)
    lie = [{chip // 4 for chip in seat.chips} for seat in seats]
    assert lie == [{0}, {1}, {2}, {0, 1, 2}]


def test_what_a_large_partition_leaves_is_used_first() -> None:
    """33 cores leave seven on the fifth chip: smaller ones go there as long as they fit."""
    seats = place(P795, [shared(33.0), shared(4.0), shared(3.0), shared(2.0)])
    assert [seat.chips for seat in seats[1:]] == [(4,), (4,), (5,)]


def test_a_node_is_kept_whole_while_another_one_has_room() -> None:
    seats = place(P795, [shared(20.0), shared(12.0), shared(32.0)])
    assert [{chip // 4 for chip in seat.chips} for seat in seats] == [{1}, {1}, {0}]


def test_memory_counts_too() -> None:
    each_chip = P795.memory.maximum.value // P795.chips // GIB
    seat = place(P795, [Wish(1.0, (each_chip + 1) * GIB, False, None, virtual=8)])[0]
    assert seat.memory == {0: each_chip * GIB, 1: GIB}
    assert seat.chips == (0,)
    seat = place(P795, [Wish(4.0, 2 * each_chip * GIB, False, None, virtual=8)])[0]
    assert (seat.chips, seat.memory) == ((0, 1), {0: each_chip * GIB, 1: each_chip * GIB})
    seat = place(P795, [shared(1.0, 4 * each_chip + 1)])[0]
    assert {chip // 4 for chip in seat.memory} == {0, 1}


def test_memory_lies_beside_processors_in_proportion() -> None:
    nine = place(P795, [Wish(9.0, 90 * GIB, dedicated=False, chips=None)])[0]
    assert nine.memory == {0: 80 * GIB, 1: 10 * GIB}
    own = place(P570, [Wish(3, 3 * GIB, dedicated=True, chips=None)])[0]
    assert (own.cores, own.memory) == ((0, 1, 2), {0: 2 * GIB, 1: GIB})
    odd = place(P570, [Wish(3, 8 * GIB + 1, dedicated=True, chips=None)])[0]
    assert odd.memory == {0: 21 * GIB // 4 + 1, 1: 11 * GIB // 4}, "in blocks of 256 MiB"


def test_memory_beside_nodes_is_as_much_a_limit() -> None:
    """Of four drawers' memory a drawer and a half: the cores follow."""
    each = Z14.memory.maximum.value // Z14.nodes
    seat = place(Z14, [Wish(9.0, each + each // 2, dedicated=False, chips=None, virtual=9)])[0]
    assert seat.memory == {0: each, 1: each // 2}
    assert Counter(chip // 6 for chip in seat.chips) == {0: 2, 1: 1}


def test_the_largest_comes_first_wherever_it_is_listed() -> None:
    seats = place(P795, [shared(3.0), shared(2.0), shared(8.0)])
    assert [seat.chips for seat in seats] == [(1,), (1,), (0,)]
    memory_too = place(P795, [shared(3.0), shared(2.0, 200)])
    assert [seat.chips for seat in memory_too] == [(0,), (0,)]


def test_as_listed_the_first_comes_first() -> None:
    """What was there before leaves holes; the largest comes last and takes what there is."""
    wishes = [shared(5.0)] * 32 + [shared(32.0)]
    seats = place(P795, wishes, largest_first=False)
    assert len({chip // 4 for chip in seats[-1].chips}) == 3
    assert len({chip // 4 for chip in place(P795, wishes)[-1].chips}) == 1


def test_own_cores_and_shared_capacity_are_taken_in_one_order() -> None:
    seats = place(P570, [shared(2.0), dedicated(3)])
    assert seats[1].cores == (0, 1, 2)
    assert seats[0].chips == (2,)
    with_home = place(P570, [dedicated(1, (5,)), dedicated(3, (5, 4)), dedicated(2, (4,))])
    assert with_home[1].cores == (10, 11, 8)
    assert with_home[2].cores is None
    assert with_home[0].cores is None


def test_own_cores_come_first_where_only_parts_of_cores_would_be_left() -> None:
    """Five of 1.2 leave parts of every chip; seven whole cores are there before they come."""
    seats = place(P570, [shared(1.2)] * 4 + [dedicated(1)] * 7)
    assert all(seat.cores is not None for seat in seats[4:])
    assert len({core for seat in seats[4:] for core in seat.cores or ()}) == 7


def test_stated_places_are_taken_before_any_is_chosen() -> None:
    seats = place(P795, [shared(32.0), shared(30.0, chips=(0, 1, 2, 3))])
    assert {chip // 4 for chip in seats[0].chips} == {1}


def test_processors_go_where_the_memory_is_stated_to_lie() -> None:
    lies = {22: 8 * GIB, 3: GIB}
    near = Wish(2.0, GIB, dedicated=False, chips=None, lies=lies)
    assert place(P795, [near])[0].chips == (22,)
    full = shared(32.0, chips=(20, 21, 22, 23))
    assert place(P795, [full, near])[1].chips == (3,)


def test_dark_cores_are_nobodys_home() -> None:
    for seat in place(P570, [shared(9.0), shared(0.1)]):
        assert all(P570.active_cores_of(chip) for chip in seat.chips)


def test_nodes_that_are_near_to_each_other_go_together() -> None:
    """Nodes 0 and 2 share a switch, 1 and 3 another one."""
    rows = [[0.6 if (a - b) % 2 == 0 else 1.0 for b in range(4)] for a in range(4)]
    paired = books(4, f'node_distance = {{ value = {rows}, why = "made in a test" }}')
    assert {chip // 4 for chip in place(paired, [shared(33.0)])[0].chips} == {0, 2}


def test_more_than_there_is_lies_everywhere() -> None:
    """The sums are refused elsewhere; nothing falls over here."""
    seat = place(P570, [Wish(13.0, 1 << 40, dedicated=False, chips=None, virtual=13)])[0]
    assert set(seat.chips) == set(range(6))
    assert sum(seat.memory.values()) == 1 << 40


def test_a_partition_with_no_capacity_has_a_home_all_the_same() -> None:
    assert place(P570, [Wish(0.0, GIB, dedicated=False, chips=None)])[0].chips == (0,)
    most = P570.memory.maximum.value
    assert place(P570, [Wish(0.0, most, dedicated=False, chips=None)])[0].chips == (0,)


def test_on_a_host_threads_go_where_most_is_free() -> None:
    seats = place(ROME, [shared(3.0) for _ in range(3)])
    assert [seat.chips for seat in seats] == [(0,), (1,), (2,)]


def test_homes_in_turn() -> None:
    assert homes_in_turn(10, {3: 2.0}) == (3,)
    assert homes_in_turn(4, {0: 1.0, 1: 1.0}) == (0, 1)
    assert homes_in_turn(3, {0: 2.0, 1: 1.0}) == (0, 1, 0)
    assert homes_in_turn(1, {0: 0.4, 1: 0.6}) == (1,)
    assert homes_in_turn(6, {4: 0.0, 5: 0.0}) == (4, 5)
    assert homes_in_turn(5, {4: 1.0, 5: 1.0}) == (4, 5, 4, 5, 4)
    many = homes_in_turn(33, {0: 8.0, 1: 8.0, 2: 8.0, 3: 8.0, 4: 1.0})
    assert Counter(many) == {0: 8, 1: 8, 2: 8, 3: 8, 4: 1}
    assert set(many[:4]) == {0, 1, 2, 3}


def test_placing_is_a_key_of_the_machine() -> None:
    """Two of five cores and one of 32 in the order of the file, or the largest first."""
    table = '[[partition]]\nname = "{}"\nmemory = "1 GiB"\nworkload = {{ kind = "idle" }}\n'
    processors = 'processors = {{ mode = "shared", entitlement = {0}, virtual = {0} }}\n'
    text = '[machine]\nmodel = "ibm-power-795"\n'
    for name, cores in (("a", 25), ("b", 32), ("c", 7)):
        text += table.format(name) + processors.format(cores)
    first = Scenario.from_toml(text)
    listed = first.with_({"machine.placing": "as-listed"})
    nodes = [{chip // 4 for chip in one.home} for one in first.partitions]
    assert nodes == [{1}, {0}, {1}]
    assert [{chip // 4 for chip in one.home} for one in listed.partitions] == [{0}, {1}, {0}]


@pytest.mark.parametrize(
    ("machine", "told"),
    [("amd-epyc-7742-2s", "the kernel puts threads"), ("hp-rx7640", "are configured")],
)
def test_placing_means_nothing_where_no_hypervisor_places(machine: str, told: str) -> None:
    text = (
        f'[machine]\nmodel = "{machine}"\nplacing = "as-listed"\n'
        '[[partition]]\nname = "a"\nmemory = "1 GiB"\nworkload = { kind = "idle" }\n'
        'processors = { mode = "shared", virtual = 1 }\n'
    )
    with pytest.raises(ScenarioError, match=told):
        Scenario.from_toml(text)
