"""njmon: JSON lines with the figures of lparstat, under the names that njmon has for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homenode import Run, tools
from homenode.records import exporting
from homenode.records.exporting import ExportOptions

HALF = 0.0005 + 1e-9


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def folder(kept: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("njmon") / "files"
    exporting.export(kept, "njmon", target)
    return target


def test_snapshots_are_those_of_lparstat(folder: Path, kept: Run) -> None:
    view = tools.KeptRunView.of(kept)
    for name in ("shop", "database", "night"):
        shown = tools.rows("lparstat", view, ["-p", name, "1", "4"])
        found = lines(folder / f"{name}.njmon.json")
        assert len(found) == len(shown) == 4
        for snapshot, told in zip(found, shown, strict=True):
            util = snapshot["cpu_util"]
            for ours, theirs in (
                ("user_pct", "%user"),
                ("kern_pct", "%sys"),
                ("idle_pct", "%idle"),
            ):
                assert util[ours] == pytest.approx(told[theirs], abs=HALF)
            if name != "database":
                assert util["physical_consumed"] == pytest.approx(told["physc"], abs=HALF)
                assert util["entitlement_pct"] == pytest.approx(told["%entc"], abs=HALF)


def test_physical_time_adds_up_to_what_was_consumed(folder: Path) -> None:
    for snapshot in lines(folder / "shop.njmon.json"):
        assert sum(snapshot["cpu_physical_total"].values()) == pytest.approx(100, abs=4 * HALF)
        cores = sum(sum(cpu.values()) for cpu in snapshot["cpu_physical"].values()) / 100
        physc = snapshot["cpu_util"]["physical_consumed"]
        assert cores == pytest.approx(physc, abs=16 * 4 * HALF / 100 + HALF)
        for cpu in snapshot["cpu_logical"].values():
            assert sum(cpu.values()) == pytest.approx(100, abs=4 * HALF)


def test_configuration_is_told_in_every_snapshot(folder: Path) -> None:
    for snapshot in lines(folder / "shop.njmon.json"):
        config = snapshot["config"]
        assert config["entitled_proc_capacity"] == 1.3
        assert (config["vcpus_online"], config["lcpus"], config["smtthreads"]) == (4, 16, 4)
        assert config["mem_online"] == 16_384
        assert snapshot["partition_type"]["capped"] == 0
        assert snapshot["partition_type"]["shared_enabled"] == 1
        assert snapshot["identity"]["hostname"] == "shop.example"
        assert snapshot["server"]["machine_type"] == "IBM,9117-MMC"
        assert snapshot["processor_pool"]["entitled_capacity"] == 2, "of 2.8, cut off"
    (first, *_) = lines(folder / "night.njmon.json")
    assert first["partition_type"]["capped"] == 1
    (first, *_) = lines(folder / "database.njmon.json")
    assert first["partition_type"]["shared_enabled"] == 0
    assert first["partition_type"]["donate_enabled"] == 1
    assert "processor_pool" not in first


def test_switches_are_of_virtual_processors(folder: Path, kept: Run) -> None:
    """As lparstat adds them up."""
    shown = tools.rows("lparstat", tools.KeptRunView.of(kept), ["-p", "shop", "1", "4"])
    for snapshot, told in zip(lines(folder / "shop.njmon.json"), shown, strict=True):
        kind = snapshot["partition_type"]
        both = kind["vol_virt_cswitch"] + kind["invol_virt_cswitch"]
        assert both == pytest.approx(told["vcsw"], abs=2 * HALF)
        assert kind["invol_virt_cswitch"] > 0


def test_linux_has_its_own_sections(folder: Path) -> None:
    for snapshot in lines(folder / "web.njmon.json"):
        assert sum(snapshot["cpu_total"].values()) == pytest.approx(100, abs=5 * HALF)
        assert len(snapshot["cpus"]) == len(snapshot["cpuinfo"]) == 8
        assert "cpu_util" not in snapshot
        assert snapshot["ppc64_lparcfg"]["partition_entitled_capacity"] == 100
        assert 0 < snapshot["ppc64_lparcfg"]["physical_consumed"] < 2


def test_times_are_the_ends_of_the_samples(kept: Run, tmp_path: Path) -> None:
    options = ExportOptions(partition="shop", interval_ns=2_000_000_000)
    (path,) = exporting.export(kept, "njmon", tmp_path / "x", options)
    stamps = [snapshot["timestamp"] for snapshot in lines(path)]
    assert [stamp["UTC"] for stamp in stamps] == ["2000-01-01T00:00:02", "2000-01-01T00:00:04"]
    assert [stamp["snapshot_seconds"] for stamp in stamps] == [2, 2]
