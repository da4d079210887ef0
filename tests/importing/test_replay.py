"""Recorded use against simulated: the whole way with the compiled engine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from facts_made import beside, machines, one_lpar, since_start
from homenode.errors import NotFoundError, RunError
from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.figures import NAMES
from homenode.records.replay import Compared, Replay, rank_correlation, replay
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

CORES = [0.19, 0.2, 1.2, 1.25, 2.6, 3.1, 0.6, 0.18]
FOLDED = [2.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of one recorded partition, with other random numbers than it was converted with."""
    found = assemble(one_lpar(CORES, folded=FOLDED))
    return run_scenario(found.scenario, out=tmp_path_factory.mktemp("runs"), replications=2)


def test_every_window_uses_what_was_recorded(kept: Run) -> None:
    rows = replay(kept).rows
    assert [row.recorded for row in rows] == CORES
    for row in rows:
        assert row.deviation_pct is not None
        assert abs(row.deviation_pct) < 2.0, row


def test_folding_has_the_recorded_direction(kept: Run) -> None:
    (one,) = replay(kept).summaries()
    assert one.folded_rank is not None
    assert one.folded_rank > 0.5
    assert one.folded_where_folded is not None
    assert one.folded_where_none is not None
    assert one.folded_where_folded > one.folded_where_none


def test_a_summary_is_of_its_windows(kept: Run) -> None:
    found = replay(kept)
    (one,) = found.summaries()
    assert (one.partition, one.windows, one.beyond, one.quantity) == ("lpar", 8, 0, "physc")
    assert one.recorded == pytest.approx(sum(CORES) / 8)
    assert one.max_deviation_pct == max(abs(row.deviation_pct or 0) for row in found.rows)


def test_the_work_of_each_window_is_in_the_run(kept: Run) -> None:
    """What was converted is what was done, within the bursts under way at a window's end."""
    workload = kept.partition_spec("lpar")["workload"]
    table = kept.intervals().filter(replication=0)
    unit = kept.partition_spec("lpar")["profile"]["instructions_per_unit"]
    for done, per_s in zip(table["instructions"], workload["instructions_per_s"], strict=True):
        extra = done - per_s * 20  # daemons and ticks are work as well
        assert -12 * unit < extra < 12 * unit + 0.03 * done


def test_the_scenario_says_how_far_it_is_off() -> None:
    found = assemble(one_lpar(CORES))
    assert "# lpar: 8 windows off by 0." in found.text
    assert found.residuals["lpar"].most_pct < 1.0
    assert "are off by more than 2 %" not in "".join(str(one) for one in found.notices)


def test_on_another_machine_the_work_stays_and_the_cores_change(kept: Run, tmp_path: Path) -> None:
    found = assemble(one_lpar(CORES)).scenario
    moved = found.with_({"machine.model": "ibm-power-e1080", "machine.active_cores": None})
    assert moved.spec()["partitions"][0]["workload"] == found.spec()["partitions"][0]["workload"]
    there = replay(run_scenario(moved, out=tmp_path)).summaries()[0]
    here = replay(kept).summaries()[0]
    assert there.simulated < 0.98 * here.simulated


def test_busy_time_is_held_against_busy_time(tmp_path: Path) -> None:
    found = assemble(machines(2, 1))
    run = run_scenario(found.scenario, out=tmp_path)
    summaries = replay(run).summaries()
    assert [one.quantity for one in summaries] == ["used", "used"]
    # The least window is a fiftieth of a processor: some bursts.
    assert all(one.max_deviation_pct < 3.0 for one in summaries)


def test_a_run_of_no_recording_has_no_replay(tmp_path: Path) -> None:
    facts = one_lpar([0.5])
    facts.series.clear()
    found = assemble(facts).scenario.with_({"run.duration": "1 s"})
    run = run_scenario(found, out=tmp_path)
    with pytest.raises(NotFoundError, match=r"no partition of .* plays recorded use"):
        replay(run)


def test_intervals_must_end_where_windows_do(tmp_path: Path) -> None:
    found = assemble(one_lpar(CORES), AssembleOptions(convert=False))
    odd = found.scenario.with_({"run.interval": "32 s"})
    with pytest.raises(RunError, match="do not end where its recorded windows do"):
        replay(run_scenario(odd, out=tmp_path))


