"""Who has which part of what others leave under PowerVM, solved and simulated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homenode import _engine
from homenode.simulate.scenario import Scenario

HEAD = """
[machine]
model = "ibm-power-770"
active_cores = 8
{pool}
[run]
warmup = "500 ms"
duration = "2 s"
"""
SHARED = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", entitlement = {entitlement}, virtual = 8, {more} }}
smt = 1
memory = "8 GiB"
workload = {{ {work} }}
"""
LOOPS = 'kind = "loops", count = 8, endless = true, profile = "xorshift-loop"'
ENTITLED = {"a": 1.0, "b": 1.0, "c": 2.0}
SOFT = "weight = -1"
RESERVED = '[[pool]]\nname = "d"\nmaximum = 6\nreserved = 2.0'
SHORT = 'profile = { base = "xorshift-loop", instructions = 4e6 }'


def shared(name: str, more: str, work: str = LOOPS) -> str:
    return SHARED.format(name=name, entitlement=ENTITLED[name], more=more, work=work)


def solved(*partitions: str, pool: str = "") -> tuple[str, list[dict[str, Any]]]:
    words = json.dumps(Scenario.from_toml(HEAD.format(pool=pool) + "".join(partitions)).spec())
    return words, json.loads(_engine.solve(words))["partitions"]


def both(*partitions: str, pool: str = "") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    words, told = solved(*partitions, pool=pool)
    return told, json.loads(_engine.simulate(words, 0, lambda _: True))["partitions"]


def cores(simulated: list[dict[str, Any]]) -> list[float]:
    return [one["totals"]["busy_ns"] / 2e9 for one in simulated]


def test_a_soft_cap_has_what_all_others_leave_and_no_more() -> None:
    told, simulated = both(shared("a", SOFT), shared("b", "weight = 128"))
    assert [one["cores"] for one in told] == pytest.approx([1.0, 7.0], rel=0.01)
    assert cores(simulated) == pytest.approx([1.0, 7.0], rel=0.03)


def test_those_with_a_soft_cap_share_by_weight_among_each_other() -> None:
    _, told = solved(shared("a", SOFT), shared("b", SOFT))
    assert [one["cores"] for one in told] == pytest.approx([4.0, 4.0], rel=0.01)


def test_who_has_no_soft_cap_does_all_that_comes_beside_who_has_one() -> None:
    """4,000 transactions a second of 1.2 ms beside loops: 4.9 cores on the mean, and 7 are left by
    what the loops are entitled to. Of eight cores half would be too little.
    """
    work = f'kind = "transactions", rate = "4000/s", {SHORT}'
    told, simulated = both(shared("a", SOFT), shared("b", "weight = 128", work))
    assert [one["cores"] for one in told] == pytest.approx(cores(simulated), rel=0.05)
    assert told[1]["steady"]
    assert told[1]["throughput"] == pytest.approx(4_000.0, rel=1e-3)


def test_what_one_with_a_soft_cap_waits_is_what_its_entitlement_leaves() -> None:
    """400 users beside loops that have all else: one core for them, as in a run."""
    work = f'kind = "users", count = 400, think = "10 ms", {SHORT}'
    told, simulated = both(shared("a", SOFT, work), shared("b", "weight = 128"))
    assert told[0]["cores"] == pytest.approx(1.0, rel=0.01)
    response = simulated[0]["response_ns"]["mean"]
    assert told[0]["response_ns"] == pytest.approx(response, rel=0.05)


def test_what_a_pool_has_reserved_goes_to_its_own_members_first() -> None:
    """Of eight cores three are entitled, two are the pool's own, and of the other three each has
    half.
    """
    member, other = 'weight = 128, pool = "d"', "weight = 128"
    told, simulated = both(shared("a", member), shared("c", other), pool=RESERVED)
    assert [one["cores"] for one in told] == pytest.approx([4.5, 3.5], rel=0.01)
    assert cores(simulated) == pytest.approx([4.5, 3.5], rel=0.03)


def test_what_its_members_leave_of_their_entitlement_is_a_pools_own_too() -> None:
    """As much is left by one that hardly works as the pool would reserve."""
    idle = 'kind = "transactions", rate = "1/s", ' + SHORT
    member, other = 'weight = 128, pool = "d"', "weight = 128"
    pool = RESERVED.replace("2.0", "0.0")
    those = (shared("a", member), shared("b", other), shared("c", member, idle))
    told, simulated = both(*those, pool=pool)
    # Two are entitled, two are the pool's, and of four each has half.
    assert [one["cores"] for one in told[:2]] == pytest.approx([5.0, 3.0], rel=0.01)
    assert cores(simulated)[:2] == pytest.approx([5.0, 3.0], rel=0.05)


def test_while_cores_are_left_a_soft_cap_has_part_of_its_pools_maximum() -> None:
    """Nobody waits for a core then; on as many cores as the other one can use it has none of it."""
    member = 'weight = 128, pool = "d"'
    pool = RESERVED.replace("2.0", "0.0").replace("6", "4")
    those = (shared("a", f'{SOFT}, pool = "d"'), shared("b", member))
    told, simulated = both(*those, pool=pool)
    assert [one["cores"] for one in told] == pytest.approx([1.0, 3.0], rel=0.01)
    assert cores(simulated) == pytest.approx([1.0, 3.0], rel=0.03)
    words = Scenario.from_toml(
        HEAD.format(pool=pool).replace("cores = 8", "cores = 16") + "".join(those)
    ).spec()
    wide = json.loads(_engine.solve(json.dumps(words)))["partitions"]
    assert [one["cores"] for one in wide] == pytest.approx([2.0, 2.0], rel=0.01)
