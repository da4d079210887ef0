"""Initial capping of PR/SM in groups and beside others, solved and simulated."""

from __future__ import annotations

import json

import pytest

from homenode import _engine
from homenode.simulate.scenario import Scenario

HEAD = """
[machine]
model = "ibm-z14"
characterized = {{ cp = 2, ifl = 12 }}
[[group]]
name = "g"
cap = {cap}
[run]
warmup = "500 ms"
duration = "1 s"
"""
LPAR = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", virtual = {virtual}, weight = {weight}{more} }}
memory = "16 GiB"
guest = {{ os = "linux" }}
workload = {workload}
"""
MEMBER = ', capped = true, group = "g"'


def lpar(name: str, weight: int, virtual: int, *, busy: int, more: str) -> str:
    loops = f'{{ kind = "loops", count = {busy}, endless = true, profile = "compute" }}'
    workload = loops if busy else '{ kind = "idle" }'
    return LPAR.format(name=name, weight=weight, virtual=virtual, more=more, workload=workload)


def cores(cap: float, *lpars: str) -> tuple[list[float], list[float]]:
    """Cores that each uses, solved and simulated."""
    words = json.dumps(Scenario.from_toml(HEAD.format(cap=cap) + "".join(lpars)).spec())
    solved = json.loads(_engine.solve(words))["partitions"]
    simulated = json.loads(_engine.simulate(words, 0, lambda _: True))["partitions"]
    return (
        [of["cores"] for of in solved],
        [of["totals"]["busy_ns"] / 1e9 for of in simulated],
    )


@pytest.mark.parametrize(
    ("cap", "idle", "weight", "virtual", "wanted"),
    [
        (3.6, 500, 100, 12, 2.0),
        (3.6, 500, 100, 4, 2.0),
        (1.8, 500, 100, 12, 1.8),
        (12, 500, 100, 12, 2.0),
        (3.6, 300, 300, 12, 3.6),
        (3.6, 900, 100, 12, 1.2),
    ],
)
def test_what_idle_members_leave_who_is_capped_uses_up_to_his_weight(
    cap: float, idle: int, weight: int, virtual: int, wanted: float
) -> None:
    solved, simulated = cores(
        cap,
        lpar("idle", idle, 12, busy=0, more=MEMBER),
        lpar("busy", weight, virtual, busy=virtual, more=MEMBER),
    )
    assert solved[1] == pytest.approx(wanted, rel=0.02)
    assert simulated[1] == pytest.approx(wanted, rel=0.02)


def test_three_members_share_by_weight_what_one_of_them_leaves() -> None:
    for cap, wanted in ((1.5, [0.75, 0.75]), (5, [2.0, 3.0])):
        for found in cores(
            cap,
            lpar("idle", 400, 12, busy=0, more=MEMBER),
            lpar("capped", 100, 12, busy=12, more=MEMBER),
            lpar("free", 100, 12, busy=12, more=', group = "g"'),
        ):
            assert found[1:] == pytest.approx(wanted, rel=0.02)


def test_members_leave_others_no_less_than_their_weight() -> None:
    for found in cores(
        3.6,
        lpar("idle", 500, 12, busy=0, more=MEMBER),
        lpar("capped", 100, 12, busy=12, more=MEMBER),
        lpar("outside", 600, 12, busy=12, more=""),
    ):
        assert found[1:] == pytest.approx([1.0, 11.0], rel=0.02)
