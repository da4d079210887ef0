"""Predicted factors: their limits, the kink where a node is entered, and what makes it go away."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("homenode._engine", reason="the engine is not built")

from homenode.errors import HomenodeError
from homenode.evidence.capability import (
    Layout,
    Prediction,
    capability_of,
    capability_table,
    predicted,
)
from homenode.evidence.capability.layout import shares
from homenode.model.catalog import machine, machines

FILLED = {"ibm-z196": 17, "ibm-z14": 18}
"""Processors of the first book, and of the first cluster."""

ENDLESS = {
    "memory_bytes_per_s": 1e30,
    "chip_link_bytes_per_s": 1e30,
    "node_link_bytes_per_s": 1e30,
}
"""Nobody waits for a line's way."""


def changed(name: str, **numbers: Any) -> Prediction:
    """A machine with caches that hold everything, links and controllers that never queue and
    stores that never wait, and with these numbers.
    """
    found = Prediction.of(name)
    caches = [{**cache, "bytes": 1 << 60} for cache in found.spec["machine"]["caches"]]
    endless = {"caches": caches, **ENDLESS}
    # A curve that falls as steeply as this one is all but 0 at that size.
    found.spec["partitions"][0]["profile"] |= {"store_share": 0.0, "miss_exponent": 1.0}
    return Prediction(
        {**found.spec, "machine": {**found.spec["machine"], **endless, **numbers}}, found.layout
    )


def marginal(prediction: Prediction, processors: int) -> float:
    before = (processors - 1) * prediction.factor(processors - 1) if processors > 1 else 0.0
    return processors * prediction.factor(processors) - before


