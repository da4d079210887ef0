"""What PowerVM's windows and entitlements do to responses and dispatches, solved and simulated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homenode import _engine
from homenode.simulate.scenario import Scenario
from homenode.simulate.solved.figures import Solved

HEAD = """
[machine]
model = "ibm-power-770"
active_cores = 64
[run]
warmup = "1 s"
duration = "{seconds} s"
"""
SHARED = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", entitlement = {entitlement}, virtual = {virtual}{capped} }}
smt = 1
memory = "8 GiB"
home = "drawer0"
workload = {{ kind = "transactions", rate = "{rate}/s", profile = "{profile}" }}
"""


def shared(name: str, entitlement: float, virtual: int, rate: float, profile: str) -> str:
    return SHARED.format(
        name=name,
        entitlement=entitlement,
        virtual=virtual,
        rate=rate,
        profile=profile,
        capped=", capped = true" if name == "capped" else "",
    )


def both(*partitions: str, seconds: int = 8) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Partitions solved, and simulated for so many seconds."""
    text = HEAD.format(seconds=seconds) + "".join(partitions)
    words = json.dumps(Scenario.from_toml(text).spec())
    solved = json.loads(_engine.solve(words))["partitions"]
    return solved, json.loads(_engine.simulate(words, 0, lambda _: True))["partitions"]


@pytest.mark.parametrize(("rate", "profile"), [(1_800, "integer-suite"), (100, "oltp")])
def test_a_capped_partition_waits_for_windows_as_in_a_run(rate: int, profile: str) -> None:
    """Bursts of 0.4 ms, of which more run at once for a while, and of 7 ms: in runs 0.53 and 18.7
    ms, where they would take 0.42 and 7 ms without the cap.
    """
    [solved], [simulated] = both(shared("capped", 1.0, 6, rate, profile), seconds=16)
    [free], _ = both(shared("free", 1.0, 6, rate, profile), seconds=1)
    assert solved["response_ns"] > 1.25 * free["response_ns"]
    assert solved["response_ns"] == pytest.approx(simulated["response_ns"]["mean"], rel=0.3)
    assert solved["cores"] == pytest.approx(simulated["totals"]["busy_ns"] / 16e9, rel=0.08)


def test_the_nearer_its_cap_the_longer_it_waits_and_beyond_it_has_no_steady_state() -> None:
    def of(rate: float) -> dict[str, Any]:
        return both(shared("capped", 1.0, 6, rate, "oltp"), seconds=1)[0][0]

    responses = [of(rate)["response_ns"] for rate in (20, 60, 100, 130)]
    assert responses == sorted(responses)
    assert responses[-1] > 4 * responses[0]
    assert [of(rate)["steady"] for rate in (130, 200)] == [True, False]


def test_who_is_beyond_its_entitlement_is_thrown_off_at_home_by_those_that_are_not() -> None:
    """Work for seven virtual processors of one that is entitled to 2.4 cores, beside ever more of
    one that is entitled to 14 of the node's 16: a run has 2,200 dispatches a second without, and
    400 and 840 more at 8,000 and 12,000 a second.
    """

    def of(rate: float) -> tuple[dict[str, Any], dict[str, Any]]:
        beside = shared("within", 14.0, 16, rate, "integer-suite")
        solved, simulated = both(shared("beyond", 2.4, 24, 900, "oltp"), beside, seconds=4)
        return solved[0], simulated[0]["totals"]

    alone, some, many = of(0.001), of(8_000), of(12_000)
    dispatches = [solved["dispatches"] for solved, _ in (alone, some, many)]
    assert dispatches[0] + 20 < dispatches[1]
    assert dispatches[1] + 100 < dispatches[2]
    for solved, simulated in (alone, some, many):
        assert solved["cores"] == pytest.approx(simulated["busy_ns"] / 4e9, rel=0.06)
    assert some[1]["evictions"] > 100 * alone[1]["evictions"]


def test_what_a_capped_partition_waits_is_told_and_its_percentiles_are_not() -> None:
    def of(rate: float) -> Solved:
        text = HEAD.format(seconds=1) + shared("capped", 1.0, 6, rate, "oltp")
        return Scenario.from_toml(text).solve()

    low, high = of(5), of(100)
    assert low.limited == high.limited == ()
    mean, late = "response_ms_mean", "response_ms_p95"
    assert (high.metric("capped", mean).mean or 0.0) > 2 * (low.metric("capped", mean).mean or 1e9)
    assert low.metric("capped", late).mean is not None
    assert high.metric("capped", late).mean is None
