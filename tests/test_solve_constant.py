"""How bursts wait that are all as long, solved, by closed forms and simulated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homenode import _engine
from homenode.simulate.scenario import Scenario

ONE = """
[machine]
model = "ibm-power-770"
active_cores = 8
[[partition]]
name = "one"
processors = {{ mode = "dedicated", cores = {cores} }}
smt = 1
memory = "8 GiB"
guest = {{ os = "linux" }}
workload = {{ {kind}, burst_work = "{burst}", profile = {profile} }}
[run]
warmup = "1 s"
duration = "8 s"
"""
PROFILE = '{ base = "xorshift-loop", instructions = 4e6 }'
EACH_MS = 1.2136
"""What a transaction takes there."""


def words(kind: str, cores: int = 1, burst: str = "constant", profile: str = PROFILE) -> str:
    text = ONE.format(kind=kind, cores=cores, burst=burst, profile=profile)
    return json.dumps(Scenario.from_toml(text).spec())


def solved(of: str) -> dict[str, Any]:
    [told] = json.loads(_engine.solve(of))["partitions"]
    assert isinstance(told, dict)
    return told


def simulated_ms(of: str) -> float:
    [told] = json.loads(_engine.simulate(of, 0, lambda _: True))["partitions"]
    return float(told["response_ns"]["mean"]) / 1e6


def open_rate(load: float, cores: int = 1) -> str:
    return f'kind = "transactions", rate = "{load * cores / EACH_MS * 1e3}/s"'


@pytest.mark.parametrize("load", [0.5, 0.8, 0.9])
def test_one_processor_is_pollaczeks_queue(load: float) -> None:
    each, half = EACH_MS, 0.5 * load / (1.0 - load)
    response_ms = solved(words(open_rate(load)))["response_ns"] / 1e6
    assert response_ms == pytest.approx(each * (1.0 + half), rel=0.01)
    scattered = solved(words(open_rate(load), burst="exponential"))["response_ns"] / 1e6
    assert scattered == pytest.approx(each * (1.0 + 2.0 * half), rel=0.01)


@pytest.mark.parametrize("cores", [2, 8])
def test_several_processors_wait_as_simulated(cores: int) -> None:
    of = words(open_rate(0.85, cores), cores)
    told, simulated = solved(of)["response_ns"] / 1e6, simulated_ms(of)
    assert told - EACH_MS == pytest.approx(simulated - EACH_MS, rel=0.2)


@pytest.mark.parametrize(("think", "within"), [("exponential", 0.03), ("constant", 0.01)])
def test_a_few_users_wait_for_what_is_left_of_others_bursts(think: str, within: float) -> None:
    """Users that think for as long each time come in step, and do not wait at all."""
    kind = f'kind = "users", count = 5, think = "20 ms", think_distribution = "{think}"'
    of = words(kind)
    told = solved(of)
    assert told["response_ns"] / 1e6 == pytest.approx(simulated_ms(of), rel=within)
    # By Little's law users are in there or think.
    assert told["throughput"] * (told["response_ns"] + 20e6) == pytest.approx(5e9, rel=1e-6)


def test_many_users_get_what_the_processor_does() -> None:
    told = solved(words('kind = "users", count = 100, think = "20 ms"'))
    assert told["throughput"] == pytest.approx(1e3 / EACH_MS, rel=0.01)
    assert told["response_ns"] / 1e6 == pytest.approx(100 * EACH_MS - 20.0, rel=0.01)


def test_what_takes_several_time_slices_waits_more() -> None:
    """Bursts of 24 ms in slices of 4 ms, seven each: seven eighths of the wait of exponential ones,
    for half of it; in runs .87 of it, with AIX's of 10 ms .76 for three quarters.
    """
    profile = PROFILE.replace("4e6", "8e7")
    kind = f'kind = "transactions", rate = "{0.7 / (20 * EACH_MS) * 1e3}/s"'
    waits = [
        solved(words(kind, burst=burst, profile=profile))["response_ns"] / 1e6 - 20 * EACH_MS
        for burst in ("constant", "exponential")
    ]
    assert waits[0] / waits[1] == pytest.approx(7 / 8, rel=0.02)
