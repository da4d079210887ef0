"""Facts made into scenarios: machine, partitions, demand."""

from __future__ import annotations

import datetime as dt
import gc
from pathlib import Path

import polars as pl
import pytest

from facts_made import BEGIN, at, lpar, machines, one_lpar, series
from homenode.errors import NotFoundError, StoreError
from homenode.model.scenario import Scenario
from homenode.records.importing.assemble import Assembled, AssembleOptions, assemble
from homenode.records.importing.facts import Facts, Told, Took, TopologyFacts, TopologyObject
from homenode.records.importing.opening.sources import ListingError

PLAIN = AssembleOptions(convert=False)


def notes(assembled: Assembled) -> str:
    return "\n".join(str(notice) for notice in assembled.notices)


def spec(assembled: Assembled) -> dict[str, object]:
    found: dict[str, object] = assembled.scenario.spec()["partitions"][0]
    return found


def test_a_partition_is_as_it_is_told() -> None:
    found = assemble(one_lpar([0.2, 1.5]), PLAIN)
    one = spec(found)
    assert one["processors"] == {
        "mode": "shared",
        "entitlement": 1.3,
        "virtual": 4,
        "capped": False,
        "weight": 128,
        "pool": 0,
    }
    assert (one["smt"], one["guest"]["os"]) == (4, "aix")  # type: ignore[index]
    assert one["workload"] == {
        "kind": "trace",
        "lengths_ns": [20_000_000_000] * 2,
        "instructions_per_s": [2e8, 1.5e9],
    }
    assert found.scenario.timing.duration == 40_000_000_000


def test_every_value_says_where_it_is_from() -> None:
    text = assemble(one_lpar([0.2, 1.5]), PLAIN).text
    lines = [line for line in text.splitlines() if " = " in line and not line.startswith("#")]
    plain = [line for line in lines if "#" not in line]
    above = {text.splitlines()[text.splitlines().index(line) - 1] for line in plain}
    assert all(line.startswith("#") or line in ("", "[run]") or " = " in line for line in above)
    assert 'memory = "8 GiB"  # lpar.nmon:125' in text
    assert "active_cores = 16  # lpar.nmon:133" in text
    assert "# Imported from lpar.nmon." in text


def test_the_nearest_machine_of_the_generation_is_said() -> None:
    found = assemble(one_lpar([1.0]), PLAIN)
    assert found.scenario.machine.name == "ibm-power-770"
    assert found.scenario.machine.active_cores == 16
    assert "8205-E6C has no description; IBM Power 770 (9117-MMC) (POWER7) stands" in notes(found)


def test_the_very_model_is_taken_without_a_word() -> None:
    facts = one_lpar([1.0])
    facts.system("0123").model = Told("IBM,9119-FHB", at(21))
    found = assemble(facts, PLAIN)
    assert found.scenario.machine.name == "ibm-power-795"
    assert "stands for it" not in notes(found)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("8408-E8E", "ibm-power-e880"),
        ("9080-HEX", "ibm-power-e1080"),
        ("9105-42A", "ibm-power-e1080"),
        ("9117-570", "ibm-p5-570"),
    ],
)
def test_generations_follow_from_types(model: str, name: str) -> None:
    facts = one_lpar([1.0])
    system = facts.system("0123")
    system.model, system.processor, system.cores = Told(model, at(1)), None, None
    facts.partition("0123", "lpar").smt = None
    assert assemble(facts, PLAIN).scenario.machine.name == name


def test_a_recorded_clock_replaces_the_description_s() -> None:
    facts = one_lpar([1.0])
    facts.system("0123").clock_hz = Told(3.7e9, at(7))
    found = assemble(facts, PLAIN)
    assert found.scenario.machine.clock.value == 3.7e9
    assert 'why = "as recorded, lpar.nmon:7"' in found.text


def test_memory_lies_where_its_domains_are() -> None:
    facts = one_lpar([1.0])
    one = facts.partition("0123", "lpar")
    one.memory_by_node = {0: Told(6 << 30, at(280)), 1: Told(1 << 30, at(282))}
    one.processors_by_node = {1: Told(16, at(282))}
    found = assemble(facts, PLAIN)
    memory = spec(found)["memory"]
    # The domain with the processors is the first chip; the gibibyte not told of lies with most.
    assert memory == [
        {"domains": [0], "bytes": 1 << 30},
        {"domains": [1], "bytes": 7 << 30},
    ]
    assert spec(found)["home"] == [0]


