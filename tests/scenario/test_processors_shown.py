"""Limits and numbers of logical processors as the commands show them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homenode.cli import call
from homenode.report.processors import in_short

FOLDER = Path(__file__).parent
Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *arguments: str) -> str:
    assert call(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def limits_of(capsys: Capture, machine: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    rows = json.loads(answer(capsys, "machines", machine, "--json"))["zvm_limits"]
    return {(row["mode"], row["core_types"], row["smt"]): row for row in rows}


def test_the_limits_of_a_machine(capsys: Capture) -> None:
    found = limits_of(capsys, "ibm-z14")
    assert len(found) == 12
    assert found["linux-only", "all IFLs", "smt-1"] == {
        "mode": "linux-only",
        "core_types": "all IFLs",
        "smt": "smt-1",
        "available": True,
        "logical_cores": 40,
        "logical_processors": 40,
        "last_number": "x'4E'",
        "even_numbers_only": True,
    }
    assert found["z/vm", "mixed CPs and other types", "smt-2"]["logical_processors"] is None
    assert found["general", "any supported", "smt-2"]["available"] is False
    assert "x'00' to x'4F'" in answer(capsys, "machines", "ibm-z14")


def test_a_machine_without_threads_offers_no_multithreading(capsys: Capture) -> None:
    found = limits_of(capsys, "ibm-z196")
    assert {row["smt"] for row in found.values() if row["available"]} == {"off"}
    assert found["linux-only", "all IFLs", "off"]["logical_processors"] == 64


def test_other_machines_have_no_such_limits(capsys: Capture) -> None:
    assert "zvm_limits" not in json.loads(answer(capsys, "machines", "ibm-power-795", "--json"))


def test_processors_of_a_layout(capsys: Capture, tmp_path: Path) -> None:
    text = (FOLDER / "zvm.toml").read_text(encoding="utf-8")
    file = tmp_path / "two.toml"
    file.write_text(text.replace('smt = "off"', 'smt = "smt-2"'), encoding="utf-8")
    rows = json.loads(answer(capsys, "processors", str(file), "--json"))
    assert len(rows) == 18
    assert rows[15] == {
        "partition": "big",
        "mode": "linux-only",
        "core": 15,
        "type": "ifl",
        "processors": ["x'1E'", "x'1F'"],
        "physical_core": 15,
    }
    assert rows[16]["partition"] == "small"
    assert rows[16]["processors"] is None
    assert "x'00' to x'1F'" in answer(capsys, "processors", str(file))


def test_two_threads_beside_one_are_numbered_but_not_simulated(
    capsys: Capture, tmp_path: Path
) -> None:
    text = (FOLDER / "zvm.toml").read_text(encoding="utf-8")
    types = text.replace('cores = 16, type = "ifl"', "types = { ifl = 3, cp = 2, ziip = 1 }")
    assert types != text
    types = types.replace(
        "[machine]\n", "[machine]\ncharacterized = { cp = 2, ifl = 7, ziip = 1 }\n"
    )
    file = tmp_path / "mixed.toml"
    file.write_text(types.replace('smt = "off"', 'smt = "smt-2"'), encoding="utf-8")
    rows = json.loads(answer(capsys, "processors", str(file), "--json"))
    # Core n has the numbers 2n and 2n+1; the second is there only where the core is an IFL.
    assert [row["processors"] for row in rows if row["partition"] == "big"] == [
        ["x'00'", "x'01'"],
        ["x'02'", "x'03'"],
        ["x'04'", "x'05'"],
        ["x'06'"],
        ["x'08'"],
        ["x'0A'"],
    ]
    # No run ends between two threads of a core, nor goes on from one into cores with one thread.
    assert "x'00' to x'05', x'06' to x'0A' by 2" in answer(capsys, "processors", str(file))
    assert call(["run", str(file)]) == 2
    assert "CPs would have one thread beside IFLs with two" in capsys.readouterr().err


def test_entitlements_of_a_layout(capsys: Capture) -> None:
    shown = answer(capsys, "processors", str(FOLDER / "prsm.toml"))
    line = next(line for line in shown.splitlines() if line.startswith("shop"))
    assert line.split() == ["shop", "linux-only", "12", "ifl", "shared", "9.60", "horizontal"]


def test_vertical_polarization_in_short(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fake_engine

    monkeypatch.setattr("homenode.simulate.engine.load_engine", lambda: fake_engine)
    text = (FOLDER / "prsm.toml").read_text(encoding="utf-8")
    file = tmp_path / "vertical.toml"
    file.write_text(
        text.replace("weight = 600", 'weight = 600, polarization = "vertical"'), encoding="utf-8"
    )
    shown = answer(capsys, "processors", str(file))
    line = next(line for line in shown.splitlines() if line.startswith("shop"))
    assert "9.60  9 VH, 1 VM, 2 VL" in line
    dedicated = answer(capsys, "processors", str(FOLDER / "zvm.toml"))
    assert "16.00  16 VH" in dedicated


SHARED = """\
[machine]
model = "ibm-z14"
characterized = {{ {kind} = {shared} }}

