"""Threads of a Linux host that do a KVM guest's I/O: in a scenario, a run, libvirt's domains."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode import Run
from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario
from homenode.records import exporting
from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.front import read_paths
from homenode.simulate.runner import run_scenario

GUEST = """\
[machine]
model = "intel-xeon-6240-2s"

[[partition]]
name = "web"
kvm = { %s }
processors = { mode = "shared", virtual = 2, pins = ["0", "2"], quota = "300 ms" }
memory = "8 GiB"

[partition.workload]
kind = "users"
count = 20
think = "20 ms"
bursts = 5
wait = "1 ms"
profile = "oltp"

[run]
warmup = "200 ms"
duration = "1 s"
replications = 1
"""
DOMAIN = """\
<domain type='kvm'>
  <name>db</name>
  <memory unit='GiB'>8</memory>
  <vcpu>2</vcpu>
  <iothreads>2</iothreads>
  <cputune>
    <vcpupin vcpu='0' cpuset='2'/><vcpupin vcpu='1' cpuset='3'/>
    <emulatorpin cpuset='0'/>
    <iothreadpin iothread='1' cpuset='0'/><iothreadpin iothread='2' cpuset='0-1'/>
  </cputune>
  <os><type arch='x86_64'>hvm</type></os>
</domain>
"""


def made(told: str) -> Scenario:
    return Scenario.from_toml(GUEST % told)


@pytest.mark.parametrize(
    ("told", "name", "pins"),
    [
        ('emulator_pins = "4-5"', "web.emulator", [[4, 5]]),
        ('emulator_pins = ["4-5"]', "web.emulator", [[4, 5]]),
        ('emulator_pins = ["4", "5"]', "web.emulator", [[4, 5]]),
        ('emulator_pins = ["4", 5]', "web.emulator", [[4, 5]]),
        ("emulator_pins = [4, 5]", "web.emulator", [[4, 5]]),
        ("io_threads = 2", "web.io", []),
        ('io_threads = 2, io_pins = "4"', "web.io", [[4], [4]]),
        ('io_threads = 2, io_pins = ["4", "6-7"], emulator_pins = "9"', "web.io", [[4], [6, 7]]),
        ('io_threads = 1, emulator_pins = "9"', "web.io", [[9]]),
    ],
)
def test_they_are_processes_beside_the_guest(told: str, name: str, pins: list[list[int]]) -> None:
    guest, aside = made(told).spec()["partitions"]
    assert aside["name"] == name
    told_ns = {"request_ns": 5000, "answer_ns": 5000, "kick_ns": 1000}
    assert guest["io_threads"] == {"partition": 1, **told_ns}
    own, other = guest["processors"]["host"], aside["processors"]["host"]
    assert other["pins"] == pins
    assert other["kvm"] is None is not own["kvm"]
    assert other["cgroup"] == own["cgroup"]


def test_without_a_word_of_them_virtual_processors_do_it_all() -> None:
    assert [one["name"] for one in made("").spec()["partitions"]] == ["web"]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ('io_pins = "4"', "it has no I/O threads"),
        ('io_threads = 3, io_pins = ["4", "5"]', "it has 3 I/O threads"),
        ("io_threads = 65", "64"),
        ('io_request = "1 s"', "1 ms"),
        ("emulator_pins = []", "emulator_pins"),
        ("emulator_pins = [true]", "emulator_pins"),
        ('emulator_pins = ["x", 5]', "written like 0-3,8"),
    ],
)
def test_what_fits_no_thread_is_refused(told: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(said)) as refused:
        made(told)
    assert ":6:" in str(refused.value)


def test_a_name_that_is_taken_is_refused() -> None:
    other = GUEST % "io_threads = 1"
    second = other[other.index("[[partition]]") : other.index("[run]")]
    second = second.replace('"web"', '"web.io"').replace("{ io_threads = 1 }", "{}")
    with pytest.raises(ScenarioError, match="I/O threads of web are called so"):
        Scenario.from_toml(other.replace("[run]", second + "[run]"))


def test_what_they_use_is_theirs_and_a_processor_of_the_guests_is_the_worse_place(
    tmp_path: Path,
) -> None:
    def run(told: str, name: str) -> dict[str, dict[str, float]]:
        scenario = made(told).with_({"name": name})
        metrics = run_scenario(scenario, out=tmp_path).metrics
        return {
            one: {key: value.mean or 0.0 for key, value in metrics[one].items()} for one in metrics
        }

    apart = run('io_threads = 1, io_pins = "4"', "apart")
    beside = run('io_threads = 1, io_pins = "0"', "beside")
    for found in (apart, beside):
        # Ten answers and requests a transaction but for the last wait, 5 us each, and switches.
        each = 1e6 * found["web.io"]["physc"] / found["web"]["etr_per_s"]
        assert 45 < each < 75
    assert beside["web"]["run_delay_ms"] > apart["web"]["run_delay_ms"]


def test_libvirts_pins_come_in_and_go_out(tmp_path: Path) -> None:
    (tmp_path / "db.xml").write_text(DOMAIN, encoding="utf-8")
    found = assemble(read_paths([tmp_path]), AssembleOptions(convert=False))
    told = 'kvm = { io_threads = 2, io_pins = ["0", "0-1"], emulator_pins = "0" }'
    assert told in found.text
    scenario = Scenario.from_toml(found.text).with_(
        {"run.duration": "200 ms", "run.warmup": "0 s", "run.replications": 1}
    )
    run = run_scenario(scenario, out=tmp_path / "runs")
    folder = tmp_path / "domains"
    exporting.export(Run.load(run.path), "libvirt", folder)
    assert [file.name for file in folder.iterdir()] == ["db.xml"]
    text = (folder / "db.xml").read_text()
    assert "<iothreads>2</iothreads>" in text
    for number, pins in enumerate(("0", "0-1"), start=1):
        assert f'<iothreadpin iothread="{number}" cpuset="{pins}" />' in text
