"""Screens and logs of the Performance Toolkit that are laid out otherwise than homenode prints its
own: from what IBM's documentation and presentations show, with figures of our own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts
from homenode.records.importing.front import read_paths
from homenode.records.importing.tables import write_tables

CPU = """\
 FCX100      {told}  Interval 23:59:13 - 00:00:13    GDLVM7

 CPU Load                                        Vector Facility     Status or
 PROC TYPE  %CPU  %CP  %EMU  %WT  %SYS  %SP  %SIC %LOGLD %VTOT %VEMU REST ded. User
 P00  IFL     41    3    38   59     1    0    98     41   ..    ..  ...   Master
 P01  IFL     35    2    33   65     1    0    98     35   ..    ..  ...   Alternate
 P02  IFL      0    0     0  100     0    0   ...      0   ..    ..  ...   Parked

 Total SSCH/RSCH        84/s   Page rate             .0/s   Priv. instruct.     1834/s
 Queue Statistics:      Q0     Q1     Q2     Q3   User Status:
 VMDBKs in queue         2      1      0      9   # of logged on users        46
"""
LPAR = """\
 FCX126      CPU 2817  SER 3BD45  Interval 17:17:00 - 17:18:00    GDLVM7
 LPAR Data, Collected in Partition RCSP

 Processor type and model     : 2817-729
 Nr. of physical processors   :     12
 Dispatch interval (msec)     : dynamic

 Partition Nr. Upid #Proc Weight Wait-C Cap %Load CPU %Busy %Ovhd %Susp %VMld Type
 RCSP        1   10     2     20     NO  NO   5.2   0  30.0    .2    .3  29.9 IFL
                                                    1  32.0    .2    .3  32.1 IFL
 DED1        3   21     1    DED    YES  NO   8.3   0 100.0    .0   ...   ... IFL

 Summary of physical processors:
 Type Number Weight %LgclP %Ovrhd %LpuT/L %LPmgt %Total %TypeT/L
 IFL       5    100  271.6     .6    1.00     .3  272.5     1.00
"""
USERS = """\
 FCX112      CPU 8561  SER 9A7B8  Interval 14:02:11 - 14:03:11    ZVMPROD

 .           .     .     .     .    .    .      .      .      .    .     .     .
          <----- CPU Load -----> <------ Virtual IO/s ------>
               <-Seconds->   T/V
 Userid    %CPU  TCPU  VCPU Ratio Total DASD Avoid Diag98   UR Pg/s  User Status
 >System<  3.66 2.196 2.001   1.1  12.1  3.0    .1    0.0   .0   .0  ---,---,----
 LINUX01   85.1 51.06 50.00   1.0   5.1  5.0    .0     .0   .0   .0  EME,CL3,DISP
 TCPIP     1.00  .600  .500   1.2    .0   .0    .0     .0   .0   .0  ESA,CL3,DIS
"""
SUMMARY = """\
 FCX225      CPU 8561  SER 9A7B8  Interval 13:50:05 - 13:52:05    ZVMPROD

          <------- CPU --------> <Vec> <--Users--->
             <--Ratio-->
 Interval  Pct      Cap-   On-   Pct  Log-
 End Time Busy  T/V ture  line  Busy   ged Activ
 >>Mean>> 77.3 1.23 .9512  4.0  ....    42    20
 13:51:05 75.0 1.22 .9500  4.0  ....    42    20
 13:52:05 80.0 1.24 .9524  4.0  ....    42    20
"""
SETTINGS = """\
 FCX154      CPU 2827  SER 4E67   Interval INITIAL. - 13:08:11    VMSYS1

 Initial Scheduler Settings: 2013/04/02 at 18:07:04
 DSPSLICE (minor)     5.000 msec.        IABIAS Intensity          90 Percent
 STORBUF Q1 Q2 Q3       300 Percent Main storage
 LIMITHARD METHOD     CONSUMPTION        Polarization         VERTICAL
"""
PROCESSORS = """\
1FCX304  Run 2020/02/03 14:00:28         PRCLOG                                      Page {page}
                                         Processor Activity, by Time
From 2020/02/03 23:55:00
To   2020/02/04 00:05:00                                                 CPU 3906-715   SN 4E67
For    600 Secs 00:10:00
________________________________________________________________________________________________

           C                           <--- Percent Busy ---->
