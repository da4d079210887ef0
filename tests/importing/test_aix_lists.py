"""prtconf and lsattr of AIX: alone, in a session, and beside reports in other files."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import PartitionFacts, SystemFacts
from homenode.records.importing.front import read_paths

SAMPLES = Path(__file__).resolve().parent / "samples" / "aix"


def told(of: PartitionFacts | SystemFacts) -> dict[str, object]:
    return {name: fact.value for name, fact in vars(of).items() if hasattr(fact, "where")}


def test_prtconf_tells_partition_and_server() -> None:
    facts = read_paths([SAMPLES / "prtconf.txt"])
    assert told(facts.systems["78A1B2C"]) == {
        "model": "9080-HEX",
        "architecture": "power",
        "processor": "POWER10",
        "clock_hz": 3.9e9,
        "hypervisor": "powervm",
    }
    db2 = facts.partitions["78A1B2C", "db2prod"]
    assert told(db2) == {"number": 7, "os": "aix", "virtual": 4, "memory_bytes": 65536 << 20}
    lines = (SAMPLES / "prtconf.txt").read_text().splitlines()
    assert db2.virtual is not None
    assert lines[db2.virtual.where.line - 1] == "Number Of Processors: 4"


def test_lsattr_of_three_devices() -> None:
    facts = read_paths([SAMPLES / "lsattr.txt"])
    of = facts.partitions["78A1B2C", "lsattr"]
    assert told(of) == {
        "os": "aix",
        "mode": "shared",
        "entitlement": 1.5,
        "smt": 8,
        "weight": 192,
        "memory_bytes": 64 << 30,
    }
    assert of.maximum["entitlement"].value == 8.0
    assert of.minimum["entitlement"].value == 0.2
    # The second column, as awk '{ print $2 }' takes it.
    lines = (SAMPLES / "lsattr.txt").read_text().splitlines()
    for name, fact in (("ent_capacity", of.entitlement), ("variable_weight", of.weight)):
        assert fact is not None
        assert fact.where.line is not None
        assert lines[fact.where.line - 1].split()[:2] == [name, f"{fact.value:.2f}"[:4].rstrip(".")]


def test_a_session_with_reports_is_one_partition() -> None:
    facts = read_paths([SAMPLES / "session.txt"])
    (partition,) = facts.partitions.values()
    assert partition.name == "db2prod"
    assert facts.took[0].dropped == 0
    assert [one.table["cores"].to_list() for one in facts.series] == [[0.9, 0.6]]
    assert partition.processors_by_node[1].value == 16
    made = assemble(facts, AssembleOptions(convert=False))
    assert made.scenario.machine.name == "ibm-power-e1080"
    assert "entitlement = 1.5, virtual = 4, capped = false, weight = 192" in made.text


def test_a_report_in_another_file_is_of_the_same_server(tmp_path: Path) -> None:
    text = (SAMPLES / "session.txt").read_text()
    (tmp_path / "db2prod.txt").write_text(text[text.index("System configuration") :])
    (tmp_path / "p.txt").write_bytes((SAMPLES / "prtconf.txt").read_bytes().replace(b"\n", b"\r\n"))
    facts = read_paths([tmp_path])
    assert list(facts.partitions) == [("78A1B2C", "db2prod")]
    assert facts.series[0].system == "78A1B2C"


def test_values_that_are_none_are_told(tmp_path: Path) -> None:
    text = "System Model: IBM,9080-HEX\nNumber Of Processors: many\nMemory Size: 4096 MB\n"
    (tmp_path / "a.txt").write_text(text)
    facts = read_paths([tmp_path / "a.txt"])
    assert facts.took[0].dropped == 1
    assert facts.notices[0].where is not None
    assert facts.notices[0].where.line == 2
