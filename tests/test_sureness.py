"""How near solved cores are said to be to simulated ones."""

from __future__ import annotations

from typing import cast

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.model.spec import PartitionSpec, Spec
from homenode.simulate.answers import PartitionSolved
from homenode.simulate.scenario import Scenario
from homenode.simulate.solved.sureness import (
    AT_HOME,
    AWAY,
    COLD,
    DEDICATED,
    KINDS,
    PLATFORMS,
    WARM,
    kind_of,
    known,
    platform_of,
)

LAYOUT = """
[machine]
model = "{model}"
[[partition]]
name = "web"
processors = {processors}
memory = "16 GiB"
workload = {{ kind = "transactions", rate = "50/s", profile = "oltp" }}
"""


def solved(reload: float, at_home: float) -> PartitionSolved:
    """A partition of two cores."""
    told = {"cores": 2.0, "books": {"reload": reload}, "by_distance": [at_home, 1.0 - at_home, 0.0]}
    return cast("PartitionSolved", told)


def platform(model: str, processors: str) -> str | None:
    text = LAYOUT.format(model=model, processors=processors)
    spec = Scenario.from_toml(text, "small.toml").solve().spec
    return platform_of(spec, spec["partitions"][0])


def test_whoever_loses_much_to_cold_caches_is_of_that_kind_wherever_it_is() -> None:
    def kind(reload: float, at_home: float, platform: str = "PowerVM") -> str:
        return kind_of(platform, solved(reload, at_home))

    assert [kind(0.0, share) for share in (1.0, 0.995, 0.9)] == [AT_HOME, AT_HOME, AWAY]
    assert [kind(0.5, share) for share in (1.0, 0.9)] == [COLD, COLD]
    assert kind(0.15, 0.5) == AWAY
    # A host's threads have no homes that fill up.
    assert [kind(0.0, share, "Linux, KVM") for share in (1.0, 0.5)] == [WARM, WARM]
    assert kind(0.5, 1.0, "Linux, KVM") == COLD


def test_each_platform_is_known_by_its_policy_or_its_own_cores() -> None:
    shared = '{ mode = "shared", entitlement = 1.0, virtual = 2 }'
    assert platform("ibm-power-770", shared) == "PowerVM"
    assert platform("ibm-power-770", '{ mode = "dedicated", cores = 1 }') == DEDICATED
    nothing = {"machine": {"hypervisor": {"policy": "round_robin"}}}
    one = {"guest": {"os": "linux"}, "processors": {"mode": "shared"}}
    assert platform_of(cast("Spec", nothing), cast("PartitionSpec", one)) is None


def test_of_each_platform_enough_were_compared_and_those_at_home_are_the_surest() -> None:
    table = known()
    compared = {name for name, _ in table}
    assert compared == {*PLATFORMS}
    for name in compared:
        there = [table[name, kind] for kind in KINDS if (name, kind) in table]
        assert there
        assert min(one.partitions for one in there) >= 40
        assert all(0.0 < one.cores < 1.0 for one in there)
    powervm = [table["PowerVM", kind].cores for kind in (AT_HOME, AWAY, COLD)]
    assert powervm == sorted(powervm)
