"""The verdict on made-up runs: where the curve bends, what grows there, in which words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from homenode.errors import RunError
from homenode.evidence.capability import capability_of
from homenode.evidence.scaling.causes import KINDS, costs_of, growth
from homenode.evidence.scaling.result import ScalingResult, result_of
from homenode.model.estimate import Estimate
from homenode.report.scaling import (
    picture_points,
    published_points,
    scaling_picture,
    scaling_tables,
)
from homenode.simulate.kept.books import CAUSES

LAYER_3 = {"switches": [{"name": "lan", "layer": "ip"}], "machines": [{"switch": 0}] * 90}


@dataclass
class MadeUp:
    """Stands in for a run of one partition."""

    values: dict[str, float]
    zvm: dict[str, Any] = field(default_factory=dict)
    id: str = "made-up"

    @property
    def metrics(self) -> dict[str, dict[str, Estimate]]:
        return {"zvm": {name: Estimate(value) for name, value in self.values.items()}}

    def metric(self, _partition: str, name: str) -> Estimate:
        return Estimate(self.values.get(name))

    def partition_spec(self, _partition: str) -> dict[str, Any]:
        return {"guest": {"os": "zvm", **self.zvm}}


def run(
    processors: int, etr: float, us: dict[str, float], busy: float = 95.0, **more: Any
) -> tuple[int, Any]:
    """A run in which a transaction takes so many us of each book."""
    books = {f"cores_{cause.name}": us.get(cause.name, 0.0) * etr / 1e6 for cause in CAUSES}
    values = {"etr_per_s": etr, "itr_per_s": 100 * etr / busy, "busy_pct": busy, **books}
    zvm = more.pop("zvm", {})
    return processors, MadeUp({**values, **more}, zvm)


def result(*runs: tuple[int, Any]) -> ScalingResult:
    return result_of("made-up", "zvm", capability_of("ibm-z14"), runs)


def bending() -> ScalingResult:
    return result(
        run(16, 1000.0, {"useful": 100.0}),
        run(32, 1790.0, {"useful": 102.0, "list": 1.0}),
        run(48, 1900.0, {"useful": 104.0, "list": 31.0, "cache_far": 8.0}, zvm=LAYER_3),
    )


def test_the_bend_is_where_the_step_brings_too_little() -> None:
    found = bending()
    assert found.bend is not None
    assert (found.bend.start.processors, found.bend.end.processors) == (32, 48)
    first = found.verdict[0]
    assert first.startswith("Inflection from 32 to 48 processors: the step brings 0.11 of ITR")
    assert "before it no step brings less than" in first


def test_what_grows_in_the_bend_is_told_with_its_share_and_what_it_was_before() -> None:
    _, grown, before, why, *_ = bending().verdict
    # 102 + 1 us become 104 + 31 + 8: 2 of 40 us more are instructions, 30 the list, 8 lines.
    assert "40.0 us more processor time than with 32 (103.0 to 143.0)" in grown
    assert "75 % is searching the switch's list (1.0 to 31.0 us)" in grown
    assert "20 % is lines that other processors changed (0.0 to 8.0 us)" in grown
    assert "instructions" not in grown
    assert before == (
        "Searching the switch's list: +1.0 us from 16 to 32 processors, +30.0 us in this step."
    )
    assert "has 90 control blocks" in why


def test_a_gradual_set_says_so_and_what_grows_over_all_of_it() -> None:
    found = result(
        run(16, 1000.0, {"useful": 100.0}),
        run(32, 1700.0, {"useful": 100.0, "spin": 9.0}),
        run(48, 2400.0, {"useful": 101.0, "spin": 9.0}),
    )
    assert found.bend is None
    assert found.verdict[0].startswith("Gradual roll-off, no inflection")
    assert "90 % is spinning on locks (0.0 to 9.0 us)" in found.verdict[1]


def test_nothing_grows() -> None:
    found = result(run(16, 1.0e3, {"useful": 9.0}), run(32, 2.0e3, {"useful": 8.0}))
    assert found.verdict[1].endswith("nothing grows.")


def test_paging_that_bounds_throughput_is_told() -> None:
    servers = [{"role": "server", "cpus": 1}] * 100
    paging = {"paging": {"volumes": 100}, "machines": [{"role": "client", "cpus": 4}, *servers]}
    device = {"volume_io_per_s": 50.0, "volume_read_pct": 80.0}
    found = result(
        run(16, 1000.0, {"useful": 9.0}, busy=60.0, volume_resp_ms=2.0, **device, zvm=paging),
        run(32, 1100.0, {"useful": 9.0}, busy=30.0, volume_resp_ms=20.0, **device, zvm=paging),
    )
    told = next(line for line in found.verdict if "paging bounds it" in line)
    # 100 volumes x 50/s x 0.8 reads x 20 ms: 80 reads on their way for 100 servers.
    assert "Throughput grows 1.10 times with 2.00 times the processors" in told
    assert "a server waits for page reads 80 % of the time" in told
    assert "a read takes 20.0 ms, 2.0 in the smallest run" in told
    assert found.sizes[1].costs.page_wait_ms == pytest.approx(80_000 / 1100)
    assert any("less than 80 % busy" in line for line in found.verdict)


def test_growth_beyond_the_capability_is_not_trusted_where_processors_idle() -> None:
    """With all busy it is a finding: tiles on layer 2 were published to grow so."""

    def said(busy: float, etr: float) -> str:
        sizes = (run(16, 1000.0, {"useful": 100.0}), run(32, etr, {"useful": 90.0}, busy))
        return " ".join(result(*sizes).verdict)

    # 16 processors that are 95 % busy, and 32 that are 75: 100 x 1600 / 75 for 100 x 1000 / 95.
    doubted = "grows more than the machine's capability (2.03 for 1.79 with 32) is not to be relied"
    assert doubted in said(75.0, 1600.0)
    assert "relied" not in said(75.0, 1300.0)
    assert "relied" not in said(95.0, 2000.0)


def test_kinds_add_up_to_the_processor_time_of_a_transaction() -> None:
    books = {cause.name: float(i + 1) for i, cause in enumerate(CAUSES)}
    costs = costs_of(run(16, 500.0, books)[1], "zvm")
    assert costs is not None
    assert costs.total_us == pytest.approx(sum(books.values()))
    named = [book for books_of in KINDS.values() for book in books_of]
    assert sorted(named) == sorted(cause.name for cause in CAUSES)


def test_shares_of_growth_leave_out_what_falls() -> None:
    before = costs_of(run(16, 1.0, {"useful": 10.0, "list": 5.0, "spin": 1.0})[1], "zvm")
    after = costs_of(run(32, 1.0, {"useful": 13.0, "list": 2.0, "spin": 2.0})[1], "zvm")
    assert before is not None
    assert after is not None
    found = {one.kind: one for one in growth(before, after)}
    assert found["instructions"].share == pytest.approx(0.75)
    assert found["spin"].share == pytest.approx(0.25)
    assert (found["switch list"].share, found["switch list"].more_us) == (0.0, pytest.approx(-3.0))


def test_a_run_without_transactions_is_an_error() -> None:
    with pytest.raises(RunError, match="with 32 processors partition zvm did no transactions"):
        result(run(16, 10.0, {"useful": 1.0}), (32, MadeUp({})))


def test_json_frame_and_picture_have_every_size() -> None:
    found = bending()
    told = found.as_json()
    assert [size["processors"] for size in told["sizes"]] == [16, 32, 48]
    assert told["inflection"]["from"] == 32
    assert told["steps"][0]["inflection"] is False
    assert found.frame().height == 3
    points = picture_points(found)
    assert len(points) == 9
    assert {p["kind"] for p in points} == {"ITR ratio", "capability ratio", "linear"}
    # Points of the machine's table that lie between the smallest size and the largest.
    published = published_points(found)
    assert [one["processors"] for one in published] == [16, 20, 32, 40, 48]
    offered = {p["processors"]: p["ratio"] for p in points if p["kind"] == "capability ratio"}
    assert all(offered.get(p["processors"], p["ratio"]) == p["ratio"] for p in published)
    assert scaling_picture(found).to_dict()["title"].endswith("from 32 to 48 processors")
    curve, cost = scaling_tables(found)
    assert [column.header for column in curve.columns] == ["processors", "16", "32", "48"]
    assert "switch list" in list(cost.columns[0].cells)


def test_a_later_step_that_is_worse_is_told_with_its_own_cause() -> None:
    steps = bending()
    assert not any(line.startswith("It gets worse") for line in steps.verdict)
    found = result(
        run(16, 1000.0, {"useful": 100.0}),
        run(32, 1400.0, {"useful": 100.0, "memory_far": 20.0}),
        run(48, 600.0, {"useful": 100.0, "memory_far": 22.0, "spin": 38.0}),
    )
    assert found.bend is not None
    assert found.bend.end.processors == 32
    worse = next(line for line in found.verdict if line.startswith("It gets worse"))
    # ITR ratio 1.4 to 0.6; 2 of 40 us are memory.
    assert worse.startswith("It gets worse from 32 to 48 processors: the step takes 0.80 of ITR")
    assert worse.endswith("Of what grows there, 95 % is spinning on locks (0.0 to 38.0 us).")
