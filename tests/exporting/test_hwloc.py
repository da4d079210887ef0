"""hwloc XML of a run's machine: read back, it is the machine's shape and distances."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode import Run
from homenode.model import catalog
from homenode.model.catalog.flatten import machine_spec
from homenode.records import exporting
from homenode.records.exporting import ExportOptions
from homenode.records.exporting.hwloc import topology
from homenode.records.importing.assemble.shape import shape_of
from homenode.records.importing.front import read_paths


@pytest.mark.parametrize("fixture", ["kept", "kept_z", "kept_hp"])
def test_a_machine_is_read_back_with_its_shape(
    fixture: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Chips, cores and threads of those that are activated, and where memory is."""
    run: Run = request.getfixturevalue(fixture)
    (path,) = exporting.export(run, "hwloc", tmp_path / "machine.xml", ExportOptions())
    facts = read_paths([path])
    assert facts.took[0].dropped == 0
    shape, machine = shape_of(facts.topologies[0]), run.spec["machine"]
    assert shape.active_cores == machine["active_cores"]
    assert shape.threads_per_core == machine["threads_per_core"]
    assert shape.cores_per_chip == min(machine["cores_per_chip"], machine["active_cores"])
    assert shape.nodes * shape.chips_per_node >= -(-shape.active_cores // shape.cores_per_chip)


def test_distances_are_latencies_relative_to_local(kept: Run) -> None:
    """10 for its own, near and far in proportion."""
    machine = {**kept.spec["machine"], "active_cores": kept.spec["machine"]["cores_per_chip"] * 8}
    tree = topology(machine, "drawer", {0: 1 << 30})
    rows = tree["distances"][0]["rows"]
    latency = machine["memory_ns"]
    near = round(10 * latency["near"] / latency["local"])
    far = round(10 * latency["far"] / latency["local"])
    assert rows[0] == [10, near, far, far, far, far, far, far]
    first = tree["root"]["children"][0]
    assert (first["subtype"], first["os_index"]) == ("Drawer", 0)
    assert first["children"][0]["children"][0]["bytes"] == 1 << 30


def test_pairs_of_nodes_are_farther_apart_by_their_own_factor() -> None:
    """Cells of a Superdome: on one crossbar or on two."""
    machine = machine_spec(catalog.machine("hp-superdome-sx2000"))
    rows = topology(machine, "cell", {})["distances"][0]["rows"]
    latency, factors = machine["memory_ns"], machine["node_distance"]
    for other in range(1, len(rows)):
        far = latency["far"] * factors[other] / latency["local"]
        assert rows[0][other] == round(10 * far)
    assert len(set(rows[0])) > 2


def test_one_level_of_a_number_is_written(kept: Run) -> None:
    """Of a region of a core and the whole of a chip, both called L3, that of the core."""
    tree = topology(kept.spec["machine"], "drawer", {})
    names = [level["name"] for level in kept.spec["machine"]["caches"]]
    assert names.count("L3") == 1
    assert "L3 chip" in names
    kinds: list[str] = []
    one = tree["root"]
    while one.get("children"):
        one = one["children"][-1]
        kinds.append(one["kind"])
    assert kinds[-5:] == ["L3", "L2", "L1", "Core", "PU"]
