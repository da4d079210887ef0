"""Tables `[[change]]`: what the engine gets of them, and what is refused, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario
from homenode.model.spec import spec_at

POWER = """
[machine]
model = "ibm-power-770"
active_cores = 16

[[pool]]
name = "dev"
maximum = 3.0

[[partition]]
name = "lpar1"
processors = { mode = "shared", entitlement = 2.0, virtual = 4 }
memory = "8 GiB"
maximum = { virtual = 8, entitlement = 6.0 }
workload = { kind = "loops", count = 4, endless = true, profile = "compute" }

[[partition]]
name = "test"
count = 2
processors = { mode = "shared", entitlement = 1.0, virtual = 2, weight = -1, pool = "dev" }
memory = "8 GiB"
workload = { kind = "idle", profile = "compute" }

[[partition]]
name = "own"
processors = { mode = "dedicated", cores = 2 }
memory = "8 GiB"
workload = { kind = "idle", profile = "compute" }

[run]
duration = "10 s"
replications = 1
"""
VPARS = """
[machine]
model = "hp-rx7640"

[[npartition]]
name = "npar0"
cells = ["cell0", "cell1"]
memory = "64 GiB"

[[partition]]
name = "shop"
processors = { mode = "dedicated", cores = 12, cells = { cell0 = 4 }, minimum = 2 }
memory = "8 GiB"
guest = { os = "hp-ux" }
workload = { kind = "idle", profile = "compute" }

[[partition]]
name = "orders"
processors = { mode = "dedicated", cores = 4, cells = { cell1 = 4 } }
memory = "8 GiB"
guest = { os = "hp-ux" }
workload = { kind = "idle", profile = "compute" }

[run]
duration = "10 s"
replications = 1
"""
PRSM = """
[machine]
model = "ibm-z14"
characterized = { ifl = 8 }

[[partition]]
name = "a"
processors = { mode = "shared", virtual = 6, weight = 100 }
memory = "8 GiB"
guest = { os = "linux" }
workload = { kind = "idle", profile = "compute" }

[[partition]]
name = "b"
processors = { mode = "shared", virtual = 6, weight = 300 }
memory = "8 GiB"
guest = { os = "linux" }
workload = { kind = "idle", profile = "compute" }

