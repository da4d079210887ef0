"""Walks through memory on the shipped machines: residency, values computed by hand, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.cli import call
from homenode.errors import HomenodeError, MachineError, NotFoundError
from homenode.evidence.compare.walk import (
    PATTERNS,
    check_pattern,
    check_walk,
    gain_pct,
    parse_size,
    powers_of_two,
    walk,
    walk_bytes,
    walk_case,
    walk_machine,
)
from homenode.model import catalog

KIB, MIB = 1 << 10, 1 << 20
MAINFRAMES = ("ibm-z10", "ibm-z196", "ibm-zec12", "ibm-z13", "ibm-z14", "ibm-z15")
Z196, ZEC12 = "ibm-z196", "ibm-zec12"


def cycles(machine: str, pattern: str, size: int) -> float:
    """Cycles of a line."""
    described = catalog.machine(machine)
    return walk(described, pattern, size).line_ns * described.clock.value / 1e9


def gain(pattern: str, size: int) -> float:
    """What the page's example computes: the zEC12 over the z196 [%]."""
    base, other = (walk(catalog.machine(name), pattern, size) for name in (Z196, ZEC12))
    return gain_pct(other, base)


def test_the_example_of_the_page() -> None:
    """Every number of the example in docs/background/memory-walk.md, in its order."""
    assert cycles(ZEC12, "read", 32 * MIB) == pytest.approx(42 + 256 / 8)
    assert cycles(Z196, "read", 32 * MIB) == pytest.approx(100 + 256 / (22.4 / 5.2))
    assert gain("read", 32 * MIB) == pytest.approx(127.9, abs=0.05)
    assert gain("read", 32 * KIB) == pytest.approx(100 * (5.5 / 5.2 - 1))
    assert cycles(ZEC12, "partial-write", 32 * KIB) == pytest.approx(2 * (2 + 128 / 16))
    assert cycles(Z196, "partial-write", 32 * KIB) == pytest.approx(16 * 1.857)
    line, given_back = 100 + 256 / (22.4 / 5.2), 256 / (24 / 5.2)
    assert cycles(Z196, "partial-write", 32 * MIB) == pytest.approx(16 * 1.857 + line + given_back)
    assert cycles(ZEC12, "partial-write", 32 * MIB) == pytest.approx(20 + 74)
    page = Path(__file__).parents[2] / "docs" / "background" / "memory-walk.md"
    text = page.read_text(encoding="utf-8")
    for number in ("74", "159.4", "127.9 %", "244.6", "20 + 74 = 94"):
        assert number in text


@pytest.mark.parametrize(
    ("size", "on_z196", "on_zec12"),
    [
        (96 * KIB, "L1", "L1"),
        (128 * KIB, "L1", "L2"),
        (128 * KIB + 1, "L2", "L2"),
        (MIB, "L2", "L2"),
        (1536 * KIB, "L2", "L3"),
        (24 * MIB, "L3", "L3"),
        (24 * MIB + 1, "L4", "L3"),
        (48 * MIB, "L4", "L3"),
        (48 * MIB + 1, "L4", "L4"),
        (192 * MIB + 1, "memory", "L4"),
        (384 * MIB + 1, "memory", "memory"),
    ],
)
def test_a_buffer_changes_its_level_with_the_machine(
    size: int, on_z196: str, on_zec12: str
) -> None:
    assert walk(catalog.machine(Z196), "read", size).level == on_z196
    assert walk(catalog.machine(ZEC12), "read", size).level == on_zec12


def test_a_copy_has_two_buffers() -> None:
    machine = catalog.machine(ZEC12)
    assert walk(machine, "copy", 24 * MIB).level == "L3"
    assert walk(machine, "copy", 24 * MIB + 1).level == "L4"
    assert walk(machine, "copy", 24 * MIB).footprint_bytes == 48 * MIB
    assert walk(machine, "file-read", MIB).footprint_bytes == MIB + 64 * KIB


@pytest.mark.parametrize("name", MAINFRAMES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_time_never_falls_as_the_buffer_grows(name: str, pattern: str) -> None:
    machine = catalog.machine(name)
    walked = [walk(machine, pattern, size) for size in powers_of_two(KIB, 4 << 30)]
    times = [one.line_ns for one in walked]
    assert times == sorted(times)
    assert times[-1] > times[0]
    for one in walked:
        assert sum(one.parts.values()) == pytest.approx(one.line_ns)
        assert one.units_per_s == pytest.approx(256e9 / one.line_ns)


@pytest.mark.parametrize("name", MAINFRAMES)
def test_figures_of_a_machine_reach_the_walk(name: str) -> None:
    machine = catalog.machine(name)
    hierarchy = walk_machine(machine)
    json.dumps(hierarchy)
    assert [level["bytes"] for level in hierarchy["caches"]] == [
        level.size.value for level in machine.cache
    ]
    before = walk_bytes(hierarchy, "read", 4 << 30)
    hierarchy["memory_latency_ns"] *= 2
    assert walk_bytes(hierarchy, "read", 4 << 30).line_ns > before.line_ns
    assert walk(machine, "read", 4 << 30).line_ns == before.line_ns


def test_stores_that_are_gathered_go_faster() -> None:
    hierarchy = walk_machine(catalog.machine(ZEC12))
    gathered = walk_bytes(hierarchy, "write", 32 * KIB)
    hierarchy["streams"]["gather_bytes"] = None
    assert walk_bytes(hierarchy, "write", 32 * KIB).line_ns == pytest.approx(2 * gathered.line_ns)


def test_a_case_of_a_suite() -> None:
    hierarchy = walk_machine(catalog.machine(Z196))
    walked = walk_case(hierarchy, {"pattern": "read", "buffer": "32 MiB"})
    assert walked == walk(catalog.machine(Z196), "read", 32 * MIB)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"pattern": "reed", "buffer": "1 MiB"}, 'no pattern of access is called "reed"'),
        ({"pattern": "reed", "buffer": "1 MiB"}, "did you mean read?"),
        ({"pattern": 3, "buffer": "1 MiB"}, 'called "3"'),
        ({"pattern": "read"}, "a walk needs a buffer"),
        ({"buffer": "1 MiB"}, "a walk needs a pattern"),
        ({"pattern": "read", "buffer": "1 MB"}, "write MiB (2^20 bytes)"),
        ({"pattern": "read", "buffer": 4096}, "4096 has no unit"),
        ({"pattern": "read", "buffer": "0.3 B"}, "not a whole number of bytes"),
        ({"pattern": "read", "buffer": "0 B"}, "give 1 B to 4 TiB"),
        ({"pattern": "read", "buffer": "5 TiB"}, "give 1 B to 4 TiB"),
        ({"pattern": "read", "bufer": "1 MiB"}, "a walk has no bufer"),
    ],
)
def test_what_is_no_walk_is_refused(table: dict[str, object], words: str) -> None:
    with pytest.raises(HomenodeError) as caught:
        check_walk(table)
    assert words in str(caught.value)


