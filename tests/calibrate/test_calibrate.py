"""A simulated run stands for a recorded one: its parameters are found again within their intervals,
and what a recording cannot tell is said.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import homenode
from homenode.cli import call
from homenode.errors import HomenodeError
from homenode.model import catalog
from homenode.records.calibrate.free import FREE, NAMES, Free
from homenode.records.calibrate.reading import KNOWN
from homenode.simulate.kept import METRICS

TRUE = {"instructions": 3.4e5, "miss_m0": 0.06, "sharing": 0.25, "footprint": 900 * 1024}
LAYOUTS = {
    "one": (4, '"book0.chip0"'),
    "book": (8, '"book0"'),
    "wide": (16, '"book0.chip0", "book1.chip0", "book2.chip0", "book3.chip0"'),
    "single": (1, '"book0.chip0"'),
}
TEXT = """
name = "{name}"
[machine]
model = "ibm-power-795"
[[partition]]
name = "app"
processors = {{ mode = "shared", entitlement = {count}.0, virtual = {count} }}
smt = 1
memory = "16 GiB"
home = [{home}]
guest = {{ os = "aix", folding = false }}
[partition.workload]
kind = "warehouses"
count = {count}
[partition.workload.profile]
base = "oltp"
instructions = 3.4e5
miss_m0 = 0.06
sharing = "25 %"
footprint = "900 KiB"
[run]
warmup = "200 ms"
duration = "400 ms"
replications = 3
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of one workload under several layouts."""
    folder = tmp_path_factory.mktemp("recorded")
    for name, (count, home) in LAYOUTS.items():
        text = TEXT.format(name=name, count=count, home=home)
        homenode.Scenario.from_toml(text).run(out=folder)
    return folder


def test_parameters_of_a_run_are_found_again_within_their_intervals(root: Path) -> None:
    """Started from a profile with thirty times the instructions."""
    fitted = homenode.fit_profile(*LAYOUTS, base="oltp", root=root)
    found = {one.name: one for one in fitted.parameters}
    for name in ("instructions", "miss_m0", "sharing"):
        one = found[name]
        assert one.determined, name
        assert one.low < TRUE[name] < one.high, name
        assert (one.high - one.low) / TRUE[name] < 0.2, name
    assert fitted.quality < 1.0
    assert all(abs(row.errors) < 3 for row in fitted.deviations)


def test_what_nothing_shows_stays_and_is_said(root: Path) -> None:
    """Nobody takes a core from it, so that nothing is ever loaded anew."""
    fitted = homenode.fit_profile(*LAYOUTS, base="oltp", root=root)
    footprint = next(one for one in fitted.parameters if one.name == "footprint")
    assert not footprint.determined
    assert footprint.value == pytest.approx(512 * 1024)
    assert "the same" in footprint.said or "stays at the base" in footprint.said


def test_one_figure_of_one_layout_determines_one_number(root: Path) -> None:
    """Processor time of a transaction alone: instructions, with the others' ranges in it."""
    fitted = homenode.fit_profile("one", base="oltp", know=["cpu_per_tx_us"], root=root)
    found = {one.name: one for one in fitted.parameters}
    assert [name for name, one in found.items() if one.determined] == ["instructions"]
    instructions = found["instructions"]
    assert instructions.low < TRUE["instructions"] < instructions.high
    assert instructions.high / instructions.low > 1.5
    assert "as well changed by instructions per unit" in found["miss_m0"].said
    assert "it stays at the base's" in found["miss_m0"].said


