"""Affinity levels: read from reports, counted in a simulation, and priced where the two differ."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

import homenode
from homenode.records.calibrate.levels import Counting, Levels, played_levels, recorded_levels
from homenode.records.calibrate.placement import priced
from homenode.records.importing.facts import HOME_DISPATCHES, REDISPATCHES, SWITCHES, Facts
from homenode.records.importing.front import read_paths
from homenode.simulate.engine import Engine
from homenode.simulate.kept.summarize import replication_totals

HEADING = (
    "cpu     cs    ics  bound     rq   push S3pull  S3grd  S0rd  S1rd  S2rd  S3rd  S4rd  S5rd"
    "   ilcs   vlcs S3hrd S4hrd S5hrd  %nsp"
)
CONFIGURATION = "System configuration: lcpu=2 ent=0.5 mode=Uncapped \n\n"
FIRST = "ALL    300    60      0      1      0      0      0  80.0  10.0   0.0  10.0   0.0   0.0"
SECOND = "ALL    100    20      0      1      0      0      0  60.0  10.0   0.0  10.0  12.0   8.0"


def report(*rows: str, command: str = "", heading: str = HEADING) -> str:
    """What `mpstat -d` prints, without the single processors."""
    return f"{command}{CONFIGURATION}" + "".join(f"{heading}\n{row}\n" for row in rows)


def row(first: str, home: str = " 90.0  10.0   0.0", ilcs: int = 20, vlcs: int = 40) -> str:
    return f"{first} {ilcs:6d} {vlcs:6d} {home}   100"


def read(folder: Path, text: str) -> Facts:
    (folder / "web1.txt").write_text(text, encoding="utf-8")
    return read_paths([folder / "web1.txt"])


def test_reports_over_time_are_weighed_by_their_switches(tmp_path: Path) -> None:
    """By hand: 300 and 100 switches in two reports of 5 s."""
    facts = read(tmp_path, report(row(FIRST), row(SECOND), command="# mpstat -d 5 2\n\n"))
    (told,) = facts.affinity
    assert (told.partition, told.since_start) == ("web1", False)
    assert "2 samples of how far threads of web1 were moved" in facts.took[0].what
    levels = recorded_levels(told.table)
    assert levels is not None
    assert levels.redispatches == pytest.approx((0.75, 0.1, 0.0, 0.1, 0.03, 0.02))
    assert levels.moved == pytest.approx(0.15)
    assert levels.per_s == pytest.approx({"cs": 40.0, "ics": 8.0, "ilcs": 4.0, "vlcs": 8.0})
    assert levels.away == pytest.approx(0.1)


def test_a_single_report_counts_since_an_unknown_time(tmp_path: Path) -> None:
    """Its shares are known, its rates are not."""
    (told,) = read(tmp_path, report(row(FIRST))).affinity
    assert told.since_start
    levels = recorded_levels(told.table)
    assert levels is not None
    assert levels.per_s is None
    assert levels.redispatches[0] == pytest.approx(0.8)


def test_reports_over_time_count_where_one_since_the_start_stands_before_them(
    tmp_path: Path,
) -> None:
    """As in a session in which both were asked for."""
    both = report(row(SECOND)) + report(row(FIRST), command="\n# mpstat -d 5 1\n\n")
    (told,) = read(tmp_path, both).affinity
    assert told.table["cs"].to_list() == [300.0]
    assert told.table["seconds"].to_list() == [5.0]


def test_levels_without_homes_are_those_of_old_tools(tmp_path: Path) -> None:
    """Before AIX 6.1 there are no columns for dispatches from home."""
    heading = HEADING.split(" S3hrd", maxsplit=1)[0]
    facts = read(
        tmp_path, report(f"{FIRST}     20     40", command="# mpstat -d 5 1\n", heading=heading)
    )
    levels = recorded_levels(facts.affinity[0].table)
    assert levels is not None
    assert levels.home is None
    assert levels.away is None


@pytest.mark.parametrize(
    "bad",
    [
        FIRST.replace("80.0", "30.0"),
        FIRST.replace("80.0", "-80.0"),
        FIRST.replace("   300", "  -300"),
    ],
    ids=["no whole", "below zero", "no count"],
)
def test_rows_without_sound_numbers_are_left_out(bad: str, tmp_path: Path) -> None:
    """And counted."""
    facts = read(tmp_path, report(row(FIRST), row(bad), command="# mpstat -d 5 2\n"))
    assert len(facts.affinity[0].table) == 1
    assert facts.took[0].dropped == 1


def test_no_switch_is_no_level(tmp_path: Path) -> None:
    """Of an idle partition."""
    idle = FIRST.replace("   300    60", "     0     0")
    (told,) = read(tmp_path, report(row(idle), command="# mpstat -d 5 1\n")).affinity
    assert recorded_levels(told.table) is None


def batch(rows: list[dict[str, int]]) -> dict[str, Any]:
    """A batch of the engine with these rows of processors."""
    names = ("partition", *SWITCHES, *REDISPATCHES, *HOME_DISPATCHES)
    columns = {
        name: np.array([one.get(name, 0) for one in rows], dtype="<i8").tobytes() for name in names
    }
    return {"tables": {"cpu": columns}}


def test_a_simulation_counts_them_by_partition() -> None:
    """By hand, over two batches and two replications of 2 s."""
    counting = Counting(1)
    assert counting(
        batch([{"partition": 0, "cs": 99, "s5rd": 99}, {"partition": 1, "cs": 3, "s0rd": 3}])
    )
    assert counting(batch([{"partition": 1, "cs": 1, "s3rd": 1, "s3hrd": 4}]))
    assert counting({"tables": {}})
    other = {**dict.fromkeys(counting.sums, 0), "cs": 4, "s0rd": 4, "s3hrd": 4}
    levels = played_levels([counting.sums, other], 2.0)
    assert levels is not None
    assert levels.redispatches == (7 / 8, 0.0, 0.0, 1 / 8, 0.0, 0.0)
    assert levels.home == (1.0, 0.0, 0.0)
    assert levels.per_s == {"cs": 2.0, "ics": 0.0, "ilcs": 0.0, "vlcs": 0.0}
    assert played_levels([Counting(0).sums], 2.0) is None


TEXT = """
name = "placed"
[machine]
model = "ibm-power-795"
[[partition]]
name = "app"
processors = { mode = "shared", entitlement = 4.0, virtual = 4 }
smt = 1
memory = "16 GiB"
home = ["book0.chip0"]
guest = { os = "aix", folding = false }
[partition.workload]
kind = "transactions"
rate = "800/s"
profile = { base = "oltp", instructions = 1e6 }
[run]
warmup = "100 ms"
duration = "400 ms"
replications = 1
"""
NEAR = Levels((1.0, 0, 0, 0, 0, 0), (1.0, 0.0, 0.0), {"cs": 1000.0})


@pytest.fixture(scope="module")
def simulated() -> tuple[Engine, dict[str, Any], list[list[Any]]]:
    """A spec with the totals of one replication of it."""
    from homenode.simulate.engine import load_engine
    from homenode.simulate.runner.details import machine_facts

    scenario = homenode.Scenario.from_toml(TEXT)
    spec, engine = scenario.spec(), load_engine()
    raw = json.loads(engine.simulate(json.dumps(spec), 1, lambda _batch: True))
    totals = replication_totals(spec, [{**raw, "replication": 1}], 0, machine_facts(scenario))
    return engine, spec, [totals]


def factor(simulated: Any, recorded: Levels, played: Levels = NEAR, **profile: float) -> float:
    engine, spec, totals = simulated
    own = {**spec["partitions"][0], "profile": {**spec["partitions"][0]["profile"], **profile}}
    told = priced("x", engine, {**spec, "partitions": [own]}, 0, totals, recorded, played)
    assert not told.why_not
    return told.factor


def test_what_was_played_as_recorded_changes_nothing(simulated: Any) -> None:
    """To the last digit."""
    far = Levels((0.5, 0.1, 0.1, 0.1, 0.1, 0.1), (0.4, 0.3, 0.3), {"cs": 5000.0})
    assert factor(simulated, NEAR, NEAR) == 1.0
    assert factor(simulated, far, far) == 1.0
    # Without rates, those played stand for them; without homes, so do those.
    assert factor(simulated, Levels(far.redispatches, None, None), far) == 1.0


def test_farther_costs_more_and_the_more_the_more_there_is_to_fetch(simulated: Any) -> None:
    """By distance, by number and by footprint; a cold start ends with the next switch."""

    def moved(level: int, share: float = 0.2) -> Levels:
        shares = [0.0] * 6
        shares[0], shares[level] = 1.0 - share, share
        return Levels(tuple(shares), NEAR.home, NEAR.per_s)

    costs = [factor(simulated, moved(level)) for level in range(1, 6)]
    assert costs[0] == 1.0
    assert 1.0 < costs[1] == costs[2] < costs[3] < costs[4]
    assert factor(simulated, moved(5, 0.1)) - 1.0 == pytest.approx((costs[4] - 1.0) / 2)
    small, large = (
        factor(simulated, moved(5), footprint_bytes=size) for size in (1 << 16, 1 << 17)
    )
    assert large - 1.0 == pytest.approx(2 * (small - 1.0))
    often = Levels(moved(5).redispatches, NEAR.home, {"cs": 1e7})
    assert factor(simulated, often, footprint_bytes=1 << 17) == factor(simulated, often)


def test_a_home_left_costs_longer_ways(simulated: Any) -> None:
    """More, the farther and the oftener."""

    def away(*home: float) -> float:
        return factor(simulated, Levels(NEAR.redispatches, home, NEAR.per_s))

    assert 1.0 < away(0.8, 0.2, 0.0) < away(0.8, 0.0, 0.2) < away(0.5, 0.0, 0.5)


def test_moves_by_hand() -> None:
    """1000 switches a second, a fifth of them from another node, 1e9 instructions a second: 2e-7
    moves an instruction. 1024 lines of which a quarter are its own, a line every 100 instructions:
    25,600 instructions are 0.5 ns longer each; 2.56 us a move, 0.00256 ns an instruction of 1 ns.
    """
    profile = {"footprint_bytes": 128 * 1024, "footprint_common": 0.75}
    spec: dict[str, Any] = json.loads(json.dumps(homenode.Scenario.from_toml(TEXT).spec()))
    spec["partitions"][0]["profile"] |= profile
    spec["machine"]["line_bytes"] = 128

    class OneLine:
        """An engine whose price is known."""

        def price(self, _spec: str, _busy: str) -> str:
            refill = {"private_lines": 4096.0, "lines": 0.01, "ns": [0.1, 0.2, 0.5]}
            return json.dumps({"partitions": [{"ns": 1.0, "refill": refill}]})

    class Counted:
        """A second of 1e9 instructions on one core."""

        seconds = 1.0

        def __getitem__(self, name: str) -> float:
            return {"instructions": 1e9, "busy_ns": 1e9}[name]

        def sum(self, *_names: str) -> float:
            return 0.0

    recorded = Levels((0.8, 0, 0, 0, 0, 0.2), None, {"cs": 1000.0})
    engine, totals = cast("Engine", OneLine()), cast("Any", [[Counted()]])
    told = priced("x", engine, spec, 0, totals, recorded, NEAR)
    assert told.factor == pytest.approx(1.0 + 2e-7 * 25_600 * 0.5, rel=1e-12)


def test_a_partition_without_a_home_or_a_dispatch_is_left_as_played(simulated: Any) -> None:
    """And it is said why."""
    engine, spec, totals = simulated
    homeless = {**spec, "partitions": [{**spec["partitions"][0], "home": []}]}
    for told in (
        priced("x", engine, homeless, 0, totals, NEAR, NEAR),
        priced("x", engine, spec, 0, totals, NEAR, None),
    ):
        assert told.factor == 1.0
        assert told.why_not


def test_the_recorded_levels_of_a_real_partition_are_read(capture: Path) -> None:
    """Of a recording of nmon, which asks `mpstat -d` once, when it begins."""
    (told,) = read_paths([capture]).affinity
    assert told.since_start
    levels = recorded_levels(told.table)
    assert levels is not None
    assert math.fsum(levels.redispatches) == pytest.approx(1.0, abs=0.002)
    assert levels.home is not None
    line = int(told.table["line"][0])
    assert "ALL" in capture.read_text(encoding="utf-8").splitlines()[line - 1]


@pytest.fixture
def capture() -> Path:
    """A recording that is shipped with the tests."""
    return Path(__file__).resolve().parents[2] / "crates/captures/tests/recordings/aix.nmon"


def test_frames_keep_what_is_not_printed_apart(tmp_path: Path) -> None:
    """No number stands for what is not known."""
    heading = HEADING.split(" S3hrd", maxsplit=1)[0]
    facts = read(
        tmp_path, report(f"{FIRST}     20     40", command="# mpstat -d 5 1\n", heading=heading)
    )
    table: pl.DataFrame = facts.affinity[0].table
    assert table["s3hrd"].is_nan().all()
    assert table.schema["time"] == pl.Datetime("us")


def test_json_has_the_tools_names() -> None:
    """For those who read `--json`."""
    told: Mapping[str, Any] = NEAR.as_json()
    assert {*REDISPATCHES, *HOME_DISPATCHES} <= told.keys()
    assert told["cs_per_s"] == 1000.0
    assert told["vlcs_per_s"] is None
