"""libvirt's own validator judges the exported domains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Program

from homenode import Run
from homenode.records.exporting import ExportOptions, export

Client = Callable[[str], Program]


def test_every_domain_of_power_is_valid(busy: Run, client: Client, tmp_path: Path) -> None:
    validate = client("virt-xml-validate")
    files = export(busy, "libvirt", tmp_path / "domains")
    assert [file.stem for file in files] == sorted(busy.partitions)
    for file in files:
        validate.run(file, "domain")


@pytest.mark.parametrize("partition", ["shop", "trial", "own"])
def test_every_domain_of_a_mainframe_is_valid(
    mainframe: Run, client: Client, tmp_path: Path, partition: str
) -> None:
    file = tmp_path / "domain.xml"
    export(mainframe, "libvirt", file, ExportOptions(partition=partition))
    client("virt-xml-validate").run(file, "domain")


def test_the_validator_can_refuse(busy: Run, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "domain.xml"
    export(busy, "libvirt", file, ExportOptions(partition="front"))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("<shares>", "<shares>many "), encoding="utf-8")
    told = client("virt-xml-validate").run(file, "domain", check=False)
    assert "fails to validate" in told
