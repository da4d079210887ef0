"""Loading: what stands in the file arrives in the engine's input, in base units."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from homenode import NotFoundError, Scenario, ScenarioError, _engine, load_scenario

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
STUDIES = sorted((ROOT / "python" / "homenode" / "data" / "studies").glob("*/scenarios/*.toml"))


@pytest.mark.parametrize("path", [*EXAMPLES, *STUDIES], ids=lambda path: path.stem)
def test_shipped_scenarios_load_and_the_engine_takes_them(path: Path) -> None:
    scenario = load_scenario(path)
    _engine.check(scenario.spec_json())
    again = Scenario.from_toml(scenario.to_toml(), folder=path.parent)
    assert again.spec() == {**scenario.spec(), "name": again.name}


@pytest.mark.parametrize(
    ("duration", "interval_ms"),
    [
        ("10 s", 1000),
        ("1500 ms", 500),
        ("1250 ms", 250),
        ("700 ms", 700),
        ("2300 ms", 100),
        ("1150 ms", 50),
    ],
)
def test_a_run_without_an_interval_is_whole_ones(
    base: str, duration: str, interval_ms: int
) -> None:
    text = base.replace('duration = "10 s"', f'duration = "{duration}"')
    spec = Scenario.from_toml(text).spec()
    assert spec["interval_ns"] == interval_ms * 1_000_000
    assert spec["duration_ns"] % spec["interval_ns"] == 0


def test_base_units(base: str) -> None:
    spec = Scenario.from_toml(base).spec()
    _engine.check(json.dumps(spec))
    assert spec["name"] == "base"
    assert (spec["warmup_ns"], spec["duration_ns"]) == (5_000_000_000, 10_000_000_000)
    assert (spec["interval_ns"], spec["seed"]) == (1_000_000_000, 1)
    assert spec["pools"] == [{"name": "DefaultPool", "maximum": None, "reserved": 0.0}]
    web, batch = spec["partitions"]
    assert web["processors"] == {
        "mode": "shared",
        "entitlement": 2.0,
        "virtual": 4,
        "capped": False,
        "weight": 128,
        "pool": 0,
    }
    assert web["home"] == [4, 5, 6, 7]
    assert web["memory"] == [{"domains": [chip], "bytes": 4 * 2**30} for chip in (4, 5, 6, 7)]
    assert (web["memory_policy"], web["data_bytes"]) == ("proportional", 16 * 2**30)
    assert (web["io_domain"], web["page_bytes"], web["hypervisor_share"]) == (None, 65_536, 0.0)
    assert web["guest"]["throughput_mode"] == 2
    assert web["guest"]["fold_threshold_pct"] == 49.0
    assert web["workload"] == {
        "kind": "transactions",
        "rate_per_s": 100.0,
        "bursts": 1.0,
        "wait_ns": 0,
        "burst_work": "exponential",
    }
    assert batch["processors"]["mode"] == "dedicated"
    assert batch["processors"]["donate_threshold_pct"] == 80.0
    assert len(batch["processors"]["cores"]) == 2
    assert batch["smt"] == 4
    assert batch["workload"] == {"kind": "loops", "count": 3, "endless": False}


@pytest.mark.parametrize(
    ("profile", "told"),
    [
        ('"oltp"', {}),
        ('{ base = "oltp", lock_share = "3 %" }', {"lock_kind": "sleeping"}),
        ('{ base = "oltp", lock_share = "3 %", lock_kind = "queue" }', {}),
        ('{ base = "compute", lock_share = "3 %" }', {}),
        ('"file-server"', {"lock_kind": "test-and-set"}),
    ],
)
def test_a_lock_is_of_the_kind_that_the_profile_says(
    base: str, profile: str, told: dict[str, str]
) -> None:
    """A queue is what the engine takes anyway; a switch matters to who sleeps alone."""
    scenario = Scenario.from_toml(base.replace('profile = "oltp"', f"profile = {profile}"))
    _engine.check(scenario.spec_json())
    spec = scenario.spec()["partitions"][0]["profile"]
    switch = {"lock_switch_instructions": 2500.0} if "sleeping" in told.values() else {}
    locks = ("lock_kind", "lock_switch_instructions")
    assert {name: value for name, value in spec.items() if name in locks} == {**told, **switch}


def test_every_kind_of_workload_and_guest_setting(base: str) -> None:
    text = base.replace(
        'workload = { kind = "transactions", rate = "100/s", profile = "oltp" }',
        'workload = { kind = "users", count = 50, think = "5 s", bursts = 3, wait = "2 ms", '
        'burst_work = "constant", profile = { base = "java", name = "shop", sharing = "20 %" } }',
    ).replace(
        "guest = { throughput_mode = 2 }",
        'guest = { folding = false, snooze_delay = "never", rebalance = "never", '
        'fold_threshold = "70 %", daemons = { rate = "0/s" } }',
    )
    text = text.replace('kind = "loops", count = 3, profile = "compute"', 'kind = "idle"')
    scenario = Scenario.from_toml(text)
    _engine.check(scenario.spec_json())
    web, batch = scenario.spec()["partitions"]
    assert web["workload"] == {
        "kind": "users",
        "count": 50,
        "think_ns": 5_000_000_000,
        "bursts": 3.0,
        "wait_ns": 2_000_000,
        "burst_work": "constant",
    }
    assert web["profile"]["name"] == "shop"
    assert web["profile"]["sharing"] == 0.2
    assert web["guest"]["xvcpus"] == -1
    assert web["guest"]["snooze_delay_ns"] is None
    assert web["guest"]["rebalance_ns"] is None
    assert web["guest"]["daemon_rate_per_s"] == 0.0
    assert batch["profile"]["name"] == "idle"


def test_count_makes_several_with_names_and_numbers_of_their_own(base: str) -> None:
    text = base.replace('name = "batch"', 'name = "batch"\nnumber = 2')
    text = text.replace('name = "web"', 'name = "web"\ncount = 3')
    scenario = Scenario.from_toml(text)
    assert [p.name for p in scenario.partitions] == ["web1", "web2", "web3", "batch"]
    assert [p.number for p in scenario.partitions] == [1, 3, 4, 2]
    clash = text.replace('name = "batch"', 'name = "web2"')
    with pytest.raises(ScenarioError, match="partition number 1 of the file is called web2"):
        Scenario.from_toml(clash)


def test_memory_may_lie_elsewhere(base: str) -> None:
    text = base.replace(
        'memory = "16 GiB"',
        'memory = [{ size = "12 GiB", on = "book0.chip3" }, { size = "4 GiB" }]',
    )
    memory = Scenario.from_toml(text).spec()["partitions"][0]["memory"]
    gib = {part["domains"][0]: part["bytes"] / 2**30 for part in memory}
    assert gib == {3: 12, 4: 1, 5: 1, 6: 1, 7: 1}


def test_another_number_of_the_machine_is_kept_with_its_reason(base: str) -> None:
    text = base.replace(
        '[[partition]]\nname = "web"',
        '[machine.memory]\nfar = { value = "1200 cycles", why = "measured on ours" }\n'
        '[machine.cache."L3 chip"]\nlatency = { value = "80 cycles", why = "the slow end" }\n'
        "[machine.node_distance]\n"
        f"value = {[[1.0] * 8] * 8}\nwhy = 'all alike'\n"
        '[[partition]]\nname = "web"',
    )
    scenario = Scenario.from_toml(text)
    assert scenario.machine.memory.far.reason == "measured on ours"
    assert scenario.machine.memory.far.provenance == "stated"
    spec = scenario.spec()["machine"]
    assert spec["memory_ns"]["far"] == pytest.approx(1200 / 4.004)
    assert spec["caches"][3]["latency_ns"] == pytest.approx(80 / 4.004)
    assert spec["node_distance"] == [1.0] * 64
    _engine.check(scenario.spec_json())


def test_a_machine_and_a_profile_of_ones_own(base: str, tmp_path: Path) -> None:
    shipped = ROOT / "python" / "homenode" / "data"
    machine = (shipped / "machines" / "ibm-power-770.toml").read_text(encoding="utf-8")
    profile = (shipped / "profiles" / "java.toml").read_text(encoding="utf-8")
    (tmp_path / "lab.toml").write_text(machine.replace("ibm-power-770", "lab"), encoding="utf-8")
    (tmp_path / "shop.toml").write_text(profile.replace('"java"', '"shop"'), encoding="utf-8")
    text = base.replace('model = "ibm-power-795"', 'file = "lab.toml"')
    text = text.replace("book1", "drawer1").replace('"oltp"', '"shop.toml"')
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    scenario = load_scenario(tmp_path / "s.toml")
    assert scenario.machine.name == "lab"
    assert scenario.spec()["partitions"][0]["profile"]["name"] == "shop"
    assert scenario.with_({"run.seed": 3}).machine == scenario.machine


def test_a_scenario_is_frozen(base: str) -> None:
    scenario = Scenario.from_toml(base)
    with pytest.raises(dataclasses.FrozenInstanceError):
        scenario.text = ""  # type: ignore[misc]
    with pytest.raises(ValidationError):
        scenario.timing.seed = 2
    scenario.data["run"]["duration"] = "1 s"
    assert scenario.data["run"]["duration"] == "10 s"
    assert scenario == Scenario.from_toml(base)


def test_names(base: str, tmp_path: Path) -> None:
    nameless = base.replace('name = "base"\n', "")
    (tmp_path / "two words (1).toml").write_text(nameless, encoding="utf-8")
    assert load_scenario(tmp_path / "two words (1).toml").name == "two-words--1"
    assert Scenario.from_toml(nameless).name == "scenario"
    assert Scenario.from_toml(base).partition("web").logical_cpus == 16
    with pytest.raises(NotFoundError, match=r"did you mean web\?"):
        Scenario.from_toml(base).partition("wep")


@pytest.mark.parametrize(
    ("stem", "name"), [("_mine", "mine"), ("-._", "scenario"), ("a" * 70, "a" * 64), ("é x", "x")]
)
def test_what_a_file_is_called_gives_a_name_that_can_be(
    base: str, tmp_path: Path, stem: str, name: str
) -> None:
    path = tmp_path / f"{stem}.toml"
    path.write_text(base.replace('name = "base"\n', ""), encoding="utf-8")
    told = load_scenario(path)
    assert told.name == name
    assert told.with_({"run.seed": 2}).name == name


def test_one_of_several_of_a_kind_is_named_in_a_path(base: str) -> None:
    several = Scenario.from_toml(base.replace('name = "web"', 'name = "web"\ncount = 3'))
    one = several.with_({"partition.web2.home": "book2", "partition.web3.smt": 2})
    assert [part.name for part in one.partitions] == [part.name for part in several.partitions]
    assert [part.number for part in one.partitions] == [part.number for part in several.partitions]
    assert one.partition("web1").home == several.partition("web1").home
    assert one.partition("web2").home != one.partition("web1").home
    assert one.partition("web3").smt == 2
    with pytest.raises(ScenarioError, match=r'names no partition; did you mean "?web'):
        several.with_({"partition.web4.smt": 2})


def test_one_of_several_of_a_kind_is_an_axis(base: str) -> None:
    text = base.replace('name = "web"', 'name = "web"\ncount = 2')
    sweep = text + '\n[sweep]\n"partition.web2.home" = ["book0", "book1"]\n'
    homes = [point.partition("web2").home for point in Scenario.from_toml(sweep).expand()]
    assert homes[0] != homes[1]
