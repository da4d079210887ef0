"""Frames hold what the run, the simulation or the recording holds."""

from __future__ import annotations

import datetime as dt
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from homenode.errors import HomenodeError, NotFoundError
from homenode.model.spec import Spec
from homenode.records.exporting.dispatches import REASONS
from homenode.records.importing.facts import Facts
from homenode.simulate.kept.course import course_of
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.runner import run_scenario
from homenode.simulate.scenario import Scenario
from homenode.top.coming import Coming
from homenode.top.counted import frame_at
from homenode.top.kept import KeptSource
from homenode.top.live import LiveSource, one_point
from homenode.top.recorded import RecordedSource

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from facts_made import series

NOON = dt.datetime(2026, 9, 30, 12)  # noqa: DTZ001 - as recorded, zoneless


def test_a_kept_run_shows_its_course(run: KeptRun) -> None:
    source, course = KeptSource(run), course_of(run)
    assert source.there == range(5)
    for number in source.there:
        frame = source.frame(number)
        assert [one.used for one in frame.partitions] == [
            pytest.approx(one["used"][number]) for one in course["partitions"]
        ]
        assert [one.response_ms for one in frame.partitions] == [
            one["response_ms"][number] for one in course["partitions"]
        ]
    assert source.frame(4).time == "1.0 of 1 s"
    assert frame.capacity == course["capacity"]


def test_what_processors_used_is_what_their_partition_used(run: KeptRun) -> None:
    for one in KeptSource(run).frame(2).partitions[:2]:
        assert sum(vp.used for vp in one.processors) == pytest.approx(one.used, rel=0.02)


def test_modes_and_homes_are_those_of_the_scenario(run: KeptRun) -> None:
    frame = KeptSource(run).frame(0)
    assert [one.mode for one in frame.partitions] == ["uncapped", "capped", "dedicated"]
    assert [node.home_of for node in frame.nodes[:2]] == [("web", "db"), ("own",)]
    assert frame.nodes[0].memory_bytes == 16 << 30


def test_every_dispatch_that_ended_has_its_reason(run: KeptRun) -> None:
    source = KeptSource(run)
    dispatches = run.dispatches()
    for number, reason in enumerate(REASONS):
        told = sum(
            one.reasons.get(reason, 0.0)
            for frame in map(source.frame, source.there)
            for one in frame.partitions
        )
        assert told * 0.2 == pytest.approx(len(dispatches.filter(dispatches["reason"] == number)))


def test_a_replication_that_was_not_kept_is_named(run: KeptRun) -> None:
    with pytest.raises(NotFoundError, match="no replication 7"):
        KeptSource(run, 7)


def watched(scenario: Path, out: Path, **settings: int) -> LiveSource:
    source = LiveSource(one_point(Scenario.load(scenario)), out, **settings)
    source.start()
    end = time.monotonic() + 60
    while source.grows and time.monotonic() < end:
        time.sleep(0.01)
    source.close()
    return source


def test_a_simulation_shows_what_is_kept_of_it(
    scenario: Path, run: KeptRun, tmp_path: Path
) -> None:
    source, kept = watched(scenario, tmp_path), KeptSource(run)
    assert source.error is None
    assert source.run is not None
    assert source.run.id == run.id
    assert source.state == f"kept as {run.id}"
    assert [source.frame(at) for at in source.there] == [kept.frame(at) for at in kept.there]


@pytest.mark.parametrize("interval", ["200 ms", "10 ms"])
def test_why_dispatches_ended_and_where_they_were_is_told_as_it_goes_on(
    scenario: Path, tmp_path: Path, interval: str
) -> None:
    """Short intervals come many at once, and long after the first dispatches in them."""
    coming = Coming(1_000)
    wanted = Scenario.load(scenario).with_({"run.interval": interval})
    source = KeptSource(run_scenario(wanted, out=tmp_path, look=coming.look))
    assert coming.there == source.there
    for number in source.there:
        seen, kept = frame_at(*coming.interval(number)), source.frame(number)
        assert [one.ran for one in seen.nodes] == [one.ran for one in kept.nodes]
        assert [one.reasons for one in seen.partitions] == [one.reasons for one in kept.partitions]
        used = [one.used or 0.0 for one in seen.nodes]
        assert sum(used) == pytest.approx(seen.used), "a core that is used is a node's"
        own = dict(seen.nodes[1].ran).get("own", 0.0)
        assert own == pytest.approx(seen.partitions[2].used), "its cores are on that node"


