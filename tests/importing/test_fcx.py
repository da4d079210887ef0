"""Reports of the Performance Toolkit: what `homenode fcx` prints is read back, and an excerpt as a
performance report quotes it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import frames
import z_frames as z
from homenode import _engine
from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts
from homenode.records.importing.front import read_paths
from homenode.records.importing.tables import write_tables
from homenode.simulate.runner import run_scenario
from homenode.tools import fcx
from homenode.tools.guestview import GuestView, view_of

SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "fcx"
OPENING = "FCX126      CPU 3906  SER 4E67  Interval 23:59:58 - 00:00:08    Perf. Monitor\n\n"


def read(tmp_path: Path, text: str, name: str = "lab.txt") -> Facts:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_paths([tmp_path / name])


def told(of: PartitionFacts | SystemFacts) -> dict[str, Any]:
    """Values of facts, by attribute."""
    return {name: fact.value for name, fact in vars(of).items() if hasattr(fact, "where")}


def notices(facts: Facts) -> list[str]:
    return [f"{one.where.line if one.where else None}: {one.text}" for one in facts.notices]


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> GuestView:
    monkeypatch.chdir(tmp_path)
    z.install(monkeypatch)
    spec = z.frame(z.partition(), frames.partition("aix", 1), name="tile")
    return view_of(run_scenario(frames.Frozen(spec)))


@pytest.mark.parametrize("report", fcx.REPORTS, ids=lambda one: one.name)
@pytest.mark.parametrize("every", [False, True])
def test_every_report_that_is_printed_is_read_back(
    report: fcx.Report, every: bool, view: GuestView
) -> None:
    text = report.render(view, "zvm", every)
    found = json.loads(_engine.read_fcx(text))
    assert (found["dropped"], found["remarks"], found["found"]["outside"]) == (0, [], 0)
    (back,) = found["found"]["reports"]
    rows = report.rows(view, "zvm", every)
    assert (back["number"], len(back["rows"])) == (report.number, len(rows))
    if report.is_original:
        return
    for row, printed in zip(rows, back["rows"], strict=True):
        assert back["columns"] == list(row)
        for value, cell in zip(row.values(), printed["cells"], strict=True):
            if isinstance(value, float):
                assert float(cell) == pytest.approx(value, abs=0.5)
            else:
                assert cell == ("" if value is None else str(value))


def test_reports_of_one_time_make_partitions_with_their_use(tmp_path: Path) -> None:
    text = "".join((SEEDS / name).read_text() for name in ("reports.txt", "logs.txt", "ustat.txt"))
    facts = read(tmp_path, text)
    assert told(facts.system("lab")) == {
        "model": "3906",
        "architecture": "s390x",
        "hypervisor": "pr/sm",
        "cores": 18,
    }
    assert told(facts.partition("lab", "ZVM1")) == {
        "os": "z/vm",
        "virtual": 10,
        "logical": 10,
        "core_type": "ifl",
        "mode": "dedicated",
        "capped": False,
        "unparking": "small",
        "cpupad": 1.0,
    }
    assert told(facts.partition("lab", "LINUX2")) == {
        "virtual": 4,
        "weight": 100,
        "mode": "shared",
        "capped": True,
        "core_type": "ifl",
    }
    used = {one.partition: one for one in facts.series}
    assert sorted(used) == ["LINUX1", "LINUX2", "ZVM1"]
    assert used["ZVM1"].table["cores"].to_list() == pytest.approx([7.960, 7.937, 8.043, 8.001])
    assert used["ZVM1"].table["line"].to_list() == [14, 15, 16, 17]
    assert used["LINUX1"].table["cores"].to_list() == pytest.approx([4 * 0.5126])
    assert used["LINUX1"].table["seconds"].to_list() == [8.0]
    said = notices(facts)
    for number in ("FCX102 SYSTEM", "FCX108 DEVICE", "FCX176 CTLUNIT", "FCX326 LOCKACT"):
        assert any(f"{number} is only shown: no scenario" in one for one in said)
    assert any("14: these are taken for the processors of ZVM1" in one for one in said)
    assert any("virtual machines within a partition are left out" in one for one in said)


def test_logs_alone_are_a_partition_named_after_the_file(tmp_path: Path) -> None:
    facts = read(tmp_path, (SEEDS / "logs.txt").read_text(), "zvm1.txt")
    (series,) = facts.series
    assert (series.partition, series.quantity) == ("zvm1", "used")
    assert series.table["cores"].to_list()[0] == pytest.approx(7.96)
    known = told(facts.partition("zvm1", "zvm1"))
    assert (known["logical"], known["mode"], known["os"]) == (10, "dedicated", "z/vm")


def test_virtual_machines_alone_are_taken(tmp_path: Path) -> None:
    facts = read(tmp_path, (SEEDS / "ustat.txt").read_text(), "zvm1.txt")
    assert told(facts.system("zvm1"))["hypervisor"] == "z/vm"
    first = facts.series[0]
    assert (first.partition, first.quantity, first.table["seconds"][0]) == ("CLIENT1", "physc", 8)
    assert first.table["cores"].to_list() == pytest.approx([2 * 0.8011])


def test_partitions_of_one_size_are_not_told_apart(tmp_path: Path) -> None:
    table = "Partition  Nr.  #Proc  Weight  %Busy\nA            1     10     100   50.0\n"
    text = OPENING + table + table.splitlines()[1].replace("A", "B") + "\n"
    facts = read(tmp_path, text + (SEEDS / "logs.txt").read_text())
    assert [one.partition for one in facts.series] == ["A", "B"]
    assert {one.system for one in facts.series} == {"4E67"}
    # The time passes midnight.
    assert facts.series[0].table["seconds"].to_list() == [10.0]
    assert any("2 partitions have 10 processors; whose these are" in one for one in notices(facts))


def test_an_excerpt_in_prose_is_shown_and_kept_as_a_table(tmp_path: Path) -> None:
    facts = read(tmp_path, (SEEDS / "excerpt.txt").read_text())
    (took,) = facts.took
    assert (took.what, took.dropped) == ("2 rows of 1 report", 0)
    assert not facts.partitions
    (said,) = notices(facts)
    assert said.startswith("3: FCX108 DEVICE is only shown: no scenario that is imported holds")
    (file,) = write_tables([tmp_path / "lab.txt"], tmp_path / "kept")
    table = pl.read_parquet(file)
    assert table["Run"].to_list() == ["B1", "B2"]
    assert table["Resp"].to_list() == [1.6, 6.7]
    assert table["Links"].to_list() == [None, None]


def test_an_excerpt_says_nothing_of_machines_that_others_tell_of(tmp_path: Path) -> None:
    """In whichever order they are read."""
    lparstat = min((SEEDS.parent / "lparstat_strict").iterdir()).read_text()
    excerpt = (SEEDS / "excerpt.txt").read_text()
    for number, names in enumerate((("a.txt", "z.txt"), ("z.txt", "a.txt"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, text in zip(names, (lparstat, excerpt), strict=True):
            (folder / name).write_text(text, encoding="utf-8")
        facts = read_paths([folder / "a.txt", folder / "z.txt"])
        assert facts.partitions
        assert not any(told(one).get("architecture") == "s390x" for one in facts.systems.values())
        assert not facts.systems.keys() & {name.removesuffix(".txt") for name in names[1:]}


def test_damage_is_counted_and_named(tmp_path: Path) -> None:
    text = (SEEDS / "reports.txt").read_text()
    facts = read(tmp_path, text.replace("LINUX1       2 ", "LINUX1 ").replace("00:00:06 ", "x "))
    (took,) = facts.took
    assert took.dropped == 2
    assert "7: 11 values under 12 headings" in notices(facts)
    assert "LINUX1" not in {one.partition for one in facts.series}


def listing(number: str, name: str, table: str, page: int = 1) -> str:
    """A page as the Toolkit lists it: heading, ruler, table."""
    return (
        f"1{number}  Run 2020/02/03 14:00:28         {name}\n"
        f"                                         A title                       Page  {page}\n"
        "From 2020/02/03 23:55:00\n"
        "To   2020/02/04 00:10:00                         CPU 3906-715   SN 4E67\n"
        f"For    900 Secs 00:15:00                 For a test\n{'_' * 90}\n\n{table}\n"
    )


SUMMARY = """\
            <------- CPU -------->  <---I/O---->
                  <-Ratio->         SSCH   DASD
