"""Traces of Azure's virtual machines and of Google's instances."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.front import read_paths

SAMPLES = Path(__file__).resolve().parent / "samples" / "clouds"
AZURE = [SAMPLES / "readings.csv", SAMPLES / "vmtable.csv"]


def test_azure_readings_are_percent_of_the_cores_of_the_table() -> None:
    facts = read_paths(AZURE)
    with AZURE[0].open() as readings, AZURE[1].open() as table:
        rows, machines = list(csv.reader(readings)), list(csv.reader(table))
    for series, machine, cores in zip(facts.series, machines, (4, 2, 24), strict=True):
        shares = [float(row[4]) for row in rows if row[1] == machine[0]]
        assert series.partition == machine[0]
        assert series.table["cores"].to_list() == pytest.approx([s / 100 * cores for s in shares])
        assert set(series.table["seconds"]) == {300.0}
        assert rows[series.table["line"][1] - 1][1] == machine[0]
        partition = facts.partitions[None, machine[0]]
        assert partition.virtual is not None
        assert partition.memory_bytes is not None
        assert partition.virtual.value == cores
    assert partition.memory_bytes.value == 64 << 30
    assert partition.memory_bytes.where.line == 3
    said = [one.text for one in facts.notices]
    assert any("3 readings are of machines that no vmtable tells of" in text for text in said)
    made = assemble(facts, AssembleOptions(convert=False))
    assert len(made.scenario.partitions) == 3


def test_azure_readings_need_their_table() -> None:
    (left,) = read_paths(AZURE[:1]).left
    assert "give a vmtable" in left.why


@pytest.mark.parametrize(("name", "count"), [("google.csv", 2), ("google.jsonl", 1)])
def test_google_use_is_of_the_largest_machine(name: str, count: int) -> None:
    (left,) = read_paths([SAMPLES / name]).left
    assert "--cpus N" in left.why
    facts = read_paths([SAMPLES / name], processors=64)
    assert len(facts.series) == count
    assert facts.series[0].partition == "380271-1"
    assert facts.series[0].table["cores"].to_list() == pytest.approx([0.8, 1.6])
    assert facts.series[0].table["seconds"].to_list() == [300.0, 300.0]
    assert facts.took[0].dropped == 0