def test_partitions_get_chips_in_turn() -> None:
    facts = Facts()
    for name in ("one", "two"):
        lpar(facts, name)
        facts.series.append(series(name, [0.5, 1.0]))
        facts.partition("0123", name).memory_by_node = {0: Told(8 << 30, at(9))}
    found = assemble(facts, PLAIN)
    places = [one["memory"][0]["domains"] for one in found.scenario.spec()["partitions"]]
    assert places == [[0], [1]]


def test_pools_and_weights() -> None:
    facts = one_lpar([1.0])
    one = facts.partition("0123", "lpar")
    one.pool, one.pool_maximum = Told("3", at(12)), Told(2.0, at(13))
    one.weight = Told(300, at(128))
    found = assemble(facts, PLAIN)
    assert found.scenario.spec()["pools"][1] == {"name": "pool3", "maximum": 2.0, "reserved": 0.0}
    assert spec(found)["processors"]["weight"] == 255  # type: ignore[index]
    assert "weights up to 300 are scaled, so that the largest is 255" in notes(found)


def test_a_dedicated_partition_keeps_its_cores() -> None:
    facts = one_lpar([1.0])
    one = facts.partition("0123", "lpar")
    one.mode, one.entitlement, one.weight = Told("dedicated", at(117)), None, None
    one.donating = Told(True, at(118))
    processors = spec(assemble(facts, PLAIN))["processors"]
    assert processors["mode"] == "dedicated"  # type: ignore[index]
    assert processors["cores"] == [0, 1, 2, 3]  # type: ignore[index]
    assert processors["donating"] is True  # type: ignore[index]


def test_virtual_machines_of_no_told_server() -> None:
    found = assemble(machines(1, 4, 2), PLAIN)
    assert [one.virtual for one in found.scenario.partitions] == [1, 4, 2]
    assert all(one.smt == 1 for one in found.scenario.partitions)
    assert found.scenario.machine.name == "ibm-power-e1080"
    assert "what they ran on is not told" in notes(found)
    assert "choose another with --machine" in notes(found)


def test_a_mainframe_shares_by_weight() -> None:
    facts = Facts()
    facts.system("z").model = Told("2817 M49", at(1))
    for name, weight in (("zlinux1", 300), ("zlinux2", 100)):
        one = facts.partition("z", name)
        one.mode, one.virtual = Told("shared", at(2)), Told(4, at(2))
        one.weight, one.core_type = Told(weight, at(2)), Told("ifl", at(2))
        one.os = Told("linux", at(2))
        facts.series.append(series(name, [0.5, 2.0], system="z"))
    found = assemble(facts, PLAIN)
    assert found.scenario.machine.name == "ibm-z196"
    weights = [one["processors"]["weight"] for one in found.scenario.spec()["partitions"]]
    assert weights == [300, 100]


def test_several_servers_must_be_told_apart() -> None:
    facts = one_lpar([1.0])
    facts.partition("other", "b").entitlement = Told(1.0, at(5))
    facts.series.append(series("b", [0.5], system="other"))
    with pytest.raises(ListingError, match="the files tell of 2 servers: 0123, other"):
        assemble(facts, PLAIN)
    alone = assemble(facts, AssembleOptions(convert=False, system="other"))
    assert [one.name for one in alone.scenario.partitions] == ["b"]
    both = assemble(facts, AssembleOptions(convert=False, machine="ibm-power-795"))
    assert [one.name for one in both.scenario.partitions] == ["lpar", "b"]
    with pytest.raises(ListingError, match='no file tells of a server "third"'):
        assemble(facts, AssembleOptions(system="third"))


def test_what_is_named_must_be_there_and_large_enough() -> None:
    with pytest.raises(NotFoundError, match="ibm-power-796"):
        assemble(one_lpar([1.0]), AssembleOptions(machine="ibm-power-796"))
    with pytest.raises(ListingError, match="has 12 cores, the partitions need 40"):
        assemble(machines(40), AssembleOptions(machine="ibm-p5-570"))
    with pytest.raises(ListingError, match="is made of cells"):
        assemble(one_lpar([1.0]), AssembleOptions(machine="hp-rx8640"))
    with pytest.raises(ListingError, match="profile"):
        assemble(one_lpar([1.0]), AssembleOptions(profile="no-such"))


def test_nothing_at_all_makes_no_scenario() -> None:
    with pytest.raises(ListingError, match="nothing in the files tells of a server"):
        assemble(Facts())


def test_a_partition_without_use_is_idle_and_said_to_be() -> None:
    facts = one_lpar([1.0])
    lpar(facts, "quiet", virtual=2)
    found = assemble(facts, PLAIN)
    assert found.scenario.spec()["partitions"][1]["workload"] == {"kind": "idle"}
    assert "nothing tells what quiet used" in notes(found)