def test_shorter_intervals_are_put_together(tmp_path: Path) -> None:
    found = assemble(one_lpar(CORES[:3]), AssembleOptions(convert=False))
    whole = replay(run_scenario(found.scenario, out=tmp_path))
    fine = found.scenario.with_({"run.interval": "5 s"})
    parts = replay(run_scenario(fine, out=tmp_path / "fine"))
    assert [row.simulated for row in parts.rows] == [row.simulated for row in whole.rows]


def test_a_shorter_run_has_its_first_windows(tmp_path: Path) -> None:
    found = assemble(one_lpar(CORES), AssembleOptions(convert=False))
    short = found.scenario.with_({"run.duration": "40 s"})
    assert len(replay(run_scenario(short, out=tmp_path)).rows) == 2


def test_the_command(kept: Run, command: Command) -> None:
    out = str(kept.path.parent)
    shown = command("replay", kept.id, "--out", out)
    assert shown.returncode == 0, shown.stderr
    assert "2016-02-10 17:28:10" in shown.stdout
    assert "lpar             8" in shown.stdout.replace("\t", " ")
    assert "rank correlation of" in " ".join(shown.stdout.split())
    brief = command("replay", kept.id, "--out", out, "--summary")
    assert "2016-02-10" not in brief.stdout
    data = json.loads(command("replay", kept.id, "--out", out, "--json").stdout)
    assert data["partitions"][0]["beyond"] == 0
    assert [row["recorded"] for row in data["windows"]] == CORES
    wrong = command("replay", kept.id, "--out", out, "-p", "lpr")
    assert wrong.returncode == 2
    assert "lpar" in wrong.stderr