Interval   P                     %Park
End Time   U Type PPD Ent. DVID  Time  Total  User  Syst  Emul
"""
ROW = "{}   {} IFL  VhD  100 0000     0   {}  27.0   3.0  26.0\n"
PLACES = """\
1FCX287  Run 2014/01/20 10:00:28         TOPOLOG
                                         System Topology Machine Organization
From 2014/01/20 09:07:00
To   2014/01/20 09:37:00                                                 CPU 2827-795   SN 15D37
________________________________________________________________________________________________

Date  Time      CPU Type Ded Location
01/20 09:07:00    0 CP   Shr 1: 1 2: 1
01/20 09:07:00    1 IFL  Ded 1: 1 2: 2
"""


def read(tmp_path: Path, text: str) -> Facts:
    path = tmp_path / "lab.txt"
    path.write_text(text, encoding="utf-8")
    return read_paths([path])


def told(of: PartitionFacts | SystemFacts) -> dict[str, Any]:
    """Values of facts, by attribute."""
    return {name: fact.value for name, fact in vars(of).items() if hasattr(fact, "where")}


def used(facts: Facts) -> dict[str, list[tuple[str, float, float]]]:
    """End, length [s] and cores of each sample, by partition."""
    columns = ("time", "seconds", "cores")
    return {
        one.partition: [
            (time.isoformat(), seconds, round(cores, 6))
            for time, seconds, cores in one.table.select(columns).iter_rows()
        ]
        for one in facts.series
    }


def processors(facts: Facts) -> int:
    """Logical processors of the only partition."""
    ((system, name),) = facts.partitions
    return int(told(facts.partition(system, name))["logical"])


def logged(*rows: tuple[str, int, str]) -> str:
    """PRCLOG with these ends, processors and shares."""
    return PROCESSORS.format(page=1) + "".join(ROW.format(*row) for row in rows)


def kept(tmp_path: Path) -> pl.DataFrame:
    (file,) = write_tables([tmp_path / "lab.txt"], tmp_path / "kept")
    return pl.read_parquet(file)


@pytest.mark.parametrize(
    ("opening", "model", "day"),
    [("CPU 3906  SER 2C4D2", "3906", "1970-01-02"), ("Data for 2020/02/03", None, "2020-02-04")],
)
def test_the_first_screen_is_what_zvm_used(
    opening: str, model: str | None, day: str, tmp_path: Path
) -> None:
    """Live, and of monitor data that are read again; what is below the processors is no row."""
    facts = read(tmp_path, CPU.format(told=opening))
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([0.76])
    assert series.table["seconds"].to_list() == [60.0]
    assert series.table["time"][0].isoformat() == f"{day}T00:00:13"
    ((system, name),) = facts.partitions
    partition = told(facts.partition(system, name))
    assert (partition["logical"], partition["core_type"]) == (3, "ifl")
    assert told(facts.system(str(system))).get("model") == model
    assert facts.took[0].dropped == 0
    assert kept(tmp_path)["%SIC"].to_list() == [98.0, 98.0, None]


def test_partitions_of_a_screen_stand_below_what_is_told_of_the_machine(tmp_path: Path) -> None:
    facts = read(tmp_path, LPAR)
    used = {one.partition: one.table["cores"].to_list() for one in facts.series}
    assert used == {"RCSP": pytest.approx([0.62]), "DED1": pytest.approx([1.0])}
    known = told(facts.partition("3BD45", "RCSP"))
    assert (known["virtual"], known["weight"], known["capped"]) == (2, 20, False)
    assert told(facts.partition("3BD45", "DED1"))["mode"] == "dedicated"


def test_dots_stand_over_the_columns_of_a_screen(tmp_path: Path) -> None:
    facts = read(tmp_path, USERS)
    used = {one.partition: one.table["cores"].to_list() for one in facts.series}
    assert used == {"LINUX01": pytest.approx([0.851]), "TCPIP": pytest.approx([0.01])}
    assert kept(tmp_path)["TCPU"].to_list() == [51.06, 0.6]


def test_how_busy_the_vector_facility_was_is_not_meant(tmp_path: Path) -> None:
    facts = read(tmp_path, SUMMARY)
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([3.0, 3.2])


def test_settings_are_names_and_values(tmp_path: Path) -> None:
    facts = read(tmp_path, SETTINGS)
    assert any("FCX154 SYSSET is only shown" in one.text for one in facts.notices)
    assert dict(kept(tmp_path).select("Setting", "Value").iter_rows()) == {
        "DSPSLICE (minor)": "5.000 msec.",
        "IABIAS Intensity": "90 Percent",
        "STORBUF Q1 Q2 Q3": "300 Percent Main storage",
        "LIMITHARD METHOD": "CONSUMPTION",
        "Polarization": "VERTICAL",
    }


def shares(*stands: str) -> str:
    """PRCLOG of as many processors, as each stands in the column PPD."""
    rows = (ROW.format("23:59:00", at, "30.0") for at, _ in enumerate(stands))
    lines = (row.replace("VhD", f"{to:3}") for row, to in zip(rows, stands, strict=True))
    return PROCESSORS.format(page=1) + "".join(lines)


@pytest.mark.parametrize(
    ("text", "mode", "polarization"),
    [
        (shares("VhD", "VhD"), "dedicated", "vertical"),
        (shares("Vh", "Vm", "Vl"), None, "vertical"),
        (shares("VhS", "VmD"), None, "vertical"),
        (shares("Hor", "Hor"), None, "horizontal"),
        (shares("Hor", "Vh"), None, None),
        (shares("Shr", "Shr"), None, None),
        (shares("Ded", "Ded"), "dedicated", None),
        (shares("Shr", "Shr") + SETTINGS, None, "vertical"),
        (SETTINGS.replace("VERTICAL", "HORIZONTAL") + shares("Shr", "Shr"), None, "horizontal"),
        (SETTINGS.replace("VERTICAL", "...") + shares("Shr", "Shr"), None, None),
    ],
)
def test_polarization_and_own_cores(
    tmp_path: Path, text: str, mode: str | None, polarization: str | None
) -> None:
    facts = read(tmp_path, text)
    ((system, name),) = facts.partitions
    found = told(facts.partition(system, name))
    assert (found.get("mode"), found.get("polarization")) == (mode, polarization)


def notes(facts: Facts) -> list[str]:
    """What is said of polarization and of CP's settings."""
    texts = (one.text for one in facts.notices)
    return [one for one in texts if re.search("SYSSET|olarization|PPD", one)]


