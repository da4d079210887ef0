"""The real lstopo and `homenode topology` see the same objects, in exported hwloc XML and in
exported trees.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Program

from homenode import Run
from homenode.cli import call
from homenode.records.exporting import ExportOptions, export

Client = Callable[[str], Program]

_OBJECT = re.compile(r"^ *(\w+?)\d*(?:\(\w+\))? (L#\d+)?(?: \((P#\d+))?")


def objects(text: str) -> Counter[tuple[str, ...]]:
    """Kind, logical and physical index of every object; of caches the kind says the level too."""
    found = [
        match.groups("")
        for line in text.splitlines()
        if (match := _OBJECT.match(line)) and "#" in line
    ]
    return Counter(found)


def compare(source: Path, client: Client, capsys: pytest.CaptureFixture[str]) -> Counter[str]:
    """Objects by kind, once both agree."""
    real = client("lstopo-no-graphics").run("-i", source, "--of", "console", "-v", "--no-io")
    capsys.readouterr()
    assert call(["topology", str(source)]) == 0
    ours = capsys.readouterr().out
    theirs = objects(real.split("depth 0:", 1)[0])
    assert objects(ours.split("depth 0:", 1)[0]) == theirs
    kinds: Counter[str] = Counter()
    for (kind, *_), count in theirs.items():
        kinds[kind] += count
    return kinds


def test_exported_hwloc_xml_of_power(
    busy: Run, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(busy, "hwloc", tmp_path / "machine.xml")
    kinds = compare(tmp_path / "machine.xml", client, capsys)
    assert (kinds["Package"], kinds["Core"], kinds["PU"]) == (2, 16, 64)


def test_exported_hwloc_xml_of_a_mainframe(
    mainframe: Run, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(mainframe, "hwloc", tmp_path / "machine.xml")
    kinds = compare(tmp_path / "machine.xml", client, capsys)
    assert (kinds["Core"], kinds["PU"]) == (22, 44)


@pytest.mark.parametrize(("partition", "cores", "threads"), [("front", 6, 12), ("back", 8, 32)])
def test_exported_tree_of_power(
    busy: Run,
    client: Client,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    partition: str,
    cores: int,
    threads: int,
) -> None:
    export(busy, "linux-power", tmp_path / "tree", ExportOptions(partition=partition))
    kinds = compare(tmp_path / "tree", client, capsys)
    assert (kinds["Core"], kinds["PU"]) == (cores, threads)


def test_exported_tree_of_a_mainframe(
    mainframe: Run, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(mainframe, "s390x", tmp_path / "tree", ExportOptions(partition="shop"))
    kinds = compare(tmp_path / "tree", client, capsys)
    assert (kinds["Core"], kinds["PU"]) == (12, 24)