RATES: list[float | None] = [1000, 1000, 3000, 3000, 6000, 7000, 2000, 1000]
COUNTS = {"cs": 4000.0, "ics": 1000.0, "ilcs": 300.0, "vlcs": 2900.0}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of a recording with all that can stand beside cores."""
    facts = one_lpar(CORES, folded=FOLDED)
    every = {name: [1.0] * 8 for name in NAMES if name not in ("folded", "context_switches_per_s")}
    missing: list[float | None] = [None, 12.0, *[None] * 6]
    facts.beside.append(beside("lpar", {"context_switches_per_s": RATES, "vcsw_per_s": missing}))
    facts.beside.append(beside("lpar", {**every}, report="other"))  # type: ignore[dict-item]
    facts.affinity.append(since_start("lpar", COUNTS, 100.0))
    found = assemble(facts, AssembleOptions(convert=False))
    return run_scenario(found.scenario, out=tmp_path_factory.mktemp("told"), replications=2)


def compared(found: Replay, name: str, *, since_start: bool = False) -> Compared:
    every = found.figures["lpar"]
    (one,) = [one for one in every if (one.name, one.since_start) == (name, since_start)]
    return one


def test_all_that_both_tell_is_compared(told: Run) -> None:
    every = replay(told).figures["lpar"]
    threads = [f"thread{number}_cores" for number in range(5, 9)]  # it has four a core
    assert [one.name for one in every if not one.since_start] == [
        "physc",
        *(name for name in NAMES if name not in threads),
    ]
    assert [one.name for one in every if one.since_start][:4] == [
        "context_switches_per_s",
        "involuntary_switches_per_s",
        "vlcs_per_s",
        "ilcs_per_s",
    ]


def test_means_are_those_of_the_windows_that_tell_it(told: Run) -> None:
    found = replay(told)
    cores, switches = compared(found, "physc"), compared(found, "context_switches_per_s")
    assert cores.recorded == pytest.approx(sum(CORES) / 8)
    assert cores.simulated == pytest.approx(sum(row.simulated for row in found.rows) / 8)
    assert switches.recorded == 3000.0
    assert switches.ratio == pytest.approx(switches.simulated / 3000.0)
    assert (switches.windows, switches.rank) == (8, pytest.approx(1.0, abs=0.1))
    folded = compared(found, "folded")
    assert folded.recorded == 1.0
    assert folded.simulated == pytest.approx(sum(row.folded_simulated for row in found.rows) / 8)
    # The first report tells of one window, the other of the rest.
    assert compared(found, "vcsw_per_s").recorded == pytest.approx((12.0 + 7.0) / 8)
    nothing = Compared("x", "", "", False, 1, 0.0, 1.0, None)
    assert nothing.ratio is None


def test_what_is_simulated_is_what_the_run_says(told: Run) -> None:
    found = replay(told)
    for name in (
        "context_switches_per_s",
        "vcsw_per_s",
        "vlcs_per_s",
        "ilcs_per_s",
        "phint_per_s",
        "interrupts_per_s",
        "runnable_threads",
        "lbusy_pct",
    ):
        said = told.metric("lpar", name).mean
        assert compared(found, name).simulated == pytest.approx(said), name
    states = ("user", "sys", "wait", "idle")
    parts = [compared(found, f"{state}_cores").simulated for state in states]
    assert sum(parts) == pytest.approx(compared(found, "physc").simulated)
    assert parts[0] / sum(parts) == pytest.approx(
        told.intervals()["user_ns"].sum() / told.intervals()["busy_ns"].sum()
    )
    threads = [compared(found, f"thread{number}_cores").simulated for number in range(1, 5)]
    assert sum(threads) == pytest.approx(parts[0] + parts[1])
    levels = [compared(found, f"s{level}rd_pct").simulated for level in range(6)]
    assert sum(levels) == pytest.approx(100.0)


def test_a_mean_since_the_start_is_held_against_the_whole_run(told: Run) -> None:
    one = compared(replay(told), "vlcs_per_s", since_start=True)
    assert (one.recorded, one.windows, one.rank) == (29.0, 8, None)
    assert one.simulated == pytest.approx(told.metric("lpar", "vlcs_per_s").mean)


def test_linux_counts_its_idle_task(tmp_path: Path) -> None:
    facts = machines(2)
    rates: list[float | None] = [400.0, 400.0, 400.0]
    facts.beside.append(beside("vm0", {"context_switches_per_s": rates}, system=None))
    run = run_scenario(assemble(facts).scenario, out=tmp_path)
    one = replay(run).figures["vm0"][-1]
    assert one.name == "context_switches_per_s"
    turns = run.metric("vm0", "context_switches_per_s").mean
    assert turns is not None
    assert 1.5 * turns < one.simulated < 2.0 * turns
    assert one.ratio == pytest.approx(1.0, abs=0.1)


def test_the_command_shows_means_and_ratios(told: Run, command: Command) -> None:
    out = str(told.path.parent)
    shown = command("replay", told.id, "--out", out, "--summary")
    assert shown.returncode == 0, shown.stderr
    assert "Means of lpar: all that was recorded and is simulated" in shown.stdout
    assert "figure" in shown.stdout
    rows = {line.split()[0]: line.split()[1:] for line in shown.stdout.splitlines() if line}
    assert rows["context_switches_per_s"][0] == "40.00"  # since the start, the later of two rows
    assert rows["folded"][0] == "1.000"
    data = json.loads(command("replay", told.id, "--out", out, "--json").stdout)
    figures = {(one["name"], one["since_start"]): one for one in data["partitions"][0]["figures"]}
    one = figures["context_switches_per_s", False]
    assert one["ratio"] == pytest.approx(one["simulated"] / one["recorded"])
    assert figures["s5rd_pct", True]["ratio"] is None


def test_rank_correlation_by_hand() -> None:
    assert rank_correlation([(1, 10), (2, 20), (3, 30)]) == pytest.approx(1.0)
    assert rank_correlation([(1, 3), (2, 2), (3, 1)]) == pytest.approx(-1.0)
    # Ranks 0.5, 0.5, 2, 3 against 0, 1, 2.5, 2.5: deviations from 1.5 multiply to 4.0,
    # those of each side squared to 4.5.
    assert rank_correlation([(0, 1), (0, 2), (1, 5), (2, 5)]) == pytest.approx(4.0 / 4.5)
    assert rank_correlation([(1, 1), (1, 2)]) is None
    assert rank_correlation([]) is None