def test_the_file_is_a_profile_that_says_what_it_was_fitted_on(root: Path, tmp_path: Path) -> None:
    """And a scenario takes it."""
    path = tmp_path / "mine.toml"
    homenode.fit_profile(*LAYOUTS, base="oltp", name="mine", root=root).write(path)
    profile = catalog.profile(path)
    assert profile.instructions.provenance == "calibrated"
    assert profile.instructions.reason.startswith("calibrated on run one-")
    assert profile.footprint.provenance == catalog.profile("oltp").footprint.provenance
    assert "not calibrated" in profile.footprint.reason
    count, home = LAYOUTS["one"]
    scenario = homenode.Scenario.from_toml(TEXT.format(name="again", count=count, home=home))
    changed = scenario.with_({"partition.app.workload.profile": str(path)})
    recorded = homenode.Run.load("one", root).metric("app", "cpi").mean
    shown = changed.run(out=tmp_path).metric("app", "cpi").mean
    assert shown == pytest.approx(recorded, rel=0.02)


def test_measured_repetitions_are_conditions_by_processors_and_load(
    root: Path, tmp_path: Path
) -> None:
    """A result file with figures that the true profile gives."""
    from homenode.hosts.record import CpuTime, RunRecord
    from homenode.hosts.result import Result

    records = []
    for name, count in (("one", 4), ("single", 1)):
        run = homenode.Run.load(name, root)
        cpu_us = run.values("app", "cpu_per_tx_us")
        cpis = run.values("app", "cpi")
        for replicate, (us, cpi) in enumerate(zip(cpu_us, cpis, strict=True)):
            work = 1000.0
            cpu = CpuTime(us * work / 1e6)
            told = {"instructions": 3.4e5 * work, "cycles": cpi * 3.4e5 * work}
            place = {"processors": count, "load": float(count), "replicate": replicate}
            records.append(
                RunRecord(
                    system="a",
                    case="app/all",
                    metric="transactions",
                    better="higher",
                    order=len(records),
                    work=work,
                    seconds=us * work / 1e6 / count,
                    score=work,
                    unit="1/s",
                    cpu=cpu,
                    **place,
                    **told,
                )
            )
    result = Result({}, {}, {}, {}, records=records, finished="2026-01-02T03:04:05+00:00")
    file = tmp_path / "host.json"
    file.write_text(json.dumps(result.as_json()), encoding="utf-8")
    count, home = LAYOUTS["one"]
    scenario = homenode.Scenario.from_toml(TEXT.format(name="host", count=count, home=home))
    fitted = homenode.fit_profile(
        file, base="oltp", scenario=scenario, know=["cpu_per_tx_us", "cpi"], root=root
    )
    conditions = [one.title for one in fitted.recording.conditions]
    assert conditions == ["app/all, 4 processors, load 4", "app/all, 1 processors, load 1"]
    found = {one.name: one for one in fitted.parameters}
    assert found["instructions"].low < 3.4e5 < found["instructions"].high
    with pytest.raises(HomenodeError, match="not on which machine"):
        homenode.fit_profile(file, base="oltp", root=root)


