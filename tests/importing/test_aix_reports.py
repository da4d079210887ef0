"""Reports of lparstat, mpstat, vmstat, sar and lssrad as facts and recorded use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts, PartitionFacts
from homenode.records.importing.front import read_paths

SHARED = """\
# lparstat 5 3

System configuration: type=Shared mode=Uncapped smt=4 lcpu=8 mem=4096MB psize=16 ent=0.50

%user  %sys  %wait  %idle physc %entc  lbusy   app  vcsw phint  %nsp  %utcyc
----- ----- ------ ------ ----- ----- ------   --- ----- ----- -----  ------
 61,2   4,1    0,2   34,5  0,81 162,0   21,3 12,40  1288     0   101  16,20
 12.0   3.5    0.0   84.5  0.12  24.1    4.0 13.02 1014627468     3   101   2.41
"""
LISTING = """\
Node Name                                  : web7
Partition  Name                            :  web7lpar
Partition Number                           : 12
Type                                       : Shared-SMT-4
Mode                                       : Uncapped
Entitled Capacity                          : 0,80
Shared Pool ID                             : 2
Online Virtual CPUs                        : 3
Maximum Virtual CPUs                       : 6
Online Memory                              : 12288 MB
Minimum Memory                             : 4096 MB
Variable Capacity Weight                   : 64
Minimum Capacity                           : 0.10
Maximum Physical CPUs in system            : 64
Active Physical CPUs in system             : 48
Shared Physical CPUs in system             : 40
Maximum Capacity of Pool                   : 400
Unallocated Weight                         : -
"""
SAR = """\
AIX web7 1 7 00F6A5D24C00    11/10/20

System configuration: lcpu=2 ent=1.00 mode=Uncapped

23:59:00 cpu    %usr    %sys    %wio   %idle   physc   %entc
00:00:00  0       81       9       0      10    0.62    62.0
          -       52       7       0      41    0.73    73.0
00:01:00  0       71       9       0      20    0.52    52.0
          -       38       6       0      56    0.62    62.0
Average   0       76       9       0      15    0.57    57.0
          -       45       6       0      49    0.68    67.5
