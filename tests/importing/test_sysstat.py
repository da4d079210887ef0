"""Texts of sysstat as facts, use and scenario: every table of `sar -A`, mpstat, iostat."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.errors import Where
from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.telling import noted

SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "reports"
XML = SEEDS.parent / "xml" / "sadf-x.xml"
SAMPLES = Path(__file__).resolve().parent / "samples" / "sysstat"


def read(name: str) -> Facts:
    return read_paths([SEEDS / name])


@pytest.mark.parametrize("name", ["sar-all.txt", "iostat.txt"])
def test_a_host_of_x86_is_set_on_one(name: str) -> None:
    facts = read(name)
    (system,) = facts.systems.values()
    assert system.architecture is not None
    assert (system.architecture.value, system.architecture.where.line) == ("x86_64", 1)
    made = assemble(facts, AssembleOptions(convert=False))
    assert made.scenario.machine.name == "intel-xeon-6240-2s"
    assert "virtual = 4" in made.text


def test_use_is_all_time_that_was_not_idle_nor_waiting() -> None:
    facts = read("sar-all.txt")
    (series,) = facts.series
    # user, nice, sys, irq, soft and guest of four processors; sysstat tells guests apart from user.
    assert series.table["cores"].to_list() == pytest.approx([4 * 0.36, 4 * 0.125])
    (took,) = facts.took
    assert took.dropped == 0
    assert "2 samples of switches of sar -w" in took.what


def test_iostat_counts_what_follows_its_first_report() -> None:
    (series,) = read("iostat.txt").series
    assert series.table["cores"].to_list() == pytest.approx([1.0, 0.6])
    assert series.table["seconds"].to_list() == [10.0, 10.0]


def test_notes_of_one_kind_are_told_once() -> None:
    lines = range(3, 43)
    notices = [Notice("4 values under 2 headings", Where("a.txt", line)) for line in lines]
    notices.append(Notice("another", Where("a.txt", 50)))
    assert list(noted(notices)) == [
        "note: a.txt:3: 4 values under 2 headings (and 39 more of this kind)",
        "note: a.txt:50: another",
    ]


@pytest.mark.parametrize("name", ["sadf-d.txt", "sadf-dh.txt", "sadf-p.txt"])
def test_sadf_counts_processors_by_their_rows(name: str) -> None:
    facts = read(name)
    (partition,), (series,) = facts.partitions.values(), facts.series
    assert partition.name == "build3"
    assert partition.logical is not None
    assert partition.logical.value == 2
    assert series.table["cores"].to_list() == pytest.approx([0.32, 0.07])
    assert [str(time) for time in series.table["time"]] == [
        "2026-05-11 10:10:00",
        "2026-05-11 10:20:00",
    ]
    made = assemble(facts, AssembleOptions(convert=False))
    # Nothing says that it is a partition of PowerVM, so that nothing is said of its threads.
    assert "as its system starts" not in made.text


def test_a_binary_recording_says_how_it_becomes_a_text(tmp_path: Path) -> None:
    (tmp_path / "sa11").write_bytes(bytes.fromhex("96d575210c06010050010000"))
    (left,) = read_paths([tmp_path / "sa11"]).left
    assert "sadf -d FILE -- -u -w -P ALL" in left.why


@pytest.mark.parametrize("path", [SAMPLES / "sadf.json", XML], ids=["json", "xml"])
def test_forms_for_programs_tell_what_the_table_tells(path: Path) -> None:
    facts, text = read_paths([path]), read("sadf-d.txt")
    (series,), (same,) = facts.series, text.series
    assert series.table["cores"].to_list() == pytest.approx(same.table["cores"].to_list())
    assert series.table["time"].to_list() == same.table["time"].to_list()
    assert series.table["seconds"].to_list() == [599.0, 600.0]
    assert facts.beside[0].table["context_switches_per_s"].to_list() == [830.25, 210.0]
    (partition,), (system,) = facts.partitions.values(), facts.systems.values()
    assert partition.logical is not None
    assert system.architecture is not None
    lines = path.read_text().splitlines()
    assert "number-of-cpus" in lines[partition.logical.where.line - 1]
    assert "x86_64" in lines[system.architecture.where.line - 1]
    assert all("timestamp" in "".join(lines[line - 1 : line + 1]) for line in series.table["line"])


def test_json_holds_what_a_second_reader_finds() -> None:
    """`json` and arithmetic of the file's own: all but idle, waiting and stolen time."""
    told = json.loads((SAMPLES / "mpstat.json").read_text())["sysstat"]["hosts"][0]
    rows = [one["cpu-load"][0] for one in told["statistics"]]
    busy = [100 - row["idle"] - row["iowait"] - row["steal"] for row in rows]
    (series,) = read_paths([SAMPLES / "mpstat.json"]).series
    assert series.table["cores"].to_list() == pytest.approx([share / 100 * 4 for share in busy])
    assert [str(time) for time in series.table["time"]] == [
        "2026-05-11 23:59:55",
        "2026-05-12 00:00:00",
    ]


