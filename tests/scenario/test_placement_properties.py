"""What must hold of placement in any frame of a machine on which a hypervisor places partitions."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode.model import catalog
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.scenario.placement import Seat, Wish, place
from homenode.model.scenario.placement.pour import LOGICAL_BLOCK

GIB = 2**30
MACHINES = [
    machine
    for machine in map(catalog.machine, catalog.machines())
    if machine.platform is None and machine.hypervisor.policy not in HOST_POLICIES
]
machines = st.sampled_from(MACHINES)


@st.composite
def frames(draw: st.DrawFn, most: int = 12) -> tuple[MachineDescription, list[Wish]]:
    """A machine and partitions that fit it together, none of them at a stated place."""
    machine = draw(machines)
    wishes: list[Wish] = []
    cores, memory = machine.active_cores, machine.memory.maximum.value // GIB
    for _ in range(draw(st.integers(1, most))):
        if cores < 1 or memory < 1:
            break
        own = draw(st.booleans())
        wanted = draw(st.integers(1, cores) if own else st.integers(1, 20 * cores))
        size = draw(st.integers(1, memory))
        cores -= wanted if own else math.ceil(wanted / 20)
        memory -= size
        spread = draw(st.integers(1, 3))
        capacity = float(wanted) if own else wanted / 20
        virtual = wanted if own else math.ceil(capacity) * spread
        wishes.append(Wish(capacity, size * GIB, dedicated=own, chips=None, virtual=virtual))
    return machine, wishes


@st.composite
def in_part(draw: st.DrawFn) -> tuple[MachineDescription, list[Wish], Wish]:
    """A machine some of whose chips are taken in part, and one more partition that it can hold."""
    machine = draw(machines)
    active = [chip for chip in range(machine.chips) if machine.active_cores_of(chip)]
    free = {chip: float(len(machine.active_cores_of(chip))) for chip in active}
    fillers = []
    for chip in draw(st.lists(st.sampled_from(active), unique=True)):
        taken = draw(st.integers(1, 4 * int(free[chip]))) / 4
        free[chip] -= taken
        fillers.append(Wish(taken, GIB, dedicated=False, chips=(chip,)))
    own = draw(st.booleans())
    left = sum(map(math.floor, free.values())) if own else int(4 * sum(free.values()))
    if not left:
        own, left, fillers = False, 4 * machine.active_cores, []
    wanted = draw(st.integers(1, left))
    cores = float(wanted) if own else wanted / 4
    return machine, fillers, Wish(cores, GIB, dedicated=own, chips=None)


def nodes_of(machine: MachineDescription, seat: Seat) -> set[int]:
    """Nodes on which any of it is."""
    each = machine.chips_per_node if machine.memory.beside == "chip" else 1
    return {chip // machine.chips_per_node for chip in seat.chips} | {
        d // each for d in seat.memory
    }


def left_on(machine: MachineDescription, fillers: Sequence[Wish], wish: Wish) -> dict[int, float]:
    """Cores that the last partition could have of each chip."""
    left = {c: float(len(machine.active_cores_of(c))) for c in range(machine.chips)}
    for filler in fillers:
        for chip in filler.chips or ():
            left[chip] -= filler.cores
    return {c: math.floor(n + 1e-9) if wish.dedicated else n for c, n in left.items()}


def fewest_nodes(machine: MachineDescription, left: dict[int, float], cores: float) -> int:
    """Counted out over all sets of nodes."""
    each = machine.chips_per_node
    rooms = [sum(left[n * each + c] for c in range(each)) for n in range(machine.nodes)]
    return next(
        count
        for count in range(1, machine.nodes + 1)
        if any(sum(some) >= cores - 1e-9 for some in itertools.combinations(rooms, count))
    )


@given(in_part())
def test_no_more_nodes_than_what_is_free_requires(
    case: tuple[MachineDescription, list[Wish], Wish],
) -> None:
    machine, fillers, wish = case
    seat = place(machine, [*fillers, wish])[-1]
    left = left_on(machine, fillers, wish)
    # A sliver of a node may be too little for a virtual processor or a block of memory.
    assert len(nodes_of(machine, seat)) <= fewest_nodes(machine, left, wish.cores)
    if any(room >= wish.cores - 1e-9 for room in left.values()):
        assert len(set(seat.chips)) == 1, "it fits a chip"


@given(machines, st.data())
def test_alone_it_lies_on_as_few_nodes_as_cores_and_memory_ask(
    machine: MachineDescription, data: st.DataObject
) -> None:
    cores = data.draw(st.integers(1, machine.active_cores))
    memory = data.draw(st.integers(1, machine.memory.maximum.value))
    seat = place(machine, [Wish(float(cores), memory, dedicated=False, chips=None)])[0]
    whole = {c: float(len(machine.active_cores_of(c))) for c in range(machine.chips)}
    for_memory = math.ceil(memory * machine.nodes / machine.memory.maximum.value - 1e-9)
    least = max(fewest_nodes(machine, whole, cores), for_memory)
    assert len(nodes_of(machine, seat)) == least


@given(frames(), st.randoms(use_true_random=False))
def test_the_order_in_the_file_does_not_matter(
    frame: tuple[MachineDescription, list[Wish]], random: object
) -> None:
    machine, wishes = frame
    order = list(range(len(wishes)))
    random.shuffle(order)  # type: ignore[attr-defined]
    seats = place(machine, wishes)
    shuffled = place(machine, [wishes[index] for index in order])

    def told(wishes: Sequence[Wish], seats: Sequence[Seat]) -> list[str]:
        """Equal partitions may have each other's places."""
        return sorted(map(repr, zip(wishes, seats, strict=True)))

    assert told([wishes[index] for index in order], shuffled) == told(wishes, seats)
    assert place(machine, wishes) == seats


