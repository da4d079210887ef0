"""Machine descriptions and profiles: shipped ones are sound, numbers without origin are refused."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from homenode.errors import HomenodeError, MachineError, NotFoundError, ProfileError
from homenode.model import catalog
from homenode.model.catalog.control_program import control_program
from homenode.model.catalog.flatten import machine_spec
from homenode.model.catalog.profile_model import PROFILE_NUMBERS
from homenode.model.scenario.file.profile import ProfileChoice
from homenode.report.catalog import description_json, description_table

SHIPPED = resources.files("homenode") / "data"
KEY = re.compile(r"\b[A-Z][A-Z0-9]*-[A-Z0-9-]*[A-Z0-9]\b")


def shipped(folder: str, name: str) -> str:
    return (SHIPPED / folder / name).read_text(encoding="utf-8")


def own(tmp_path: Path, old: str, new: str) -> Path:
    """The description of the p795 with one thing changed."""
    text = shipped("machines", "ibm-power-795.toml")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", catalog.machines())
def test_shipped_machines_are_sound(name: str) -> None:
    machine = catalog.machine(name)
    assert machine.name == name
    for place, figure in machine.figures():
        assert figure.reason, place
        assert figure.provenance != "assumed" or figure.range is not None, place
    assert len(list(machine.figures())) > 30
    spec = machine_spec(machine)
    assert spec["clock_hz"] > 1e9
    assert [cache["bytes"] for cache in spec["caches"]] == [level.bytes for level in machine.cache]
    assert len({machine.domain_of(chip) for chip in range(machine.chips)}) == machine.domains


def test_the_machines_that_the_studies_need() -> None:
    p795 = catalog.machine("ibm-power-795")
    assert (p795.nodes, p795.chips_per_node, p795.cores_per_chip) == (8, 4, 8)
    assert p795.clock.value == 4.004e9
    assert (p795.node_name, p795.generation, p795.model) == ("book", "POWER7", "9119-FHB")
    assert p795.hypervisor.counts_redispatch.value
    p570 = catalog.machine("ibm-p5-570")
    assert (p570.cores, p570.active_cores, p570.threads_per_core) == (12, 12, 2)
    assert p570.accounting.value == "decode-slots"
    assert not p570.hypervisor.counts_redispatch.value
    assert list(p570.active_cores_of(5)) == [10, 11]


def interleaved(name: str, cells: int) -> float:
    """Mean latency of memory interleaved over the first cells, as seen from the first [ns]."""
    spec = machine_spec(catalog.machine(name))
    ns, factors = spec["memory_ns"], spec["node_distance"] or [1.0] * spec["nodes"]
    return sum([ns["local"], *(ns["far"] * factors[cell] for cell in range(1, cells))]) / cells


@pytest.mark.parametrize(
    ("name", "cells", "published"),
    [
        ("hp-rx7640", 2, 249),
        ("hp-rx8640", 2, 249),
        ("hp-rx8640", 4, 334),
        # (243 + 3 x 423) / 4 and (243 + 3 x 423 + 4 x 479) / 8, the formula of the white paper.
        ("hp-superdome-sx1000", 4, 378),
        ("hp-superdome-sx1000", 8, 429),
        ("hp-superdome-sx2000", 2, 249),
    ],
)
def test_interleaved_memory_is_as_far_as_published(name: str, cells: int, published: int) -> None:
    assert interleaved(name, cells) == pytest.approx(published, abs=1)


def test_the_machines_of_cells() -> None:
    rx7640 = catalog.machine("hp-rx7640")
    assert (rx7640.nodes, rx7640.chips_per_node, rx7640.cores_per_chip) == (2, 4, 2)
    assert (rx7640.memory.beside, rx7640.domains, rx7640.domain_of(5)) == ("node", 2, 1)
    assert rx7640.domain_name(1) == "cell1"
    spec = machine_spec(rx7640)
    assert (spec["memory_beside"], spec["coherence"], spec["accounting"]) == (
        "node",
        "home",
        "elapsed",
    )
    # The second level is split: 256 KiB for data, 1 MiB for instructions.
    assert spec["caches"][1]["bytes"] == (256 + 1024) * 1024
    assert spec["translation"] == {"entries": 128, "walk_ns": 30 / 1.6}
    hypervisor = spec["hypervisor"]
    assert (hypervisor["policy"], hypervisor["dispatch_ns"]) == ("dedicated", 0)
    assert hypervisor["excess_quantum_ns"] == hypervisor["window_ns"] == 10_000_000
    assert rx7640.translation is not None
    assert rx7640.translation.page(128 << 20) == 64 << 20
    assert rx7640.translation.page(1) == 4096
    assert catalog.machine("hp-superdome-sx2000").cores == 128
    for name in ("hp-rx8640", "hp-superdome-sx1000", "hp-superdome-sx2000"):
        machine = catalog.machine(name)
        rows = machine.node_distance.value
        assert all(rows[a][b] == rows[b][a] for a in range(len(rows)) for b in range(len(rows)))


def test_machines_with_a_dispatcher_say_so() -> None:
    spec = machine_spec(catalog.machine("ibm-power-795"))
    assert (spec["memory_beside"], spec["coherence"], spec["core_rate"]) == ("chip", "owner", 1.0)
    assert (spec["translation"], spec["hypervisor"]["policy"]) == (None, "phyp")


def test_stores_pass_the_caches_next_to_a_core_of_the_mainframes_only() -> None:
    ways = {name: machine_spec(catalog.machine(name))["stores"] for name in catalog.machines()}
    assert {name for name, way in ways.items() if way} == {
        name
        for name in ways
        if name.startswith("ibm-z") and name != "ibm-z9"  # of it none is told
    }
    assert ways["ibm-z196"] == {
        "interval_ns": pytest.approx(1.857 / 5.2),
        "width_bytes": 16,
        "gather_bytes": None,
    }
    assert ways["ibm-zec12"]["gather_bytes"] == 128


def test_where_the_first_level_keeps_stores_they_have_no_way(tmp_path: Path) -> None:
    kept = shipped("machines", "ibm-zec12.toml").replace(
        'in = { value = "L3"', 'in = { value = "L1"'
    )
    (tmp_path / "kept.toml").write_text(kept, encoding="utf-8")
    assert machine_spec(catalog.machine(tmp_path / "kept.toml"))["stores"] is None


def test_a_profile_of_an_earlier_version_still_reads(tmp_path: Path) -> None:
    text = shipped("profiles", "oltp.toml")
    old = text[: text.index("lock_hold_instructions")]
    (tmp_path / "old.toml").write_text(old, encoding="utf-8")
    spec = catalog.profile(tmp_path / "old.toml").spec()
    assert spec == {
        **catalog.profile("oltp").spec(),
        "lock_hold_instructions": 1000.0,
        "private_data": 0.0,
        "io_data": 0.0,
        "store_share": 0.0,
        "store_run": 1.0,
    }


WORKING_SET = {"working_set", "working_set_touches"}
"""Numbers that no shipped profile has: of no shipped work a knee is known."""
UNSAID = {
    "roaming",
    "flush_instructions",
    "control_share",
    "branch_misses",
    "buffers",
    "copied",
}
"""What a profile need not say."""


@pytest.mark.parametrize("name", catalog.profiles())
def test_shipped_profiles_are_sound(name: str) -> None:
    profile = catalog.profile(name)
    assert profile.name == name
    assert {"oltp", "perl-loop", "java", "compute", "idle"} <= set(catalog.profiles())
    for place, figure in profile.figures():
        assert figure.reason, place
    places = {place for place, _ in profile.figures() if not place.startswith("score")}
    assert places - UNSAID == set(PROFILE_NUMBERS) - WORKING_SET - UNSAID


def test_a_scenario_can_replace_every_number_of_a_profile() -> None:
    numbers = {name for name, _ in catalog.profile("oltp").figures()}
    assert numbers | WORKING_SET | UNSAID == set(ProfileChoice.model_fields) - {
        "base",
        "name",
        "why",
    }


def test_a_working_set_reaches_the_engine_where_it_is_told(tmp_path: Path) -> None:
    text = shipped("profiles", "oltp.toml")
    assert "working_set_bytes" not in catalog.profile("oltp").spec()
    told = """