[run]
duration = "10 s"
replications = 1
"""


def change(partition: str, at: str, *keys: str) -> str:
    return "\n".join(["", "[[change]]", f'partition = "{partition}"', f'at = "{at}"', *keys, ""])


def refusal(base: str, *changes: str) -> tuple[ScenarioError, str]:
    """The first refusal, and the text of the line that it names."""
    text = base + "".join(changes)
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(text)
    where = caught.value.where
    assert where is not None
    assert where.line is not None
    return caught.value, text.splitlines()[where.line - 1]


def test_changes_reach_the_engine_and_a_soft_cap_is_the_weight_minus_one() -> None:
    text = (
        POWER
        + change("lpar1", "4 s", "entitlement = 3.0", "virtual = 6")
        + change("test2", "2500 ms", "weight = 64", "capped = true", "smt = 1")
        + change("lpar1", "1 s", "weight = -1")
    )
    spec = Scenario.from_toml(text).spec()
    assert spec["changes"] == [
        {"at_ns": 4_000_000_000, "partition": 0, "entitlement": 3.0, "virtual": 6},
        {
            "at_ns": 2_500_000_000, "partition": 2, "smt": 1, "capped": True, "weight": 64,
            "soft_cap": False,
        },
        {"at_ns": 1_000_000_000, "partition": 0, "weight": 128, "soft_cap": True},
    ]  # fmt: skip
    test1 = spec["partitions"][1]["processors"]
    assert test1["mode"] == "shared"
    assert test1["soft_cap"]
    assert test1["weight"] == 128
    # What it is at some time.
    then = spec_at(spec, 4_000_000_000)["partitions"][0]["processors"]
    last = spec_at(spec)["partitions"][0]["processors"]
    assert then["mode"] == "shared"
    assert last["mode"] == "shared"
    assert (then["virtual"], then["soft_cap"], last["virtual"]) == (4, True, 6)


def test_a_scenario_without_changes_has_none_in_its_spec() -> None:
    plain = Scenario.from_toml(POWER.replace(", weight = -1", "")).spec()
    assert "changes" not in plain
    assert "soft_cap" not in plain["partitions"][1]["processors"]


@pytest.mark.parametrize(
    ("keys", "at", "line", "words"),
    [
        (("virtual = 2",), ("lpar9", "1 s"), 'partition = "lpar9"', "did you mean"),
        (("virtual = 2",), ("lpar1", "10 s"), 'at = "10 s"', "the run records 10 s"),
        ((), ("lpar1", "1 s"), "[[change]]", "write one of entitlement, virtual"),
        (("cores = 2",), ("lpar1", "1 s"), "cores = 2", "what can change of it is entitlement"),
        (
            ("virtual = 4",),
            ("own", "1 s"),
            "virtual = 4",
            "what can change of it is smt, memory, running",
        ),
        (("virtual = 9",), ("lpar1", "1 s"), "virtual = 9", "the maximum of lpar1 is 8"),
        (("virtual = 1",), ("lpar1", "1 s"), "virtual = 1", "1 can use 1 cores at most"),
        (("smt = 8",), ("lpar1", "1 s"), "smt = 8", "has 4 threads"),
        (("weight = 256",), ("lpar1", "1 s"), "weight = 256", "at most 255"),
        (("weight = -2",), ("lpar1", "1 s"), "weight = -2", "-1"),
        (("entitlement = 2.0",), ("test1", "1 s"), "entitlement = 2.0", "or another"),
        (("entitlement = 2.5", "virtual = 3"), ("test1", "1 s"), "entitlement = 2.5", "of dev's 3"),
        (('pool = "dev"',), ("lpar1", "1 s"), 'pool = "dev"', "the keys here are"),
    ],
)
def test_what_cannot_be_is_told_where_it_stands(
    keys: tuple[str, ...], at: tuple[str, str], line: str, words: str
) -> None:
    base = POWER
    if keys == ("entitlement = 2.0",):
        base = base.replace('pool = "dev" }', 'pool = "dev" }\nmaximum = { entitlement = 1.5 }')
    error, told = refusal(base, change(*at, *keys))
    assert told == line, error
    assert words in f"{error.problem} {error.there} {error.next_step}"


def test_what_happens_at_one_time_counts_together() -> None:
    gives = change("test1", "3 s", "entitlement = 0.5")
    more = change("test2", "3 s", "entitlement = 2.5", "virtual = 3")
    Scenario.from_toml(POWER + more + gives)
    Scenario.from_toml(POWER + more + gives.replace("0.5", "0.4"))
    error, line = refusal(POWER, more, gives.replace("3 s", "4 s"))
    assert line == "entitlement = 2.5"
    assert error.there == "by then 3.5 cores of dev's 3 are entitled"


def test_cores_go_from_one_virtual_partition_to_another_but_never_the_one_it_booted_on() -> None:
    takes, gives = change("orders", "2 s", "cores = 6"), change("shop", "2 s", "cores = 10")
    first, second = Scenario.from_toml(VPARS + takes + gives).spec()["changes"]
    assert len(first["cores"]) == 6
    assert len(second["cores"]) == 10
    assert not set(first["cores"]) & set(second["cores"])
    error, line = refusal(VPARS, takes)
    assert (line, error.there) == ("cores = 6", "0 are free in nPartition npar0 by then")
    error, line = refusal(VPARS, change("shop", "2 s", "cores = 1"))
    assert (line, error.there) == ("cores = 1", "the minimum of shop is 2")
    error, line = refusal(VPARS, change("shop", "2 s", "smt = 2"))
    assert line == "smt = 2"
    assert "what can change of it is cores, memory, running" in str(error.there)


def test_weights_of_logical_partitions_give_their_entitlements_anew() -> None:
    spec = Scenario.from_toml(PRSM + change("a", "2 s", "weight = 300", "virtual = 3")).spec()
    shares = [one["processors"]["entitlement"] for one in spec_at(spec)["partitions"]]
    assert shares == [3.0, 4.0]
    stated = Scenario.from_toml(
        PRSM.replace("virtual = 6, weight = 100", "virtual = 3, weight = 300")
    ).spec()
    assert shares == [one["processors"]["entitlement"] for one in stated["partitions"]]
    error, line = refusal(PRSM, change("a", "2 s", "weight = 1000"))
    assert line == "weight = 1000"
    assert "1 to 999" in f"{error.problem} {error.there}"
    error, line = refusal(PRSM, change("a", "2 s", "entitlement = 1.0"))
    assert "what can change of it is virtual, capped, weight, running" in str(error.there)


def test_a_host_changes_nothing() -> None:
    hosts = Path(__file__).with_name("hosts.toml").read_text(encoding="utf-8")
    error, line = refusal(hosts, change("batch", "1 ms", "weight = 5"))
    assert line == "weight = 5"
    assert "nothing of it can change" in str(error.there)


def test_a_partition_may_start_later_and_stop() -> None:
    starts = change("lpar1", "2 s", "running = true")
    spec = Scenario.from_toml(POWER + starts + change("own", "3 s", "running = false")).spec()
    assert [one["running"] for one in spec["changes"]] == [True, False]


def test_floating_memory_moves_and_base_memory_does_not() -> None:
    has = '[{ size = "6 GiB", on = "cell1" }, { size = "2 GiB", on = "cell0", use = "floating" }]'
    local = VPARS.replace('"64 GiB"', '"64 GiB"\nclm = "24 GiB"')
    first, second = local.split('name = "orders"')
    base = first + 'name = "orders"' + second.replace('memory = "8 GiB"', f"memory = {has}")
    follows = change("orders", "5 s", "memory = " + has.replace("cell0", "cell1"))
    spec = Scenario.from_toml(base + follows).spec()
    (moved,) = spec["changes"]
    before = spec["partitions"][1]["memory"]
    assert {tuple(part["domains"]) for part in before} == {(0,), (1,)}
    assert {tuple(part["domains"]) for part in moved["memory"]} == {(1,)}
    assert spec_at(spec)["partitions"][1]["memory"] == moved["memory"]
    stays = change("orders", "5 s", "memory = " + has.replace("cell1", "cell0"))
    error, line = refusal(base, stays)
    assert "base memory stays" in str(error)
    assert line.startswith("memory = ")
    error, _ = refusal(
        base, change("orders", "5 s", "memory = " + has.replace('"2 GiB"', '"90 GiB"'))
    )
    assert "by then cell0 has" in str(error)


def test_memory_of_a_power_server_may_follow_its_partition() -> None:
    text = POWER + change("own", "5 s", 'memory = [{ size = "8 GiB", on = "drawer0" }]')
    spec = Scenario.from_toml(text).spec()
    (moved,) = spec["changes"]
    assert sum(part["bytes"] for part in moved["memory"]) == 8 << 30
    assert moved["memory"] != spec["partitions"][-1]["memory"]