Interval     Pct       Cap-   On-  +RSCH   Resp
End Time    Busy   T/V ture  line     /s   msec
>>Mean>>    50.0  1.10 .950   4.0    500    1.2
"""
SHARED = """\
Partition Nr.  Upid #Proc Weight Wait-C Cap %Load CPU %Busy %Ovhd %Susp Type
ZVMA        1    15     2    100     NO  NO  10.0   0  60.0    .5   1.0 IFL
                              100                    1  40.0    .5   1.0 IFL
LINB        2    16     1     50     NO YES   5.0   0  80.0    .5   1.0 IFL
"""
USERS = """\
         <----- CPU Load -----> <------ Virtual IO/s ------>
              <-Seconds->   T/V
Userid    %CPU  TCPU  VCPU Ratio Total DASD Avoid Diag98
>System<  50.0  9.00  8.00   1.1   1.0   .5    .0     .0
LINUX1    80.5  72.0  70.0   1.0   5.0  4.0    .0     .0
LINUX2    20.0  18.0  17.0   1.1    .0   .0    .0     .0
"""


def test_what_the_toolkit_lists_itself_over_midnight_on_two_pages(tmp_path: Path) -> None:
    pages = [("00:00:00    48.0  1.11 .951   4.0    480     .1\n", 1)]
    pages += [("00:05:00    52.0  1.09 .950   4.0    490    1.2\n", 2)]
    text = "".join(listing("FCX225", "SYSSUMLG", SUMMARY + row, page) for row, page in pages)
    facts = read(tmp_path, text, "zvma.txt")
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([1.92, 2.08])
    assert told(facts.system("4E67"))["model"] == "3906"
    assert facts.took[0].what == "2 rows of 1 report"


def test_whose_machine_is_not_told_ran_on_a_mainframe_all_the_same(tmp_path: Path) -> None:
    row = "00:05:00    52.0  1.09 .950   4.0    490    1.2\n"
    text = listing("FCX225", "CPU Load by Time", SUMMARY + row).replace(
        "CPU 3906-715   SN 4E67", ""
    )
    facts = read(tmp_path, text, "zvma.txt")
    known = told(facts.system("zvma"))
    assert (known.get("model"), known["architecture"]) == (None, "s390x")
    assert 'model = "ibm-z15"  # assumed' in assemble(facts, AssembleOptions(convert=False)).text


def test_partitions_whose_processors_have_rows_of_their_own(tmp_path: Path) -> None:
    facts = read(tmp_path, listing("FCX126", "LPAR", SHARED))
    used = {one.partition: one.table["cores"].to_list() for one in facts.series}
    assert used == {"ZVMA": pytest.approx([1.0]), "LINB": pytest.approx([0.8])}
    known = told(facts.partition("4E67", "ZVMA"))
    assert (known["virtual"], known["weight"], known["core_type"]) == (2, 100, "ifl")
    assert facts.series[0].table["seconds"].to_list() == [900.0]
    assert facts.series[0].table["time"][0].isoformat() == "2020-02-04T00:10:00"


def test_virtual_machines_by_their_processor_time(tmp_path: Path) -> None:
    facts = read(tmp_path, listing("FCX112", "USER", USERS))
    used = {one.partition: one.table["cores"].to_list() for one in facts.series}
    assert used == {"LINUX1": pytest.approx([0.805]), "LINUX2": pytest.approx([0.2])}
    ours = "Userid  CPUs    %CPU    TCPU  Tx/s\nA          4  266.75  26.675  ....\n"
    facts = read(tmp_path, listing("FCX112", "USER", ours))
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([2.6675])
    assert told(facts.partition("4E67", "A"))["virtual"] == 4


@pytest.mark.parametrize(
    ("number", "table", "said"),
    [
        ("FCX114", "Userid   %ACT %RUN %CPU\nLINUX1     50   10   20", "give FCX112 USER"),
        ("FCX304", "Interval  C\nEnd Time  P %Susp\n00:00:00  0    .5", 'column "Total"'),
        ("FCX299", "Interval  Pct\nEnd Time Park\n00:00:00  0.5", 'no column "Util %"'),
        ("FCX241", "Interval  Some\nEnd Time  Rate\n00:00:00   1.5", "--tables keeps it"),
    ],
)
def test_what_cannot_be_taken_is_said_and_kept(
    number: str, table: str, said: str, tmp_path: Path
) -> None:
    facts = read(tmp_path, listing(number, "NAME", table))
    assert not facts.series
    assert any(said in one for one in notices(facts))
    (file,) = write_tables([tmp_path / "lab.txt"], tmp_path / "kept")
    assert pl.read_parquet(file).height == 1


# The heading as IBM's documentation of z/VM 7.3 shows it; the figures are of our own.
GROUPS = ("<----- Combined -------->", "<------ Exclusive ------>", "<-------- Shared -------->")
LOCKLOG = f"""\
  FCX265      CPU 2817  SER 36D85  Interval 00:00:30 - 07:33:30    Perf. Monitor

