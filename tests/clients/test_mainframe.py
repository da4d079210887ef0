"""The real lscpu and lstopo read the exported tree of IBM Z."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Program

from homenode import Run
from homenode.records.exporting import ExportOptions, export
from homenode.simulate.engine import load_engine

Client = Callable[[str], Program]


@pytest.fixture
def shop(mainframe: Run, tmp_path: Path) -> Path:
    target = tmp_path / "shop"
    export(mainframe, "s390x", target, ExportOptions(partition="shop"))
    return target


def test_lscpu_sees_the_partition(shop: Path, client: Client) -> None:
    text = client("lscpu").run("--sysroot", shop)
    told = {
        name.strip(): value.strip()
        for name, value in (line.split(":", 1) for line in text.splitlines() if ":" in line)
    }
    assert told["CPU(s)"] == "24"
    assert told["Machine type"] == "3906"
    assert told["Thread(s) per core"] == "2"
    assert told["Core(s) per socket"] == "10"
    assert told["Socket(s) per book"] == "6"
    assert told["Book(s) per drawer"] == "1"
    assert told["Drawer(s)"] == "4"
    assert told["Dispatching mode"] == "vertical"
    assert told["Hypervisor"] == "PR/SM"
    assert told["CPU dynamic MHz"] == "5200"


def test_lscpu_sees_each_polarization(mainframe: Run, shop: Path, client: Client) -> None:
    table = json.loads(client("lscpu").run("--sysroot", shop, "-e", "-J"))["cpus"]
    processors = mainframe.partition_spec("shop")["processors"]
    split = load_engine().polarize(processors["entitlement"], processors["virtual"])
    words = ("vert-high", "vert-medium", "vert-low")
    expected = {word: 2 * cores for word, cores in zip(words, split, strict=False) if cores}
    assert Counter(row["polarization"] for row in table) == expected
    assert [row["core"] for row in table] == [cpu // 2 for cpu in range(24)]
    assert {"drawer", "book", "socket"} <= set(table[0])


def test_lstopo_sees_the_partition(shop: Path, client: Client) -> None:
    told = client("lstopo-no-graphics").run("-i", shop, "--of", "console", "--no-io")
    assert told.startswith("Machine (128GB total)")
    assert len(re.findall(r"\bCore L#", told)) == 12
    assert len(re.findall(r"\bPU L#", told)) == 24


def test_lstopo_sees_dedicated_cores(mainframe: Run, client: Client, tmp_path: Path) -> None:
    export(mainframe, "s390x", tmp_path / "own", ExportOptions(partition="own"))
    told = client("lstopo-no-graphics").run("-i", tmp_path / "own", "--of", "console", "--no-io")
    assert told.startswith("Machine (32GB total)")
    assert len(re.findall(r"\bCore L#", told)) == 4


def test_lscpu_sees_horizontal_dispatching(mainframe: Run, client: Client, tmp_path: Path) -> None:
    export(mainframe, "s390x", tmp_path / "trial", ExportOptions(partition="trial"))
    told = client("lscpu").run("--sysroot", tmp_path / "trial", "-e=CPU,DRAWER,BOOK,POLARIZATION")
    rows = [line.split() for line in told.splitlines()[1:]]
    assert len(rows) == 16
    assert {row[-1] for row in rows} == {"horizontal"}