PLAYED = "; all else is left out, for what is recorded is played without CP; --tables keeps it"
NONE = "FCX154 SYSSET is only shown: it tells of no polarization that is known" + PLAYED
TAKEN = "FCX154 SYSSET tells of the polarization of lab" + PLAYED


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("Polarization", "VERTICAL", [TAKEN]),
        ("POLARIZATION", "VERTICAL", [TAKEN]),
        ("Something   ", "VERTICAL", [NONE]),
        (
            "Polarization",
            "OFF     ",
            ['Polarization "OFF" is neither VERTICAL nor HORIZONTAL; it is left out', NONE],
        ),
    ],
)
def test_settings_are_said_to_be_taken_where_they_are(
    tmp_path: Path, setting: str, value: str, said: list[str]
) -> None:
    settings = SETTINGS.replace("Polarization", setting).replace("VERTICAL", value)
    facts = read(tmp_path, settings + shares("Vh", "Vm"))
    assert notes(facts) == said
    ((system, name),) = facts.partitions
    assert told(facts.partition(system, name))["polarization"] == "vertical"


@pytest.mark.parametrize("others", ["", LPAR])
def test_settings_of_which_it_is_not_told_whose_they_are(tmp_path: Path, others: str) -> None:
    said = "is only shown: which partition's settings these are is not told; --tables keeps it"
    for settings in (SETTINGS, SETTINGS.replace("VERTICAL", "OFF")):
        assert notes(read(tmp_path, settings + others)) == [f"FCX154 SYSSET {said}"]