def test_it_is_a_command(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the file named in what it prints."""
    target = tmp_path / "fit.toml"
    words = ["calibrate", "one", "wide", "--base", "oltp", "-o", str(target), "--out", str(root)]
    assert call([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == str(target)
    assert {one["name"] for one in told["parameters"]} == set(NAMES)
    assert tomllib.loads(target.read_text())["instructions"]["calibrated"]
    assert call(words) == 0
    printed = capsys.readouterr()
    assert "95 % interval" in printed.out
    assert "Sensitivities" in printed.out + printed.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"know": ["cpu"]}, "cpu tells nothing here"),
        ({"free": ["speed"]}, "speed is no free parameter"),
        ({"partition": "web"}, "has no partition web"),
        ({"know": ["efcpi"], "partition": "app", "base": "idel"}, 'no profile is called "idel"'),
        ({"accuracy": 0.0}, "an accuracy of 0 is none"),
        ({"cpi": float("nan")}, "nan is no number of cycles an instruction"),
        ({"rate": -1.0}, "-1 is no rate of work"),
        ({"rate": 100.0}, "leave --rate and --cpi out"),
        ({"name": "My Profile"}, '"My Profile" is no name of a profile'),
    ],
)
def test_wrong_wishes_are_told(root: Path, options: dict[str, object], message: str) -> None:
    """With what there is."""
    with pytest.raises(HomenodeError, match=message):
        homenode.fit_profile("one", root=root, **options)  # type: ignore[arg-type]


def test_recorded_cores_without_a_rate_tell_nothing(tmp_path: Path) -> None:
    """Of a folder that import reads."""
    (tmp_path / "vm.csv").write_text("timestamp,name,cpu\n2020-01-01T00:00:00,a,0.5\n")
    with pytest.raises(HomenodeError, match="not how much work was done"):
        homenode.fit_profile(tmp_path, base="oltp")


def test_recorded_cores_and_the_rate_of_work_give_instructions(tmp_path: Path) -> None:
    """Idle in every other window: the mean of all of them is what the work took, one core for 100
    units a second, which a profile that was fitted shows again.
    """
    rows = [f"{300 * at},a,{2 * (at % 2)}" for at in range(16)]
    (tmp_path / "lab.csv").write_text("\n".join(["timestamp,name,cores", *rows]) + "\n")
    fitted = homenode.fit_profile(tmp_path, base="oltp", rate=100.0, replications=1)
    (row,) = fitted.deviations
    assert row.metric == "physc"
    assert row.recorded == pytest.approx(1.0)
    assert row.shown == pytest.approx(1.0, rel=0.02)
    assert [one.name for one in fitted.parameters if one.determined] == ["instructions"]
    assert "16 windows" in fitted.notes[0]


def test_a_profile_that_cannot_be_written_leaves_nothing(root: Path, tmp_path: Path) -> None:
    """Where a folder has the name."""
    (tmp_path / "mine.toml").mkdir()
    fitted = homenode.fit_profile("one", free=["instructions"], replications=1, root=root)
    with pytest.raises(HomenodeError, match="write it elsewhere"):
        fitted.write(tmp_path / "mine.toml")
    assert [one.name for one in tmp_path.iterdir()] == ["mine.toml"]


def test_known_figures_are_metrics() -> None:
    """Under their own names."""
    assert set(KNOWN) <= set(METRICS)


@pytest.mark.parametrize("free", FREE, ids=lambda one: one.name)
def test_scales_go_there_and_back(free: Free) -> None:
    """Within rounding."""
    for value in (0.01, 0.2, 0.9):
        assert free.from_scale(free.to_scale(value)) == pytest.approx(value)


HOST = """
name = "{name}"
[machine]
model = "intel-xeon-6240-2s"
[machine.hypervisor]
smt = {{ value = false, why = "nosmt" }}
[[partition]]
name = "app"
processors = {{ mode = "shared", virtual = {count}, cpuset = "{cpus}" }}
memory = "16 GiB"
[partition.workload]
kind = "warehouses"
count = {count}
[partition.workload.profile]
base = "oltp"
instructions = 3.4e5
miss_m0 = 0.06
sharing = "25 %"
footprint = "900 KiB"
{other}
[run]
warmup = "200 ms"
duration = "500 ms"
replications = 3
"""
OTHER = """
[[partition]]
name = "other"
processors = { mode = "shared", virtual = 4, cpuset = "0-3" }
memory = "16 GiB"
[partition.workload]
kind = "users"
count = 4
think = "300 us"
profile = { base = "compute", instructions = 1e6 }
"""


def test_all_four_are_found_where_layouts_show_them(tmp_path: Path) -> None:
    """One processor, one socket, two sockets, and beside others that take its processors."""
    layouts = {"h1": (1, "0", ""), "h4": (4, "0-3", ""), "two": (4, "0-1,18-19", "")}
    for name, (count, cpus, other) in {**layouts, "busy": (4, "0-3", OTHER)}.items():
        text = HOST.format(name=name, count=count, cpus=cpus, other=other)
        homenode.Scenario.from_toml(text).run(out=tmp_path)
    fitted = homenode.fit_profile("h1", "h4", "two", "busy", partition="app", root=tmp_path)
    for one in fitted.parameters:
        assert one.determined, one.said
        assert one.low < TRUE[one.name] < one.high, one.name