{"":23}<--------------------- Spin Lock Collision Activity {"-" * 27}>
{"":23}{"  ".join(GROUPS)}
  Interval             Colls AvgSpin  Spin  CADs  Colls AvgSpin  Spin  CADs{"":3}{{columns}}
  End Time LockName     /sec    usec %Busy  /sec   /sec    usec %Busy  /sec{"":4}{{units}}
  >>Mean>> RSACALLK       .1    .249  .000    .1     .1    .249  .000    .0{"":6}{{nothing}}
  00:01:30 RSACALLK      2.3    .249  .107    .1    1.3    .250  .000    .0{"":6}{{nothing}}
  00:02:30 >>Total>  99999.9   1.250  10.5   2.1   12.3    .249  1.00    .0{"":6}{{nothing}}
""".format(
    columns="Colls AvgSpin  Spin  CADs",
    units="/sec    usec %Busy  /sec",
    nothing=".0    .000  .000    .0",
)


def test_the_log_of_locks_is_read_as_it_is_documented(view: GuestView, tmp_path: Path) -> None:
    ours = fcx.report("LOCKLOG").render(view, "zvm", False).splitlines()
    assert ours[1:6] == LOCKLOG.splitlines()[1:6]
    assert ours[6].startswith("  >>Mean>> scheduler    ....    ....  ")
    (tmp_path / "lab.txt").write_text(LOCKLOG, encoding="utf-8")
    (file,) = write_tables([tmp_path / "lab.txt"], tmp_path / "kept")
    table = pl.read_parquet(file)
    assert table["LockName"].to_list() == ["RSACALLK", ">>Total>"]
    assert table["Combined Colls /sec"].to_list() == [2.3, 99999.9]
    assert table["Combined AvgSpin usec"].to_list() == [0.249, 1.25]
    assert table["Exclusive Spin %Busy"].to_list() == [0.0, 1.0]
    assert table["Shared CADs /sec"].to_list() == [0.0, 0.0]
