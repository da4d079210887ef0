"""A z/VM whose virtual machines are told beside its processors runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.records.importing.assemble import Assembled, AssembleOptions, assemble
from homenode.records.importing.front import read_paths
from homenode.simulate.scenario import load

HEAD = "FCX{}      CPU 3906  SER 4E67  Interval 00:00:00 - 00:01:00    Perf. Monitor\n\n"
PROCESSORS = (
    HEAD.format(299)
    + """\
Interval End Time  Type  Online  Unparked  Unparking  CPUPAD %  Util %  Util/Unparked %   T/V
00:01:00            IFL       6       3.5      SMALL       200   177.4             50.7  2.15
"""
)
USERS = (
    HEAD.format(112)
    + """\
Userid   CPUs  %CPU  TCPU  VCPU  T/V Ratio
LINUX01     4  90.0  54.0  50.0        1.1
LINUX02     1  40.0  24.0  20.0        1.2
QUIET       1   0.0   0.0   0.0        ...
"""
)
PARTITIONS = (
    HEAD.format(126)
    + """\
Partition  Nr.  #Proc  Type  Weight  Cap  TypeCap  GrpCapNm  %Load  %Busy  %Ovhd   %Susp
ZVM1         1      6   IFL     300   NO     ....      ....  46.30  29.00  0.000   0.000
LINUX1       2      4   IFL     100  YES     ....      ....  11.13  50.10  0.171   0.000
"""
)


def made(tmp_path: Path, text: str, **options: str) -> Assembled:
    (tmp_path / "lab.txt").write_text(text, encoding="utf-8")
    asked = AssembleOptions(convert=False, **options)  # type: ignore[arg-type]
    return assemble(read_paths([tmp_path / "lab.txt"]), asked)


def test_virtual_machines_run_in_the_partition_whose_processors_are_told(tmp_path: Path) -> None:
    found = made(tmp_path, PROCESSORS + USERS)
    (partition,) = found.scenario.data["partition"]
    assert partition["guest"] == {"os": "zvm", "unparking": "small", "cpupad": 2.0}
    assert partition["processors"]["virtual"] == 6
    machines = partition["virtual_machine"]
    assert [(one["name"], one["cpus"]) for one in machines] == [
        ("LINUX01", 4),
        ("LINUX02", 1),
        ("QUIET", 1),
    ]
    works = [one.get("workload", one.get("role")) for one in machines]
    assert works == [
        {"kind": "cores", "use": "0.9000"},
        {"kind": "cores", "use": "0.4000"},
        "idle",
    ]
    assert any("used 1.30 of the 1.77 cores" in one.text for one in found.notices)
    assert any("runs z/VM with 3 virtual machines" in one.text for one in found.notices)
    assert not any("stands for it" in one.text and "runs" in one.text for one in found.notices)


def test_what_runs_uses_what_was_recorded(tmp_path: Path) -> None:
    found = made(tmp_path, PROCESSORS + USERS)
    (tmp_path / "scenario.toml").write_text(found.text, encoding="utf-8")
    scenario = load(tmp_path / "scenario.toml").with_({"run.duration": "20 s"})
    run = scenario.run(out=tmp_path / "runs")
    assert run.metric(None, "physc").mean == pytest.approx(1.3, rel=0.04)


def test_beside_others_that_play_what_was_recorded_of_them(tmp_path: Path) -> None:
    found = made(tmp_path, PARTITIONS + PROCESSORS + USERS)
    zvm, linux = found.scenario.data["partition"]
    assert (zvm["name"], zvm["guest"]["os"], len(zvm["virtual_machine"])) == ("ZVM1", "zvm", 3)
    assert zvm["processors"]["weight"] == 300
    assert (linux["workload"]["kind"], linux["processors"]["capped"]) == ("trace", True)


def test_a_setting_counts_before_what_an_interval_shows(tmp_path: Path) -> None:
    settings = HEAD.format(154) + "Initial Scheduler Settings\nUnparking             MEDIUM\n"
    found = made(tmp_path, settings + PROCESSORS + USERS)
    assert found.scenario.data["partition"][0]["guest"]["unparking"] == "medium"
    assert any("unparking of lab is small here; medium" in one.text for one in found.facts.notices)


def test_of_several_files_the_first_counts(tmp_path: Path) -> None:
    text = PARTITIONS + PROCESSORS + USERS
    (tmp_path / "early.txt").write_text(text, encoding="utf-8")
    later = text.replace("00:01:00", "00:02:00").replace("LINUX01", "OTHER01")
    (tmp_path / "later.txt").write_text(later, encoding="utf-8")
    facts = read_paths([tmp_path / "early.txt", tmp_path / "later.txt"])
    names = [one.name.value for one in facts.partition("4E67", "ZVM1").machines]
    assert names == ["LINUX01", "LINUX02", "QUIET"]
    assert any("early.txt:13 already; those count" in one.text for one in facts.notices)


def test_several_screens_are_a_mean_over_all(tmp_path: Path) -> None:
    later = USERS.replace("QUIET       1   0.0", "QUIET       1  20.0").replace(
        "LINUX02     1  40.0  24.0  20.0        1.2\n", ""
    )
    found = made(tmp_path, PROCESSORS + USERS + "\n" + later)
    machines = found.scenario.data["partition"][0]["virtual_machine"]
    used = {one["name"]: one["workload"]["use"] for one in machines}
    assert used == {"LINUX01": "0.9000", "LINUX02": "0.2000", "QUIET": "0.1000"}


def test_on_another_kind_of_machine_it_is_a_partition_as_before(tmp_path: Path) -> None:
    found = made(tmp_path, PROCESSORS + USERS, machine="ibm-power-795")
    (partition,) = found.scenario.data["partition"]
    assert "virtual_machine" not in partition
    assert partition["workload"]["kind"] == "trace"
    assert any("virtual machines" in one.text and "left out" in one.text for one in found.notices)


def test_alone_they_are_partitions_as_before(tmp_path: Path) -> None:
    names = [one["name"] for one in made(tmp_path, USERS).scenario.data["partition"]]
    assert names == ["LINUX01", "LINUX02", "QUIET"]
