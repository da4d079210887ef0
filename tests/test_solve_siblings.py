"""Threads of a core, solved: who runs beside whom where few cores are fed by one queue."""

from __future__ import annotations

import pytest

from homenode.simulate.scenario import Scenario

POWER = """
[machine]
model = "ibm-power-e1080"
[[partition]]
name = "a"
smt = {smt}
processors = {{ mode = "dedicated", cores = {cores} }}
memory = "8 GiB"
guest = {{ os = "{os}" }}
workload = {{ kind = "transactions", rate = "{rate}/s", profile = {profile} }}
[run]
warmup = "500 ms"
duration = "2 s"
"""
HOST = """
[machine]
model = "intel-xeon-6240-2s"
sockets = 2
cores_per_socket = 4
[machine.hypervisor]
[[partition]]
name = "a"
{kvm}
processors = {{ mode = "shared", virtual = {virtual}, {where} }}
memory = "8 GiB"
workload = {{ {work}, profile = {profile} }}
[run]
warmup = "500 ms"
duration = "3 s"
"""
PROFILE = '{ base = "oltp", instructions = 2e6 }'


def power(cores: int, smt: int, rate: int, os: str = "linux") -> Scenario:
    text = POWER.format(cores=cores, smt=smt, rate=rate, os=os, profile=PROFILE)
    return Scenario.from_toml(text, "power.toml")


def host(virtual: int, where: str, work: str, kvm: str = "kvm = {}") -> Scenario:
    text = HOST.format(virtual=virtual, where=where, work=work, kvm=kvm, profile=PROFILE)
    return Scenario.from_toml(text, "host.toml")


def figures(scenario: Scenario) -> tuple[float, float]:
    """Core time of a transaction and response, solved, by those of a run."""
    found = []
    for answer in (scenario.solve(), scenario.run()):
        metric = [answer.metric("a", key).mean for key in ("physc", "etr_per_s")]
        response = answer.metric("a", "response_ms_mean").mean
        found.append(((metric[0] or 0.0) / (metric[1] or 1.0), response or 0.0))
    (cores, response), (run_cores, run_response) = found
    return cores / run_cores, response / run_response


@pytest.mark.parametrize(("smt", "rate"), [(8, 500), (8, 1000), (4, 2000)])
def test_on_one_core_a_linux_guest_uses_what_an_aix_does(smt: int, rate: int) -> None:
    linux, aix = (power(1, smt, rate, os).solve().metric("a", "physc") for os in ("linux", "aix"))
    assert linux.mean == pytest.approx(aix.mean, rel=0.005)


@pytest.mark.parametrize(("cores", "smt", "rate"), [(2, 8, 1900), (8, 2, 11500)])
def test_new_threads_take_idle_cores_before_they_share_one(cores: int, smt: int, rate: int) -> None:
    used, responds = figures(power(cores, smt, rate))
    assert used == pytest.approx(1.0, abs=0.03)
    assert responds == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize(
    ("virtual", "where", "work"),
    [
        (2, 'cpuset = "0-1"', 'kind = "transactions", rate = "800/s"'),
        (2, 'pins = ["0", "1"]', 'kind = "transactions", rate = "800/s"'),
        (4, 'cpuset = "0-3"', 'kind = "transactions", rate = "1500/s"'),
        (2, 'cpuset = "0-1"', 'kind = "users", count = 6, think = "5 ms"'),
    ],
)
def test_threads_of_a_core_that_one_queue_feeds_are_busy_together(
    virtual: int, where: str, work: str
) -> None:
    used, responds = figures(host(virtual, where, work))
    assert used == pytest.approx(1.0, abs=0.05)
    assert responds == pytest.approx(1.0, abs=0.13)


def test_two_threads_of_a_core_are_a_queue_of_two_servers_that_slow_each_other() -> None:
    """Work that never ends tells what one of them does alone, and two together."""
    where = 'cpuset = "0-1"'

    def done(count: int) -> float:
        solved = host(count, where, f'kind = "warehouses", count = {count}', "").solve()
        return solved.metric("a", "etr_per_s").mean or 0.0

    first, second = 800 / done(1), 800 / done(2)
    chances = [1.0, first, first * second / (1 - second)]
    exact = (chances[1] + 2 * chances[2]) / sum(chances)
    solved = host(2, where, 'kind = "transactions", rate = "800/s"', "").solve()
    assert solved.metric("a", "physc").mean == pytest.approx(exact, rel=0.02)
