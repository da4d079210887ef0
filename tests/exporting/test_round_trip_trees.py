"""What homenode reads of its own trees and domains is what the run was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode import Run
from homenode.records.exporting import ExportOptions, export
from homenode.records.importing.facts import PartitionFacts, Told
from homenode.records.importing.front import read_paths
from homenode.tools import KeptRunView, from_spec


def values(facts: PartitionFacts, *names: str) -> dict[str, object]:
    found = {}
    for name in names:
        told = getattr(facts, name)
        found[name] = told.value if isinstance(told, Told) else told
    return found


@pytest.mark.parametrize("partition", ["shop", "night", "web", "database"])
def test_a_tree_of_power_reads_back(kept: Run, tmp_path: Path, partition: str) -> None:
    export(kept, "linux-power", tmp_path / "tree", ExportOptions(partition=partition))
    facts = read_paths([tmp_path / "tree"])
    view = KeptRunView.of(kept)
    c = from_spec(kept.spec, partition, view.details.get(partition))
    ours = next(one for one in facts.partitions.values() if one.number is not None)
    assert values(ours, "number", "virtual", "memory_bytes") == {
        "number": c.number,
        "virtual": c.vps,
        "memory_bytes": c.mem_mb << 20,
    }
    assert values(ours, "mode") == {"mode": c.kind.lower()}
    if c.is_shared:
        weight = c.weight if c.mode == "Uncapped" else 0
        assert ours.entitlement is not None
        assert ours.entitlement.value == pytest.approx(c.ent)
        assert values(ours, "capped", "weight") == {"capped": c.mode == "Capped", "weight": weight}
    assert ours.maximum["memory_bytes"].value == c.mem_mb << 20
    assert facts.left == []


def test_a_tree_of_a_mainframe_reads_back(kept_z: Run, tmp_path: Path) -> None:
    export(kept_z, "s390x", tmp_path / "tree", ExportOptions(partition="trial"))
    facts = read_paths([tmp_path / "tree"])
    (ours,) = (one for one in facts.partitions.values() if one.name.upper() == "TRIAL")
    assert values(ours, "mode", "virtual") == {"mode": "shared", "virtual": 8}
    (system,) = (one for one in facts.systems.values() if one.model is not None)
    assert system.model is not None
    assert system.model.value.replace(" ", "-") == "3906-M05"
    assert facts.left == []


def test_domains_read_back(kept: Run, tmp_path: Path) -> None:
    export(kept, "libvirt", tmp_path / "domains")
    facts = read_paths([tmp_path / "domains"])
    assert sorted(one.name for one in facts.partitions.values()) == sorted(kept.partitions)
    for one in facts.partitions.values():
        c = from_spec(kept.spec, one.name, KeptRunView.of(kept).details.get(one.name))
        told = values(one, "memory_bytes", "smt", "logical", "virtual")
        assert told["memory_bytes"] == c.mem_mb << 20
        assert told["smt"] == c.smt
        assert (told["logical"], told["virtual"]) == (c.lcpu, c.vps)
        assert values(one, "capped") == {"capped": c.is_shared and c.mode == "Capped"}