working_set = { value = "24 MiB", assumed = "a knee", range = ["16 MiB", "32 MiB"] }
working_set_touches = { value = 0.01, assumed = "its height", range = [0.005, 0.02] }
"""
    (tmp_path / "knee.toml").write_text(text + told, encoding="utf-8")
    spec = catalog.profile(tmp_path / "knee.toml").spec()
    assert (spec["working_set_bytes"], spec["working_set_touches"]) == (24 << 20, 0.01)


def test_what_is_copied_and_how_wide_its_ways_are_reach_the_engine_where_something_is() -> None:
    assert "copied_bytes" not in catalog.profile("oltp").spec()
    spec = catalog.profile("file-server").spec()
    assert (spec["buffers_bytes"], spec["copied_bytes"]) == (6 << 20, 0.8)
    z196 = catalog.machine("ibm-z196")
    assert "streams" not in machine_spec(z196)
    told = machine_spec(z196, copies=True)
    # A line of 256 bytes over 166.4 GB/s, then over 22.4, the narrowest up to memory.
    lines = [round(cache.get("line_ns", 0.0), 2) for cache in told["caches"]]
    assert lines == [0.0, 1.54, 11.43, 11.43]
    assert round(told["streams"]["transfer_ns"], 2) == 11.43
    for cache in machine_spec(z196, streams=True)["caches"]:
        assert "line_ns" not in cache


def test_a_machine_that_tells_no_ways_copies_by_latencies_alone() -> None:
    untold = next(
        described
        for described in map(catalog.machine, catalog.machines())
        if described.streams is None
    )
    spec = machine_spec(untold, copies=True)
    assert "streams" not in spec
    assert all("line_ns" not in cache for cache in spec["caches"])


def described_in(folder: str) -> list[Any]:
    """All that a folder of shipped files describes."""
    if folder == "control_programs":
        return [control_program()]
    return [getattr(catalog, folder.removesuffix("s"))(n) for n in getattr(catalog, folder)()]


@pytest.mark.parametrize("folder", ["machines", "profiles", "control_programs"])
def test_every_source_is_in_the_table(folder: str) -> None:
    table = shipped(folder, "README.md")
    known = set(re.findall(r"^\| ([A-Z0-9]+-[A-Z0-9-]+) \|", table, flags=re.MULTILINE))
    used: set[str] = set()
    for described in described_in(folder):
        for _, figure in described.figures():
            used |= set(KEY.findall(figure.reason))
            if figure.provenance == "source":
                assert KEY.search(figure.reason), figure.reason
    assert used - known == set()
    assert known - used == set(), "a source that no number names"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'clock = { value = "4.004 GHz", source = "P795-AFFINITY: Clock Speed 4004 MHz" }',
            'clock = { value = "4.004 GHz" }',
            (
                'mine.toml:8:9: clock = { value = "4.004 GHz" }: it does not say where it is from;'
                ' add source = "document, page", or assumed = "why" with range = [lowest, highest]'
            ),
        ),
        (
            ', assumed = "as on POWER5 (CLEMSON-POWER5)", range = ["128 B", "128 B"]',
            ', assumed = "as on POWER5"',
            "it is assumed but has no range; add range = [lowest, highest]",
        ),
        ('["128 B", "128 B"]', '["64 B", "96 B"]', "the value lies outside its range"),
        (
            "4.004 GHz",
            "4.004",
            "has no unit; a frequency is written with one of Hz, kHz, MHz, GHz",
        ),
        ("node_name", "node_nam", 'unknown key "node_nam": did you mean node_name?'),
        ('near.value = "150 ns"', 'near.value = "50 ns"', "value lies outside its range"),
        (
            "gain.value = [1, 1.4, 1.52, 1.6]\n",
            "gain.value = [1, 1.4, 1.52]\n",
            "value lies outside its range",
        ),
        ('scope = "core"', 'scope = "drawer"', "there is part, core, chip, node"),
        (
            'reference = "oltp"\n',
            'reference = "oltp"\nparts = { value = 3, source = "SHENOY-2020" }\n',
            "3 parts for 4 threads a core; give a number that divides",
        ),
        ('"oltp"', '"oltq"', 'no profile is called "oltq"; did you mean oltp?'),
        (
            "value = 256,",
            "value = 257,",
            "8 x 4 x 8 = 256 cores are built in; activate at most 256",
        ),
        ('name = "L2"', 'name = "L1"', "two caches are called L1"),
        ("[links]", "[linkz]", 'unknown key "linkz": did you mean links?'),
        ("maximum.value", "greatest.value", 'unknown key "greatest"'),
    ],
)
def test_a_description_of_ones_own_is_checked(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(MachineError) as caught:
        catalog.machine(own(tmp_path, old, new))
    assert message in str(caught.value)
    assert "mine.toml:" in str(caught.value)


def test_latency_never_falls_with_distance(tmp_path: Path) -> None:
    near = '"150 ns"\nnear.assumed = "not published for this machine: about 1.5 times local"\n'
    path = own(
        tmp_path,
        f'near.value = {near}near.range = ["130 ns", "170 ns"]',
        'near = { value = "90 ns", source = "a test" }',
    )
    with pytest.raises(MachineError, match=r"near \(90 ns\) is faster than local \(100 ns\)"):
        catalog.machine(path)


def test_a_sound_description_of_ones_own_is_taken(tmp_path: Path) -> None:
    path = own(tmp_path, 'name = "ibm-power-795"', 'name = "mine"')
    assert catalog.machine(path).name == "mine"
    assert catalog.machine(str(path)) == catalog.machine(path)


def test_unknown_names_suggest_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"did you mean ibm-power-795\?"):
        catalog.machine("ibm-power-759")
    with pytest.raises(NotFoundError, match=r"did you mean oltp\?"):
        catalog.profile("oltpp")
    with pytest.raises(NotFoundError, match="there is no file"):
        catalog.machine(tmp_path / "nothing.toml")
    (tmp_path / "broken.toml").write_text("name = \n", encoding="utf-8")
    with pytest.raises(ProfileError, match=r"broken\.toml:1:8: this is not valid TOML"):
        catalog.profile(tmp_path / "broken.toml")


def test_errors_are_wrong_input() -> None:
    assert issubclass(MachineError, HomenodeError)
    assert MachineError.exit_code == 2


def test_a_machine_is_shown_with_its_kinds_and_the_units_of_lists() -> None:
    shown = description_json(catalog.machine("hp-rx8640"))
    assert shown["kinds"] == {
        "memory.beside": "node",
        "coherence": "home",
        "hypervisor.policy": "dedicated",
    }
    figures = shown["figures"]
    assert figures["translation.pages"]["value"].startswith("[4 KiB, 8 KiB, 16 KiB, 64 KiB")
    assert figures["cache.L2.instruction_size"]["value"] == "1 MiB"
    assert figures["cache.L2.ways"]["value"] == "8"
    assert figures["platform.base.1.share"]["value"] == "50 %"
    assert figures["hypervisor.monitor_share"]["provenance"] == "calibrated"
    table = description_table(catalog.machine("hp-rx8640"))
    cells = [list(column.cells) for column in table.columns]
    assert "4 x 4, 1, 1.339" in cells[1]
    assert ("memory.beside", "node") in zip(cells[0], cells[1], strict=True)
    assert "kinds" not in description_json(catalog.profile("oltp"))


@pytest.mark.parametrize("name", ["ibm-power-770", "ibm-power-795"])
def test_power7_hands_a_line_to_another_chip_as_much_later_as_was_measured(name: str) -> None:
    """2.56 times as long as to a core of the same chip, whatever a core's own part in both is."""
    found = machine_spec(catalog.machine(name))["cache_to_cache_ns"]
    assert found["near"] / found["local"] == pytest.approx(2.56, rel=0.03)


@pytest.mark.parametrize(
    ("generation", "expected"),
    [
        ("POWER8", "POWER"),
        ("Power10", "POWER"),
        ("zEC12", "z/Architecture"),
        ("z16", "z/Architecture"),
        ("Intel(R) Xeon(R) Gold 6140", "x86-64"),
        ("EPYC 7002 (Zen 2)", "x86-64"),
        ("Itanium 2 9000", "Itanium"),
        ("Zen 3", None),
        ("unknown", None),
    ],
)
def test_a_generation_tells_whose_instructions_it_executes(
    generation: str, expected: str | None
) -> None:
    described = catalog.machine("ibm-z14").model_copy(update={"generation": generation})
    assert described.instruction_set == expected