def test_polarizations_that_differ_are_said(tmp_path: Path) -> None:
    """CP's settings count, the first of them."""
    later = SETTINGS.replace("VERTICAL", "HORIZONTAL")
    path = tmp_path / "lab.txt"
    differs = f"polarization of lab is horizontal here; vertical of {path}:6 counts"
    for text in (SETTINGS + shares("Hor", "Hor"), SETTINGS + later + shares("Shr")):
        facts = read(tmp_path, text)
        assert notes(facts) == [differs, TAKEN]
        ((system, name),) = facts.partitions
        assert told(facts.partition(system, name))["polarization"] == "vertical"
    said = "column PPD tells vertical here and horizontal in line 11, as where it was changed"
    assert notes(read(tmp_path, shares("Hor", "Vh"))) == [f"{said}; neither is taken of it"]


def test_cores_of_their_own_have_no_polarization(tmp_path: Path) -> None:
    facts = read(tmp_path, SETTINGS + shares("Ded", "Ded"))
    made = assemble(facts, AssembleOptions(convert=False))
    assert 'mode = "dedicated"' in made.text
    assert "polarization" not in made.text
    left = "polarization vertical of lab is left out: its cores are its own"
    assert left in [one.text for one in made.notices]


def test_a_scenario_has_the_polarization(tmp_path: Path) -> None:
    """Logical cores that share have it; those with cores of their own need none."""
    facts = read(tmp_path, shares("Vh", "Vm", "Vl"))
    text = assemble(facts, AssembleOptions(convert=False)).text
    (line,) = (one for one in text.splitlines() if one.startswith("processors"))
    assert 'mode = "shared", virtual = 3' in line
    assert 'polarization = "vertical"' in line


def test_processors_by_interval_are_added(tmp_path: Path) -> None:
    """Over midnight, on two pages, with sums that are passed over."""
    row = ROW
    first = row.format(">>Mean>>", 0, "35.0") + row.format(">>Mean>>", 1, "25.0")
    first += row.format("23:59:00", 0, "30.0") + row.format("23:59:00", 1, "20.0")
    second = row.format("00:04:00", 0, "40.0") + row.format("00:04:00", 1, "70.0")
    pages = ((1, first), (2, second))
    facts = read(tmp_path, "".join(PROCESSORS.format(page=at) + rows for at, rows in pages))
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([0.5, 1.1])
    ends = [time.isoformat() for time in series.table["time"]]
    assert ends == ["2020-02-03T23:59:00", "2020-02-04T00:04:00"]
    ((system, name),) = facts.partitions
    assert told(facts.partition(system, name))["logical"] == 2


def test_a_place_of_several_words_is_one_value(tmp_path: Path) -> None:
    facts = read(tmp_path, PLACES)
    assert facts.took[0].dropped == 0
    assert kept(tmp_path)["Location"].to_list() == ["1: 1 2: 1", "1: 1 2: 2"]


def test_each_screen_is_an_interval_of_its_own(tmp_path: Path) -> None:
    """Without a day the second follows the first, past midnight as well."""
    told = "CPU 3906  SER 2C4D2"
    second = CPU.format(told=told).replace("23:59:13 - 00:00:13", "00:00:13 - 00:02:13")
    second = second.replace("IFL     41", "IFL     81")
    facts = read(tmp_path, CPU.format(told=told) + "\n" + second)
    first = ("1970-01-02T00:00:13", 60.0, 0.76)
    assert used(facts) == {"lab": [first, ("1970-01-02T00:02:13", 120.0, 1.16)]}
    assert (processors(facts), facts.took[0].dropped) == (3, 0)


def test_screens_of_two_days_are_on_their_days(tmp_path: Path) -> None:
    first = CPU.format(told="Data for 2020/02/03")
    facts = read(tmp_path, first + "\n" + first.replace("2020/02/03", "2020/02/09"))
    ends = [end for end, _, _ in used(facts)["lab"]]
    assert ends == ["2020-02-04T00:00:13", "2020-02-10T00:00:13"]