def test_names_are_made_fit() -> None:
    facts = Facts()
    for name in ("my lpar", "my/lpar"):
        lpar(facts, name)
        facts.series.append(series(name, [0.5, 1.0]))
    found = assemble(facts, PLAIN)
    assert [one.name for one in found.scenario.partitions] == ["my-lpar", "my-lpar-2"]
    assert '"my lpar" is called my-lpar in the scenario' in notes(found)


def test_entitlement_that_the_machine_does_not_allow_is_raised() -> None:
    facts = one_lpar([1.0])
    facts.partition("0123", "lpar").entitlement = Told(0.2, at(119))
    found = assemble(facts, PLAIN)
    assert found.scenario.partitions[0].entitlement == 0.4
    assert "lpar is entitled to 0.2 cores; the machine needs 0.4 of it" in notes(found)


def test_demand_is_kept_as_recorded(tmp_path: Path) -> None:
    found = assemble(one_lpar([0.2, 1.5], folded=[2, 0]), PLAIN)
    found.save(tmp_path / "made")
    table = pl.read_parquet(tmp_path / "made" / "demand.parquet")
    assert table.rows() == [
        ("lpar", 0, BEGIN + dt.timedelta(seconds=300), 300.0, 0.2, 2.0, 2e8, "physc"),
        ("lpar", 1, BEGIN + dt.timedelta(seconds=600), 300.0, 1.5, 0.0, 1.5e9, "physc"),
    ]
    assert Scenario.load(tmp_path / "made" / "scenario.toml").spec() == found.scenario.spec()


def test_the_same_facts_make_the_same_bytes() -> None:
    first, second = (assemble(machines(2, 1), PLAIN) for _ in range(2))
    assert (first.text, dict(first.files)) == (second.text, dict(second.files))


def test_a_folder_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    found = assemble(one_lpar([1.0]), PLAIN)
    target = tmp_path / "made"
    found.save(target)
    with pytest.raises(StoreError, match="is there already"):
        found.save(target)
    found.save(target, force=True)
    (target / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="is there already"):
        found.save(target, force=True)
    assert (target / "notes.txt").exists()
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be written"):
        found.save(blocked / "made")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "made"]


def test_a_step_and_a_window_may_be_asked_for() -> None:
    cores = [0.1 * index for index in range(1, 9)]
    options = AssembleOptions(convert=False, step_ns=30_000_000_000, window_ns=600_000_000_000)
    found = assemble(one_lpar(cores), options)
    assert (found.windows, found.step_ns) == (4, 30_000_000_000)
    assert found.summary()["step_s"] == 30.0


def test_short_samples_are_played_for_as_long_as_they_were() -> None:
    facts = one_lpar([])
    facts.series[:] = [series("lpar", [0.5, 1.0, 0.7], seconds=2.0)]
    assert assemble(facts, PLAIN).step_ns == 2_000_000_000


@pytest.mark.parametrize(("os", "step_s"), [("linux", 2.5), ("aix", 10.0)])
def test_only_guests_that_fold_need_long_steps(os: str, step_s: float) -> None:
    facts = one_lpar([])
    facts.series[:] = [series("lpar", [0.5] * 8_000)]
    facts.partition("0123", "lpar").os = Told(os, at(3))
    found = assemble(facts, PLAIN)
    assert (found.windows, found.step_ns) == (8_000, round(step_s * 1e9))


def test_so_much_that_a_run_would_take_hours_is_put_together() -> None:
    facts = Facts()
    lpar(facts, entitlement=14.0, virtual=16)
    facts.series.append(series("lpar", [8.0] * 20_000))
    found = assemble(facts, PLAIN)
    assert found.windows < 2_600
    assert "samples are put together into" in notes(found)


def test_a_whole_server_has_the_threads_of_its_cores() -> None:
    facts = Facts()
    system = facts.system("laptop")
    system.threads_per_core = Told(2, at(3))
    one = facts.partition("laptop", "host")
    one.logical, one.os = Told(4, at(2)), Told("linux", at(1))
    facts.series.append(series("host", [0.5, 3.5], system="laptop", quantity="used"))
    found = assemble(facts, PLAIN).scenario.partitions[0]
    assert (found.virtual, found.smt) == (2, 2)


