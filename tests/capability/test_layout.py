"""Where processors of a partition go: filled node by node, group by group, spread inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import CapabilityError, HomenodeError
from homenode.evidence.capability import Layout
from homenode.evidence.capability.layout import layout_of, shares
from homenode.model.catalog import machine

OWN = """\
machine = "ibm-z13"
processors = { value = 40, source = "our own machine" }
memory = { value = "striped", assumed = "as before", range = ["beside", "striped"] }
"""


def shipped(name: str) -> Layout:
    return layout_of(machine(name))


def of_nodes(layout: Layout, processors: int) -> list[int]:
    chips, width = layout.busy(processors), layout.chips_per_node
    return [sum(chips[first : first + width]) for first in range(0, len(chips), width)]


def test_equal_shares_with_the_larger_ones_first() -> None:
    assert shares(66, 4) == [17, 17, 16, 16]
    assert shares(35, 2) == [18, 17]
    assert shares(3, 4) == [1, 1, 1, 0]


def test_a_book_is_filled_before_the_next_and_its_chips_evenly() -> None:
    z196 = shipped("ibm-z196")
    assert z196.busy(8)[:6] == [2, 2, 1, 1, 1, 1]
    assert [of_nodes(z196, n) for n in (17, 18, 34, 35, 66)] == [
        [17, 0, 0, 0],
        [17, 1, 0, 0],
        [17, 17, 0, 0],
        [17, 17, 1, 0],
        [17, 17, 16, 16],
    ]


def test_what_is_beyond_the_customers_goes_on_evenly() -> None:
    z196 = shipped("ibm-z196")
    assert of_nodes(z196, 68) == [18, 18, 16, 16]
    assert of_nodes(z196, 96) == [24, 24, 24, 24]
    assert max(z196.busy(96)) == 4


def test_a_cluster_is_filled_before_the_next() -> None:
    z14 = shipped("ibm-z14")
    assert z14.busy(18)[:6] == [6, 6, 6, 0, 0, 0]
    assert z14.busy(19)[:6] == [6, 6, 6, 1, 0, 0]
    assert of_nodes(z14, 36) == [35, 1, 0, 0]
    assert of_nodes(z14, 240) == [60, 60, 60, 60]


def test_powervm_fills_a_chip_before_it_enters_another() -> None:
    p770, p795 = shipped("ibm-power-770"), shipped("ibm-power-795")
    assert p770.busy(8)[:2] == [8, 0]
    assert p795.busy(9)[:4] == [8, 1, 0, 0]
    assert of_nodes(p795, 33)[:2] == [32, 1]


def test_every_processor_has_a_place() -> None:
    for name in ("ibm-z196", "ibm-z14", "ibm-z10", "ibm-power-795", "hp-rx8640"):
        layout = shipped(name)
        before = [0] * (layout.nodes * layout.chips_per_node)
        for processors in range(1, layout.most + 1):
            chips = layout.busy(processors)
            assert sum(chips) == processors
            assert max(chips) <= layout.cores_per_chip
            assert all(new >= old for new, old in zip(chips, before, strict=True))
            before = chips


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(HomenodeError) as error:
        shipped("ibm-z196").busy(97)
    assert str(error.value) == (
        "a partition of 97 processors cannot be placed: the machine has 96 cores; ask for 1 to 96"
    )


def test_a_machine_without_a_layout_is_taken_as_described() -> None:
    epyc = shipped("amd-epyc-7742-2s")
    assert (epyc.processors, epyc.memory, epyc.change) == (128, "beside", {})


def test_a_model_of_fewer_drawers_fills_those_that_it_has(folder: Path) -> None:
    model = """\
machine = "ibm-z13"
nodes = { value = 2, source = "one drawer" }
processors = { value = 30, source = "sold with 30" }
drawer_nodes = { value = 2, source = "two nodes" }
memory = { value = "drawers", source = "in one drawer" }
"""
    (folder / "one.toml").write_text(model, encoding="utf-8")
    one = layout_of(machine("ibm-z13"), "one.toml")
    assert of_nodes(one, 15) == [15, 0, 0, 0, 0, 0, 0, 0]
    assert of_nodes(one, 30) == [15, 15, 0, 0, 0, 0, 0, 0]
    assert (one.memory, one.drawer_nodes) == ("drawers", 2)


def test_a_layout_of_ones_own(folder: Path) -> None:
    (folder / "own.toml").write_text(OWN, encoding="utf-8")
    own = layout_of(machine("ibm-z13"), "own.toml")
    assert (own.processors, own.memory) == (40, "striped")
    assert of_nodes(own, 6) == [5, 1, 0, 0, 0, 0, 0, 0]
    with pytest.raises(CapabilityError) as error:
        layout_of(machine("ibm-z14"), "own.toml")
    assert str(error.value) == (
        "own.toml is the layout of ibm-z13, not of ibm-z14: name a layout of this machine, or "
        "leave it out"
    )
