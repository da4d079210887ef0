"""Virtual machines of an ESXi host: what may be said of them, and what they get."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario
from homenode.simulate.runner import run_scenario

ESTATE = """\
[machine]
model = "intel-xeon-6240-2s"
policy = "esxi"
sockets = 1  # On nodes of their own nobody competes with all others.
hypervisor.smt = { value = false, why = "a thread a core" }

[[partition]]
name = "db"
processors = { mode = "shared", virtual = 9, entitlement = 4.5 }
memory = "64 GiB"
workload = { kind = "loops", count = 9, endless = true, profile = "compute" }

[[partition]]
name = "app"
count = 2
processors = { mode = "shared", virtual = 9, shares = 18000 }
memory = "64 GiB"
workload = { kind = "loops", count = 9, endless = true, profile = "compute" }

[[partition]]
name = "batch"
processors = { mode = "shared", virtual = 4, cap = 1.5 }
memory = "8 GiB"
workload = { kind = "loops", count = 4, endless = true, profile = "compute" }

[run]
warmup = "4 s"
duration = "24 s"
replications = 1
"""


@pytest.fixture
def estate() -> Scenario:
    return Scenario.from_toml(ESTATE)


def test_what_all_would_get(estate: Scenario) -> None:
    """Shares of 9,000, 2 x 18,000 and 4,000 on 18 cores: the database's are too few for what is
    reserved, and the batch's for what its limit lets it use.
    """
    told = {one.name: one.entitlement for one in estate.partitions}
    assert told["db"] == pytest.approx(4.5)
    assert told["batch"] == pytest.approx(13.5 * 4 / 40)
    assert told["app1"] == told["app2"] == pytest.approx(13.5 * 18 / 40)


def test_they_get_it(estate: Scenario, tmp_path: Path) -> None:
    run = run_scenario(estate, out=tmp_path)
    for one in estate.partitions:
        assert run.metrics[one.name]["physc"].mean == pytest.approx(one.entitlement, rel=0.08)
    # Siblings that lead are stopped.
    stopped = [run.metrics[one.name]["throttled_pct"].mean or 0.0 for one in estate.partitions]
    assert max(stopped) > 0.5


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"partition.db.processors.weight": 200}, "ESXi does not know it; write shares"),
    ({"partition.db.processors.capped": True}, "ESXi does not know it; write cap"),
    ({"partition.db.processors.quota": "5 ms"}, "ESXi does not know it; write cap, in cores"),
    ({"partition.db.processors.nice": 5}, "ESXi does not know it; leave nice out"),
    ({"partition.db.processors.entitlement": 19.0}, "it can use 9 cores at most"),
    ({"partition.batch.processors.entitlement": 2.0}, "it can use 1.5 cores at most"),
    ({"partition.batch.processors.cap": 5.0}, "4 virtual processors can use no more"),
    ({"partition.db.kvm": {}}, "every partition is a virtual machine there; leave kvm out"),
    ({"cgroup": [{"name": "g"}]}, "ESXi has no control groups"),
    ({"partition.app.processors.entitlement": 8.0}, "at most 18 cores"),
    ({"machine.hypervisor.quantum": "2 s"}, "at most 1 s is possible"),
    ({"machine.policy": "linux"}, "entitlement = 4.5: Linux does not know it"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_it_does_not_know_is_refused_where_it_stands(
    estate: Scenario, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)) as told:
        estate.with_(changes)
    assert re.search(r":\d+:\d+: ", str(told.value))


def test_the_numbers_of_its_scheduler_are_published_or_assumed_with_a_range(
    estate: Scenario,
) -> None:
    figures = {
        name: figure for name, figure in estate.machine.figures() if name.startswith("hypervisor.")
    }
    assert figures["hypervisor.costop"].value == 3_000_000
    assert figures["hypervisor.costop"].provenance == "source"
    assert figures["hypervisor.preempt"].provenance == "assumed"
    assert figures["hypervisor.kvm.halt_poll"].value == 0


POOLED = """\
[machine]
model = "intel-xeon-6240-2s"
policy = "esxi"
active_cores = 4
sockets = 1
hypervisor.smt = { value = false, why = "a thread a core" }

[[resource_pool]]
name = "prod"
shares = 1000

