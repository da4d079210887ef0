"""Tables of capability factors: the shipped ones, files of one's own, texts of a machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import CapabilityError, HomenodeError, NotFoundError
from homenode.evidence.capability import capability_table, capability_tables, read_sysinfo

OWN = """\
name = "own"
title = "our machine"
source = "its own text"
scale = 1000
point = [
    { processors = 4, factor = 900 },
    { processors = 2, factor = 950 },
]
"""
SYSINFO = """\
Manufacturer:         IBM
Type:                 2817
Model:                703              M66
CPUs Total:           69
Secondary Capability: 696
Adjustment 02-way:    61900
Adjustment 03-way:    60280

LPAR Adjustment:      253
VM00 Adjustment:      187
"""


def message(name: str) -> str:
    with pytest.raises(HomenodeError) as error:
        capability_table(name)
    return str(error.value)


def test_the_shipped_tables_are_complete_and_fall() -> None:
    assert capability_tables() == ["z14", "z196"]
    z14, z196 = map(capability_table, capability_tables())
    assert list(z14.factors) == [1, 2, 10, 16, 20, 32, 40, 48, 64, 80]
    assert list(z196.factors) == list(range(1, 70))
    for table in (z14, z196):
        values = list(table.factors.values())
        assert values == sorted(values, reverse=True)
        assert values[0] == 1.0
        capabilities = [table.capability(n) for n in table.factors]
        assert capabilities == sorted(capabilities)
    assert (z14.decimals, z196.decimals) == (3, 5)


def test_values_by_hand() -> None:
    z14, z196 = capability_table("z14"), capability_table("z196")
    assert z14.capability(80) == pytest.approx(44.32)
    assert z14.capability(1) == 1.0
    assert z196.factor(2).value == 61900 / 65536
    assert z196.capability(69) == pytest.approx(69 * 36970 / 65536)
    gains = {n: z196.capability(n) - z196.capability(n - 1) for n in (16, 20)}
    assert gains[16] == pytest.approx(0.524, abs=5e-4)
    assert gains[20] == pytest.approx(0.621, abs=5e-4)


def test_a_line_between_points_is_drawn_only_if_asked_for_and_marked() -> None:
    table = capability_table("z14")
    between = table.factor(26, interpolate=True)
    assert between.value == pytest.approx((0.693 + 0.646) / 2)
    assert between.interpolated
    assert not table.factor(32, interpolate=True).interpolated
    with pytest.raises(NotFoundError) as error:
        table.factor(26)
    assert str(error.value) == (
        "table z14 has no factor for 26 processors: the nearest points are 20 and 32; "
        "name one of them, or ask for the line between them with --interpolate"
    )
    with pytest.raises(NotFoundError) as error:
        table.factor(81, interpolate=True)
    assert str(error.value) == (
        "table z14 has no factor for 81 processors: its last point is 80; ask for 80 or fewer"
    )


def test_no_processors_have_no_capability() -> None:
    with pytest.raises(HomenodeError) as error:
        capability_table("z14").capability(0)
    assert str(error.value) == (
        "a partition of 0 processors has no capability: ask for 1 processor or more"
    )


def test_a_table_of_ones_own(folder: Path) -> None:
    (folder / "own.toml").write_text(OWN, encoding="utf-8")
    table = capability_table("own.toml")
    assert (table.name, table.title, table.source) == ("own", "our machine", "its own text")
    assert dict(table.factors) == {1: 1.0, 2: 0.95, 4: 0.9}
    assert list(capability_table(folder / "own.toml").factors) == [1, 2, 4]


def test_an_unknown_table() -> None:
    assert message("z15") == (
        "no table of capability factors is called z15; did you mean z14? there are z14, z196; "
        "for one of your own name a file, such as mine.toml"
    )
    assert message("none.toml") == "there is no file none.toml; its folder holds no .toml file"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "factor = 900",
            "factor = 1001",
            (
                "own.toml:6:32: point number 1: factor = 1001: one processor alone is 1000, no "
                "factor is above it; correct the factor, or state the scale"
            ),
        ),
        (
            "processors = 4, factor = 900",
            "processors = 1, factor = 900",
            (
                "own.toml:6:32: point number 1: factor = 900: one processor alone is 1000, no "
                "factor is above it; correct the factor, or state the scale"
            ),
        ),
        (
            "processors = 2",
            "processors = 4",
            (
                "own.toml:7:20: point number 2: processors = 4: this number of processors stands "
                "there twice; leave one out"
            ),
        ),
        (
            "processors = 4",
            "processors = 0",
            "own.toml:6:20: point number 1: processors = 0: at least 1 is possible",
        ),
        (
            "factor = 900",
            'factor = "high"',
            'own.toml:6:32: point number 1: factor = "high": a number is needed here',
        ),
        (
            'source = "its own text"\n',
            "",
            "own.toml:1:1: source is missing: document that publishes it",
        ),
        (
            "scale",
            "scales",
            'own.toml:4:1: unknown key "scales": did you mean scale?',
        ),
        (
            "point = [",
            "point = ",
            (
                "own.toml:5:9: this is not valid TOML, invalid value: `point =`; text values stand "
                'in double quotes, as in memory = "40 GiB"; tables in brackets, as in [run]'
            ),
        ),
    ],
)
def test_a_broken_file(old: str, new: str, told: str, folder: Path) -> None:
    (folder / "own.toml").write_text(OWN.replace(old, new, 1), encoding="utf-8")
    assert message("own.toml") == told


def test_what_a_machine_tells_of_itself(folder: Path) -> None:
    title, factors = read_sysinfo(SYSINFO, "sysinfo")
    assert title == "IBM 2817 M66"
    assert factors == {1: 1.0, 2: 61900 / 65536, 3: 60280 / 65536}
    (folder / "sysinfo.txt").write_text(SYSINFO, encoding="utf-8")
    table = capability_table("sysinfo.txt")
    assert (table.name, table.source) == ("sysinfo.txt", "sysinfo.txt, lines Adjustment")
    shipped = capability_table("z196")
    assert all(table.factors[n] == shipped.factors[n] for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "61900",
            "70000",
            (
                "s:6: `Adjustment 02-way: 70000` is no factor: it must read `Adjustment 02-way: "
                "61900`, with 1 to 65536 at the end; take the text as the machine prints it"
            ),
        ),
        (
            "02-way",
            "two-way",
            (
                "s:6: `Adjustment two-way: 61900` is no factor: it must read `Adjustment 02-way: "
                "61900`, with 1 to 65536 at the end; take the text as the machine prints it"
            ),
        ),
        (
            "03-way",
            "02-way",
            "s:7: the factor of 2 processors stands there twice: leave one out",
        ),
        (
            "\nAdjustment",
            "\n  Adjustment",
            (
                "s: no line begins with Adjustment: name the text of a /proc/sysinfo of Linux on "
                "IBM Z, or a table ending in .toml"
            ),
        ),
    ],
)
def test_a_broken_text_of_a_machine(old: str, new: str, told: str) -> None:
    count = 2 if old == "\nAdjustment" else 1
    with pytest.raises(CapabilityError) as error:
        read_sysinfo(SYSINFO.replace(old, new, count), "s")
    assert str(error.value) == told
