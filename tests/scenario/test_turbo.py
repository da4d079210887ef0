"""Clocks by busy cores, as a machine file and a scenario tell them."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import HomenodeError, ScenarioError
from homenode.model.catalog import machine
from homenode.model.scenario import Scenario

HOST = """\
[machine]
model = "intel-xeon-{model}-2s"
{more}

[[partition]]
name = "vm"
processors = {{ mode = "shared", virtual = 2 }}
memory = "1 GiB"
[partition.workload]
kind = "warehouses"
count = {count}
profile = {{ base = "compute", instructions = 1e6 }}

[run]
warmup = "1 s"
duration = "1 s"
replications = 1
"""


def told(more: str = "", model: str = "6140") -> list[float] | None:
    scenario = Scenario.from_toml(HOST.format(model=model, more=more, count=2))
    return scenario.spec()["machine"].get("turbo_hz")


def test_it_is_as_long_as_a_socket_and_ends_at_the_clock() -> None:
    described = machine("intel-xeon-6140-2s")
    assert described.turbo is not None
    clocks = described.turbo.value
    assert len(clocks) == described.cores_per_chip
    assert clocks[-1] == described.clock.value
    assert told() == clocks
    assert told(model="6240") is None


def test_another_clock_is_kept_and_other_clocks_may_be_told() -> None:
    fixed = 'clock = { value = "2.3 GHz", why = "turbo is off" }'
    assert told(fixed) is None
    other = 'turbo = { value = ["3 GHz", "2.5 GHz"], why = "as measured" }'
    assert told(other) == [3e9, 2.5e9]
    assert told(fixed + "\n" + other) == [3e9, 2.5e9]
    assert told(other, model="6240") == [3e9, 2.5e9]


def test_clocks_that_rise_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"2 busy cores have 2\.5 GHz, one less 2"):
        told('turbo = { value = ["2 GHz", "2.5 GHz"], why = "a slip" }')
    with pytest.raises(HomenodeError, match="turbo"):
        told('turbo = { value = [], why = "a slip" }')


def test_a_thread_alone_is_faster_than_one_among_many(tmp_path: Path) -> None:
    """Threads of `compute` on one socket: each does less, and all together more."""
    pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")
    from homenode.simulate.runner import run_scenario

    speeds = []
    for count in (1, 8, 18):
        text = HOST.format(model="6140", more="sockets = 1\nthreads = 1", count=count)
        text = text.replace("virtual = 2", f"virtual = {count}")
        run = run_scenario(Scenario.from_toml(text), out=tmp_path)
        done = run.metrics["vm"]["etr_per_s"].mean
        assert done is not None
        speeds.append(done / count)
    assert speeds[0] > 1.05 * speeds[1] > 1.08 * speeds[2]