[[resource_pool]]
name = "web"
parent = "prod"
shares = 3000

[[partition]]
name = "front"
processors = { mode = "shared", virtual = 2, shares = 1, resource_pool = "web" }
memory = "4 GiB"
workload = { kind = "loops", count = 2, endless = true, profile = "compute" }

[[partition]]
name = "back"
processors = { mode = "shared", virtual = 2, shares = 1000, resource_pool = "prod" }
memory = "4 GiB"
workload = { kind = "loops", count = 2, endless = true, profile = "compute" }

[[partition]]
name = "beside"
processors = { mode = "shared", virtual = 4, shares = 1000 }
memory = "4 GiB"
workload = { kind = "loops", count = 4, endless = true, profile = "compute" }

[run]
warmup = "2 s"
duration = "10 s"
replications = 1
"""


def test_pools_share_as_they_stand_in_each_other(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(POOLED)
    wanted = {"front": 1.5, "back": 0.5, "beside": 2.0}
    assert {one.name: one.entitlement for one in scenario.partitions} == pytest.approx(wanted)
    run = run_scenario(scenario, out=tmp_path)
    got = {name: run.metrics[name]["physc"].mean for name in wanted}
    assert got == pytest.approx(wanted, abs=0.1)


def test_a_limit_of_a_pool_and_a_reserve_bind_what_all_in_it_would_get() -> None:
    limited = POOLED.replace("shares = 1000\n\n[[res", "shares = 1000\nlimit = 1.0\n\n[[res")
    told = {one.name: one.entitlement for one in Scenario.from_toml(limited).partitions}
    assert told == pytest.approx({"front": 0.75, "back": 0.25, "beside": 3.0})
    reserved = POOLED.replace("shares = 3000", "shares = 3000\nreservation = 1.8")
    told = {one.name: one.entitlement for one in Scenario.from_toml(reserved).partitions}
    assert told == pytest.approx({"front": 1.8, "back": 0.2, "beside": 2.0})


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('parent = "prod"', 'parent = "late"', "the pools so far are prod"),
        ('resource_pool = "web"', 'resource_pool = "wbe"', "web"),
        ('name = "web"', 'name = "prod"', "an earlier pool has it"),
        ("shares = 3000", "shares = 3000\nlimit = 1.0\nreservation = 2.0", "its limit is 1 cores"),
        ('policy = "esxi"', 'policy = "linux"', "only ESXi has"),
    ],
)
def test_pools_that_do_not_fit_are_refused(old: str, new: str, wanted: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(wanted)) as told:
        Scenario.from_toml(POOLED.replace(old, new, 1))
    assert re.search(r":\d+:\d+: ", str(told.value))


def test_what_is_reserved_inside_must_be_the_pools_or_around_it() -> None:
    inside = POOLED.replace("shares = 1, res", "shares = 1, entitlement = 1.5, res")
    assert Scenario.from_toml(inside)
    with pytest.raises(ScenarioError, match=r"at least 1\.5 cores") as told:
        Scenario.from_toml(inside.replace("shares = 3000", "shares = 3000\nexpandable = false"))
    assert "resource pool web" in str(told.value) or "resource_pool" in str(told.value)


def test_more_than_there_is_cannot_be_reserved_and_who_has_most_is_named() -> None:
    """What is reserved in pools counts where they stand."""
    inside = POOLED.replace("shares = 1, res", "shares = 1, entitlement = 1.5, res")
    beside = "virtual = 4, shares = 1000 }"
    fits = inside.replace(beside, "virtual = 4, shares = 1000, entitlement = 2.5 }")
    assert Scenario.from_toml(fits)
    with pytest.raises(ScenarioError, match=r"at most 4 cores, and not 4\.6") as told:
        Scenario.from_toml(fits.replace("entitlement = 2.5", "entitlement = 3.1"))
    assert "beside" in str(told.value)
    wider = fits.replace("virtual = 2, shares = 1,", "virtual = 4, shares = 1,")
    most = wider.replace("entitlement = 1.5", "entitlement = 3.9").replace("= 2.5", "= 0.5")
    with pytest.raises(ScenarioError, match=r"at most 4 cores, and not 4\.4") as told:
        Scenario.from_toml(most)
    assert "front" in str(told.value)
    assert re.search(r":\d+:\d+: ", str(told.value))
