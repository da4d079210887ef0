"""A z/VM whose virtual machines are told beside its processors runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.records.importing.assemble import Assembled, AssembleOptions, assemble
from homenode.records.importing.facts import Told
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


USER = HEAD.format(112) + "Userid   CPUs  %CPU  TCPU  VCPU  T/V Ratio\n"
ROW = "{:8}  {:>3}  {:>6}  54.0  50.0        1.1\n"


def users(*rows: tuple[str, object, object]) -> str:
    """FCX112 of these machines: name, CPUs, %CPU."""
    return USER + "".join(ROW.format(*row) for row in rows)


def used_by(found: Assembled) -> dict[str, float]:
    machines = found.scenario.data["partition"][0].get("virtual_machine", [])
    return {one["name"]: float(one.get("workload", {"use": 0})["use"]) for one in machines}


def said(found: Assembled, *words: str) -> bool:
    """Whether one notice has all these words."""
    told = (one.text for one in (*found.facts.notices, *found.notices))
    return any(all(word in text for word in words) for text in told)


def test_of_two_systems_in_a_listing_the_first_is_taken(tmp_path: Path) -> None:
    other = (PROCESSORS.replace("SMALL", "LARGE") + users(("OTHERA", 4, 80.0))).replace(
        "4E67", "9999"
    )
    found = made(tmp_path, PROCESSORS + USERS + other)
    assert used_by(found) == {"LINUX01": 0.9, "LINUX02": 0.4, "QUIET": 0.0}
    assert found.scenario.data["partition"][0]["guest"]["unparking"] == "small"
    assert said(found, "SER 9999", "SER 4E67", "left out")
    told = [one for one in found.facts.notices if "SER 9999" in one.text]
    assert [one.where.line for one in told if one.where] == [11]
    alone = made(tmp_path, other)
    assert (used_by(alone), said(alone, "another system")) == ({"OTHERA": 0.8}, False)


@pytest.mark.parametrize("serial", [".....", "    "])
def test_a_screen_without_a_serial_number_is_of_the_same_system(
    tmp_path: Path, serial: str
) -> None:
    found = made(tmp_path, PROCESSORS + USERS.replace("4E67", serial))
    assert used_by(found) == {"LINUX01": 0.9, "LINUX02": 0.4, "QUIET": 0.0}
    assert not said(found, "another system")


def test_screens_count_by_the_length_of_their_intervals(tmp_path: Path) -> None:
    hour = users(("LINUX01", 4, 10.0)).replace("00:00:00 - 00:01:00", "00:01:00 - 01:01:00")
    used = used_by(made(tmp_path, PROCESSORS + USERS + "\n" + hour))
    assert used["LINUX01"] == pytest.approx((60 * 0.9 + 3600 * 0.1) / 3660, abs=5e-5)
    assert used["LINUX02"] == pytest.approx(60 * 0.4 / 3660, abs=5e-5)
    untold = hour.replace("00:01:00 - 01:01:00", "INITIAL. - ........")
    assert used_by(made(tmp_path, PROCESSORS + USERS + "\n" + untold))["LINUX01"] == 0.5


@pytest.mark.parametrize(
    ("percents", "more", "less"),
    [((5000.0, 5000.0), True, False), ((100.0, 77.0), False, False), ((10.0, 1.0), False, True)],
)
def test_machines_that_used_more_than_the_processors_are_said(
    tmp_path: Path, percents: tuple[float, float], more: bool, less: bool
) -> None:
    one, other = percents
    found = made(tmp_path, PROCESSORS + users(("A", 64, one), ("B", 64, other)))
    assert said(found, f"used {sum(percents) / 100:.2f} cores, its processors 1.77") == more
    assert said(found, "of the 1.77 cores that its processors did") == less


def test_with_two_threads_a_core_twice_its_time_is_no_more(tmp_path: Path) -> None:
    for percent, more in ((300.0, False), (500.0, True)):
        (tmp_path / "lab.txt").write_text(PROCESSORS + users(("A", 64, percent)), encoding="utf-8")
        facts = read_paths([tmp_path / "lab.txt"])
        partition = facts.partition("4E67", "lab")
        facts.tell(partition, "smt", Told(2, partition.machines[0].name.where))
        found = assemble(facts, AssembleOptions(convert=False))
        assert said(found, "cores, its processors 1.77") == more


@pytest.mark.parametrize("bad", ["99999", "-90.0", "90,5", "inf"])
def test_a_machine_whose_use_cannot_be_is_left_out(tmp_path: Path, bad: str) -> None:
    found = made(tmp_path, PROCESSORS + users(("A", 4, bad), ("B", 1, 40.0)))
    assert used_by(found) == {"B": 0.4}
    assert said(found, "%CPU is no figure up to 6400 in 1 row", "the first of A", "left out")
    assert said(found, "runs z/VM with 1 virtual machine: ")
    alone = made(tmp_path, PROCESSORS + users(("A", 4, bad)))
    assert alone.scenario.data["partition"][0]["workload"]["kind"] == "trace"
    assert said(alone, "no virtual machine is known", "what z/VM's processors did is played")


def test_alone_a_machine_whose_use_cannot_be_is_left_out_too(tmp_path: Path) -> None:
    found = made(tmp_path, users(("A", 4, 99999), ("B", 1, 40.0)))
    assert [one["name"] for one in found.scenario.data["partition"]] == ["B"]
    assert sum(one.dropped for one in found.facts.took) == 1


def test_a_screen_in_which_a_use_cannot_be_is_none_of_its_time(tmp_path: Path) -> None:
    later = users(("LINUX01", 4, "99999"), ("LINUX02", 1, 20.0))
    found = made(tmp_path, PROCESSORS + USERS + "\n" + later)
    assert used_by(found) == {"LINUX01": 0.9, "LINUX02": 0.3, "QUIET": 0.0}


@pytest.mark.parametrize(
    ("there", "bad", "key"),
    [
        ("  200 ", "99999 ", "cpupad"),
        ("  200 ", " -200 ", "cpupad"),
        ("SMALL", "TINY ", "unparking"),
    ],
)
def test_a_setting_that_cannot_be_is_said(tmp_path: Path, there: str, bad: str, key: str) -> None:
    found = made(tmp_path, PROCESSORS.replace(there, bad) + USERS)
    assert key not in found.scenario.data["partition"][0]["guest"]
    assert said(found, f'"{bad.strip()}"', "left out")
    dots = made(tmp_path, PROCESSORS.replace(there, "." * (len(there) - 1) + " ") + USERS)
    assert not said(dots, '"...')
    most = made(tmp_path, PROCESSORS.replace("  200 ", "10000 ") + USERS)
    assert most.scenario.data["partition"][0]["guest"]["cpupad"] == 100.0


def test_counts_of_processors_that_differ_or_cannot_be_are_said(tmp_path: Path) -> None:
    later = USERS.replace("LINUX01     4", "LINUX01     8")
    found = made(tmp_path, PROCESSORS + USERS + "\n" + later)
    assert found.scenario.data["partition"][0]["virtual_machine"][0]["cpus"] == 4
    assert said(found, "LINUX01 has 8 processors here; 4 of ", "lab.txt:8 counts")
    for bad in ("900", "x", "0", "-3"):
        found = made(tmp_path, PROCESSORS + users(("A", bad, 190.0)))
        assert found.scenario.data["partition"][0]["virtual_machine"][0]["cpus"] == 2
        assert said(found, f'CPUs "{bad}" of A is no count from 1 to 64')


def test_a_machine_twice_in_a_screen_counts_once(tmp_path: Path) -> None:
    found = made(tmp_path, PROCESSORS + users(("A", 1, 90.0), ("A", 1, 90.0)))
    assert used_by(found) == {"A": 0.9}
    assert said(found, "A is in line 8 of the same screen already")


@pytest.mark.parametrize(("name", "told"), [("Total", True), ("TOTAL", True), (">System<", False)])
def test_a_row_about_all_machines_is_none(tmp_path: Path, name: str, told: bool) -> None:
    text = users((name, 5, 90.0), ("A", 1, 90.0))
    found = made(tmp_path, PROCESSORS + text)
    assert used_by(found) == {"A": 0.9}
    assert said(found, f'"{name}" is taken for a row about all') == told
    names = [one["name"] for one in made(tmp_path, text).scenario.data["partition"]]
    assert names == ["A"]
