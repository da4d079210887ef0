"""PR/SM in a scenario file: entitlement by weights, cores by type, groups and caps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode import Scenario

TEXT = Path(__file__).with_name("prsm.toml").read_text(encoding="utf-8")


def partitions(scenario: Scenario) -> dict[str, dict[str, Any]]:
    return {partition["name"]: partition for partition in scenario.spec()["partitions"]}


def test_weights_divide_the_cores_that_are_not_dedicated() -> None:
    scenario = Scenario.from_toml(TEXT)
    # 20 IFLs less 4 dedicated ones are 16; 600 of 600 + 2 x 200 are 60 %.
    entitled = {partition.name: partition.entitlement for partition in scenario.partitions}
    assert entitled == pytest.approx({"shop": 9.6, "trial1": 3.2, "trial2": 3.2, "own": 4.0})
    found = partitions(scenario)
    assert found["shop"]["processors"]["entitlement"] == pytest.approx(9.6)
    assert found["shop"]["processors"]["weight"] == 600
    assert found["own"]["processors"]["mode"] == "dedicated"


def test_an_entitlement_is_no_more_than_its_logical_cores() -> None:
    scenario = Scenario.from_toml(TEXT.replace("virtual = 12", "virtual = 5"))
    assert scenario.partition("shop").entitlement == 5
    assert scenario.partition("trial1").entitlement == pytest.approx(3.2)


@given(st.lists(st.integers(1, 999), min_size=1, max_size=6))
def test_entitlements_are_in_proportion_and_make_all_shared_cores(weights: list[int]) -> None:
    head = TEXT[: TEXT.index("[[group]]")]
    rows = [
        f'[[partition]]\nname = "p{number}"\nmemory = "1 GiB"\nguest = {{ os = "linux" }}\n'
        f'processors = {{ mode = "shared", virtual = 20, weight = {weight} }}\n'
        f'workload = {{ kind = "idle" }}\n'
        for number, weight in enumerate(weights)
    ]
    scenario = Scenario.from_toml(head + "\n".join(rows))
    entitled = [partition.entitlement for partition in scenario.partitions]
    assert sum(entitled) == pytest.approx(20)
    for weight, cores in zip(weights, entitled, strict=True):
        assert cores == pytest.approx(20 * weight / sum(weights))


def test_only_types_that_have_it_run_two_threads() -> None:
    threads = {
        kind: Scenario.from_toml(TEXT.replace('4, type = "ifl"', f'4, type = "{kind}"'))
        .partition("own")
        .smt
        for kind in ("cp", "ifl")
    }
    assert threads == {"cp": 1, "ifl": 2}


def test_each_type_has_cores_of_its_own() -> None:
    scenario = Scenario.from_toml(TEXT)
    pools = {pool["name"]: pool["cores"] for pool in scenario.spec()["pools"]}
    own = partitions(scenario)["own"]["processors"]["cores"]
    assert {name: len(cores) for name, cores in pools.items()} == {"CP": 4, "IFL": 16}
    every = [*own, *pools["CP"], *pools["IFL"]]
    assert sorted(every) == list(range(24))
    shop = partitions(scenario)["shop"]["processors"]
    assert scenario.spec()["pools"][shop["pool"]]["name"] == "IFL"


def test_two_types_are_weighed_apart() -> None:
    text = TEXT.replace('virtual = 8, weight = 200, group = "tests", cap = 5.5', "V").replace(
        "V", 'virtual = 3, weight = 200, type = "cp"'
    )
    scenario = Scenario.from_toml(text)
    assert scenario.partition("shop").entitlement == pytest.approx(12.0)  # 16, but 12 logical
    assert scenario.partition("trial1").entitlement == pytest.approx(2.0)
    mainframe = scenario.partition("trial1").mainframe
    assert mainframe is not None
    assert (mainframe.mode, mainframe.types) == ("linux-only", ("cp",) * 3)


def test_caps_and_groups_reach_the_engine() -> None:
    limited = TEXT.replace(
        "weight = 600", 'weight = 600, capped = true, polarization = "vertical", '
        'defined_capacity = { cores = 4.5, window = "1 min", start = 1 }',
    )  # fmt: skip
    scenario = Scenario.from_toml(limited)
    assert scenario.spec()["groups"] == [{"name": "tests", "cap": 6.0}]
    found = partitions(scenario)
    assert found["shop"]["processors"]["capped"] is True
    assert found["shop"]["processors"]["prsm"] == {
        "polarization": "vertical",
        "cap": None,
        "group": None,
        "defined_capacity": {"cores": 4.5, "window_ns": 60_000_000_000, "start_cores": 1.0},
    }
    trial = found["trial2"]["processors"]["prsm"]
    assert (trial["cap"], trial["group"], trial["polarization"]) == (5.5, 0, "horizontal")


def test_a_number_is_a_defined_capacity_over_four_hours() -> None:
    text = TEXT.replace("weight = 600", "weight = 600, defined_capacity = 4.5")
    soft = partitions(Scenario.from_toml(text))["shop"]["processors"]["prsm"]["defined_capacity"]
    assert soft == {"cores": 4.5, "window_ns": 4 * 3600 * 10**9, "start_cores": 0.0}


def test_a_zvm_partition_is_polarized_as_its_guest_says() -> None:
    text = TEXT.replace(
        'guest = { os = "linux" }\nworkload = { kind = "transactions", rate = "1000/s", '
        'profile = "oltp" }',
        'guest = { os = "zvm" }\nworkload = { kind = "idle", profile = "compute" }\n'
        'virtual_machine = [{ name = "busy", count = 12, memory = "1 GiB", role = "loop" }]',
    )
    shop = partitions(Scenario.from_toml(text))["shop"]
    assert shop["guest"]["vertical"] is True
    assert shop["processors"]["prsm"]["polarization"] == "vertical"
    assert [machine["role"] for machine in shop["guest"]["machines"]] == ["loop"] * 12


def test_nothing_of_it_is_in_a_layout_without_shared_cores() -> None:
    head, _, _ = TEXT.partition("[[group]]")
    own = TEXT[TEXT.index('[[partition]]\nname = "own"') :]
    spec = Scenario.from_toml(head + own).spec()
    assert "groups" not in spec
    assert spec["pools"] == [{"name": "DefaultPool", "maximum": None, "reserved": 0.0}]


def test_the_time_slice_is_set_for_a_reason() -> None:
    changed = Scenario.from_toml(TEXT).with_({"machine.hypervisor.run_time": "20 ms"}, why="ours")
    assert changed.spec()["machine"]["hypervisor"]["prsm"]["run_time_ns"] == 20_000_000
    assert Scenario.from_toml(TEXT).spec()["machine"]["hypervisor"]["prsm"]["run_time_ns"] is None