[[partition]]
name = "one"
processors = {{ mode = "shared", type = "{kind}", virtual = {logical}, weight = {weight}{more} }}
memory = "16 GiB"
guest = {{ os = "linux" }}
workload = {{ kind = "idle", profile = "oltp" }}

[[partition]]
name = "others"
processors = {{ mode = "shared", type = "{kind}", virtual = {shared}, weight = {rest} }}
memory = "16 GiB"
guest = {{ os = "linux" }}
workload = {{ kind = "idle", profile = "oltp" }}

[run]
warmup = "1 s"
duration = "1 s"
"""


@pytest.mark.parametrize(
    ("shared", "weight", "logical", "shown"),
    [
        (32, 260, 12, "8.32  7 VH, 2 VM, 3 VL"),
        (10, 300, 4, "3.00  3 VH, 1 VL"),
        (10, 270, 4, "2.70  2 VH, 1 VM, 1 VL"),
        (2, 568, 2, "1.14  2 VM"),
        (20, 20, 18, "0.40  1 VM, 17 VL"),
    ],
)
def test_published_splits_of_an_entitlement(
    shared: int, weight: int, logical: int, shown: str, capsys: Capture, tmp_path: Path
) -> None:
    """As IBM and others print them: 26 % of 32 cores, 30 and 27 % of ten, two with 56.8 % each, and
    less than one.
    """
    numbers = {"kind": "ifl", "shared": shared, "logical": logical, "weight": weight}
    vertical = SHARED.format(**numbers, rest=1000 - weight, more=', polarization = "vertical"')
    (tmp_path / "vertical.toml").write_text(vertical, encoding="utf-8")
    assert shown in answer(capsys, "processors", str(tmp_path / "vertical.toml"))
    horizontal = SHARED.format(**numbers, rest=1000 - weight, more="")
    (tmp_path / "horizontal.toml").write_text(horizontal, encoding="utf-8")
    entitled = shown.split(maxsplit=1)[0]
    assert f"{entitled}  horizontal" in answer(
        capsys, "processors", str(tmp_path / "horizontal.toml")
    )


def test_a_machine_without_such_numbers_says_so(capsys: Capture) -> None:
    assert call(["processors", str(FOLDER / "base.toml")]) == 2
    assert "IBM Power 795 (9119-FHB) is no mainframe" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([5], "x'05'"),
        ([0, 1], "x'00', x'01'"),
        ([0, 1, 2], "x'00' to x'02'"),
        ([0, 2, 4, 78], "x'00' to x'04' by 2, x'4E'"),
        ([0, 2, 3, 4, 6, 7], "x'00', x'02' to x'04', x'06', x'07'"),
    ],
)
def test_numbers_in_short(numbers: list[int], text: str) -> None:
    assert in_short(numbers) == text