def test_what_there_is_is_listed_once() -> None:
    with pytest.raises(NotFoundError) as no_pattern:
        check_pattern("")
    with pytest.raises(NotFoundError) as no_machine:
        catalog.machine("xyz")
    for caught in (no_pattern, no_machine):
        assert str(caught.value).count("there are") == 1


def test_a_machine_that_says_nothing_about_streaming_is_refused() -> None:
    with pytest.raises(MachineError, match=r"hp-rx8640 has no \[streams\] table.*ibm-z196"):
        walk_machine(catalog.machine("hp-rx8640"))


def test_figures_that_cannot_be_are_refused() -> None:
    hierarchy = walk_machine(catalog.machine(ZEC12))
    hierarchy["memory_latency_ns"] = 1.0
    with pytest.raises(MachineError, match="memory lies outside L4 but is faster"):
        walk_bytes(hierarchy, "read", MIB)
    with pytest.raises(NotFoundError):
        walk_bytes(hierarchy, "stride", MIB)


def test_a_file_names_levels_that_are_there(tmp_path: Path) -> None:
    from homenode.model.catalog.names import machine_document

    text = machine_document(ZEC12).text
    own = tmp_path / "own.toml"
    own.write_text(text.replace('[[streams.link]]\nname = "L2"', '[[streams.link]]\nname = "L9"'))
    with pytest.raises(MachineError, match="there is no cache L9") as caught:
        catalog.machine(own)
    assert caught.value.where is not None
    own.write_text(text.replace('store_in = { value = "L3"', 'store_in = { value = "L5"'))
    with pytest.raises(MachineError, match="there is no cache L5"):
        catalog.machine(own)


@pytest.mark.parametrize("name", MAINFRAMES)
def test_mainframes_are_described_whole(name: str) -> None:
    machine = catalog.machine(name)
    assert machine.hypervisor.policy == "prsm"
    assert machine.accounting.value == "elapsed"
    assert machine.memory.beside == "node"
    assert machine.rni is not None
    assert machine.line.value == 256
    assert all(level.ways is not None for level in machine.cache)
    assert machine.cache[-1].scope == "node"
    assert (machine.smt.gain.value == [1, 1.3]) == (name in ("ibm-z13", "ibm-z14", "ibm-z15"))


def test_sizes_of_data_halves_are_those_the_machine_tells() -> None:
    """As the instruction ECAG reports them on the machines (README of the machines)."""
    sizes = {
        name: [level.size.value // KIB for level in catalog.machine(name).cache]
        for name in MAINFRAMES
    }
    assert sizes == {
        "ibm-z10": [128, 3 * KIB, 48 * KIB],
        "ibm-z196": [128, 1536, 24 * KIB, 192 * KIB],
        "ibm-zec12": [96, KIB, 48 * KIB, 384 * KIB],
        "ibm-z13": [128, 2 * KIB, 64 * KIB, 480 * KIB],
        "ibm-z14": [128, 4 * KIB, 128 * KIB, 672 * KIB],
        "ibm-z15": [128, 4 * KIB, 256 * KIB, 960 * KIB],
    }


def test_the_command_shows_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["walk", ZEC12, "--base", Z196]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "ibm-zec12: read"
    assert len(out) == 2 + 17
    row = next(line for line in out if line.startswith("32 MiB")).split()
    assert row[2] == "L3"
    assert row[-2:] == ["+127.9", "%"]


def test_the_command_answers_json(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["walk", ZEC12, "--size", "24MiB", "--size", "1 GiB", "--pattern", "copy", "--json"]
    assert call(asked) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["buffer_bytes"], row["level"]) for row in rows] == [
        (24 * MIB, "L3"),
        (1 << 30, "memory"),
    ]
    assert "gain_pct" not in rows[0]
    assert call([*asked, "--base", Z196]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["base_level"] == "L4"
    assert rows[0]["gain_pct"] == pytest.approx(gain("copy", 24 * MIB))


def test_the_command_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    for asked, words in [
        (["walk", "ibm-zec13"], "did you mean ibm-zec12"),
        (["walk", ZEC12, "--pattern", "cpy"], "did you mean copy?"),
        (["walk", ZEC12, "--size", "1K"], "KiB"),
    ]:
        assert call(asked) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert words in err


def test_sizes() -> None:
    assert parse_size("24MiB") == 24 * MIB
    assert list(powers_of_two(16, 100)) == [16, 32, 64]
