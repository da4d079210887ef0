"""What empties a core's pipelines: which machines tell it, that it reaches the engine, and that
metrics and engine work out the same core part of an instruction.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from homenode.errors import MachineError
from homenode.model import catalog
from homenode.model.catalog.core import core_cycles
from homenode.model.catalog.flatten import machine_spec
from homenode.model.scenario import Scenario, load
from homenode.model.shipped import shipped_text

FAMILY = ("ibm-z10", "ibm-z196", "ibm-zec12", "ibm-z13", "ibm-z14", "ibm-z15", "ibm-z16")

SCENARIO = """\
name = "calls"

[machine]
model = "MODEL"
MORE

[[partition]]
name = "one"
processors = { mode = "dedicated", cores = 2 }
memory = "8 GiB"
guest = { os = "linux" }
workload = { kind = "loops", count = 2, endless = true, profile = "PROFILE" }
"""


def scenario(folder: Path, model: str, profile: str, more: str = "") -> Scenario:
    text = SCENARIO.replace("MODEL", model).replace("PROFILE", profile).replace("MORE", more)
    path = folder / "calls.toml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def spec_of(folder: Path, model: str, profile: str, more: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(scenario(folder, model, profile, more).spec()))
    return found


def core_ns(model: str, profile: str) -> float:
    """Core part of an instruction of a shipped profile on a shipped machine."""
    machine = machine_spec(catalog.machine(model))
    work: Any = catalog.profile(profile).spec()
    return core_cycles(work, machine) / machine["clock_hz"] * 1e9


def test_the_reference_and_machines_that_tell_nothing_ask_for_nothing(tmp_path: Path) -> None:
    for model in ("ibm-z196", "ibm-power-795", "ibm-z9"):
        spec = spec_of(tmp_path, model, "oltp")
        assert "pipeline" not in spec["machine"]
        for profile in (spec["partitions"][0]["profile"], spec["machine"]["smt"]["reference"]):
            assert not {"control_share", "branch_misses"} & set(profile)


def test_a_machine_that_tells_it_is_asked(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "ibm-zec12", "oltp")
    told = spec["machine"]["pipeline"]
    assert told["reference"] == catalog.machine("ibm-z196").pipeline.spec()
    assert told["own"]["control_cycles"] < told["reference"]["control_cycles"]
    assert spec["partitions"][0]["profile"]["branch_misses"] == 0.006
    more = '[machine.pipeline]\ncontrol_cycles = { value = 80, why = "what if" }'
    changed = spec_of(tmp_path, "ibm-z196", "oltp", more)["machine"]["pipeline"]
    assert changed["own"] == {**changed["reference"], "control_cycles": 80.0}


@pytest.mark.parametrize("profile", catalog.profiles())
def test_no_core_of_the_family_is_slower_than_its_predecessor(profile: str) -> None:
    times = [core_ns(model, profile) for model in FAMILY]
    assert times == sorted(times, reverse=True), dict(zip(FAMILY, times, strict=True))


def test_the_more_a_class_enters_the_kernel_the_more_it_gains() -> None:
    """In the order of how often they do: that, and no rate of the core, tells classes apart."""
    order = ("integer-suite", "query", "oltp", "disk-io", "file-server", "kernel-call")
    shares = [catalog.profile(name).numbers()["control_share"] for name in order]
    assert shares == sorted(shares)
    gains = [core_ns("ibm-z196", name) / core_ns("ibm-zec12", name) for name in order]
    assert gains[0] == pytest.approx(1.208 * 5.5 / 5.2)
    assert all(gain > gains[0] for gain in gains[1:])
    assert gains[-1] > 1.1 * gains[0]


@pytest.mark.parametrize("profile", ["oltp", "kernel-call", "compute"])
def test_metrics_and_engine_have_the_same_core_part(tmp_path: Path, profile: str) -> None:
    engine = pytest.importorskip("homenode._engine", reason="the engine is not built")
    spec = spec_of(tmp_path, "ibm-zec12", profile)
    machine, chips = spec["machine"], spec["machine"]["nodes"] * spec["machine"]["chips_per_node"]
    busy = json.dumps([[1.0, *[0.0] * (chips - 1)]])
    (one,) = json.loads(engine.price(json.dumps(spec), busy))["partitions"]
    cycles = core_cycles(spec["partitions"][0]["profile"], machine)
    assert math.isclose(one["books"]["useful"], cycles / machine["clock_hz"] * 1e9, rel_tol=1e-12)


def test_an_unknown_reference_is_refused_where_it_stands(tmp_path: Path) -> None:
    text = shipped_text("machines", "ibm-zec12")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('reference = "ibm-z196"', 'reference = "ibm-z195"'))
    with pytest.raises(MachineError, match="no machine is called") as refused:
        catalog.machine(path)
    assert "ibm-z196" in str(refused.value)
    path.write_text(text.replace('reference = "ibm-z196"', 'reference = "ibm-power-795"'))
    with pytest.raises(MachineError, match=r"name a machine that has a table \[pipeline\]"):
        machine_spec(catalog.machine(path))