@pytest.mark.parametrize("name", machines())
def test_factors_of_every_machine_are_shares_of_one_alone(name: str) -> None:
    prediction = Prediction.of(name)
    sizes = {1, 2, 3, prediction.largest // 2, prediction.largest}
    factors = [prediction.factor(n) for n in sorted(sizes)]
    assert factors[0] == 1.0
    assert all(0 < factor <= 1 for factor in factors)


@settings(deadline=None, max_examples=25)
@given(
    name=st.sampled_from(["ibm-z196", "ibm-z14", "ibm-zec12"]),
    processors=st.integers(1, 80),
    misses=st.floats(0.0, 0.2),
    exponent=st.floats(0.0, 1.0),
    sharing=st.floats(0.0, 0.1),
)
def test_no_work_brings_more_than_one_alone(
    name: str, processors: int, misses: float, exponent: float, sharing: float
) -> None:
    prediction = Prediction.of(name)
    work = prediction.spec["partitions"][0]["profile"]
    work |= {"miss_m0": misses, "miss_exponent": exponent, "sharing": sharing}
    assert 0 < prediction.factor(processors) <= 1 + 1e-12


@pytest.mark.parametrize("name", FILLED)
def test_factors_fall_while_nothing_new_is_entered(name: str) -> None:
    prediction = Prediction.of(name)
    factors = [prediction.factor(n) for n in range(1, FILLED[name] + 1)]
    assert all(new < old for old, new in itertools.pairwise(factors))
    gains = [marginal(prediction, n) for n in range(1, FILLED[name] + 1)]
    assert gains[0] == 1.0
    assert min(gains) == min(gains[-3:]) > 0


def worked(name: str, layout: str | None = None, **numbers: float) -> Prediction:
    """A machine with other numbers of the work."""
    found = Prediction.of(name, layout_file=layout)
    found.spec["partitions"][0]["profile"] |= numbers
    return Prediction(found.spec, found.layout)


def rises(prediction: Prediction) -> list[float]:
    """How much a factor is above the one before it, where it is."""
    factors = [prediction.factor(n) for n in range(1, prediction.largest + 1)]
    pairs = itertools.pairwise(factors)
    return [new / old - 1 for old, new in pairs if new > old]


@pytest.mark.parametrize("name", ["ibm-z196", "ibm-z13", "ibm-z14", "ibm-z15"])
def test_factors_rise_nowhere_to_speak_of(name: str) -> None:
    """No published curve does."""
    found, bound = rises(Prediction.of(name)), rises(worked(name, roaming=0.0))
    assert max(found, default=0.0) < 0.003
    assert sum(found) < sum(bound) / 2


def entered(layout: Layout) -> list[int]:
    """Sizes of partitions that are the first to reach into a further node."""
    sizes = shares(layout.processors, layout.filled_nodes or layout.nodes)
    return [before + 1 for before in itertools.accumulate(sizes[:-1])]


@pytest.mark.parametrize("name", [name for name in machines() if name.startswith("ibm-z")])
def test_a_further_node_brings_next_to_nothing(name: str) -> None:
    """Lines that a job left in a cache with one processor behind it stay there for long, so that
    the first processor of a node saves the others some of their ways to memory: c(n) rises by
    less than makers' tables scatter from one size to the next.
    """
    prediction = Prediction.of(name)
    assert len(entered(prediction.layout)) >= 3
    for first in entered(prediction.layout):
        factors = [prediction.factor(n) for n in range(first - 1, first + 4)]
        assert max(new - old for old, new in itertools.pairwise(factors)) < 0.0015


def test_what_a_further_drawer_brings_is_neither_its_memory_nor_its_links() -> None:
    """With either a hundred times as wide the third drawer of a z14 still brings something; where
    all that is touched is common, so that no job has left lines of its own behind, nothing.
    """
    named = Prediction.of("ibm-z14")
    first = entered(named.layout)[1]

    def brought(prediction: Prediction) -> float:
        return prediction.factor(first) - prediction.factor(first - 1)

    def wider(*keys: str) -> Prediction:
        machine = dict(named.spec["machine"])
        for key in keys:
            machine[key] *= 100.0
        return Prediction({**named.spec, "machine": machine}, named.layout)

    assert brought(wider("memory_bytes_per_s", "node_link_bytes_per_s")) > brought(named) / 2
    assert brought(worked("ibm-z14", footprint_common=1.0)) < 0.0


def test_a_second_book_is_no_gift_to_work_that_roams() -> None:
    """Bound work finds its caches empty and its own; what roams finds a part of every job there."""
    gains = [
        marginal(worked("ibm-z196", roaming=share), 18)
        - marginal(worked("ibm-z196", roaming=share), 17)
        for share in (0.0, 0.5, 1.0)
    ]
    assert gains[0] > gains[1] > gains[2]
    assert gains[0] > 0.1 > 0.06 > gains[2]


SLOWED = """\
machine = "ibm-z13"
nodes = { value = 2, source = "one drawer" }
processors = { value = 30, source = "sold with 30" }
drawer_nodes = { value = 2, source = "two nodes" }
memory = { value = "drawers", source = "in one drawer" }
"""


def test_slowed_processors_lose_less_by_their_number(folder: Path) -> None:
    """The longer they work at a time the more they lose, up to what full speed does without a queue
    anywhere; the shorter, the less, as on a core that is slow but not absent.
    """
    (folder / "full.toml").write_text(SLOWED, encoding="utf-8")
    text = SLOWED + 'speed = { value = 0.15, source = "sold with" }\n'
    (folder / "bare.toml").write_text(text, encoding="utf-8")
    text += 'burst = { value = "125 ns", assumed = "a guess", range = ["60 ns", "1 us"] }\n'
    (folder / "slow.toml").write_text(text, encoding="utf-8")
    full = Prediction.of("ibm-z13", layout_file="full.toml")
    slow = Prediction.of("ibm-z13", layout_file="slow.toml")
    assert slow.alone.ns * 0.15 == pytest.approx(full.alone.ns, rel=1e-6)
    factors = [
        Prediction.of("ibm-z13", layout_file="slow.toml", burst_ns=burst_ns).factor(16)
        for burst_ns in (60, 125, 250, 500, 20_000)
    ]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] > full.factor(16) + 0.1
    assert full.factor(16) < factors[-1] < full.factor(16) + 0.03
    with pytest.raises(HomenodeError, match="slowed processors need a burst"):
        Prediction.of("ibm-z13", layout_file="bare.toml")


def test_the_more_threads_a_core_has_the_less_distance_costs_it() -> None:
    """Who waits for a line from another node leaves the core to those beside him."""
    by_threads = [Prediction.of("ibm-power-770", "oltp", threads=n) for n in (1, 2, 4)]
    rates = [one.rate(1) for one in by_threads]
    assert rates == sorted(rates)
    from_one_node_to_four = [one.factor(64) / one.factor(16) for one in by_threads]
    assert from_one_node_to_four == sorted(from_one_node_to_four)
    assert from_one_node_to_four[0] < 0.8 < 0.9 < from_one_node_to_four[2] < 1.0
    table = by_threads[2].table(2)
    assert "oltp on 4 threads of each core" in table.source
    assert table.factors[2] == by_threads[2].factor(2)


@pytest.mark.parametrize("threads", [0, 5])
def test_a_core_runs_no_more_threads_than_it_has(threads: int) -> None:
    with pytest.raises(HomenodeError, match=f"does not run {threads} threads.*a core has 4"):
        Prediction.of("ibm-power-770", threads=threads)


def test_streams_are_refused_where_a_machine_does_not_tell_their_way() -> None:
    with pytest.raises(HomenodeError, match=r"profile stream, is not told of .*2094.*\[streams\]"):
        Prediction.of("ibm-z9", "stream")
    assert Prediction.of("ibm-z14", "stream").factor(4) > 0.9


