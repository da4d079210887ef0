"""Texts of sysstat as facts, use and scenario: every table of `sar -A`, mpstat, iostat."""

from __future__ import annotations

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
