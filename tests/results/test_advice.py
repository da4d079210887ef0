"""Other layouts and what they would save: which there are, which are told, what they cost by
hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import cell_frames as cells
import frames
from homenode.errors import EngineMissingError
from homenode.simulate.explain.advice import (
    _spread,
    moved_advice,
    page_advice,
    rehomed_saving,
    worth_telling,
)
from homenode.simulate.explain.moves import Move, moves
from homenode.simulate.explain.places import Tree
from homenode.simulate.explain.pricing import Outcome, Pricing
from homenode.simulate.explain.remedies import remedy
from homenode.simulate.explain.situation import Situation
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

pytestmark = pytest.mark.usefixtures("fake", "here")

GIB = cells.GIB
Make = Callable[..., Situation]


@pytest.fixture
def make(fake: ModuleType, here: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Run a layout of cells and look at its first partition; facts of the machine on request."""

    def run(*partitions: dict[str, Any], facts: dict[str, Any] | None = None) -> Situation:
        told = {"node_name": "cell", **(facts or {})}
        monkeypatch.setattr("homenode.simulate.runner.job.machine_facts", lambda _: told)
        done = run_scenario(frames.Frozen(cells.frame(*partitions, name="layout")))
        return Situation(done, done.partitions[0])

    return run


def jbb(cores: Any, *memory: dict[str, Any], **options: Any) -> dict[str, Any]:
    return cells.partition("jbb", cores, memory, **options)


FAR = (cells.part(24, 1), cells.part(8, 0, 1))


def test_cores_that_move_to_their_memory(make: Make) -> None:
    """By hand: 0.5 ns and 0.002 lines of 0.125 x 200 + 0.875 x 300 = 287.5 ns now, of 212.5 ns with
    the cores on cell 1, of 200 ns with all memory near.
    """
    at = make(jbb(range(8), *FAR, io_domain=1))
    used = at.metric("physc")
    text = moved_advice(at)
    assert text == (
        "Its 8 cores are on cell 0; 12 % of its memory lies on cell 0 and 88 % on cell 1. "
        "With its 8 cores on cell 1, where 88 % of its memory lies and its I/O hangs, the same "
        f"work would take {used * 0.925 / 1.075:.2f} cores in place of {used:.2f} (14.0 % less); "
        f"with all its memory on cell 0 beside its cores, {used * 0.9 / 1.075:.2f} (16.3 % less)."
    )
    assert remedy("distance", at) == text


def test_what_does_not_fit_is_not_told(make: Make) -> None:
    """24 GiB of room in cell 0 take the interleaved memory, not all of it."""
    room = {"0": 24 * GIB, "1": 32 * GIB}
    at = make(jbb(range(8), *FAR), facts={"room": room})
    texts = [move.text for move in moves(at)]
    assert "all its memory on cell 0 beside its cores" not in texts
    assert "its 8 GiB of interleaved memory on cell 0 beside its cores" in texts
    assert "with its 8 cores on cell 1" in moved_advice(at).lower()


def test_a_cell_of_another_npartition_is_out_of_reach(make: Make) -> None:
    at = make(jbb(range(8), *FAR), facts={"reach": {"jbb": [0]}})
    assert {move.kind for move in moves(at)} == {"memory"}


def test_full_cells_exchange(make: Make) -> None:
    other = cells.partition("sap", range(8, 16), [cells.part(24, 0), cells.part(8, 0, 1)])
    at = make(jbb(range(8), *FAR), other)
    used = at.metric("physc")
    text = moved_advice(at)
    assert "in exchange with sap, the same work" in text
    assert f"sap would take {used * 0.925 / 1.075:.2f} in place of {used:.2f}" in text
    move = next(move for move in moves(at) if move.exchanged)
    mine, theirs = (p["processors"]["cores"] for p in move.spec["partitions"])
    assert mine == list(range(8, 16))
    assert theirs == list(range(8))
    assert sorted(move.spec["partitions"][0]["home"]) == [4, 5, 6, 7]


def test_of_several_partners_the_one_that_gains_is_told(make: Make) -> None:
    """web lies beside its memory, sap has its own on cell 0: 200 ns in place of 300 for both."""
    web = cells.partition("web", range(8, 12), [cells.part(8, 1)])
    sap = cells.partition("sap", range(12, 16), [cells.part(8, 0)])
    at = make(jbb(range(4), cells.part(8, 1)), web, sap)
    assert [move.exchanged for move in moves(at) if move.kind == "cores"] == [(1,), (2,)]
    used, other = (at.run.metrics[name]["physc"].mean or 0.0 for name in ("jbb", "sap"))
    text = moved_advice(at)
    assert "in exchange with sap, the same work" in text
    assert f"{used * 0.9 / 1.1:.2f} cores in place of {used:.2f}" in text
    assert f"sap would take {other * 0.9 / 1.1:.2f} in place of {other:.2f}" in text


