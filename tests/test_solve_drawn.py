"""Guests of a Linux host on two sockets, solved: who is beside its memory, how long it polls."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.simulate.scenario import Scenario

HEAD = """
[machine]
model = "intel-xeon-6240-2s"
policy = "linux"

[run]
warmup = "{warmup}"
duration = "{duration}"
replications = 2
"""
GUEST = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", virtual = {virtual} }}
memory = "4 GiB"
home = "server0.chip{socket}"
kvm = {{}}
workload = {workload}
"""


def layout(*guests: str, warmup: str = "20 s", duration: str = "2 s") -> Scenario:
    return Scenario.from_toml(HEAD.format(warmup=warmup, duration=duration) + "".join(guests))


def loops(name: str, count: int, socket: int, profile: str = "oltp") -> str:
    work = f'{{ kind = "loops", count = {count}, endless = true, profile = "{profile}" }}'
    return GUEST.format(name=name, virtual=count, socket=socket, workload=work)


def solved(scenario: Scenario, metric: str) -> list[float]:
    told = scenario.solve()
    return [told.metric(name, metric).mean or 0.0 for name in told.partitions]


def simulated(scenario: Scenario, metric: str, out: Path) -> list[float]:
    run = scenario.run(out=out)
    return [run.metrics[name][metric].mean or 0.0 for name in scenario.solve().partitions]


def test_guests_of_like_weight_change_places_until_all_are_home(tmp_path: Path) -> None:
    scenario = layout(loops("a", 4, 0), loops("b", 4, 1))
    told = solved(scenario, "cpi")
    assert told == pytest.approx(simulated(scenario, "cpi", tmp_path), rel=0.01)
    assert told[0] == pytest.approx(told[1], rel=0.01)


def test_threads_of_another_weight_stay_on_both_sockets(tmp_path: Path) -> None:
    """Nobody would be nearer to its memory without loads getting further apart."""
    scenario = layout(loops("few", 4, 0), loops("many", 16, 1))
    told = solved(scenario, "cpi")
    assert told == pytest.approx(simulated(scenario, "cpi", tmp_path), rel=0.06)
    assert told[0] > 1.1 * solved(layout(loops("few", 4, 0), loops("b", 4, 1)), "cpi")[0]


@pytest.mark.parametrize("bursts", [4, 20])
def test_halts_are_short_while_many_wait_for_devices(bursts: int, tmp_path: Path) -> None:
    """The same bursts a second, of many transactions or of few.

    By one mean of all halts it was told to poll for less than half as long.
    """
    profile = f'{{ base = "integer-suite", instructions = {bursts * 5e4} }}'
    work = (
        f'{{ kind = "transactions", rate = "{2800 / bursts}/s", bursts = {bursts}, '
        f'wait = "1 ms", profile = {profile} }}'
    )
    guest = GUEST.format(name="guest", virtual=2, socket=0, workload=work)
    scenario = layout(guest, warmup="1 s", duration="8 s")
    told = solved(scenario, "physc")
    assert told == pytest.approx(simulated(scenario, "physc", tmp_path), rel=0.12)