"""


def imported(folder: Path, name: str, text: str | bytes) -> Facts:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_paths([path])


def only(facts: Facts) -> tuple[PartitionFacts, Any]:
    (partition,), (series,) = facts.partitions.values(), facts.series
    return partition, series


def values(of: PartitionFacts) -> dict[str, Any]:
    names = ("mode", "capped", "donating", "entitlement", "virtual", "logical", "smt", "weight",
             "pool", "pool_maximum", "memory_bytes", "os", "number")  # fmt: skip
    told = {name: getattr(of, name) for name in names}
    return {name: fact.value for name, fact in told.items() if fact is not None}


def notices(facts: Facts) -> str:
    return "\n".join(map(str, facts.notices))


def test_shared_intervals_become_physc_with_states(tmp_path: Path) -> None:
    facts = imported(tmp_path, "db2.txt", SHARED)
    partition, series = only(facts)
    assert (partition.name, series.partition, series.quantity) == ("db2", "db2", "physc")
    assert values(partition) == {
        "mode": "shared", "capped": False, "entitlement": 0.5, "logical": 8, "smt": 4,
        "memory_bytes": 4096 << 20, "os": "aix",
    }  # fmt: skip
    assert partition.entitlement is not None
    assert partition.entitlement.where.line == 3
    table = series.table
    assert table["cores"].to_list() == [0.81, 0.12]
    assert table["line"].to_list() == [7, 8]
    # The command above the report tells how long an interval is.
    assert table["seconds"].to_list() == [5.0, 5.0]
    # Percentages are of physc where that is more than the entitlement of 0.5 cores.
    assert table["user"].to_list() == pytest.approx([0.612 * 0.81, 0.12 * 0.5])
    assert table["idle"].to_list() == pytest.approx([0.345 * 0.81, 0.845 * 0.5])
    assert facts.systems[""].pool_cores is not None
    assert facts.took[0].what == "2 samples of lparstat of db2, 10 s in all"
    assert "no time is told" in notices(facts)


def test_without_a_command_the_interval_is_said_to_be_assumed(tmp_path: Path) -> None:
    facts = imported(tmp_path, "db2.txt", SHARED.split("\n", 1)[1])
    assert facts.series[0].table["seconds"].to_list() == [1.0, 1.0]
    assert "neither time nor interval is told" in notices(facts)


def test_dedicated_cores_are_shares_of_its_cores(tmp_path: Path) -> None:
    text = (
        "System configuration: type=Dedicated mode=Capped smt=4 lcpu=16 mem=8GB\n"
        "%user %sys %wait %idle\n----- ---- ----- -----\n 20.0 5.0 0.5 74.5\n 10.0 0.0 0.0 90.0\n"
    )
    facts = imported(tmp_path, "big.txt", text)
    partition, series = only(facts)
    assert series.quantity == "used"
    assert series.table["cores"].to_list() == [1.0, 0.4]
    assert series.note == "busy shares of 4 cores of 4 threads"
    assert values(partition)["donating"] is False


def test_a_listing_tells_partition_limits_and_server(tmp_path: Path) -> None:
    facts = imported(tmp_path, "x.txt", LISTING)
    (partition,) = facts.partitions.values()
    assert partition.name == "web7lpar"
    assert values(partition) == {
        "number": 12, "mode": "shared", "capped": False, "entitlement": 0.8, "virtual": 3,
        "smt": 4, "weight": 64, "pool": "2", "pool_maximum": 4.0, "memory_bytes": 12288 << 20,
        "os": "aix",
    }  # fmt: skip
    assert {name: told.value for name, told in partition.minimum.items()} == {
        "entitlement": 0.1, "memory_bytes": 4096 << 20,
    }  # fmt: skip
    assert partition.maximum["virtual"].value == 6
    system = facts.systems[""]
    assert system.cores is not None
    assert system.cores.value == 48
    assert system.installed_cores is not None
    assert system.installed_cores.value == 64
    assert system.pool_cores is not None
    assert system.pool_cores.value == 40


def test_a_session_is_one_partition(tmp_path: Path) -> None:
    srads = "REF1   SRAD        MEM      CPU\n0\n    0   38260.19      0-7\n    1    3219.50\n"
    facts = imported(tmp_path, "session.log", "login: x\n" + LISTING + srads + SHARED)
    partition, series = only(facts)
    assert (partition.name, series.partition) == ("web7lpar", "web7lpar")
    assert {srad: told.value for srad, told in partition.processors_by_node.items()} == {0: 8, 1: 0}
    assert partition.memory_by_node[1].value == round(3219.5 * (1 << 20))
    # What lparstat -i says first counts; the rest is told.
    assert values(partition)["entitlement"] == 0.8
    assert "entitlement of web7lpar is 0.5 here; 0.8 of" in notices(facts)
    assert facts.took[0].dropped == 1
    assert ':1: "login: x" belongs to no report' in notices(facts)


def test_sar_has_a_day_a_name_and_a_beginning(tmp_path: Path) -> None:
    facts = imported(tmp_path, "sar.txt", SAR)
    partition, series = only(facts)
    assert partition.name == "web7"
    assert [time.isoformat() for time in series.table["time"]] == [
        "2020-11-11T00:00:00",
        "2020-11-11T00:01:00",
    ]
    assert series.table["seconds"].to_list() == [60.0, 60.0]
    assert series.table["cores"].to_list() == [0.73, 0.62]
    assert facts.took[0].dropped == 0


def test_of_several_reports_of_the_same_use_one_counts(tmp_path: Path) -> None:
    facts = imported(tmp_path, "both.txt", SAR + SHARED + "  1.0 1.0 0.0 98.0 0.01 2 1 1 1 1 1 1\n")
    (series,) = facts.series
    assert len(series.table) == 3
    assert "use of web7 is taken of lparstat; that of sar is left" in notices(facts)


def test_recordings_that_overlap_lose_the_rows_that_come_again(tmp_path: Path) -> None:
    facts = imported(tmp_path, "twice.txt", SAR + SAR)
    assert sum(len(series.table) for series in facts.series) == 2
    assert facts.took[0].dropped == 2
    assert "not later than the one before" in notices(facts)


def test_gaps_of_vmstat_are_no_use(tmp_path: Path) -> None:
    row = " 1 0 5 6 0 0 0 0 0 0 7 8 9 10 5 85 0 0.20 28.6 {}\n"
    text = (
        "System configuration: lcpu=8 mem=18432MB ent=0.70\n"
        " r b avm fre re pi po fr sr cy in sy cs us sy id wa pc ec hr mi se\n"
        + "".join(row.format(time) for time in ("10:00:00", "10:00:05", "10:00:10", "11:00:00"))
    )  # fmt: skip
    facts = imported(tmp_path, "v.txt", text)
    assert facts.series[0].table["seconds"].to_list() == [5.0] * 4
    assert "the clock skips 1 times" in notices(facts)
    assert "no date is told" in notices(facts)


def test_vmstat_of_linux_needs_to_know_the_processors(tmp_path: Path) -> None:
    text = (
        "procs ---memory--- -swap- --io-- -system- ----cpu----\n"
        " r b swpd free buff cache si so bi bo in cs us sy id wa st\n"
        " 1 0 0 1 2 3 0 0 5 6 7 8 9 1 90 0 0\n 1 0 0 1 2 3 0 0 5 6 7 8 19 1 80 0 0\n"
    )
    facts = imported(tmp_path, "v.txt", text)
    assert facts.series == []
    assert "does not say how many processors there are" in notices(facts)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r\r\n"])
def test_encodings_and_ends_of_lines_do_not_matter(
    tmp_path: Path, encoding: str, ends: str
) -> None:
    text = ("größe\n" + SHARED).replace("\n", ends)
    facts = imported(tmp_path, "db2.txt", text.encode(encoding))
    assert facts.series[0].table["cores"].to_list() == [0.81, 0.12]
    assert ("read as Latin-1" in notices(facts)) == (encoding == "latin-1")


def test_a_text_of_nothing_is_left_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("System configuration:\nnothing else\n")
    good = tmp_path / "db2.txt"
    good.write_text(SHARED)
    facts = read_paths([path, good])
    assert [left.file for left in facts.left] == [str(path)]
    assert len(facts.series) == 1


@pytest.mark.parametrize("size", ["-1", "1e999", "inf", "nan", "x", "99999999999999999999"])
def test_what_is_no_size_is_left_out_and_named(tmp_path: Path, size: str) -> None:
    text = SHARED.replace("ent=0.50", f"ent={size}").replace("lcpu=8", f"lcpu={size}")
    listing = LISTING.replace("12288 MB", f"{size} MB").replace(": 64\n", f": {size}\n")
    facts = imported(tmp_path, "db2.txt", listing + text)
    (partition,) = facts.partitions.values()
    told = values(partition)
    assert told["entitlement"] == 0.8
    assert not {"weight", "memory_bytes", "logical"} & told.keys() or told["memory_bytes"] == 2**32
    assert f'Variable Capacity Weight is left out: "{size}" is no size' in notices(facts)
    assert f'ent is left out: "{size}" is no size' in notices(facts)


def test_more_cores_than_a_server_has_are_left_out(tmp_path: Path) -> None:
    facts = imported(tmp_path, "db2.txt", SHARED.replace("0,81", "810000,00"))
    assert facts.series[0].table["cores"].to_list() == [0.12]
    assert facts.took[0].dropped == 1
    assert "no number of cores" in notices(facts)


def test_mpstat_is_of_aix_though_it_prints_no_memory(tmp_path: Path) -> None:
    text = (
        "System configuration: lcpu=4 ent=0.5 mode=Uncapped\n\n"
        "cpu  min  maj  mpc  int   cs  ics   rq  mig lpa sysc us sy wa id   pc  %ec  lcs\n"
        "ALL    0    0    0    1    1    0    0    0 100    9 30 10  0 60 0.20 40.0   12\n"
    )
    path = tmp_path / "mpstat.txt"
    path.write_text(text)
    (partition,) = read_paths([path]).partitions.values()
    assert partition.os is not None
    assert partition.os.value == "aix"


def test_sar_of_linux_tells_how_many_processors_there_are(tmp_path: Path) -> None:
    text = (
        "Linux 5.14.0 (app7) \t03/01/2024 \t_x86_64_\t(8 CPU)\n\n"
        "10:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
        "10:05:01        all     25.00      0.00      5.00      1.00      0.00     69.00\n"
    )
    partition, series = only(imported(tmp_path, "sar.txt", text))
    assert partition.logical is not None
    assert partition.logical.value == 8
    assert series.table["cores"].to_list() == pytest.approx([2.4])


LINUX = """\

