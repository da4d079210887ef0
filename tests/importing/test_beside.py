"""What readers take beside cores: switches and queues, as rates on the windows of the cores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from facts_made import BEGIN, beside, one_lpar, series, since_start
from homenode.records.importing.assemble.beside import columns, told_beside
from homenode.records.importing.assemble.windows import Windows, put_together, recorded
from homenode.records.importing.facts import Facts
from homenode.records.importing.formats.nmonbeside import up_seconds
from homenode.records.importing.front import read_paths

SAMPLES = Path(__file__).parents[2] / "crates" / "captures" / "tests" / "recordings"
KEY = ("0123", "lpar")
LPARSTAT = """\
# lparstat 5 3

System configuration: type=Shared mode=Uncapped smt=4 lcpu=8 mem={mem} psize=16 ent=0.50

%user  %sys  %wait  %idle physc %entc  lbusy  vcsw phint
----- ----- ------ ------ ----- ----- ------ ----- -----
 61.2   4.1    0.2   34.5  0.81 162.0   21.3  1000     5
 12.0   3.5    0.0   84.5  0.12  24.1    4.0  3500    15
"""
MPSTAT = """\
# mpstat -d 10 1

System configuration: lcpu=2 ent=0.5 mode=Uncapped

cpu cs ics bound rq push S3pull S3grd S0rd S1rd S2rd S3rd S4rd S5rd ilcs vlcs S3hrd S4hrd S5hrd
0 9000 2100 0 1 0 0 0 97.5 0.5 0.0 2.0 0.0 0.0 4100 8200 100.0 0.0 0.0
1 1000 100 0 1 0 0 0 97.5 0.5 0.0 2.0 0.0 0.0 900 1800 100.0 0.0 0.0
ALL 10000 2200 0 2 0 0 0 97.5 0.5 0.0 2.0 0.0 0.0 5000 10000 100.0 0.0 0.0
"""
VMSTAT = """\
# vmstat 5 2

System configuration: lcpu=8 mem=18432MB ent=0.70

kthr    memory              page              faults              cpu
----- ----------- ------------------------ ------------ -----------------------
 r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa    pc    ec
 1  0 100  100   0   0   0   0    0   0 117    9 2117 23  6 71  0  0.59  45.7
 3  0 100  100   0   0   0   0    0   0 119    9 1883 23  6 71  0  0.59  45.7
"""
SAR = """\
AIX oak 1 7 00C1234567 03/02/20

System configuration: lcpu=16 ent=1.00 mode=Uncapped

09:00:00    %usr    %sys    %wio   %idle   physc   %entc
09:01:00      20      10       0      70    0.40    40.0
09:02:00      30      15       0      55    0.60    60.0

Average       25      12       0      63    0.50    50.0

09:00:00 cswch/s
09:01:00    1500
09:02:00    1600

