"""Affinity scores, now and after a run of the Dynamic Platform Optimizer: by hand, and which way
they go when a layout is changed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import homenode
from homenode import NotFoundError, Scenario, ScenarioError
from homenode.simulate.affinity.frame import FrameAffinity, PartitionAffinity, affinity
from homenode.simulate.affinity.optimised import optimised, placed_anew
from homenode.tools import lsmemopt
from homenode.tools.frame import frame_rows, render

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

WORK = 'workload = { kind = "transactions", rate = "100/s", profile = "oltp" }'
NEAR = (270 - 150) / (270 - 100)
"""What near memory of a Power 795 spares of the way from local to far."""
GIB = 2**30


def partition(
    name: str,
    cores: float,
    *,
    memory: str = '"16 GiB"',
    home: str | None = None,
    own: bool = False,
    virtual: int | None = None,
) -> str:
    """A table of a scenario."""
    processors = f'mode = "shared", entitlement = {cores}, virtual = {virtual or math.ceil(cores)}'
    if own:
        processors = f'mode = "dedicated", cores = {cores:.0f}'
    told = f'[[partition]]\nname = "{name}"\nprocessors = {{ {processors} }}\n'
    told += f"memory = {memory}\n{WORK}\n"
    return told if home is None else f"{told}home = {home}\n"


def frame(*partitions: str, machine: str = "ibm-power-795", more: str = "") -> Scenario:
    """A scenario of these on a machine."""
    return Scenario.from_toml(
        "\n".join(['name = "frame"', "[machine]", f'model = "{machine}"', more, *partitions])
    )


def only(scenario: Scenario) -> PartitionAffinity:
    """The scores of a frame with one partition."""
    (row,) = affinity(scenario).rows
    return row


def on(*places: tuple[str, str]) -> str:
    """Memory in parts at places."""
    return "[" + ", ".join(f'{{ size = "{size}", on = "{on}" }}' for size, on in places) + "]"


def test_what_lies_together_on_a_chip_has_all_of_it() -> None:
    row = only(frame(partition("a", 4.0)))
    assert (row.now.score, row.then.score, row.moved_bytes) == (100, 100, 0)
    assert (row.now.apart.local, row.now.apart.near, row.now.apart.far) == (1.0, 0.0, 0.0)
    assert row.change_pct == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("memory", "score"),
    [
        (on(("16 GiB", "book5.chip0")), 100),
        (on(("16 GiB", "book5.chip1")), round(100 * NEAR)),
        (on(("16 GiB", "book6.chip0")), 0),
        (on(("8 GiB", "book5.chip0"), ("8 GiB", "book6")), 50),
        (on(("8 GiB", "book5.chip0"), ("8 GiB", "book5.chip3")), round(50 + 50 * NEAR)),
        (on(("4 GiB", "book5.chip0"), ("12 GiB", "book0")), 25),
    ],
)
def test_memory_elsewhere_by_hand(memory: str, score: int) -> None:
    row = only(frame(partition("a", 4.0, memory=memory, home='"book5.chip0"')))
    assert (row.now.score, row.then.score) == (score, 100)
    assert (row.change_pct or 0.0) <= 1e-9, "an instruction gets no dearer"
    assert score == 100 or (row.change_pct or 0.0) < 0


def test_processors_on_two_books_by_hand() -> None:
    """Half of the cores and half of the memory on each of eight chips: each core has an eighth of
    the memory local, three eighths near.
    """
    memory = on(("8 GiB", "book0"), ("8 GiB", "book1"))
    row = only(frame(partition("a", 4.0, memory=memory, home='["book0", "book1"]', virtual=8)))
    assert row.now.score == round(100 * (1 / 8 + 3 / 8 * NEAR))


def test_larger_than_a_chip_it_can_be_as_good_as_it_gets() -> None:
    nine, large = only(frame(partition("a", 9.0))), only(frame(partition("a", 33.0)))
    assert nine.now.apart.local == pytest.approx((8 / 9) ** 2 + (1 / 9) ** 2, rel=0.02)
    assert large.now.apart.far > 0
    assert (nine.now.score, large.now.score) == (100, 100)


def test_another_book_changes_nothing_if_memory_comes_along() -> None:
    here = only(frame(partition("a", 3.0, memory=on(("8 GiB", "book0.chip0")), home='"chip0"')))
    there = only(frame(partition("a", 3.0, memory=on(("8 GiB", "book7.chip0")), home='"chip28"')))
    assert here.now.score == there.now.score == 100
    assert here.now.ns == pytest.approx(there.now.ns)


def test_over_more_books_the_score_falls_and_an_instruction_costs_more() -> None:
    scores, prices = [], []
    for books in (1, 2, 4, 8):
        places = [f"book{book}" for book in range(books)]
        memory = on(*((f"{16 // books} GiB", place) for place in places))
        row = only(frame(partition("a", 8.0, memory=memory, home=json.dumps(places), virtual=32)))
        scores.append(row.now.score)
        prices.append(row.now.ns or 0.0)
    assert scores == sorted(scores, reverse=True)
    assert prices == sorted(prices)
    assert len(set(scores)) == len(set(prices)) == 4


def test_small_ones_in_every_book_are_in_the_way_of_a_large_one_until_the_run() -> None:
    """Two cores of each book are taken: 31 lie on two of them. The run clears a book for it."""
    alone = affinity(frame(partition("big", 31.0)))
    small = [partition(f"p{book}", 2.0, home=f'"book{book}"') for book in range(8)]
    told = affinity(frame(*small, partition("big", 31.0)))
    big = told.rows[-1]
    assert alone.now == 100
    assert big.now.apart.far > 0
    assert big.now.score < big.then.score == 100
    assert big.change_pct is not None
    assert big.change_pct < 0


def test_the_order_of_activation_shows_in_the_score() -> None:
    """Five cores on each chip leave three there: what needs a chip lies on three of them."""
    tables = [*(partition(f"p{n:02}", 5.0) for n in range(32)), partition("late", 8.0)]
    listed = affinity(frame(*tables, more='placing = "as-listed"'))
    assert listed.rows[-1].now.score < 90 < listed.rows[-1].then.score
    assert listed.then > listed.now
    largest_first = affinity(frame(*tables))
    assert largest_first.rows[-1].now.score == 100
    assert largest_first.now == listed.then


def test_a_frame_s_score_goes_by_size() -> None:
    """One of ten cores with its memory far, one of thirty at its best."""
    away = partition("away", 10.0, memory=on(("1 GiB", "book6")), home='"book0"')
    told = affinity(frame(away, partition("good", 30.0, memory='"1 GiB"', home='"book1"')))
    sizes = [row.size for row in told.rows]
    assert sizes == pytest.approx([10 / 256, 30 / 256], rel=0.02)
    assert told.now == round((0 * sizes[0] + told.rows[1].now.score * sizes[1]) / sum(sizes))


def test_protected_partitions_stay() -> None:
    far = on(("64 GiB", "book7"))
    scenario = frame(
        partition("own", 20.0, memory=far, home='["book2", "book3"]', own=True),
        partition("shared", 12.0, memory=far, home='["book0", "book5"]'),
    )
    told = affinity(scenario, ["own"])
    assert [row.then.score for row in told.rows] == [0, 100]
    after = optimised(scenario.resolved, ["own"])
    assert after.partitions[0] == scenario.partitions[0]
    free = optimised(scenario.resolved)
    assert free.partitions[0].cores == tuple(range(20))
    with pytest.raises(NotFoundError, match="did you mean own"):
        affinity(scenario, ["owm"])


def test_the_layout_after_the_run_is_that_of_the_file_without_places() -> None:
    far = on(("32 GiB", "book7"), ("32 GiB", "book6"))
    scenario = frame(
        partition("a", 20.0, memory=far, home='["book2", "book3"]', own=True),
        partition("b", 12.5, memory=far),
        partition("c", 12.0),
        more='placing = "as-listed"',
    )
    anew, after = placed_anew(scenario), optimised(scenario.resolved)
    assert [(p.home, p.cores, p.memory) for p in anew.partitions] == [
        (p.home, p.cores, p.memory) for p in after.partitions
    ]
    told = affinity(anew)
    assert (told.moved_bytes, told.now) == (0, told.then)
    assert told.saved_cores == pytest.approx(0.0)


def test_a_simulation_of_both_layouts_is_between_the_prices(tmp_path: Path) -> None:
    """With one thread of each core busy, and with all; less than the entitled capacity is."""
    text = partition("a", 12.0, memory=on(("64 GiB", "book7")), home='["book0", "book5"]')
    run = '[run]\nwarmup = "500 ms"\nduration = "2 s"\nreplications = 1'
    now = frame(text, run)
    cpi = [
        Scenario.from_toml(one.text).run(out=tmp_path).metrics["a"]["cpi"].mean or 0.0
        for one in (now, placed_anew(now))
    ]
    told = only(now)
    least, most = told.change_all_pct or 0.0, told.change_pct or 0.0
    assert most < 100 * (cpi[1] / cpi[0] - 1) < least < 0


def test_a_machine_of_one_node_knows_local_and_near_only() -> None:
    one = 'topology.nodes = { value = 1, why = "a test" }\nactive_cores = 16'
    memory = on(("8 GiB", "drawer0.chip1"))
    told = partition("a", 4.0, memory=memory, home='"drawer0.chip0"')
    assert only(frame(told, machine="ibm-power-770", more=one)).now.score == 0


def test_only_powervm_has_these_scores() -> None:
    text = partition("a", 1.0).replace("entitlement = 1.0", "weight = 100")
    for machine in ("ibm-z14", "amd-epyc-7742-2s"):
        other = frame(text.replace(WORK, f'{WORK}\nguest = {{ os = "linux" }}'), machine=machine)
        with pytest.raises(ScenarioError, match="has no affinity score"):
            affinity(other)


@st.composite
def misplaced(draw: st.DrawFn) -> Scenario:
    """Partitions at stated places of a Power 770, whatever comes of it."""
    tables = []
    for index in range(draw(st.integers(1, 4))):
        cores = draw(st.integers(1, 12))
        places = draw(st.lists(st.integers(0, 7), min_size=1, max_size=3, unique=True))
        lies = draw(st.integers(0, 7))
        home = json.dumps([f"chip{place}" for place in places])
        memory = on(("8 GiB", f"chip{lies}"), ("8 GiB", f"chip{places[0]}"))
        tables.append(partition(f"p{index}", float(cores), memory=memory, home=home))
    return frame(*tables, machine="ibm-power-770")


@settings(max_examples=30)
@given(misplaced())
def test_scores_are_shares(scenario: Scenario) -> None:
    told = affinity(scenario)
    for row in told.rows:
        for one in (row.now, row.then):
            assert 0 <= one.score <= 100
            apart = one.apart
            assert apart.local + apart.near + apart.far == pytest.approx(1.0)
            assert (one.ns or 0.0) > 0
    assert told.then >= told.now, "nothing is worse off where all fit"


def rows_of(told: FrameAffinity, resource: lsmemopt.Resource) -> str:
    return lsmemopt.render(told, resource, "calcscore")


def test_rows_of_the_hmc() -> None:
    scenario = frame(
        partition("web-1", 4.0, memory=on(("8 GiB", "book6")), home='"book5.chip0"'),
        partition("db-1", 4.0),
    )
    told = affinity(scenario)
    assert lsmemopt.render(told, "lpar", "currscore").splitlines() == [
        "lpar_name=web-1,lpar_id=1,curr_lpar_score=0",
        "lpar_name=db-1,lpar_id=2,curr_lpar_score=100",
    ]
    assert rows_of(told, "lpar").splitlines()[0] == (
        "lpar_name=web-1,lpar_id=1,curr_lpar_score=0,predicted_lpar_score=100"
    )
    assert rows_of(told, "sys") == f"curr_sys_score={told.now},predicted_sys_score=100\n"
    assert lsmemopt.rows(told, "sys", "currscore") == [{"curr_sys_score": told.now}]


def test_the_frame_as_lssrad_would_show_it() -> None:
    """An own core more than a chip has, and memory without processors."""
    tables = [
        partition("own", 9.0, own=True, memory='"9 GiB"'),
        partition("far", 2.0, memory=on(("1 GiB", "book2.chip1")), home='"book0.chip1"'),
    ]
    spec = frame(*tables).spec()
    assert render(spec).splitlines() == [
        "REF1   SRAD   LPAR        MEM      ENT      CPU",
        "0",
        "          0   own     8192.00     8.00      0-31",
        "          1   own     1024.00     1.00      32-35",
        "          1   far        0.00     2.00      0-7",
        "2",
        "          9   far     1024.00     0.00",
    ]
    assert sum(row["entitlement"] for row in frame_rows(spec)) == pytest.approx(11.0)
    assert sum(row["memory_bytes"] for row in frame_rows(spec)) == 10 * GIB


def test_memory_beside_nodes_has_a_row_of_its_own() -> None:
    text = partition("a", 1.0).replace("entitlement = 1.0", "weight = 100")
    spec = frame(
        text.replace(WORK, f'{WORK}\nguest = {{ os = "linux" }}'), machine="ibm-z14"
    ).spec()
    places: Sequence[object] = [(row["node"], row["chip"]) for row in frame_rows(spec)]
    assert places[0] == (0, None)


def test_it_is_at_the_root_and_can_be_shown() -> None:
    told = homenode.affinity(frame(partition("a", 4.0, memory=on(("8 GiB", "book6")))))
    assert str(told).splitlines()[0] == "Affinity of frame"
    assert "<table>" in told._repr_html_()
    assert json.loads(json.dumps(told.as_json()))["score"]["now"] == round(25 + 75 * NEAR)
