"""The judge's parts without a host: generators, kernel settings, twin, scenarios, verdicts."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.hosts.errors import MeasureError
from homenode.judge.experiments import databases, experiments
from homenode.judge.judge import interval, judge, repeats
from homenode.judge.kernel import Kernel, Set, read_kernel
from homenode.judge.kinds import Experiment, Group, Judged, Outer
from homenode.judge.loads import (
    Asked,
    Job,
    OnOff,
    Pace,
    Reported,
    Spin,
    command,
    read_report,
)
from homenode.judge.scene import Alone, Busy, scenario_text
from homenode.judge.trial import figures_of, percentile
from homenode.judge.twin import MACHINE_FILE, Twin, read_topology, twin_of
from homenode.model.scenario import Scenario

pytestmark = pytest.mark.anywhere

LSCPU = """\
Architecture:            x86_64
CPU(s):                  8
On-line CPU(s) list:     0-7
Vendor ID:               GenuineIntel
Model name:              Made-up CPU @ 2.50GHz
Thread(s) per core:      2
Core(s) per socket:      2
Socket(s):               2
L1d cache:               128 KiB (4 instances)
L2 cache:                4 MiB (4 instances)
L3 cache:                32 MiB (2 instances)
NUMA node(s):            2
NUMA node0 CPU(s):       0,2,4,6
NUMA node1 CPU(s):       1,3,5,7
"""
"""Made up, in lscpu's form: two sockets whose processors are numbered in turn."""
PACE = Pace(500e6)
BESIDE = (Busy(3.0, 20e-6), Busy(30.0, 35e-6))
ALONE = Alone(2.5e9, 1.01, 0.00201, 0.00806, *BESIDE, 0.0003)
SETTINGS = Kernel("6.18.1", {"tick": Set(4_000_000, "CONFIG_HZ of config.gz")}, ())


@pytest.fixture
def twin() -> Twin:
    return twin_of(read_topology(LSCPU.encode()), SETTINGS)


def report(cpu_ms: float, **more: object) -> bytes:
    told = {
        "start_ns": 1_000,
        "end_ns": 1_000 + 2_000_000_000,
        "cpu_ns": round(cpu_ms * 1e6),
        "nvcsw": 3,
        "nivcsw": 200,
        "run_delay_ns": 500_000_000,
        "iterations": 7,
    }
    return json.dumps(told | more).encode()


# Generators


def test_a_job_is_asked_for_its_work_and_a_spinner_for_time() -> None:
    job = json.loads(command(Job(0.5), PACE, 77, 3.0)[-1])
    spin = json.loads(command(Spin(), PACE, 77, 3.0)[-1])
    assert job == {"start_ns": 77, "iterations": 250_000_000}
    assert spin == {"start_ns": 77, "seconds": 3.0}


def test_on_off_work_is_asked_for_bursts_of_work_and_sleeps_of_time() -> None:
    argv = command(OnOff(0.002, 0.008), PACE, 77, 3.0)
    assert argv[-2] == "onoff"
    assert json.loads(argv[-1]) == {
        "start_ns": 77,
        "seconds": 3.0,
        "iterations": 1_000_000,
        "sleep_ns": 8_000_000,
    }


def test_a_process_asks_for_its_nice_value_and_slice() -> None:
    argv = command(Spin(), PACE, 77, 3.0, Asked(5, 500_000))
    assert json.loads(argv[-1])["scheduling"] == {"nice": 5, "slice_ns": 500_000}


def test_longer_bursts_and_sleeps_stretch_the_one_but_not_the_timer() -> None:
    twin = twin_of(read_topology(LSCPU.encode()), SETTINGS)
    rare = Experiment("rare", "", (Group("a", OnOff(0.015, 0.135)),))
    text = scenario_text(rare, twin, (0, 2), ALONE, 3.0, 2)
    # 15 ms at 2.01 for 2; 135 ms and the 60 us by which 8 ms were late
    assert "instructions = 3.76875e+07" in text
    assert 'think = "135060000 ns"' in text


