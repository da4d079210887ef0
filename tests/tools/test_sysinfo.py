"""/proc/sysinfo: the kernel's lines, and factors that are read back as they were."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

import frames
import z_frames as z
from homenode.cli import call
from homenode.errors import NotFoundError
from homenode.evidence.capability import capability_table
from homenode.model.catalog.capability_factors import read_sysinfo
from homenode.simulate.runner import run_scenario
from homenode.tools.guestview import GuestView, view_of
from homenode.tools.sysinfo import sysinfo

LINE = re.compile(r"(?:[A-Z][A-Za-z0-9 .-]{1,20}: .*)?")


def view_on(generation: str, model: str, cores: int) -> GuestView:
    spec = z.frame(z.partition(), {**frames.partition("other", 1), "smt": 2})
    spec["machine"] |= {"generation": generation, "active_cores": cores, "nodes": 9}
    spec["partitions"][1]["processors"] |= {"capped": True, "entitlement": cores / 8}
    view = view_of(run_scenario(frames.Frozen(spec)))
    return dataclasses.replace(view, model=model)


@pytest.fixture
def z14(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> GuestView:
    monkeypatch.chdir(tmp_path)
    z.install(monkeypatch)
    return view_on("z14", "3906-M05", 144)


def test_the_lines_are_the_kernels(z14: GuestView) -> None:
    text = sysinfo(z14, "zvm", "server01").text()
    assert text.startswith("Manufacturer:         IBM             \nType:                 3906\n")
    for line in (
        "Model:                                 M05             ",
        "CPU Topology HW:      0 0 0 9 4 4",
        "CPUs Total:           144",
        "Adjustment 02-way:    61669",
        "LPAR Characteristics: Dedicated ",
        "LPAR Name:            ZVM     ",
        "LPAR Adjustment:      111",
        "LPAR CPUs Dedicated:  16",
        "VM00 Name:            SERVER01",
        "VM00 Control Program: z/VM            ",
        "VM00 CPUs Total:      1",
    ):
        assert f"\n{line}\n" in text, line
    assert all(LINE.fullmatch(line) for line in text.splitlines())


def test_a_capped_shared_partition_says_so(z14: GuestView) -> None:
    told = sysinfo(z14, "other").as_json()
    assert told["LPAR Characteristics"] == "Shared Limited"
    assert (told["LPAR CPUs Shared"], told["LPAR CPUs Dedicated"]) == ("16", "0")
    assert told["LPAR Adjustment"] == "125"
    assert told["LPAR CPUs PS-MTID"] == "1"
    assert not any(name.startswith("VM00") for name in told)


@pytest.mark.parametrize(("generation", "model"), [("z14", "3906-M05"), ("z196", "2817-M66")])
def test_factors_are_read_back_as_they_were(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, generation: str, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    z.install(monkeypatch)
    title, factors = read_sysinfo(sysinfo(view_on(generation, model, 144), "zvm").text(), "text")
    shipped = capability_table(generation).factors
    assert title.endswith(model[-3:])
    assert list(factors) == list(shipped)
    # A factor is told in 65536ths; published decimals are coarser.
    assert factors == pytest.approx(shipped, abs=0.5 / 65536)
    if generation == "z196":
        assert factors == shipped


def test_no_more_factors_than_processors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    z.install(monkeypatch)
    text = sysinfo(view_on("z196", "2817-M66", 20), "zvm").text()
    assert "Adjustment 20-way:" in text
    assert "Adjustment 21-way:" not in text


def test_a_machine_without_a_table_has_no_such_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    z.install(monkeypatch)
    assert "Adjustment 02" not in sysinfo(view_on("z15", "8561-T01", 144), "zvm").text()


def test_a_virtual_machine_that_is_not_there(z14: GuestView) -> None:
    with pytest.raises(NotFoundError, match="no virtual machine SERVER99; did you mean SERVER"):
        sysinfo(z14, "zvm", "SERVER99")


def test_from_the_command_line(z14: GuestView, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["sysinfo", "-p", "zvm", "-g", "CLIENT01"]) == 0
    assert "VM00 CPUs Total:      4\n" in capsys.readouterr().out
    assert call(["sysinfo", "-p", "zvm", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["LPAR Name"] == "ZVM"
    assert call(["sysinfo"]) == 2
    assert "write -p zvm" in capsys.readouterr().err
