"""`homenode partition-table`: both tables, the data, the picture, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homenode.cli import call
from homenode.errors import HomenodeError
from homenode.evidence.capability import (
    capability_table,
    default_parts,
    default_sizes,
    sizes,
    splits,
)
from homenode.report.partition_table import curve_points

Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *arguments: str) -> str:
    assert call(["partition-table", *arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def told(capsys: Capture, *arguments: str) -> Any:
    return json.loads(answer(capsys, *arguments, "--json"))


def refusal(capsys: Capture, *arguments: str) -> str:
    assert call(["partition-table", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_both_tables_as_the_source_prints_them(capsys: Capture) -> None:
    out = answer(capsys, "z14", "--processors", "64,16,32,48,80")
    rows = [line.split() for line in out.splitlines()]
    assert ["processors", "16", "32", "48", "64", "80"] in rows
    assert ["CAF", "value", "c(n)", "0.721", "0.646", "0.603", "0.578", "0.554"] in rows
    assert ["capability", "n", "x", "c(n)", "11.54", "20.67", "28.94", "36.99", "44.32"] in rows
    assert ["capability", "ratio", "1.00", "1.79", "2.51", "3.21", "3.84"] in rows
    assert ["80", "0.554", "1", "(1", "x", "80", "x", "0.554)", "=", "44.32", "+0.0", "%"] in rows
    assert ["40", "0.622", "2", "(2", "x", "40", "x", "0.622)", "=", "49.76", "+12.3", "%"] in rows
    assert ["20", "0.693", "4", "(4", "x", "20", "x", "0.693)", "=", "55.44", "+25.1", "%"] in rows
    assert ["10", "0.802", "8", "(8", "x", "10", "x", "0.802)", "=", "64.16", "+44.8", "%"] in rows
    assert "~" not in out


def test_outage_and_administration_stand_beside_capability(capsys: Capture) -> None:
    out = answer(capsys, "z14", "--processors", "80", "--parts", "1,8")
    gone = "When one of 8 partitions fails, 8.02 of 64.16 is gone; when the only one does, 44.32"
    assert gone in out
    assert "Fewer partitions are less to administer." in out
    assert "administer" not in answer(capsys, "z14", "--processors", "80", "--parts", "1")


def test_the_same_as_data(capsys: Capture) -> None:
    data = told(capsys, "z14", "--processors", "16,80", "--parts", "2,5")
    assert [one["processors"] for one in data["sizes"]] == [16, 80]
    assert data["sizes"][1]["ratio"] == pytest.approx(44.32 / 11.536)
    two, five = data["splits"]
    assert (two["partitions"], two["processors"], two["advantage_pct"]) == (2, 40, 0.0)
    assert five["total_capability"] == pytest.approx(57.68)
    assert five["advantage_pct"] == pytest.approx(100 * (57.68 / 49.76 - 1))
    assert "z/VM" in data["source"]


def test_what_lies_between_points_is_marked(capsys: Capture) -> None:
    arguments = ("z14", "--processors", "32,60", "--interpolate")
    out = answer(capsys, *arguments)
    assert "~ on the line between the table's neighbours" in out
    assert "0.584~" in out
    assert "0.646 " in out
    data = told(capsys, *arguments)
    assert [one["interpolated"] for one in data["sizes"]] == [False, True]


def test_defaults_of_a_long_table_and_of_a_short_one() -> None:
    z14, z196 = capability_table("z14"), capability_table("z196")
    assert default_sizes(z196) == [1, 2, 4, 8, 16, 32, 64]
    assert default_sizes(z14) == [2, 10, 16, 20, 32, 40, 48, 64, 80]
    assert default_parts(z196, 64) == [1, 2, 4, 8]
    assert default_parts(z196, 69) == [1]
    assert default_parts(z14, 96) == [2]
    assert default_parts(z14, 97) == [1]
    assert default_parts(z14, 12) == [1]
    assert default_parts(z14, 12, interpolate=True) == [1, 2, 4]


def test_smaller_partitions_are_never_worth_less_on_a_shipped_table() -> None:
    table = capability_table("z196")
    for total in range(1, 70):
        parts = [n for n in range(1, total + 1) if total % n == 0]
        gains = [split.advantage_pct for split in splits(table, total, parts)]
        assert gains == sorted(gains)
        assert splits(table, total, [total])[0].capability == pytest.approx(total)


def test_the_picture_is_drawn(capsys: Capture, folder: Path) -> None:
    answer(capsys, "z14", "--picture", "curve.svg")
    text = (folder / "curve.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "IBM z14 (3906-M05)" in text
    answer(capsys, "z14", "--picture", "curve.json")
    spec = json.loads((folder / "curve.json").read_text(encoding="utf-8"))
    values = curve_points(capability_table("z14"))
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["line", "point"]
    assert {"processors": 80, "capability": 80.0, "kind": "linear"} in values
    assert len([one for one in values if one["kind"] == "n x c(n)"]) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["z14", "--processors", "16,24"],
            (
                "table z14 has no factor for 24 processors: the nearest points are 20 and 32; name "
                "one of them, or ask for the line between them with --interpolate"
            ),
        ),
        (
            ["z14", "--processors", "95"],
            (
                "table z14 has no factor for 95 processors: its last point is 80; ask for 80 or "
                "fewer, or for a prediction beyond it with --interpolate"
            ),
        ),
        (
            ["z14", "--processors", "0,16"],
            "a partition of 0 processors has no capability: ask for 1 processor or more",
        ),
        (
            ["z14", "--parts", "1,3"],
            (
                "80 processors cannot be made into 3 equal partitions: possible are 1, 2, 4, 5, 8, "
                "10, 16, 20, 40, 80; leave it out of --parts, or name another --total"
            ),
        ),
        (
            ["z14", "--parts", "0"],
            (
                "80 processors cannot be made into 0 equal partitions: possible are 1, 2, 4, 5, 8, "
                "10, 16, 20, 40, 80; leave it out of --parts, or name another --total"
            ),
        ),
        (
            ["z14", "--total", "0"],
            "0 processors cannot be divided into partitions: ask for 1 to 4096 processors",
        ),
        (
            ["z14", "--processors", "16,x"],
            (
                "--processors 16,x: x is not a plain whole number: write numbers with commas, such "
                "as --processors 1,2,4"
            ),
        ),
        (
            ["z14", "--parts", ","],
            (
                "--parts ,: nothing is not a plain whole number: write numbers with commas, such "
                "as --parts 1,2,4"
            ),
        ),
        (
            ["z14", "--picture", "curve.pdf"],
            "curve.pdf: a picture ends in one of .svg, .png, .json",
        ),
    ],
)
def test_what_is_refused(arguments: list[str], message: str, capsys: Capture) -> None:
    assert refusal(capsys, *arguments) == f"homenode: {message}\n"


def test_one_processor_is_one(capsys: Capture) -> None:
    out = answer(capsys, "z14", "--processors", "1")
    assert "z14: 1 processor as one partition or several" in out
    assert refusal(capsys, "z14", "--total", "1", "--parts", "3") == (
        "homenode: 1 processor cannot be made into 3 equal partitions: possible are 1; leave it "
        "out of --parts, or name another --total\n"
    )


def test_nothing_named_is_refused() -> None:
    table = capability_table("z14")
    with pytest.raises(HomenodeError) as error:
        sizes(table, [])
    assert str(error.value) == "no sizes are named: name sizes, such as 1,2,4"
    with pytest.raises(HomenodeError) as error:
        splits(table, 80, [])
    assert str(error.value) == "no parts are named: name parts, such as 1,2,4"


def test_factors_are_predicted_for_any_machine(capsys: Capture) -> None:
    out = answer(capsys, "z14", "--predict", "--processors", "16,80", "--parts", "1,8")
    assert "ibm-z14 predicted: capability of a partition by its processors" in out
    assert "Where the time goes" in out
    assert "memory of other nodes" in out
    assert "predicted from the topology with the profile reference" in out
    assert "A factor is what this profile is predicted to reach" in out
    other = answer(capsys, "ibm-z15", "--predict", "--profile", "oltp", "--processors", "8")
    assert "with the profile oltp" in other
    assert "memory of other nodes" not in other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["z14", "--profile", "oltp"],
            (
                "--profile oltp has a meaning with --predict only: add --predict, or leave "
                "--profile out"
            ),
        ),
        (
            ["ibm-z14", "--predict", "--processors", "300"],
            (
                "a partition of 300 processors cannot be placed: the machine has 240 cores; ask "
                "for 1 to 240"
            ),
        ),
    ],
)
def test_what_a_prediction_refuses(arguments: list[str], message: str, capsys: Capture) -> None:
    assert refusal(capsys, *arguments) == f"homenode: {message}\n"


def test_beyond_the_table_it_is_told_what_the_machine_loses(capsys: Capture) -> None:
    arguments = ("z14", "--processors", "80,95", "--interpolate")
    out = answer(capsys, *arguments)
    assert "+ beyond the table" in out
    last, beyond = told(capsys, *arguments)["sizes"]
    assert [last["predicted"], beyond["predicted"]] == [False, True]
    assert last["caf"] * 0.9 < beyond["caf"] < last["caf"]
    assert "its last point is 80" in refusal(capsys, "z14", "--processors", "95")


def test_threads_of_a_core_are_for_predictions(capsys: Capture) -> None:
    of = ("ibm-power-770", "--predict", "--profile", "oltp", "--processors", "16,64")
    alone, all_four = (told(capsys, *of, "--threads", n)["sizes"] for n in ("1", "4"))
    assert all_four[1]["ratio"] > alone[1]["ratio"] > 1.0
    assert "add --predict, or leave --threads out" in refusal(capsys, "z14", "--threads", "2")
    assert "a core has 4; ask for 1 to 4" in refusal(capsys, *of, "--threads", "5")