def test_a_response_is_lateness_and_burst() -> None:
    told = read_report(report(400, wakeup_late_ns=[5, 70], burst_ns=[100, 200]))
    assert told.responses_ns == (105, 270)
    assert told.seconds == 2.0


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b'{"start_ns": 1}',
        report(1, cpu_ns="much"),
        report(1, wakeup_late_ns=[1], burst_ns=[]),
        report(1)[:-9],
        b"\xff\xfe",
    ],
)
def test_a_report_that_is_none_is_quoted(text: bytes) -> None:
    with pytest.raises(MeasureError, match="no report"):
        read_report(text)


# Figures


def told(cpu_s: float, end_s: float, responses: tuple[int, ...] = ()) -> Reported:
    return Reported(0, round(end_s * 1e9), round(cpu_s * 1e9), 10, 40, 10**9, 5, responses)


def test_shares_are_of_all_groups_and_rates_of_the_time() -> None:
    found = figures_of({"a": [told(2.0, 4.0), told(1.0, 4.0)], "b": [told(1.0, 4.0)]}, {}, 4.0)
    assert found["a"]["share_pct"] == pytest.approx(75.0)
    assert found["b"]["cpus"] == pytest.approx(0.25)
    assert found["a"]["involuntary_per_s"] == pytest.approx(20.0)
    assert found["a"]["waiting_cpus"] == pytest.approx(0.5)
    assert "response_p99_ms" not in found["a"]


def test_work_to_the_end_is_told_by_the_last_end() -> None:
    found = figures_of({"a": [told(1.0, 1.5), told(1.0, 2.0)]}, {}, None)
    assert found["a"]["makespan_s"] == 2.0
    assert found["a"]["earliest_s"] == 1.5
    assert found["a"]["cpus"] == pytest.approx(1.0)


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile(range(1, 101), 0.5) == 50
    assert percentile(range(1, 101), 0.99) == 99
    assert percentile([3], 0.99) == 3


# Kernel