System Configuration
type={type} mode={mode} smt=8 lcpu=4 mem=8250048 kB cpus=16 ent=4.00

%user  %sys %wait    %idle {head}
-----  ----- -----    ----- {rule}
20.00   5.00  0.00    75.00 {row}
10.00   2.50  0.00    87.50 {row}
"""


def test_linux_counts_virtual_processors_where_aix_counts_logical_ones(tmp_path: Path) -> None:
    shared = {"type": "Shared", "mode": "Uncapped", "head": "   physc %entc", "rule": "----- -----",
                  "row": "    0.80 20.00"}  # fmt: skip
    facts = imported(tmp_path, "db.txt", LINUX.format(**shared))
    partition, series = only(facts)
    assert (partition.virtual.value, partition.smt.value) == (4, 8)
    assert partition.logical is None
    assert partition.entitlement.value == 4.0
    assert partition.os.value == "linux"
    made = assemble(facts, AssembleOptions(convert=False))
    assert "entitlement = 4.0, virtual = 4" in made.text
    assert series.table["cores"].to_list() == [0.8, 0.8]
    # Dedicated cores are told in shares only, of as many cores.
    own = {"type": "Dedicated", "mode": "Capped", "head": "", "rule": "", "row": ""}
    partition, series = only(imported(tmp_path, "own.txt", LINUX.format(**own)))
    assert series.table["cores"].to_list() == pytest.approx([1.0, 0.5])
    # Asked for the legacy form, Linux counts as AIX does, and is no AIX for that.
    legacy = LINUX.format(**shared).replace("lcpu=4 mem=8250048 kB", "lcpu=32 mem=8056 MB psize=16")
    partition, _ = only(imported(tmp_path, "legacy.txt", legacy))
    assert (partition.logical.value, partition.os.value) == (32, "linux")
