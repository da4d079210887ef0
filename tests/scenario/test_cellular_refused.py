"""What only machines of cells have, elsewhere; and memory policies that do not fit."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from homenode import Scenario, ScenarioError
from homenode.errors import MachineError
from homenode.model.catalog import machine

CELLS = Path(__file__).with_name("cells.toml").read_text(encoding="utf-8")
WITHOUT = re.sub(r"\[\[npartition\]\].*?(?=\[\[partition)", "", CELLS, flags=re.DOTALL)


def test_a_machine_of_cells_needs_npartitions() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(WITHOUT, "s.toml")
    assert str(caught.value) == (
        "s.toml:1:1: npartition is missing: HP Integrity rx8640 is divided into nPartitions, groups"
        ' of cells; write [[npartition]] with name = "npar0", cells = ["cell0"], memory = "32 GiB"'
    )


def test_what_only_cells_have_is_refused_elsewhere() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(WITHOUT.replace("hp-rx8640", "ibm-power-795"), "s.toml")
    title = "IBM Power 795 (9119-FHB) is not made of cells"
    place = f'{title}; write home = "book0" for the place'
    bounds = "{ cores = ... } beside processors"
    assert [str(problem) for problem in caught.value.problems[1:8]] == [
        f"s.toml:9:55: partition shop: processors.cells = {{ cell1 = 6 }}: {place}",
        f's.toml:9:78: partition shop: processors.paths = ["0.11"]: {place}',
        f's.toml:10:6: partition shop: io = "cell1": {title}; leave io out',
        f's.toml:17:14: partition books: npartition = "npar0": {title}; leave npartition out',
        f"s.toml:18:57: partition books: processors.minimum = 1: {title}; write minimum = {bounds}",
        f"s.toml:18:70: partition books: processors.maximum = 4: {title}; write maximum = {bounds}",
        f's.toml:25:14: partition alone: npartition = "npar1": {title}; leave npartition out',
    ]


def test_floating_memory_is_refused_elsewhere(base: str) -> None:
    floating = 'memory = [{ size = "16 GiB", use = "floating" }]'
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(base.replace('memory = "16 GiB"', floating), "s.toml")
    assert str(caught.value) == (
        's.toml:10:36: partition web: memory[0].use = "floating": IBM Power 795 (9119-FHB) is not'
        ' made of cells; leave out use = "floating"'
    )


def test_strict_memory_must_fit_on_other_machines_too(base: str) -> None:
    strict = 'guest = { throughput_mode = 2, memory_policy = "strict" }'
    text = base.replace("guest = { throughput_mode = 2 }", strict)
    assert Scenario.from_toml(text).spec()["partitions"][0]["memory_policy"] == "strict"
    parts = '[{ size = "4 GiB", on = "book1.chip0" }, { size = "12 GiB", on = "book1.chip1" }]'
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(text.replace('"16 GiB"', parts, 1), "s.toml")
    assert str(caught.value) == (
        's.toml:12:48: partition web: guest.memory_policy = "strict": threads on chip6 allocate 4'
        " GiB there, web has 0 GiB on chip6 alone; give it more there, lower memory_used, or write"
        ' memory_policy = "local-first"'
    )


def test_cells_have_memory_beside_them_and_granules_are_powers_of_two(tmp_path: Path) -> None:
    shipped = resources.files("homenode") / "data" / "machines" / "hp-rx7640.toml"
    text = shipped.read_text(encoding="utf-8")
    beside = tmp_path / "mine.toml"
    beside.write_text(text.replace('beside = "node"', 'beside = "chip"'), encoding="utf-8")
    with pytest.raises(MachineError) as caught:
        machine(beside)
    line = text[: text.index("[platform]")].count("\n") + 1
    assert str(caught.value) == (
        f"{beside}:{line}:2: platform: no cells without memory beside them: memory.beside is"
        ' "chip"; write beside = "node" in [memory], or leave [platform] out'
    )
    odd = tmp_path / "odd.toml"
    odd.write_text(text.replace('"128 MiB", source', '"96 MiB", source'), encoding="utf-8")
    with pytest.raises(MachineError, match=r"granule_default = .*: a granule is a power of two"):
        machine(odd)
