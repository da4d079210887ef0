"""What only caches that cores share can hold of a footprint, where threads come to other chips.

A z196 has 1.5 MiB of its own beside each core and 24 MiB beside the four of a chip.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from homenode.simulate.scenario import Scenario

Told = Callable[..., float]

HEAD = """
[machine]
model = "ibm-z196"
active_cores = {cores}
[run]
warmup = "300 ms"
duration = "1 s"
seed = 3
"""
SHARED = """
[[partition]]
name = "p{index}"
processors = {{ mode = "shared", virtual = {virtual}, weight = 10, polarization = "{pol}" }}
memory = "16 GiB"
guest = {{ os = "linux" }}
[partition.workload]
kind = "users"
count = {users}
think = "{think} us"
[partition.workload.profile]
base = "oltp"
instructions = {instructions}
footprint = "{footprint}"
footprint_common = {common}
roaming = {roaming}
why = "a test"
"""


@cache
def scenario(
    footprint: str,
    *,
    cores: int = 24,
    partitions: int = 3,
    users: int = 26,
    pol: str = "horizontal",
    common: float = 0.0,
    roaming: float = 0.0,
    instructions: float = 2e6,
) -> Scenario:
    """Partitions that come and go on cores that they share."""
    text = HEAD.format(cores=cores)
    for index in range(partitions):
        text += SHARED.format(
            index=index,
            virtual=2 * cores // 3,
            users=users,
            pol=pol,
            footprint=footprint,
            common=common,
            roaming=roaming,
            instructions=instructions,
            think=round(instructions / 500),
        )
    return Scenario.from_toml(text)


def figure(metrics: Any, name: str) -> float:
    """A figure of all partitions together."""
    return sum(float(getattr(of[name], "mean", of[name])) for of in metrics.values() if name in of)


def reload_share(footprint: str, **layout: Any) -> float:
    """Part of the cores that goes into lines found cold, in a run."""
    metrics = scenario(footprint, **layout).run().metrics
    return figure(metrics, "cores_reload") / figure(metrics, "physc")


def solved_share(footprint: str, **layout: Any) -> float:
    """The same, solved."""
    metrics = scenario(footprint, **layout).solve().metrics
    return figure(metrics, "cores_reload") / figure(metrics, "physc")


@pytest.mark.parametrize("told", [reload_share, solved_share])
def test_it_costs_more_the_larger_it_is_up_to_what_caches_hold(told: Told) -> None:
    shares = [told(size) for size in ("1536 KiB", "2 MiB", "3 MiB", "6 MiB")]
    assert shares == sorted(set(shares))
    assert told("1 GiB") == told("2 GiB") > shares[1]


@pytest.mark.parametrize("told", [reload_share, solved_share])
def test_one_chip_holds_it_wherever_on_it_a_thread_comes(told: Told) -> None:
    one = {"cores": 4, "partitions": 3, "users": 5}
    assert told("1536 KiB", **one) == told("12 MiB", **one) > 0.0


@pytest.mark.parametrize("told", [reload_share, solved_share])
def test_work_that_roams_has_it_told_by_its_misses(told: Told) -> None:
    assert told("1536 KiB", roaming=1.0) == told("12 MiB", roaming=1.0)


def beyond(told: Told, **layout: Any) -> float:
    """What of that share is for lines that only caches which cores share can hold."""
    return told("6 MiB", **layout) - told("1536 KiB", **layout)


@pytest.mark.parametrize("told", [reload_share, solved_share])
def test_who_keeps_near_home_pays_less(told: Told) -> None:
    """Vertical processors with an entitlement stay on their cores, the others take any."""
    assert beyond(told, pol="vertical") < 0.7 * beyond(told)


@pytest.mark.parametrize("told", [reload_share, solved_share])
def test_who_moves_more_often_for_as_much_work_pays_more(told: Told) -> None:
    """Ten times as many dispatches for as many instructions."""
    assert beyond(told, instructions=2e5) > beyond(told, instructions=8e6)


@pytest.mark.parametrize("told", [reload_share, solved_share])
def test_what_is_in_common_is_there_where_others_of_the_partition_are(told: Told) -> None:
    parts = [beyond(told, common=common) for common in (0.0, 0.5, 0.9)]
    assert parts[0] > parts[1] > parts[2] >= 0.0


def test_farther_costs_more() -> None:
    """Of two books a thread that comes from the other one pays for the longer way."""
    assert beyond(reload_share, cores=48, partitions=6) > beyond(reload_share, cores=24)


TILES = """
[machine]
model = "ibm-z196"
[run]
warmup = "200 ms"
duration = "400 ms"
seed = 1
[[partition]]
name = "zvm"
processors = {{ mode = "dedicated", cores = 32, type = "ifl" }}
memory = "200 GiB"
guest = {{ os = "zvm", polarization = "{pol}", smt = "off", unparking = "large" }}
[partition.workload]
kind = "idle"
[partition.workload.profile]
base = "compute"
working_set = "7 MiB"
working_set_touches = 0.005
footprint = "{footprint}"
sharing = 0.0
why = "a test: a walk over pages"
[[partition.virtual_machine]]
name = "guest"
count = 40
cpus = 2
memory = "1 GiB"
workload = {{ kind = "users", count = 2, think = "800 us", instructions = 2_000_000 }}
"""


@pytest.mark.parametrize("told", ["run", "solve"])
def test_virtual_machines_that_go_to_any_processor_pay_more_than_those_kept_near(told: str) -> None:
    """In horizontal polarization z/VM knows nothing of chips and books."""

    def reloads(pol: str, footprint: str) -> float:
        scenario = Scenario.from_toml(TILES.format(pol=pol, footprint=footprint))
        return figure(getattr(scenario, told)().metrics, "cores_reload")

    more = {
        pol: reloads(pol, "7 MiB") - reloads(pol, "1536 KiB") for pol in ("horizontal", "vertical")
    }
    assert more["horizontal"] > more["vertical"] > 0.0