Average     1550
"""


def of(folder: Path, text: str, name: str = "x.txt") -> dict[str, list[float | None]]:
    """Figures of all rows, by name."""
    (folder / name).write_text(text)
    return figures(read_paths([folder / name]))


def figures(facts: Facts) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for one in facts.beside:
        for name in one.table.columns:
            if name not in ("time", "seconds"):
                found.setdefault(name, []).extend(one.table[name].to_list())
    return found


def test_nmon_of_aix() -> None:
    facts = read_paths([SAMPLES / "aix.nmon"])
    found = figures(facts)
    assert found["context_switches_per_s"][0] == 1608.0
    assert found["runnable_threads"][0] == 1.12
    # Processors 1 and 5 are first threads of their cores of four.
    assert found["thread1_cores"][0] == pytest.approx(0.03 + 0.01 + 0.02 + 0.01)
    assert [one.report for one in facts.beside] == ["PROC", "PCPU"]
    (moved,) = facts.affinity
    assert moved.up_s == 12 * 86_400 + 3 * 3_600 + 60


def test_nmon_of_linux_has_no_rate_in_its_first_interval(tmp_path: Path) -> None:
    text = (SAMPLES / "linux-x86.nmon").read_text()
    head = "PROC,Processes x,Runnable,Blocked,pswitch,syscall,read,write,fork,exec,sem,msg\n"
    rest = ",-1.0,-1.0,-1.0,0.0,-1.0,-1.0,-1.0\n"
    text = text.replace("ZZZZ,T0001", f"{head}PROC,T0001,2,0,0.0{rest}ZZZZ,T0001", 1)
    text = text.replace("ZZZZ,T0002", f"PROC,T0002,1,1,6691.8{rest}ZZZZ,T0002", 1)
    found = of(tmp_path, text, "x.nmon")
    assert found["context_switches_per_s"] == [None, 6691.8]
    assert found["runnable_threads"] == [2.0, 1.0]


def test_njmon(tmp_path: Path) -> None:
    recording = [json.loads(line) for line in (SAMPLES / "aix.njmon.json").read_text().splitlines()]
    for number, snapshot in enumerate(recording):
        snapshot["kernel"] = {"pswitch": 100.0 * number, "run_queue": 1.0, "devintrs": 7.0}
        snapshot["partition_type"] |= {"vol_virt_cswitch": 30.0, "invol_virt_cswitch": 5.0}
    text = "".join(f"{json.dumps(snapshot)}\n" for snapshot in recording)
    found = of(tmp_path, text, "x.json")
    assert found["context_switches_per_s"] == [0.0, 100.0, 200.0, 300.0]
    assert found["vcsw_per_s"] == [35.0] * 4
    assert found["interrupts_per_s"] == [7.0] * 4


def test_lparstat_counts_over_its_interval(tmp_path: Path) -> None:
    found = of(tmp_path, LPARSTAT.format(mem="4096MB"))
    assert found == {
        "lbusy_pct": [21.3, 4.0],
        "vcsw_per_s": [200.0, 700.0],
        "phint_per_s": [1.0, 3.0],
    }


def test_lparstat_of_linux_counts_since_the_start(tmp_path: Path) -> None:
    found = of(tmp_path, LPARSTAT.format(mem="4194304kB"))
    assert (found["vcsw_per_s"], found["phint_per_s"]) == ([None, 500.0], [None, 2.0])


def test_counts_without_an_interval_are_none(tmp_path: Path) -> None:
    text = LPARSTAT.format(mem="4096MB").replace("# lparstat 5 3\n", "")
    assert of(tmp_path, text) == {"lbusy_pct": [21.3, 4.0]}


def test_mpstat_tells_switches_of_all_kinds(tmp_path: Path) -> None:
    found = of(tmp_path, MPSTAT)
    assert found["context_switches_per_s"] == [1000.0]
    assert found["involuntary_switches_per_s"] == [220.0]
    assert (found["ilcs_per_s"], found["vlcs_per_s"]) == ([500.0], [1000.0])
    assert (found["s0rd_pct"], found["s3hrd_pct"]) == ([97.5], [100.0])
    assert found["runnable_threads"] == [2.0]


def test_vmstat_and_sar_tell_rates(tmp_path: Path) -> None:
    found = of(tmp_path, VMSTAT)
    assert found["context_switches_per_s"] == [2117.0, 1883.0]
    assert (found["interrupts_per_s"], found["runnable_threads"]) == ([117, 119], [1, 3])
    (tmp_path / "sar.txt").write_text(SAR)
    facts = read_paths([tmp_path / "sar.txt"])
    assert figures(facts) == {"context_switches_per_s": [1500.0, 1600.0]}
    assert "2 samples of switches of sar -w" in facts.took[0].what
    assert facts.took[0].dropped == 0
    assert len(facts.series[0].table) == 2


def test_how_long_a_system_had_been_up() -> None:
    assert up_seconds(["05:23PM   up 35 days,  17:53,  35 users"]) == 35 * 86_400 + 17 * 3600 + 3180
    assert up_seconds(["10:01AM   up 1 day,  23 mins,  1 user"]) == 86_400 + 1380
    assert up_seconds(["x", " 10:01AM   up 2:05,  1 user"]) == 2 * 3600 + 300
    assert up_seconds(["10:01AM   up 40 mins"]) == 2400
    assert up_seconds([]) is None


def windows(cores: list[float | None], most: int = 100) -> Windows:
    return put_together([recorded([series("lpar", cores)], BEGIN)], BEGIN, most, None)


def test_figures_are_put_on_the_windows_of_the_cores() -> None:
    facts = one_lpar([1.0, 2.0, 3.0, 4.0])
    facts.beside.append(beside("lpar", {"vcsw_per_s": [10.0, None, 30.0, 50.0]}))
    told = told_beside(facts, KEY, windows([1.0, 2.0, 3.0, 4.0]))
    assert told.windows == {"vcsw_per_s": (10.0, None, 30.0, 50.0)}
    # Half of the first two is told: that stands for both.
    told = told_beside(facts, KEY, windows([1.0, 2.0, 3.0, 4.0], most=2))
    assert told.windows == {"vcsw_per_s": (10.0, 40.0)}


def test_the_first_report_that_covers_a_window_counts() -> None:
    facts = one_lpar([1.0, 2.0])
    for report, rates in (("mpstat -d", [10.0, None]), ("vmstat", [11.0, 12.0])):
        facts.beside.append(beside("lpar", {"context_switches_per_s": rates}, report=report))
    told = told_beside(facts, KEY, windows([1.0, 2.0]))
    assert told.windows["context_switches_per_s"] == (10.0, 12.0)
    assert told.reports["context_switches_per_s"] == "mpstat -d of lpar.nmon"


def test_idle_is_what_is_left_of_the_cores() -> None:
    """Percentages of idle time hold the unused entitlement too."""
    facts = read_paths([SAMPLES / "aix.nmon"])
    (own,) = facts.series
    key = (own.system, own.partition)
    begin = own.table["time"][0]
    told = told_beside(facts, key, put_together([recorded([own], begin)], begin, 100, None))
    parts = ("user_cores", "sys_cores", "wait_cores", "idle_cores")
    sums = [sum(told.windows[name][at] or 0.0 for name in parts) for at in range(8)]
    assert sums == pytest.approx(own.table["cores"].to_list())


def test_means_since_the_start_have_columns_of_their_own() -> None:
    facts = one_lpar([1.0, 2.0])
    counts = {"cs": 4000.0, "ics": 1000.0, "ilcs": 300.0, "vlcs": 2900.0}
    facts.affinity.append(since_start("lpar", counts, 100.0))
    told = told_beside(facts, KEY, windows([1.0, 2.0]))
    assert told.windows == {}
    assert told.since_start["vlcs_per_s"] == 29.0
    assert columns(told, 2)["s0rd_pct_since_start"] == (100.0, 100.0)
    facts.affinity[0] = since_start("lpar", counts, None)
    assert "vlcs_per_s" not in told_beside(facts, KEY, windows([1.0, 2.0])).since_start