def root(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return folder


def test_settings_are_read_where_the_kernel_tells_them(tmp_path: Path) -> None:
    there = root(
        tmp_path,
        {
            "proc/config.gz": "CONFIG_HZ_1000=y\nCONFIG_HZ=1000\n",
            "proc/self/sched": "policy : 0\nse.slice    :    2800000\n",
            "proc/sys/kernel/sched_cfs_bandwidth_slice_us": "3000\n",
            "proc/sys/kernel/numa_balancing": "1\n",
            "sys/kernel/debug/sched/features": "PLACE_LAG NO_RUN_TO_PARITY HRTICK",
            "sys/kernel/debug/sched/migration_cost_ns": "250000\n",
        },
    )
    found = read_kernel(there, "6.12.9-made-up")
    values = {name: one.value for name, one in found.settings.items()}
    assert values == {
        "scheduler": "eevdf",
        "delay_dequeue": True,
        "reweigh_in_sums": False,
        "tick": 1_000_000,
        "base_slice": 2_800_000,
        "bandwidth_slice": 3_000_000,
        "run_to_parity": False,
        "place_lag": True,
        "migration_cost": 250_000,
        "numa_balancing.enabled": True,
    }
    assert found.unread == ()
    assert all(one.source for one in found.settings.values())


def test_what_cannot_be_read_is_said_and_not_made_up(tmp_path: Path) -> None:
    found = read_kernel(tmp_path, "5.15.0")
    assert {n: one.value for n, one in found.settings.items()} == {
        "scheduler": "cfs",
        "delay_dequeue": False,
        "reweigh_in_sums": False,
        "numa_balancing.enabled": False,
    }
    assert len(found.unread) == 5


def test_a_damaged_configuration_is_no_tick(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/config.gz").write_bytes(b"\x1f\x8b not packed")
    assert "tick" not in read_kernel(tmp_path, "6.18.0").settings


BUILT_LAZY = {"proc/config.gz": "CONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPT_LAZY=y\n"}
BUILT_NONE = {"proc/config.gz": "CONFIG_PREEMPT_NONE=y\n# CONFIG_PREEMPT_LAZY is not set\n"}
DYNAMIC = {"proc/config.gz": f"{BUILT_NONE['proc/config.gz']}CONFIG_PREEMPT_DYNAMIC=y\n"}
BOOTED_LAZY = {"proc/cmdline": "quiet preempt=full preempt=lazy preempt=bogus\n"}
NOW_FULL = {"sys/kernel/debug/sched/preempt": "none voluntary (full) lazy \n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (BUILT_LAZY, "lazy"),
        (BUILT_NONE, "full"),
        ({**DYNAMIC, **BOOTED_LAZY}, "lazy"),
        ({**BUILT_NONE, **BOOTED_LAZY}, "full"),
        ({**BUILT_LAZY, **BOOTED_LAZY, **NOW_FULL}, "full"),
        ({}, None),
    ],
)
def test_preemption_is_what_is_set_now_else_as_booted_or_built(
    files: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    there = root(tmp_path, files)
    found = read_kernel(there, "6.14.2")
    told = found.settings.get("preemption")
    assert (told.value if told else None) == expected
    assert any("preempted" in text for text in found.unread) == (expected is None)
    # No kernel before had it.
    assert "preemption" not in read_kernel(there, "6.12.9").settings


# Twin and scenarios


def test_processors_are_numbered_by_core_not_as_linux_counts(twin: Twin) -> None:
    assert twin.nodes == 2
    assert twin.threads_per_core == 2
    assert sorted(twin.places.values()) == list(range(8))
    # Threads of a core are neighbours in the simulation.
    by_place = {place: number for number, place in twin.places.items()}
    assert {by_place[0] % 2, by_place[1] % 2, by_place[2] % 2, by_place[3] % 2} == {0}


def test_text_that_is_no_listing_is_refused() -> None:
    with pytest.raises(MeasureError, match="lscpu"):
        read_topology(b"command not found\n")


EVERY = [*experiments(1.0), *databases()]


@pytest.mark.parametrize(
    ("seconds", "interval_ns"),
    [
        (1.0, 10**9),
        (2.5, 625_000_000),  # --quick
        (4.0, 10**9),
        (3.3, 825_000_000),
        (1.000000007, 1_000_000_007),  # of a prime number of nanoseconds
    ],
)
def test_a_run_of_any_length_has_whole_intervals(
    seconds: float, interval_ns: int, twin: Twin, tmp_path: Path
) -> None:
    (tmp_path / MACHINE_FILE).write_text(twin.machine, encoding="utf-8")
    rare = Experiment("rare", "", (Group("a", OnOff(0.015, 0.135)),))
    text = scenario_text(rare, twin, (0, 2), ALONE, seconds, 2)
    spec = Scenario.from_toml(text, "experiment.toml", tmp_path).spec()
    assert (spec["duration_ns"], spec["interval_ns"]) == (round(1e9 * seconds), interval_ns)


@pytest.mark.parametrize("experiment", EVERY, ids=lambda one: one.name)
def test_every_experiment_is_a_scenario(experiment: Experiment, twin: Twin, tmp_path: Path) -> None:
    (tmp_path / MACHINE_FILE).write_text(twin.machine, encoding="utf-8")
    text = scenario_text(experiment, twin, (0, 2), ALONE, 3.0, 2)
    spec = Scenario.from_toml(text, "experiment.toml", tmp_path).spec()
    groups = {group["name"]: group for group in spec["cgroups"]}
    assert spec["machine"]["hypervisor"]["policy"] == "linux"
    assert spec["machine"]["hypervisor"]["linux"]["tick_ns"] == 4_000_000
    named: list[Outer | Group] = [*experiment.outer, *(g for g in experiment.groups if g.own)]
    for one in named:
        mine = groups[one.name]
        assert mine["weight"] == one.weight
        assert mine["idle"] == (isinstance(one, Group) and one.idle)
        if one.quota is None:
            assert mine["quota_ns"] is None
        else:
            assert mine["period_ns"] == round(one.quota.period_ms * 1e6)
            assert mine["quota_ns"] == round(one.quota.processors * one.quota.period_ms * 1e6)
            assert mine["burst_ns"] == round(one.quota.burst_ms * 1e6)
        numbers = one.processors or range(2)
        assert mine["cpuset"] == sorted(twin.places[(0, 2)[place]] for place in numbers)
        assert spec["cgroups"][mine["parent"]]["name"] == (one.inside or "homenode")
    threads = {one["name"]: one["processors"]["host"] for one in spec["partitions"]}
    names = [group["name"] for group in spec["cgroups"]]
    for group in experiment.groups:
        host = threads[group.name]
        assert names[host["cgroup"]] == (group.name if group.own else group.inside)
        assert host["nice"] == group.nice
        assert host["slice_ns"] == (round(group.slice_ms * 1e6) or None)
    others = {f"bound-{twin.places[number]}" for number in (0, 2)} | {"free"}
    assert others == threads.keys() - {group.name for group in experiment.groups}


def test_experiments_have_names_of_their_own_and_rows_for_their_groups() -> None:
    names = [one.name for one in EVERY]
    assert len(set(names)) == len(names)
    for one in EVERY:
        inside = {group.inside for group in one.groups} | {outer.inside for outer in one.outer}
        assert {outer.name for outer in one.outer} == inside - {None}
        assert {row.group for row in one.judged} <= {group.name for group in one.groups}
        assert one.calibrates == (not one.judged)


# Verdicts

ROW = Judged("a", "cpus", 2.5, "percent")


def test_a_deviation_within_the_tolerance_agrees() -> None:
    row = judge("quota", ROW, [0.50, 0.502, 0.498], [0.51, 0.51])
    assert row.verdict == "agrees"
    assert row.deviation == pytest.approx(2.0)


def test_a_deviation_beyond_it_misses() -> None:
    assert judge("quota", ROW, [0.50, 0.502, 0.498], [0.55]).verdict == "misses"


def test_a_measurement_that_scatters_more_than_the_tolerance_decides_nothing() -> None:
    assert judge("quota", ROW, [0.40, 0.50, 0.60], [0.55]).verdict == "undecided"
    assert judge("quota", ROW, [0.40, 0.50, 0.60], [0.50]).verdict == "undecided"


@pytest.mark.parametrize("simulated", [0.50, 0.90])
def test_a_single_measurement_decides_nothing(simulated: float) -> None:
    assert judge("quota", ROW, [0.50], [simulated, simulated]).verdict == "undecided"


def test_a_simulation_that_scatters_more_than_the_tolerance_decides_nothing() -> None:
    assert judge("quota", ROW, [0.50, 0.50], [0.45, 0.50, 0.55]).verdict == "undecided"
    assert judge("quota", ROW, [0.50, 0.50], [0.501, 0.50, 0.499]).verdict == "agrees"


def test_points_are_of_the_figure_itself() -> None:
    share = Judged("a", "share_pct", 1.0, "points")
    assert judge("w", share, [66.0, 66.0], [66.9]).verdict == "agrees"
    assert judge("w", share, [66.0, 66.0], [67.1]).verdict == "misses"


def test_either_side_may_be_missing() -> None:
    assert judge("quota", ROW, [], [0.5]).verdict == "not measured"
    assert judge("quota", ROW, [0.5], []).verdict == "not simulated"


def test_nothing_measured_agrees_with_nothing_only() -> None:
    assert judge("quota", ROW, [0.0, 0.0], [0.0]).verdict == "agrees"
    assert judge("quota", ROW, [0.0, 0.0], [0.1]).verdict == "misses"


def test_an_interval_is_student_s() -> None:
    found = interval([1.0, 2.0, 3.0])
    # t(0.975, 2) = 4.3027; s = 1; divided by the root of 3
    assert found.half == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)
    assert interval([5.0]).half is None


def test_a_repeat_is_held_against_the_spread_of_the_earlier_ones() -> None:
    assert repeats([1.0, 1.1, 0.9], 1.05) is True
    assert repeats([1.0, 1.01, 0.99], 2.0) is False
    assert repeats([1.0], 5.0) is None
