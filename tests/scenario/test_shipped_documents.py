"""Shipped descriptions are read once a process: what is made of them leaves them as they are."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from homenode import load_scenario
from homenode.model.catalog.control_program import control_program_document
from homenode.model.catalog.names import machine_document
from homenode.records.importing.assemble.machine_file import _shipped

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.toml"))


def on_disk(name: str) -> object:
    return tomllib.loads((resources.files("homenode") / "data" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_scenario_changes_no_shipped_machine(path: Path) -> None:
    model = tomllib.loads(path.read_text(encoding="utf-8"))["machine"].get("model")
    for _ in range(2):
        load_scenario(path).spec()
    if model is None:
        pytest.skip("it has a machine of its own")
    assert machine_document(model).data == on_disk(f"machines/{model}.toml")
    assert control_program_document().data == on_disk("control_programs/zvm.toml")


def test_assumptions_made_of_a_machine_are_copies() -> None:
    made = _shipped("ibm-power-770")
    made.figures.clear()
    for cache in made.caches:
        cache.clear()
    assert machine_document("ibm-power-770").data == on_disk("machines/ibm-power-770.toml")
    assert _shipped("ibm-power-770").figures
