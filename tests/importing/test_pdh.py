"""esxtop's and Windows' counters: what ran, on what, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths

SAMPLES = Path(__file__).resolve().parent / "samples" / "pdh"


def column(name: str, ending: str) -> list[float]:
    """By `csv` alone: the column whose heading ends so."""
    with (SAMPLES / name).open(newline="") as file:
        heading, *rows = csv.reader(file, delimiter="\t" if name.endswith("tsv") else ",")
    place = next(at for at, text in enumerate(heading) if text.endswith(ending))
    return [float(row[place]) for row in rows if row[place].strip()]


def test_groups_of_esxtop_that_are_virtual_machines() -> None:
    facts = read_paths([SAMPLES / "esxtop.csv"])
    assert [one.partition for one in facts.series] == ["db1", "web (old)1"]
    for series, group in zip(facts.series, ("2012201:db1", "2012477:web (old)1"), strict=True):
        run = column("esxtop.csv", f"Group Cpu({group})\\% Run")
        assert series.table["cores"].to_list() == pytest.approx([share / 100 for share in run])
        assert series.table["seconds"].to_list() == [5.0, 5.0, 5.0]
    db1 = facts.partitions["esx1.example.com", "db1"]
    assert db1.virtual is not None
    assert db1.memory_bytes is not None
    assert (db1.virtual.value, db1.memory_bytes.value) == (2, 16384 << 20)
    assert db1.memory_bytes.where.line == 2
    host = facts.systems["esx1.example.com"]
    assert host.cores is not None
    assert host.threads_per_core is not None
    # Four processors, of which esxtop tells the use of cores: hyperthreads are on.
    assert (host.cores.value, host.threads_per_core.value) == (2, 2)
    assert facts.took[0].dropped == 0


def test_windows_counts_its_processors_by_their_columns() -> None:
    facts = read_paths([SAMPLES / "perfmon.csv"])
    (series,), (partition,) = facts.series, facts.partitions.values()
    both = zip(
        column("perfmon.csv", "Processor(0)\\% Processor Time"),
        column("perfmon.csv", "Processor(1)\\% Processor Time"),
        strict=True,
    )
    assert series.table["cores"].to_list() == pytest.approx([sum(row) / 100 for row in both])
    assert partition.logical is not None
    assert partition.logical.value == 2
    # The first row is blank, as rates are.
    assert facts.took[0].dropped == 0
    assert facts.beside[0].table["context_switches_per_s"].to_list() == [1810.0]
    made = assemble(facts, AssembleOptions(convert=False))
    assert made.scenario.machine.name == "intel-xeon-6240-2s"


def test_virtual_processors_of_hyperv() -> None:
    facts = read_paths([SAMPLES / "hyperv.tsv"])
    assert [one.table["cores"].to_list() for one in facts.series] == [
        pytest.approx([0.5, 1.3]),
        pytest.approx([0.05, 0.15]),
    ]
    made = assemble(facts, AssembleOptions(convert=False))
    assert "xeon" in made.scenario.machine.name


def imported(tmp_path: Path, text: str, processors: int | None = None) -> Facts:
    (tmp_path / "a.csv").write_text(text)
    return read_paths([tmp_path / "a.csv"], processors=processors)


HEAD = '"(PDH-CSV 4.0) (UTC)(0)","\\\\A\\Processor(_Total)\\% Processor Time"\n'
ROWS = '"05/11/2026 10:00:00.000","50"\n"05/11/2026 10:00:10.000","25"\n'


def test_only_the_sum_of_processors_asks_for_their_number(tmp_path: Path) -> None:
    (left,) = imported(tmp_path, HEAD + ROWS).left
    assert "--cpus N" in left.why
    (series,) = imported(tmp_path, HEAD + ROWS, processors=8).series
    assert series.table["cores"].to_list() == [4.0, 2.0]


def test_rows_that_are_broken_cost_themselves(tmp_path: Path) -> None:
    text = (
        HEAD
        + ROWS
        + '"13/45/2026 x","1"\n"05/11/2026 10:00:20.000","-1"\n'
        + HEAD
        + ('"05/11/2026 10:00:30.000","75"\n"05/11/2026 10:00:40.000","1","2","3"\n')
    )
    facts = imported(tmp_path, text, processors=4)
    assert facts.series[0].table["cores"].to_list() == [2.0, 1.0, 3.0]
    assert facts.took[0].dropped == 3
    lines = [one.where.line for one in facts.notices if one.where and "left out" in one.text]
    assert lines == [4, 5, 8]


def test_names_in_another_language_are_refused(tmp_path: Path) -> None:
    text = HEAD.replace("Processor(_Total)", "Prozessor(_Total)").replace("Time", "zeit") + ROWS
    (left,) = imported(tmp_path, text).left
    assert "prozessor" in left.why
    assert "English names" in left.why