@given(frames())
def test_cores_are_had_once_and_memory_fits(frame: tuple[MachineDescription, list[Wish]]) -> None:
    machine, wishes = frame
    seats = place(machine, wishes)
    cores = [core for seat in seats for core in seat.cores or ()]
    assert len(cores) == len(set(cores)) == sum(int(w.cores) for w in wishes if w.dedicated)
    assert all(core < machine.active_cores for core in cores)
    held = dict.fromkeys(range(machine.domains), 0)
    for wish, seat in zip(wishes, seats, strict=True):
        assert sum(seat.memory.values()) == wish.memory_bytes
        assert wish.processors % len(seat.chips) == 0 or wish.dedicated
        for domain, size in seat.memory.items():
            held[domain] += size
    # Whole blocks are rounded up here and down there.
    slack = len(wishes) * LOGICAL_BLOCK
    assert max(held.values()) <= machine.memory.maximum.value / machine.domains + slack


@given(frames())
def test_memory_lies_beside_processors_where_there_is_enough_of_it(
    frame: tuple[MachineDescription, list[Wish]],
) -> None:
    machine, wishes = frame
    little = [replace(wish, memory_bytes=GIB * math.ceil(wish.cores)) for wish in wishes]
    for wish, seat in zip(little, place(machine, little), strict=True):
        homes = [machine.domain_of(chip) for chip in seat.chips]
        for domain in set(homes) if wish.virtual > 1 and not wish.dedicated else ():
            share = homes.count(domain) / len(homes)
            due = share * wish.memory_bytes
            slack = LOGICAL_BLOCK + wish.memory_bytes / wish.virtual
            assert abs(seat.memory.get(domain, 0) - due) <= slack
        for domain, size in seat.memory.items():
            own = [
                c
                for c in seat.cores or ()
                if machine.domain_of(c // machine.cores_per_chip) == domain
            ]
            if wish.dedicated:
                assert abs(size - wish.memory_bytes * len(own) / wish.cores) <= LOGICAL_BLOCK


@given(machines, st.integers(1, 40))
def test_equal_partitions_fill_one_place_after_the_other(
    machine: MachineDescription, count: int
) -> None:
    """Half a core each: as many chips are begun as are needed."""
    half = Wish(0.5, GIB, dedicated=False, chips=None)
    count = min(count, 2 * machine.active_cores)
    used = [seat.chips[0] for seat in place(machine, [half] * count)]
    assert len(set(used)) == math.ceil(count / (2 * machine.cores_per_chip))


@pytest.mark.parametrize("name", ["ibm-power-795", "ibm-power-e1080", "ibm-z13"])
def test_a_thousand_partitions_are_placed_at_once(name: str) -> None:
    machine = catalog.machine(name)
    sizes = [(7 * index) % 50 + 1 for index in range(1000)]
    each, memory = machine.active_cores / sum(sizes), machine.memory.maximum.value // 1100
    wishes = [Wish(each * s, memory, dedicated=False, chips=None, virtual=2) for s in sizes]
    began = time.perf_counter()
    place(machine, wishes)
    assert time.perf_counter() - began < 5.0, "a third of a second is usual"