def test_the_kink_goes_with_the_distances_and_the_limits_of_caches() -> None:
    near = Prediction.of("ibm-z196").spec["machine"]["cache_to_cache_ns"]["near"]
    alike = {"local": near, "near": near, "far": near}
    far = Prediction.of("ibm-z196").spec["machine"]["memory_ns"]["far"]
    flat = changed(
        "ibm-z196",
        cache_to_cache_ns=alike,
        memory_ns={"local": far, "near": far, "far": far},
    )
    # What is left is the chance that another processor wrote a line: 1/c = 1 + k (n - 1)/n.
    k = 2 * (1 / flat.factor(2) - 1)
    assert k > 0.005
    for n in (3, 17, 18, 34, 35, 66):
        assert 1 / flat.factor(n) == pytest.approx(1 + k * (n - 1) / n, rel=1e-6)
    gains = [marginal(flat, n) for n in range(14, 24)]
    assert max(abs(new - old) for old, new in itertools.pairwise(gains)) < 1e-3


def test_without_distances_and_with_endless_caches_all_bring_as_much() -> None:
    free = {"local": 0.0, "near": 0.0, "far": 0.0}
    z14 = changed("ibm-z14", cache_to_cache_ns=free)
    assert [z14.factor(n) for n in (2, 18, 36, 140)] == pytest.approx([1.0] * 4, rel=1e-9)


def test_a_worked_point() -> None:
    """The example of docs/background/capability.md, whose numbers were worked out by hand."""
    z196 = Prediction.of("ibm-z196")
    z196.spec["machine"].update(ENDLESS)
    z196.spec["partitions"][0]["profile"]["store_share"] = 0.0
    alone, two = z196.point(1), z196.point(2)
    expected = (
        {
            "useful": 0.25,
            "l2": 0.0343,
            "l3": 0.0468,
            "l4": 0.0243,
            "memory_local": 0.0187,
            "memory_far": 0.0666,
        },
        {
            "useful": 0.25,
            "l2": 0.0322,
            "l3": 0.0397,
            "l4": 0.0293,
            "memory_local": 0.0225,
            "memory_far": 0.0803,
            "cache_near": 0.008,
        },
    )
    for point, books in zip((alone, two), expected, strict=True):
        assert math.fsum(point.books.values()) == pytest.approx(point.ns)
        assert {b: round(t, 4) for b, t in point.books.items() if b != "tick"} == books
    assert z196.factor(2) == alone.ns / two.ns
    assert round(z196.factor(2), 3) == 0.954


def test_a_prediction_is_a_table_like_any_other() -> None:
    table = predicted("ibm-z196", largest=20)
    assert list(table.factors) == list(range(1, 21))
    assert (table.predicted, table.machine, table.decimals) == (True, "ibm-z196", 3)
    assert table.factor(16).predicted
    oltp = predicted("ibm-z196", "oltp", largest=2)
    assert oltp.factors[2] != table.factors[2]
    assert "profile oltp" in oltp.source


def test_numbers_of_a_layout_stand_in_place_of_the_machine_s(folder: Path) -> None:
    text = SLOWED + '[change.links]\nnode = { value = "80 GB/s", why = "the slow end" }\n'
    (folder / "own.toml").write_text(text, encoding="utf-8")
    own = Prediction.of("ibm-z13", layout_file="own.toml")
    assert own.spec["machine"]["node_link_bytes_per_s"] == 80e9
    described = Prediction.of(machine("ibm-z196"))
    assert described.spec["machine"]["memory_ns"]["local"] == pytest.approx(562 / 5.2)


def test_the_curve_of_a_machine_is_published_as_far_as_it_goes() -> None:
    curve, table = capability_of("ibm-z14"), capability_table("z14")
    assert curve.factor(80) == table.factor(80)
    assert curve.factor(19).interpolated
    beyond = curve.factor(95)
    assert beyond.predicted
    ratio = curve.prediction.factor(95) / curve.prediction.factor(80)
    assert beyond.value == pytest.approx(0.554 * ratio)
    assert "Eighty Logical Processors" in curve.source
    other = capability_of(machine("ibm-z13"))
    assert other.factor(16).predicted
    assert other.capability(1) == 1.0
    assert other.source == "predicted from the topology of ibm-z13 with the profile reference"


def test_what_is_refused(folder: Path) -> None:
    with pytest.raises(HomenodeError, match="no machine is called"):
        Prediction.of("z15")
    with pytest.raises(HomenodeError, match="no profile is called"):
        Prediction.of("ibm-z15", "referense")
    with pytest.raises(HomenodeError, match="there is no file"):
        Prediction.of("ibm-z15", "oltp", folder / "none.toml")
