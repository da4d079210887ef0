"""A validation as a whole: plans, calibration, reports, and a short live one where the host lets
us set control groups.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.cli import call
from homenode.hosts.errors import MeasureError
from homenode.judge.calibration import calibrated
from homenode.judge.judge import interval, judge, widened
from homenode.judge.kinds import Judged
from homenode.judge.plan import Plan, make_plan, split_by_ability
from homenode.judge.report import HostFacts, Report, compare_again, load, restored
from homenode.judge.scene import Alone
from homenode.judge.session import run
from homenode.judge.trial import Trial, of_time_to_be_had, reason_of
from homenode.report.validation import sentences, tables

ROW = judge("quota-50", Judged("a", "cpus", 2.5, "percent"), [0.50, 0.51, 0.505], [0.507])
HOST = HostFacts("Made-up CPU", "6.18.1", (0, 1), 1, 1, "v1", {"tick": (4_000_000, "made up")}, ())


def made(**more: Any) -> Report:
    trial = Trial("quota-50", {"a": {"cpus": 0.5}}, 0.01, 0.0)
    plain = Report(
        "0", "2000-01-01T00:00:00+00:00", HOST, 4.0, 3, Alone(1e9), [ROW], [trial], ["KVM"]
    )
    return replace(plain, **more)


def plan(**more: Any) -> Plan:
    asked: dict[str, Any] = {
        "quick": False,
        "passes": None,
        "seconds": None,
        "processors": 2,
        "only": (),
        "with_database": False,
    }
    return make_plan(**(asked | more))


def test_the_quick_plan_is_a_part_of_the_whole() -> None:
    whole, quick = plan(), plan(quick=True)
    names = {one.name for one in whole.experiments}
    assert {one.name for one in quick.experiments} < names
    assert quick.seconds < whole.seconds
    assert quick.minutes is not None
    assert whole.minutes is not None
    assert quick.minutes < whole.minutes
    assert {f"loops-{n}" for n in range(1, 9)} <= names


def test_the_full_plan_adds_to_the_whole_and_takes_longer() -> None:
    whole, full = plan(), plan(full=True)
    names = {one.name for one in whole.experiments}
    added = {one.name for one in full.experiments} - names
    assert {"nested-three", "nice-5", "slice-20ms", "burst-10ms", "quota-100-outer"} <= added
    assert names < {one.name for one in full.experiments}
    assert full.minutes is not None
    assert whole.minutes is not None
    assert full.minutes > whole.minutes
    # What is named is done, whichever set it is of.
    assert "nice-5" in {one.name for one in plan(only=("nice-5",)).experiments}


def test_what_calibrates_is_always_in_it() -> None:
    found = [one.name for one in plan(only=("quota-50",)).experiments]
    assert found == ["loops-1", "on-off-alone", "quota-50"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"only": ("qouta-50",)}, "quota-50"),
        ({"passes": 1000}, "1000 passes"),
        ({"seconds": 0.1}, "0.1 s"),
        ({"minutes": 0.1}, "0.1 minutes"),
        ({"quick": True, "full": True}, "quick and full"),
    ],
)
def test_senseless_plans_are_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        plan(**asked)


def test_passes_that_are_asked_for_have_no_limit_but_one_that_is_asked_for() -> None:
    assert plan(passes=2).minutes is None
    assert plan(passes=2, minutes=7.0).minutes == 7.0
    assert plan(minutes=7.0).passes == plan().passes


def test_what_this_host_s_groups_cannot_do_is_left_out_and_said() -> None:
    asked = plan(only=("burst-10ms", "idle-group", "quota-50"))
    done, said = split_by_ability(asked, frozenset({"burst"}))
    assert [one.name for one in done] == ["loops-1", "on-off-alone", "quota-50", "burst-10ms"]
    assert said == ("idle-group: control groups here have no idle",)


def test_one_processor_does_what_one_can() -> None:
    found = plan(processors=1, full=True, with_database=True)
    assert max(one.places for one in found.experiments) == 1
    assert "pinned-2:1" in {one.name for one in found.experiments}
    assert found.left_out == (
        "the databases: what wakes another processor is measured on two",
        "cpusets-overlap, cpusets-2:1: more processors are needed",
    )
    with pytest.raises(MeasureError, match="cpusets-overlap needs 2 processors"):
        plan(processors=1, only=("cpusets-overlap",))
    assert {one.places for one in plan(full=True).experiments} == {1, 2}


def test_calibration_takes_only_what_ran_alone() -> None:
    loops = {"cpu_s": 1.02, "elapsed_s": 1.03, "bursts": 0.0, "iterations": 1.0, "involuntary": 31}
    bursts = {"cpu_s": 0.4, "elapsed_s": 2.0, "bursts": 200.0, "iterations": 1.0, "involuntary": 0}
    beside = {"free": 60, "free_ns": 1_800_000, "bound": 8, "bound_ns": 80_000}
    trials = [
        Trial("loops-1", {}, 0.0, 0.0, {"a": loops}, beside, 2.0),
        Trial("on-off-alone", {}, 0.0, 0.0, {"a": bursts}),
        Trial("loops-1", {}, 0.5, 0.0, {"a": {**loops, "cpu_s": 9.0}}, beside, 0.1, 0.0, "others"),
        Trial("weights-2:1", {}, 0.0, 0.0, {"a": {**loops, "cpu_s": 9.0}}),
    ]
    alone = calibrated(trials, 2.5e9, 1.0, 2)
    assert alone.job_stretch == pytest.approx(1.02)
    assert alone.run_s == pytest.approx(0.002)
    assert alone.sleep_s == pytest.approx(0.008)
    # 30 a second of 30 us anywhere; 4 a second bound, half of them on either processor.
    assert alone.free.per_s == pytest.approx(30.0)
    assert alone.free.run_s == pytest.approx(30e-6)
    assert alone.bound.per_s == pytest.approx(2.0)
    assert alone.bound.run_s == pytest.approx(10e-6)
    assert alone.transaction_s == 0.0


def test_without_a_quiet_trial_nothing_is_calibrated() -> None:
    busy = Trial("loops-1", {}, 0.5, 0.0, {}, rejected="others used 50.0 % of the host")
    with pytest.raises(MeasureError, match="nothing can be calibrated") as raised:
        calibrated([busy], 1e9, 1.0, 2)
    assert "others used" in str(raised.value)


def test_busy_and_late_trials_do_not_count() -> None:
    quiet = Trial("x", {}, 0.01, 0.0)
    assert reason_of(quiet, 0.03) is None
    assert "others" in str(reason_of(replace(quiet, foreign=0.2), 0.03))
    assert reason_of(replace(quiet, foreign=0.2), None) is None
    assert "stolen" in str(reason_of(replace(quiet, steal=0.2), 0.03))
    assert "after the others" in str(reason_of(replace(quiet, late_s=0.2), None))


def test_what_was_stolen_is_bounded_corrected_and_doubted() -> None:
    """A guest from which 4 % are taken is told of the time that it had; who lost them nobody knows,
    so an interval is wider by as much.
    """
    trial = Trial("x", {}, 0.0, 0.04)
    assert reason_of(trial, 0.03) is None
    assert "limit 3 %" in str(reason_of(trial, 0.03, 0.03))
    told = {"done_per_s": 96.0, "makespan_s": 2.0, "share_pct": 40.0}
    had = of_time_to_be_had(told, 0.04)
    assert had == {"done_per_s": 100.0, "makespan_s": 1.92, "share_pct": 40.0}
    assert of_time_to_be_had(told, 0.0) == told
    plain = interval([9.0, 11.0, 10.0])
    wide = widened(plain, 0.04)
    assert plain.half is not None
    assert wide.half == pytest.approx(plain.half + 0.4)
    assert (wide.mean, wide.count) == (plain.mean, plain.count)
    assert widened(interval([9.0]), 0.04).half is None


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    made().save(path)
    assert load(path) == json.loads(json.dumps(made().as_json()))
    assert restored(load(path), path).as_json() == made().as_json()
    assert sentences(restored(load(path), path)) == sentences(made())
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"kind": "homenode-measurement"}', "\x00"])
def test_other_files_are_no_reports(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(MeasureError):
        load(path)


def test_a_report_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match="cannot be written"):
        made().save(tmp_path / "no" / "report.json")
    assert list(tmp_path.iterdir()) == []


def test_a_kept_report_is_printed_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    made().save(path)
    assert call(["measure", "show", str(path)]) == 0
    assert "quota-50" in capsys.readouterr().out
    assert call(["measure", "show", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == load(path)
    assert call(["measure", "show", str(path), "--runs"]) == 2
    assert "--runs is for results" in capsys.readouterr().err


def test_a_rerun_repeats_or_does_not(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    made().save(path)
    near = judge(ROW.experiment, Judged("a", "cpus", 2.5, "percent"), [0.504, 0.506], [0.5])
    far = judge(ROW.experiment, Judged("a", "cpus", 2.5, "percent"), [0.704, 0.706], [0.5])
    other = replace(near, experiment="another")
    again = compare_again([near, far, other], load(path))
    assert [one.repeats for one in again] == [True, False]


def test_a_damaged_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match="damaged"):
        compare_again([ROW], {"rows": [{"experiment": 1}]})
    row = json.loads(json.dumps(ROW.as_json()))
    no_mean = {**row, "measured": {**row["measured"], "mean": "x"}}
    endless = {**row, "measured": {**row["measured"], "count": float("inf")}}
    for rows in ([no_mean], [endless]):
        with pytest.raises(MeasureError, match="damaged"):
            compare_again([ROW], {"rows": rows})
    wrong = [("rows", [{"experiment": 1}]), ("rows", [no_mean]), ("rows", [endless])]
    for key, value in [*wrong, ("host", "here"), ("passes", None)]:
        with pytest.raises(MeasureError, match="damaged"):
            restored({**made().as_json(), key: value}, tmp_path)


def test_the_report_says_what_it_shows_and_what_not() -> None:
    text = " ".join(sentences(made(interrupted=True, left_out=("the databases",))))
    for word in ("Made-up CPU", "tick 4 ms (made up)", "1 agrees", "interrupted", "KVM"):
        assert word in text
    assert tables(made())[0].row_count == 1


def test_live() -> None:
    """One experiment, for real: the shares are as weighted, whatever else goes on."""
    from homenode.hosts.live import Host

    with Host.open() as host:
        lacking = {"weight", "quota", "cpuset", "account"} - host.groups.can
        if lacking or len(host.cpus) < 2:
            pytest.skip(f"this host does not let us set {sorted(lacking)}, or has one processor")
    try:
        report = run(
            quick=True,
            passes=1,
            seconds=1.0,
            only=("pinned-2:1",),
            with_database=False,
            foreign_limit=None,
        )
    except MeasureError as error:
        if "nothing can be calibrated" not in error.problem:
            raise
        pytest.skip("the host is too busy for any common start")
    rows = {row.metric: row for row in report.rows if row.group == "a"}
    share = rows["share_pct"]
    if share.measured is None:
        pytest.skip("the host is too busy for a common start")
    assert share.measured.mean == pytest.approx(66.7, abs=15.0)
    if share.simulated is None:
        pytest.skip("the host is too busy for a common start of what calibrates")
    assert share.simulated.mean == pytest.approx(66.7, abs=1.0)