def test_memory_that_harms_nobody_is_told_beside_an_exchange_that_does() -> None:
    """It saves the partition as much as the exchange, of which the other pays half a core."""
    outcome, kinder = (
        Outcome(Move(kind, kind, {}), 8.0, then, {}, total)
        for kind, then, total in (("cores", 7.2, 0.3), ("memory", 7.21, 0.79))
    )
    assert worth_telling([outcome, kinder]) == [outcome, kinder]
    assert worth_telling([outcome, replace(kinder, total=0.3)]) == [outcome]
    assert worth_telling([outcome, replace(kinder, then=7.4)]) == [outcome]


def test_many_cells_are_counted(make: Make) -> None:
    at = make(jbb(range(8), cells.part(32, 1)))
    many = dict.fromkeys(range(16), 2.0)
    text = _spread(at, sorted(many.items()), [(0, 0.75), (3, 0.25)])
    assert text == (
        "Its 8 cores are on 16 cells (at most 2 on one), its memory on 2 cells (at most 75 % on "
        "one)."
    )
    assert _spread(at, [(0, 8.0)], [(3, 1.0)]) == (
        "Its 8 cores are on cell 0, its memory on cell 3."
    )


def test_a_partition_that_does_not_work_has_nothing_to_save(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = make(jbb(range(8), *FAR))
    monkeypatch.setattr(Pricing, "used", [0.0])
    assert moved_advice(at).endswith("It works too little for another layout to save anything.")


def test_an_exchange_that_costs_the_other_more_is_not_told(make: Make) -> None:
    """sap's memory is where its cores are, and it works as much."""
    other = cells.partition("sap", range(8, 16), [cells.part(32, 1)])
    text = moved_advice(make(jbb(range(8), cells.part(20, 1), cells.part(12, 0)), other))
    assert "in exchange" not in text
    assert "With all its memory on cell 0 beside its cores" in text


def test_part_of_the_cores_where_not_all_have_room(make: Make) -> None:
    other = cells.partition("sap", range(8, 13), [cells.part(32, 1)])
    at = make(jbb(range(8), cells.part(32, 1)), other)
    partial = [move for move in moves(at) if not move.complete]
    assert partial[0].text == "3 of its 8 cores on cell 1, where 100 % of its memory lies"
    cores = partial[0].spec["partitions"][0]["processors"]["cores"]
    assert sorted(cores) == [3, 4, 5, 6, 7, 13, 14, 15]


def test_whole_chips_are_taken_first(make: Make) -> None:
    other = cells.partition("sap", [8, 12], [cells.part(32, 1)])
    at = make(jbb(range(4), cells.part(32, 1)), other)
    first = next(move for move in moves(at) if move.kind == "cores")
    assert sorted(first.spec["partitions"][0]["processors"]["cores"]) == [10, 11, 14, 15]


def test_interleaved_memory_made_local(make: Make) -> None:
    at = make(jbb([*range(4), *range(8, 12)], cells.part(32, 0, 1)))
    move = next(move for move in moves(at) if move.kind == "both")
    assert move.spec["partitions"][0]["memory"] == [{"domains": [0], "bytes": 32 * GIB}]
    assert "and all its memory there too" in move.text
    # 200 ns in place of 250 ns.
    assert "(10.0 % less)" in moved_advice(at)
    spread = make(jbb([*range(6), 8, 9], cells.part(8, 0, 1), cells.part(24, 1)))
    local = next(move for move in moves(spread) if "all its memory on" in move.text)
    assert local.spec["partitions"][0]["memory"] == [
        {"domains": [0], "bytes": 24 * GIB},
        {"domains": [1], "bytes": 8 * GIB},
    ]


def test_nothing_to_move_and_nothing_that_helps(make: Make) -> None:
    at = make(jbb(range(8), cells.part(32, 0)))
    assert "All of it is on one cell" in moved_advice(at)
    flat = jbb(range(8), *FAR)
    frame = cells.frame(flat, name="flat", memory_ns={"local": 200.0, "near": 200.0, "far": 201.0})
    run = run_scenario(frames.Frozen(frame))
    text = moved_advice(Situation(run, "jbb"))
    assert "No move helps: the best of them, all its memory on cell 0" in text
    assert "would save 0.2 % of its cores" in text


def test_full_cells_with_nothing_to_exchange(make: Make) -> None:
    """Neither cell has room for the memory of the other."""
    room = {"0": 16 * GIB, "1": 32 * GIB}
    other = cells.partition("sap", range(8, 16), [cells.part(8, 1)])
    facts = {"room": room, "reach": {"jbb": [0], "sap": [1]}}
    at = make(jbb(range(8), cells.part(24, 1)), other, facts=facts)
    assert "There is no room to bring its cores and its memory together." in moved_advice(at)


def test_without_the_engine_there_is_advice_without_a_price(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = make(jbb(range(8), *FAR))

    def missing() -> None:
        raise EngineMissingError("the compiled engine cannot be loaded")

    monkeypatch.setattr("homenode.simulate.explain.pricing.load_engine", missing)
    assert "Cores and memory on one cell would avoid it." in moved_advice(at)
    assert rehomed_saving(at, {0: 1}) == ""


def test_a_layout_that_the_engine_refuses_is_no_advice(
    make: Make, fake: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = make(jbb(range(8), *FAR))

    def refuse(*_: str) -> str:
        raise fake.SpecError("the data do not fit")

    monkeypatch.setattr(fake, "price", refuse)
    text = moved_advice(at)
    assert "room" not in text
    assert text.endswith("What that saves this engine cannot tell of this run: simulate it again.")
    assert rehomed_saving(at, {0: 1}) == ""


def test_larger_pages(make: Make, fake: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    at = make(jbb(range(8), cells.part(32, 0)))
    at.run.spec["machine"]["translation"] = {"entries": 128, "walk_ns": 50.0}
    at.spec["page_bytes"] = 64 << 20
    told = page_advice(at)
    assert told.startswith("A core holds the translations of 128 pages of 64 MiB, 28 % of its 28.8")
    assert told.endswith(": larger pages reach farther.")
    asked: list[int] = []

    def price(spec: str, busy: str) -> str:
        import json

        page = json.loads(spec)["partitions"][0]["page_bytes"]
        asked.append(page)
        return json.dumps({"partitions": [{"name": "jbb", "ns": 1.0 if page < 2**27 else 0.9}]})

    monkeypatch.setattr(fake, "price", price)
    assert "With pages of 256 MiB, the same work would take 7.1" in page_advice(at)
    assert set(asked) == {64 << 20, 256 << 20}


@pytest.mark.parametrize("family", ["reload", "spin", "guest_idle", "hypervisor", "smt", "tick"])
def test_cores_of_ones_own_have_their_own_advice(family: str, make: Make) -> None:
    at = make(jbb(range(8), *FAR))
    text = remedy(family, at)
    assert text.endswith(".")
    assert "virtual processor" not in text
    assert "None" not in text


def test_the_monitor_and_the_lock_are_named(make: Make) -> None:
    own = jbb(range(8), *FAR)
    own["hypervisor_share"] = 0.01
    own["profile"]["lock_share"] = 0.05
    at = make(own)
    assert remedy("hypervisor", at).startswith("1.0 % of its core time goes to what the guest")
    assert "locks that its work holds 5.0 % of the time" in remedy("spin", at)


def test_memory_brought_home_has_a_price() -> None:
    """A shared partition: 0.002 lines of 137.5 ns at home in place of 270 ns."""
    lone = frames.partition("lone", 0)
    lone["memory"] = [{"domains": [15], "bytes": 40 * GIB}]
    run = run_scenario(frames.Frozen(frames.frame(lone)))
    at = Situation(run, "lone")
    now, then = 0.5 + 0.002 * 270, 0.5 + 0.002 * 137.5
    used = at.metric("physc")
    assert f"would take {used * then / now:.2f} cores in place of {used:.2f}" in remedy(
        "distance", at
    )


def test_busy_cores_fit_the_chips_they_are_on(fake: ModuleType) -> None:
    """Partitions that together need more than their home has are spread as the run found them."""
    _, together = frames.near_and_far(1)
    run = run_scenario(together)
    pricing = Pricing(run, fake)
    rows = pricing._fitted([
        pricing._busy(p, i, False) for i, p in enumerate(run.spec["partitions"])
    ])  # fmt: skip
    for chip in range(16):
        assert sum(row[chip] for row in rows) <= 4.0 + 1e-9
    used, far = (run.metrics["three"][name].mean or 0.0 for name in ("physc", "far_share"))
    assert sum(rows[0][4:]) == pytest.approx(used * far)


def test_the_tree_of_a_machine_with_memory_beside_its_cells() -> None:
    frame = cells.frame(jbb([0, 1, 8], *FAR))
    tree, partition = Tree(frame["machine"]), frame["partitions"][0]
    assert tree.memory_by_node(partition) == {1: 0.875, 0: 0.125}
    assert tree.seats(partition) == {0: 2, 4: 1}
    assert (tree.domain_of(5), tree.node_of_domain(1)) == (1, 1)
    assert list(tree.cores_of(1)) == list(range(8, 16))
    frame["machine"] |= {"memory_beside": "chip", "active_cores": 10}
    assert (tree.domain_of(5), tree.node_of_domain(5)) == (5, 1)
    assert list(tree.cores_of(1)) == [8, 9]


def test_run_reach_and_names(make: Make) -> None:
    at = make(jbb(range(8), *FAR), facts={"reach": {"jbb": [1]}, "room": {"0": 5}})
    run: Run = at.run
    assert run.reach("jbb") == run.reach(0) == [1]
    assert run.memory_room == {0: 5}
    assert at.node_label(1) == "cell 1"