def test_partitions_of_two_screens_have_two_samples(tmp_path: Path) -> None:
    """And are counted once: z/VM's processors are those of the one with two, the machine's cores
    the shared ones and the only dedicated one.
    """
    second = LPAR.replace("17:17:00 - 17:18:00", "17:18:00 - 17:28:00").replace("30.0 ", "50.0 ")
    cpu = CPU.format(told="CPU 2817  SER 3BD45").replace(" P02  IFL", "\n P02  IFL")
    facts = read(tmp_path, LPAR + "\n" + second + "\n" + cpu)
    assert used(facts) == {
        "DED1": [("1970-01-01T17:18:00", 60.0, 1.0), ("1970-01-01T17:28:00", 600.0, 1.0)],
        "RCSP": [("1970-01-02T00:00:13", 60.0, 0.76)],
    }
    assert any("processors of RCSP, the only partition" in one.text for one in facts.notices)
    facts = read(tmp_path, LPAR + "\n" + second)
    ends = [("1970-01-01T17:18:00", 60.0, 0.62), ("1970-01-01T17:28:00", 600.0, 0.82)]
    assert used(facts)["RCSP"] == ends
    physical = (
        "\n\nInterval End Time  Pool  PU Num  %Total\n17:18:00            IFL       4    5.00\n"
    )
    opening = "FCX302      CPU 2817  SER 3BD45  Interval 17:17:00 - 17:18:00"
    facts = read(tmp_path, LPAR + "\n" + second + "\n" + opening + physical)
    assert told(facts.system("3BD45"))["cores"] == 5


def test_a_log_of_more_than_a_day_has_some_ends_twice(tmp_path: Path) -> None:
    hours = [f"{hour % 24:02d}:00:00" for hour in range(24, 54)]
    text = logged(*((end, cpu, ("30.0", "20.0")[cpu]) for end in hours for cpu in (0, 1)))
    text = text.replace("23:55:00", "23:00:00").replace(
        "2020/02/04 00:05:00", "2020/02/05 05:00:00"
    )
    facts = read(tmp_path, text)
    samples = used(facts)["lab"]
    assert {(seconds, cores) for _, seconds, cores in samples} == {(3600.0, 0.5)}
    ends = [end for end, _, _ in samples]
    assert (len(ends), ends[0], ends[-1]) == (30, "2020-02-04T00:00:00", "2020-02-05T05:00:00")
    assert (processors(facts), facts.took[0].dropped) == (2, 0)


def test_intervals_of_a_whole_day_end_at_one_time(tmp_path: Path) -> None:
    """As long as the log goes on; rows that are there twice are not of the day after it."""
    text = logged(*(("00:00:00", cpu, "20.0") for cpu in (0, 1, 0, 1, 0)))
    text = text.replace("2020/02/04 00:05:00", "2020/02/05 00:00:00")
    facts = read(tmp_path, text)
    ends = [("2020-02-04T00:00:00", 86400.0, 0.4), ("2020-02-05T00:00:00", 86400.0, 0.4)]
    assert (used(facts)["lab"], facts.took[0].dropped) == (ends, 1)


@pytest.mark.parametrize("by_time", [True, False])
def test_a_processor_may_come_later(by_time: bool, tmp_path: Path) -> None:
    rows = [("23:59:00", 0, "30.0"), ("00:04:00", 0, "40.0"), ("00:04:00", 1, "70.0")]
    if not by_time:
        rows.insert(2, ("23:59:00", 1, "20.0"))
    facts = read(tmp_path, logged(*rows))
    cores = [cores for _, _, cores in used(facts)["lab"]]
    assert (cores, processors(facts)) == ([0.3 if by_time else 0.5, 1.1], 2)


@pytest.mark.parametrize("share", ["....", "20,5", "999.", "1" + 21 * "0", "1 20"])
def test_an_interval_without_one_of_its_processors_is_left_out(share: str, tmp_path: Path) -> None:
    text = logged(
        *(("23:59:00", 0, "30.0"), ("23:59:00", 1, share)),
        *(("00:04:00", 0, "40.0"), ("00:04:00", 1, "70.0")),
    )
    facts = read(tmp_path, text)
    assert [cores for _, _, cores in used(facts)["lab"]] == [1.1]
    assert any("1 interval left out" in one.text for one in facts.notices)
    assert facts.took[0].dropped == 2


def test_an_interval_that_lost_a_line_is_left_out(tmp_path: Path) -> None:
    ends = ("23:55:00", "23:56:00", "23:57:00")
    rows = [(end, cpu, "40.0") for end in ends for cpu in (0, 1)]
    facts = read(tmp_path, logged(*rows[:3], *rows[4:]))
    assert [end for end, _, _ in used(facts)["lab"]] == [f"2020-02-03T{end}" for end in ends[::2]]
    assert facts.took[0].dropped == 1
    without = logged(*rows).replace("23:56:00   0", "2x:56:00   0")
    facts = read(tmp_path, without.replace("23:57:00   1", "23:57:00  x1"))
    assert [end[11:] for end, _, _ in used(facts)["lab"]] == [ends[0]]
    assert facts.took[0].dropped == 4


