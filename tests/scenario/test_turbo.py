"""Clocks as a machine file and a scenario tell them, by busy cores too, and what hangs on them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from homenode.errors import HomenodeError, ScenarioError
from homenode.model.catalog import machine, machines
from homenode.model.scenario import Scenario

HOST = """\
[machine]
model = "intel-xeon-6140-2s"
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


def told(more: str = "") -> list[float] | None:
    scenario = Scenario.from_toml(HOST.format(more=more, count=2))
    return scenario.spec()["machine"].get("turbo_hz")


@pytest.mark.parametrize("name", machines())
def test_the_clock_of_a_machine_is_the_one_with_all_its_cores_busy(name: str) -> None:
    """So a machine that is full does what it would do if nothing were told of fewer cores."""
    described = machine(name)
    if described.turbo is not None:
        assert len(described.turbo.value) == described.cores_per_chip
        assert described.turbo.value[-1] == described.clock.value


def test_an_own_machine_file_tells_clocks(tmp_path: Path) -> None:
    shipped = (files("homenode") / "data/machines/amd-epyc-7742-2s.toml").read_text("utf-8")
    clocks = 'turbo.value = ["3.4 GHz", "3.2 GHz"]\nturbo.source = "its maker"\n'
    own = shipped.replace("clock.range", f"{clocks}clock.range", 1)
    (tmp_path / "own.toml").write_text(own, encoding="utf-8")
    text = HOST.format(more="", count=2)
    path = tmp_path / "host.toml"
    path.write_text(
        text.replace('model = "intel-xeon-6140-2s"', 'file = "own.toml"'), encoding="utf-8"
    )
    assert Scenario.load(path).spec()["machine"].get("turbo_hz") == [3.4e9, 3.2e9]


def test_another_clock_alone_holds_always_and_other_clocks_replace_those_of_the_machine() -> None:
    shipped = told()
    assert shipped is not None
    assert (len(shipped), shipped[0], shipped[-1]) == (18, 3.7e9, 3e9)
    fixed = 'clock = { value = "2.3 GHz", why = "turbo is off" }'
    assert told(fixed) is None
    other = 'turbo = { value = ["3 GHz", "2.5 GHz"], why = "as measured" }'
    assert told(other) == [3e9, 2.5e9]
    assert told(fixed + "\n" + other) == [3e9, 2.5e9]


def test_clocks_that_rise_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"2 busy cores have 2\.5 GHz, one less 2"):
        told('turbo = { value = ["2 GHz", "2.5 GHz"], why = "a slip" }')
    with pytest.raises(HomenodeError, match="turbo"):
        told('turbo = { value = [], why = "a slip" }')


def test_a_thread_alone_is_faster_than_one_among_many(tmp_path: Path) -> None:
    """Threads of `compute` on one socket of the shipped machine: each does less, all do more."""
    pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")
    from homenode.simulate.runner import run_scenario

    speeds = []
    for count in (1, 8, 18):
        text = HOST.format(more="sockets = 1\nthreads = 1", count=count)
        text = text.replace("virtual = 2", f"virtual = {count}")
        run = run_scenario(Scenario.from_toml(text), out=tmp_path)
        done = run.metrics["vm"]["etr_per_s"].mean
        assert done is not None
        speeds.append(done / count)
    assert speeds[0] > 1.05 * speeds[1] > 1.08 * speeds[2]


def memory_ns(*more: str) -> dict[str, float]:
    """Of a z14, whose description tells them in cycles."""
    text = HOST.format(more="\n".join(more), count=2).replace("intel-xeon-6140-2s", "ibm-z14")
    text = text.replace('mode = "shared", virtual = 2', 'mode = "dedicated", cores = 2')
    text = text.replace('memory = "1 GiB"', 'memory = "1 GiB"\nguest = { os = "linux" }')
    spec = Scenario.from_toml(text).spec()
    return {**spec["machine"]["memory_ns"], "L3": spec["machine"]["caches"][2]["latency_ns"]}


def test_memory_is_as_far_in_time_with_another_clock_of_the_cores() -> None:
    shipped = memory_ns()
    double = memory_ns('clock = { value = "10.4 GHz", why = "twice as fast" }')
    assert double["L3"] == pytest.approx(shipped["L3"] / 2)
    for name in ("local", "near", "far"):
        assert double[name] == pytest.approx(shipped[name])
    # What is told in cycles with the clock is in cycles of that clock.
    own = memory_ns(
        'clock = { value = "10.4 GHz", why = "twice as fast" }',
        'memory.local = { value = "1040 cycles", why = "told" }',
    )
    assert own["local"] == pytest.approx(100.0)