def test_a_mainframe_of_no_told_model_is_none_of_power() -> None:
    facts = Facts()
    system = facts.system("CPCA")
    system.architecture, system.cores = Told("s390x", at(1)), Told(30, at(2))
    one = facts.partition("CPCA", "p1")
    one.virtual, one.weight = Told(4, at(3)), Told(300, at(4))
    facts.series.append(series("p1", [1.0, 2.0], system="CPCA"))
    found = assemble(facts, PLAIN)
    assert found.scenario.machine.name == "ibm-z15"
    assert "active_cores = 30" in found.text
    assert "IBM z15 (8561-T01) is assumed" in notes(found)


def test_partitions_of_a_mainframe_share_its_cores_unless_told_otherwise() -> None:
    facts = Facts()
    system = facts.system("CEC")
    system.hypervisor, system.cores = Told("pr/sm", at(1)), Told(24, at(1))
    system.architecture = Told("s390x", at(1))
    for name, size in (("p1", 20), ("p2", 16)):
        facts.partition("CEC", name).virtual = Told(size, at(2))
        facts.series.append(series(name, [1.0, 2.0], system="CEC"))
    found = assemble(facts, PLAIN)
    assert "active_cores = 24" in found.text
    assert found.text.count('mode = "shared"') == 2


def test_a_capped_guest_is_entitled_to_the_most_it_may_use() -> None:
    facts = machines(4)
    one = facts.partitions[None, "vm0"]
    one.capped, one.maximum["entitlement"] = Told(True, at(5)), Told(2.0, at(6))
    assert "entitlement = 2.0, virtual = 4, capped = true" in assemble(facts, PLAIN).text


def test_threads_that_are_not_told_are_said_to_be_assumed() -> None:
    facts = one_lpar([0.4])
    one = facts.partitions["0123", "lpar"]
    one.virtual = one.smt = None
    one.logical = Told(8, at(2))
    found = assemble(facts, PLAIN)
    assert "each of its 8 logical processors is taken for a virtual one" in notes(found)


def test_quiet_guests_keep_no_house_of_their_own() -> None:
    facts = machines(1)
    facts.series[:] = [series("vm0", [0.0, 0.001], system=None, quantity="used")]
    guest = spec(assemble(facts, PLAIN))["guest"]
    assert guest["daemon_rate_per_s"] == 0.0  # type: ignore[index]


def test_lines_of_one_file_stand_side_by_side() -> None:
    text = assemble(one_lpar([1.0]), PLAIN).text
    assert "# lpar.nmon:117, 118, 119, 122, 128\nprocessors = " in text


def test_a_number_is_given_once() -> None:
    facts = Facts()
    for name in ("one", "two"):
        lpar(facts, name)
        facts.series.append(series(name, [0.5, 1.0]))
        facts.partition("0123", name).number = Told(6, at(7))
    found = assemble(facts, PLAIN)
    assert [one.number for one in found.scenario.partitions] == [6, 1]
    assert "the number 6 of two is left out: another has it" in notes(found)


def test_a_topology_alone_is_a_machine_with_one_partition() -> None:
    cores = tuple(TopologyObject("Core", index) for index in range(4))
    root = TopologyObject("Machine", children=(TopologyObject("Package", 0, children=cores),))
    facts = Facts(topologies=[TopologyFacts(None, root, at(1), virtual=True)])
    found = assemble(facts, PLAIN)
    assert [(one.name, one.virtual) for one in found.scenario.partitions] == [("host", 4)]
    assert found.windows == 0


def test_cores_beyond_those_of_a_told_home_are_placed_by_rule() -> None:
    facts = one_lpar([1.0])
    one = facts.partition("0123", "lpar")
    one.mode, one.entitlement, one.weight = Told("dedicated", at(117)), None, None
    one.virtual = Told(12, at(122))
    one.processors_by_node = {0: Told(48, at(280))}
    found = assemble(facts, PLAIN).scenario.partitions[0]
    assert found.cores == tuple(range(12))


def test_files_last_as_long_as_a_scenario_of_them() -> None:
    changed = assemble(one_lpar([1.0, 0.5]), PLAIN).scenario.with_({"run.seed": 5})
    folder = Path(str(changed.folder))
    gc.collect()
    assert changed.with_({"run.seed": 6}).spec()["seed"] == 6
    del changed
    gc.collect()
    assert not folder.exists()


def test_files_that_name_no_server_are_told_as_such() -> None:
    """Reports of one system without its serial number, each in a file of its own."""
    facts = one_lpar([1.0])
    facts.partition("FCX299", "b").entitlement = Told(1.0, at(5))
    facts.took.append(Took("reports/FCX299.txt", "Performance Toolkit", "4 rows of 1 report"))
    with pytest.raises(ListingError, match="FCX299 are names of files that name no server"):
        assemble(facts, PLAIN)