def test_json_of_iostat_leaves_its_first_report_out() -> None:
    facts = read_paths([SAMPLES / "iostat.json"])
    assert facts.series[0].table["cores"].to_list() == pytest.approx([1.0, 0.6])
    assert "since the system started" in str(facts.notices[0])
    made = assemble(facts, AssembleOptions(convert=False))
    assert "virtual = 4" in made.text


def test_a_broken_sample_costs_only_itself(tmp_path: Path) -> None:
    text = (SAMPLES / "sadf.json").read_text().replace('"user": 12.00', '"user": 12.00.00', 1)
    (tmp_path / "a.json").write_text(text)
    facts = read_paths([tmp_path / "a.json"])
    assert facts.series[0].table["cores"].to_list() == pytest.approx([0.07])
    assert facts.took[0].dropped == 1
    assert facts.notices[0].where == Where(str(tmp_path / "a.json"), 13)
    nothing = '{"sysstat": {"hosts": [{"nodename": "a", "statistics": []}]}}'
    (tmp_path / "b.json").write_text(nothing)
    (left,) = read_paths([tmp_path / "b.json"]).left
    assert "sadf -j FILE -- -u -w -P ALL" in left.why


MPSTAT = """\
Linux 6.1.0 (kvm1) \t05/11/26 \t_x86_64_\t(4 CPU)

10:00:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
10:00:05     all   52.50    0.00    3.00    1.00    0.25    0.25    0.50    2.50    0.00   40.00
10:00:10     all   10.00    0.00    5.00    0.00    0.00    0.00    0.00    0.00    0.00   85.00
Average:     all   31.25    0.00    4.00    0.50    0.12    0.13    0.25    1.25    0.00   62.50
"""


def test_mpstat_alone_tells_its_processors(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text(MPSTAT)
    facts = read_paths([tmp_path / "m.txt"], processors=64)
    assert facts.series[0].table["cores"].to_list() == pytest.approx([2.34, 0.6])
    assert facts.partitions[None, "kvm1"].logical is not None
    assert facts.partitions[None, "kvm1"].logical.value == 4


def test_vmstat_alone_is_told_its_processors() -> None:
    (left,) = (one for one in read("vmstat-linux-t.txt").notices if "--cpus N" in one.text)
    assert left.where is not None
    assert left.where.line == 2
    facts = read_paths([SEEDS / "vmstat-linux-t.txt"], processors=8)
    (series,), (partition,) = facts.series, facts.partitions.values()
    # us and sy of its second row, of eight processors; it is ten seconds after the first.
    assert series.table["cores"].to_list() == [8 * 0.5]
    assert series.table["seconds"].to_list() == [10.0]
    assert str(series.table["time"][0]) == "2021-03-01 10:00:10"
    assert partition.logical is not None
    assert str(partition.logical.where) == "--cpus"
    made = assemble(facts, AssembleOptions(convert=False, machine="intel-xeon-6240-2s"))
    assert "virtual = 8" in made.text
