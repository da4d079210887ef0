"""What further threads of a core bring, on every shipped machine, through the compiled engine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homenode.model.catalog.flatten import machine_spec
from homenode.model.catalog.names import machine, machines, profile, profiles

_engine = pytest.importorskip("homenode._engine", reason="the engine is not built")

THREADED = [name for name in machines() if machine(name).threads_per_core > 1]


def curve(base: dict[str, Any], name: str, work: dict[str, Any], **changed: Any) -> list[float]:
    """Throughput of an otherwise idle core with 1, 2, ... busy threads, one thread = 1."""
    # Of hosts the hardware only: a core of its own is not to be had there.
    hypervisor = base["machine"]["hypervisor"]
    hardware = {**machine_spec(machine(name)), "hypervisor": hypervisor, **changed}
    # Gains are told of machines that are full, so at the clock that they have then.
    hardware.pop("turbo_hz", None)
    rates = []
    for threads in range(1, hardware["threads_per_core"] + 1):
        one = {**base["partitions"][0], "smt": threads, "profile": work}
        # Data that the translations of a core reach.
        one |= {"data_bytes": 1 << 20, "home": [0]}
        one["memory"] = [{"domains": [0], "bytes": 1 << 30}]
        spec = {**base, "machine": hardware, "partitions": [one]}
        chips = hardware["nodes"] * hardware["chips_per_node"]
        busy = [[1.0] + [0.0] * (chips - 1)]
        answer = json.loads(_engine.price(json.dumps(spec), json.dumps(busy)))
        rates.append(threads / answer["partitions"][0]["ns"])
    return [rate / rates[0] for rate in rates]


@pytest.mark.parametrize("name", THREADED)
def test_the_reference_work_gets_the_published_curve(base: dict[str, Any], name: str) -> None:
    smt = machine_spec(machine(name))["smt"]
    came = curve(base, name, dict(smt["reference"]))
    assert came == pytest.approx(smt["gain"], rel=0.02)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_a_thread_in_each_half_of_a_core_hardly_disturbs_the_other(
    base: dict[str, Any], share: float
) -> None:
    """POWER9 and Power10 were measured to do twice as much with a thread in each half."""
    work = {**profile("oltp").spec(), "miss_m0": 0.0, "sharing": 0.0, "issue_share": share}
    came = curve(base, "ibm-power-e1080", work)
    assert came[1] >= 1.95
    if share == 1.0:
        # A half has nothing to give to a second thread of work that never waits.
        assert came[7] <= came[1] * 1.01


@pytest.mark.parametrize("name", THREADED)
def test_with_large_caches_no_thread_costs_throughput(base: dict[str, Any], name: str) -> None:
    caches = [{**cache, "bytes": 1 << 50} for cache in machine_spec(machine(name))["caches"]]
    for share in range(21):
        work = {**profile("oltp").spec(), "issue_share": share / 20, "store_share": 0.0}
        came = curve(base, name, work, caches=caches)
        steps = zip(came[1:], came, strict=False)
        # What is left is lost to memory's controllers, which a thread more loads a little more.
        assert all(after >= before * (1 - 1e-4) for after, before in steps), (share, came)


@pytest.mark.parametrize("name", THREADED)
@pytest.mark.parametrize("work", [name for name in profiles() if name not in ("idle", "stream")])
def test_with_real_caches_little_is_lost(base: dict[str, Any], name: str, work: str) -> None:
    for share in (None, 0.0, 0.5, 1.0):
        numbers = {**profile(work).spec(), **({} if share is None else {"issue_share": share})}
        assert min(curve(base, name, numbers)) >= 0.9, share
