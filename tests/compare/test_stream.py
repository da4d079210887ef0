"""Work that streams: a run reaches what a walk through memory says of one core, and with all cores
what the controllers carry.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import ScenarioError
from homenode.evidence.compare.walk import walk
from homenode.model import catalog
from homenode.model.document import to_toml
from homenode.simulate.scenario import Scenario

STREAMING = [name for name in catalog.machines() if catalog.machine(name).streams is not None]
HOSTS = ("linux", "credit2")
FAR_LARGER = 64 << 30


def own_cycles(name: str, cycles: float) -> float:
    """Cycles of this core, as a profile states them: for the core whose rate is 1."""
    rate = catalog.machine(name).core_rate
    return cycles * (1.0 if rate is None else rate.value)


def reading(name: str) -> dict[str, Any]:
    """Words of eight bytes are only read, each added to one sum, as the walk does."""
    streams = catalog.machine(name).streams
    assert streams is not None
    return {
        "base": "stream",
        "dirty_share": 0,
        "store_share": 0,
        "stream": "8 B",
        "eicpi": own_cycles(name, streams.sum_latency.value),
        "why": "an addition a word, which waits for the one before",
    }


def scenario(name: str, threads: int, changed: dict[str, Any] | None = None) -> Scenario:
    """So many threads on a machine's cores, each of which reads what lies beside it."""
    profile = {**reading(name), **(changed or {})}
    described = catalog.machine(name)
    machine: dict[str, Any] = {"model": name}
    cores = described.active_cores
    processors: dict[str, Any] = {"mode": "dedicated", "cores": cores}
    if described.hypervisor.policy in HOSTS:
        processors = {"mode": "shared", "virtual": cores, "cpuset": f"0-{cores - 1}"}
        still = {"enabled": {"value": False, "why": "memory is bound"}}
        alone = {"value": False, "why": "a thread a core"}
        machine["hypervisor"] = {"smt": alone, "numa_balancing": still}
    partition = {
        "name": "stream",
        "processors": processors,
        "smt": 1,
        "memory": "256 GiB",
        "guest": {"os": "linux"},
        "workload": {"kind": "loops", "count": threads, "endless": True, "profile": profile},
    }
    run = {"warmup": "200 ms", "duration": "200 ms", "replications": 1}
    return Scenario.from_toml(
        to_toml({"machine": machine, "partition": [partition], "run": run}), name
    )


def read_gb_per_s(
    name: str, threads: int, runs: Path, changed: dict[str, Any] | None = None
) -> float:
    """What such a run reads from memory."""
    found = scenario(name, threads, changed).run(out=runs).metrics["stream"]["memory_gb_per_s"].mean
    assert found is not None
    return float(found)


def walk_gb_per_s(name: str, threads: int) -> float:
    """The same by walks beside each memory; cores are active from the first one's on."""
    described = catalog.machine(name)
    beside = described.cores_per_chip
    if described.memory.beside == "node":
        beside *= described.chips_per_node
    full, rest = divmod(threads, beside)
    found = full * walk(described, "mmap-read", FAR_LARGER, beside).gb_per_s if full else 0.0
    return found + (walk(described, "mmap-read", FAR_LARGER, rest).gb_per_s if rest else 0.0)


@pytest.mark.parametrize("name", STREAMING)
def test_a_run_and_a_walk_agree_from_one_core_to_all(name: str, tmp_path: Path) -> None:
    for threads in (1, catalog.machine(name).active_cores):
        run = read_gb_per_s(name, threads, tmp_path)
        assert run == pytest.approx(walk_gb_per_s(name, threads), rel=0.05), threads


def test_a_thread_is_held_up_by_latency_and_a_chip_by_its_controllers(tmp_path: Path) -> None:
    """22 lines of 64 bytes in 97.5 ns; what the controllers of two sockets carry."""
    assert read_gb_per_s("intel-xeon-6140-2s", 1, tmp_path) == pytest.approx(
        22 * 64 / 97.5, rel=0.01
    )
    carried = 2e-9 * catalog.machine("intel-xeon-6140-2s").memory.bandwidth.value
    assert read_gb_per_s("intel-xeon-6140-2s", 36, tmp_path) == pytest.approx(carried, rel=0.001)


def test_a_core_of_power10_is_held_up_by_its_additions_until_it_has_vectors(tmp_path: Path) -> None:
    """A word a cycle is 28.4 GB/s of the 120 that memory delivers to a core."""
    assert read_gb_per_s("ibm-power-e1080", 1, tmp_path) == pytest.approx(8 * 3.55, rel=0.01)
    wide = {"stream": "32 B", "eicpi": own_cycles("ibm-power-e1080", 0.25)}
    found = read_gb_per_s("ibm-power-e1080", 1, tmp_path, wide)
    assert found == pytest.approx(120.0, rel=0.03)


def test_a_machine_that_says_nothing_of_streams_runs_none() -> None:
    of_cells = """
[machine]
model = "hp-rx8640"

[[npartition]]
name = "npar0"
cells = ["cell0"]
memory = "32 GiB"

[[partition]]
name = "a"
processors = { mode = "dedicated", cores = 1 }
memory = "4 GiB"
guest = { os = "hp-ux" }
workload = { kind = "loops", count = 1, profile = "stream" }

[run]
duration = "1 s"
"""
    with pytest.raises(ScenarioError, match="stream"):
        Scenario.from_toml(of_cells, "none")