@pytest.mark.parametrize("date", ["02/03/2020", "2020/13/45", "0001/01/01"])
def test_a_date_that_is_none_is_said(date: str, tmp_path: Path) -> None:
    facts = read(tmp_path, CPU.format(told=f"Data for {date}"))
    (said,) = (one for one in facts.notices if "is no date" in one.text)
    assert (said.where and said.where.line, said.text[:12]) == (1, f'"{date}"')
    assert "1970/01/01 is taken" in said.text
    assert used(facts)["lab"] == [("1970-01-02T00:00:13", 60.0, 0.76)]


def test_a_first_interval_behind_midnight_is_on_the_next_day(tmp_path: Path) -> None:
    assert used(read(tmp_path, logged(("00:04:00", 0, "40.0"))))["lab"][0][0][:10] == "2020-02-04"
    text = SUMMARY.replace("13:50:05 - 13:52:05", "23:59:30 - 00:01:30").replace("13:5", "00:0")
    ends = [end for end, _, _ in used(read(tmp_path, text))["lab"]]
    assert ends == ["1970-01-02T00:01:05", "1970-01-02T00:02:05"]


def test_a_screen_without_its_shares_says_so(tmp_path: Path) -> None:
    facts = read(tmp_path, CPU.format(told="CPU 3906  SER 2C4D2").replace("%CPU", "%CPX"))
    assert not facts.series
    assert any('FCX100 CPU without a column "%CPU"' in one.text for one in facts.notices)
    facts = read(tmp_path, CPU.format(told="CPU 3906  SER 2C4D2").replace("TYPE", "    "))
    assert [cores for _, _, cores in used(facts)["lab"]] == [0.76]


@pytest.mark.parametrize("share", ["   41,0", " " * 7, "    ...", "    -41", "9" * 21])
def test_a_screen_of_which_one_share_is_not_known_is_left_out(share: str, tmp_path: Path) -> None:
    """Neither do values behind an empty cell count as those of the cell."""
    text = CPU.format(told="CPU 3906  SER 2C4D2")
    second = text.replace("23:59:13 - 00:00:13", "00:00:13 - 00:01:13")
    facts = read(tmp_path, text.replace(" IFL     41", f" IFL{share}") + "\n" + second)
    assert used(facts) == {"lab": [("1970-01-02T00:01:13", 60.0, 0.76)]}
    assert any("1 interval left out" in one.text for one in facts.notices)
    assert facts.took[0].dropped == 3


def test_values_stand_under_their_headings(tmp_path: Path) -> None:
    cells = "35    2    33   65"
    text = CPU.format(told="CPU 3906  SER 2C4D2").replace(cells, "35    2         65")
    assert used(read(tmp_path, text))["lab"][0][2] == 0.76
    table = kept(tmp_path)
    assert table["%EMU"].to_list() == [38.0, None, 0.0]
    assert table["%LOGLD"].to_list() == [41.0, 35.0, 0.0]


def test_a_screen_whose_blanks_were_taken_away_is_read(tmp_path: Path) -> None:
    text = "\n".join(" ".join(line.split()) for line in CPU.format(told="CPU 3906").split("\n"))
    assert used(read(tmp_path, text))["lab"][0][2] == 0.76
    assert kept(tmp_path)["%SIC"].to_list() == [98.0, 98.0, None]


@pytest.mark.parametrize(("heading", "dropped"), [("PROC TYPE %CPU", 1), (None, 0)])
def test_a_heading_among_the_processors(heading: str | None, dropped: int, tmp_path: Path) -> None:
    text = CPU.format(told="CPU 3906  SER 2C4D2")
    again = heading or next(one for one in text.split("\n") if "PROC" in one).strip()
    facts = read(tmp_path, text.replace("\n P01", f"\n {again}\n P01"))
    assert (used(facts)["lab"][0][2], facts.took[0].dropped) == (0.76, dropped)