def test_without_records_nobody_knows_where_they_were(scenario: Path, tmp_path: Path) -> None:
    coming = Coming(10)
    bare = Scenario.load(scenario).with_({"run.record_dispatches": False})
    source = KeptSource(run_scenario(bare, out=tmp_path, look=coming.look))
    for frame in (frame_at(*coming.interval(4)), source.frame(4)):
        assert [node.used for node in frame.nodes] == [None] * len(frame.nodes)
        assert not any(one.reasons for one in frame.partitions)


def test_a_host_counts_hardware_threads_of_its_nodes(root: Path, tmp_path: Path) -> None:
    host = Scenario.load(root / "examples" / "linux-groups.toml").with_(
        {"run.record_dispatches": True, "run.replications": 1, "run.duration": "1 s"}
    )
    frame = KeptSource(run_scenario(host, out=tmp_path)).frame(0)
    assert sum(node.cores for node in frame.nodes) == frame.capacity
    assert sum(node.used or 0.0 for node in frame.nodes) == pytest.approx(frame.used)


def test_rows_come_long_before_the_end(scenario: Path, tmp_path: Path) -> None:
    """Though all of them would fit into what is handed over at once."""
    longer = Scenario.load(scenario).with_(
        {"run.duration": "300 s", "run.interval": "10 s", "run.record_dispatches": False}
    )
    reached: list[int] = []

    def look(_spec: Spec, _replication: int, tables: Mapping[str, Mapping[str, bytes]]) -> None:
        if "partition" in tables:
            reached.append(int.from_bytes(tables["partition"]["time_ns"][-8:], "little"))

    run_scenario(longer, out=tmp_path, look=look)
    assert len(reached) >= 3
    assert reached == sorted(reached)
    assert reached[0] < reached[-1] / 2


def test_what_is_left_unfinished_is_not_kept(scenario: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer.toml"
    text = scenario.read_text(encoding="utf-8")
    longer.write_text(text.replace('duration = "1 s"', 'duration = "1 h"'), encoding="utf-8")
    source = LiveSource(one_point(Scenario.load(longer)), tmp_path / "runs")
    source.start()
    while source.grows and not source.there:
        time.sleep(0.01)
    assert source.there, "rows come while it is simulated"
    source.close()
    assert (source.run, source.error, source.state) == (None, None, "stopped")
    assert not list((tmp_path / "runs").iterdir())


def test_a_sweep_is_no_frame(root: Path) -> None:
    sweep = Scenario.load(root / "examples" / "sweep-virtual-processors.toml")
    with pytest.raises(HomenodeError, match="6 points, and top shows one layout"):
        one_point(sweep)


def recorded(**cores: list[float | None]) -> RecordedSource:
    told = [series(name, of, begin=NOON) for name, of in cores.items()]
    return RecordedSource(["a.nmon"], Facts(series=told))


def test_a_recording_shows_its_samples() -> None:
    source = recorded(web=[1.0, 2.0, 3.0], db=[0.5, 0.5, 0.5])
    assert [source.frame(at).used for at in source.there] == [1.5, 2.5, 3.5]
    assert [source.frame(at).time[-8:] for at in source.there] == [
        *("12:05:00", "12:10:00", "12:15:00"),
    ]


def test_a_recording_is_shown_by_its_own_clock_and_several_in_utc() -> None:
    web, db = (series(name, [1.0, 2.0], begin=NOON) for name in ("web", "db"))
    rome = [replace(one, ahead_s=7200.0) for one in (web, db)]
    source = RecordedSource(["a"], Facts(series=rome))
    assert source.frame(0).time.endswith("12:05:00")
    assert source.state == "recording, a frame is 300 s"
    source = RecordedSource(["a"], Facts(series=[replace(web, ahead_s=3600.0), rome[1]]))
    assert source.frame(0).time.endswith("10:05:00")
    assert source.state == "recording, a frame is 300 s, UTC"
    source = RecordedSource(["a"], Facts(series=[web, rome[1]]))
    assert source.frame(0).time.endswith("12:05:00")


def test_a_gap_is_stepped_over_and_told() -> None:
    source = recorded(web=[1.0, None, None, 2.0])
    assert [source.frame(at).used for at in source.there] == [1.0, 2.0]
    assert source.frame(1).time.endswith("12:20:00 after a gap")


def test_who_was_not_recorded_then_has_no_use() -> None:
    source = recorded(web=[1.0, 1.0], db=[2.0])
    assert [one.used for one in source.frame(1).partitions] == [None, 1.0]


def test_nothing_recorded_is_said() -> None:
    with pytest.raises(HomenodeError):
        RecordedSource(["a.nmon"], Facts())
