"""The dispatches of a stretch by core: whole where the run is, cut where the stretch ends."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from homenode.cli import call
from homenode.errors import HomenodeError
from homenode.report.dispatches import Stretch, stretch_of, stretch_picture
from homenode.simulate.run import Run
from homenode.simulate.scenario import Scenario

TEXT = """
name = "pair"

[machine]
model = "ibm-power-770"

[[partition]]
name = "a"
count = 3
processors = { mode = "shared", entitlement = 1.0, virtual = 4 }
memory = "8 GiB"
workload = { kind = "transactions", rate = "300/s", profile = "oltp" }

[run]
duration = "400 ms"
replications = 1
record_dispatches = true
"""
MS = 1_000_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Scenario.from_toml(TEXT).run(out=tmp_path_factory.mktemp("runs"))


def test_a_core_has_one_at_a_time_within_the_stretch(run: Run) -> None:
    told = stretch_of(run, 0, 100 * MS, 50 * MS)
    assert told["dispatches"]
    for _, ones in itertools.groupby(told["dispatches"], key=lambda one: one["core"]):
        for one, after in itertools.pairwise(ones):
            assert one["end_ns"] <= after["start_ns"]
    assert min(one["start_ns"] for one in told["dispatches"]) >= 100 * MS
    assert max(one["end_ns"] for one in told["dispatches"]) <= 150 * MS


def test_stretches_add_up_to_the_whole(run: Run) -> None:
    whole = stretch_of(run, 0, 0, 400 * MS)
    parts = [stretch_of(run, 0, at * 100 * MS, 100 * MS) for at in range(4)]
    assert _busy(whole) == sum(map(_busy, parts))
    used = sum(run.metrics[name]["physc"].mean or 0.0 for name in run.partitions)
    assert _busy(whole) / (400 * MS) == pytest.approx(used, rel=0.01)


def _busy(told: Stretch) -> int:
    return sum(one["end_ns"] - one["start_ns"] for one in told["dispatches"])


def test_far_is_low_and_every_slice_is_drawn(run: Run) -> None:
    told = stretch_of(run, 0, 0, 50 * MS)
    spec = stretch_picture(told).to_dict()
    heights = {
        one["mark"]["height"]["band"]: len(spec["datasets"][one["data"]["name"]])
        for one in spec["layer"]
        if one["mark"]["type"] == "bar"
    }
    assert sorted(heights, reverse=True) == [0.9, 0.6, 0.3]
    assert sum(heights.values()) == len(told["dispatches"])


def test_what_is_not_there_is_said(run: Run, tmp_path: Path) -> None:
    with pytest.raises(HomenodeError, match=r"nothing at 9 s.*0\.4 s were measured"):
        stretch_of(run, 0, 9_000 * MS, MS)
    other = Scenario.from_toml(TEXT.replace("record_dispatches = true", "")).run(out=tmp_path)
    with pytest.raises(HomenodeError, match="record_dispatches = true"):
        stretch_of(other, 0, 0, MS)


def test_more_than_can_be_seen_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("homenode.report.dispatches.MOST", 3)
    with pytest.raises(HomenodeError, match="draw a shorter stretch"):
        stretch_picture(stretch_of(run, 0, 0, 100 * MS))


def test_the_command_tells_and_draws(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "d.svg"
    words = ["show", str(run.path), "--dispatches", "100 ms", "--lasting", "20 ms"]
    assert call([*words, "--picture", str(picture)]) == 0
    assert "100 to 120 ms" in capsys.readouterr().out
    assert "<svg" in picture.read_text()
    assert call(["show", str(run.path), "--dispatches", "soon"]) == 2
    assert "not a time" in capsys.readouterr().err
