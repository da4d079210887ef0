"""What waiting for PowerVM's windows does to responses, solved and simulated."""

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


def test_what_a_capped_partition_waits_is_told_and_its_percentiles_are_not() -> None:
    def of(rate: float) -> Solved:
        text = HEAD.format(seconds=1) + shared("capped", 1.0, 6, rate, "oltp")
        return Scenario.from_toml(text).solve()

    low, high = of(0.2), of(100)
    assert low.limited == high.limited == ()
    mean, late = "response_ms_mean", "response_ms_p95"
    assert (high.metric("capped", mean).mean or 0.0) > 2 * (low.metric("capped", mean).mean or 1e9)
    assert low.metric("capped", late).mean is not None
    assert high.metric("capped", late).mean is None


def test_what_a_capped_partition_waits_beside_a_lock_for_which_threads_sleep_is_not_told() -> None:
    lock = (
        '{ base = "oltp", lock_kind = "sleeping", lock_share = 0.02, lock_hold_instructions = 5e4 }'
    )
    text = HEAD.format(seconds=1) + shared("capped", 1.0, 6, 100, "oltp")
    solved = Scenario.from_toml(text.replace('"oltp"', lock)).solve()
    assert solved.limited == ("capped",)
    assert solved.metric("capped", "response_ms_mean").mean is None


def test_beside_a_lock_for_which_threads_spin_what_it_waits_is_told() -> None:
    lock = '{ base = "oltp", lock_kind = "queue", lock_share = 0.02, lock_hold_instructions = 5e3 }'
    text = HEAD.format(seconds=1) + shared("capped", 1.0, 6, 100, "oltp")
    solved = Scenario.from_toml(text.replace('"oltp"', lock)).solve()
    assert solved.limited == ()
    assert solved.metric("capped", "response_ms_mean").mean is not None


def test_who_leaves_a_core_of_prsm_that_nobody_else_wants_finds_it_again() -> None:
    """Entitled to 0.57 of eight cores, and at work on more than four: as many want a core as there
    are now and then, but all that wait are its own. A run takes 4.7 cores, and 0.7 of the bursts
    find their logical processor without work.
    """
    head = """
[machine]
model = "ibm-z13"
active_cores = 8
[run]
warmup = "200 ms"
duration = "1 s"
"""
    part = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", virtual = {virtual}, weight = {weight} }}
smt = 2
memory = "8 GiB"
home = "node0"
guest = {{ os = "linux" }}
workload = {{ {workload} }}
"""
    users = 'kind = "users", count = 10500, think = "200 ms", bursts = 100, wait = "5 ms"'
    beside = 'kind = "transactions", rate = "960/s", profile = "specjbb"'
    loop = 'kind = "warehouses", count = 1, profile = "java"'
    each = (
        ("beyond", 8, 40, users + ', profile = "database-mix"'),
        ("within", 2, 260, beside),
        ("loop", 1, 260, loop),
    )
    keys = ("name", "virtual", "weight", "workload")
    text = head + "".join(part.format(**dict(zip(keys, one, strict=True))) for one in each)
    words = json.dumps(Scenario.from_toml(text).spec())
    solved = json.loads(_engine.solve(words))["partitions"][0]
    simulated = json.loads(_engine.simulate(words, 0, lambda _: True))["partitions"][0]["totals"]
    assert solved["cores"] == pytest.approx(simulated["busy_ns"] / 1e9, rel=0.08)
    assert solved["dispatches"] == pytest.approx(simulated["dispatches"], rel=0.1)


FEW = """
[run]
warmup = "1 s"
duration = "4 s"
[machine]
model = "ibm-power-e1080"
active_cores = 8
"""
COMES = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", entitlement = {entitlement}, virtual = {virtual} }}
smt = 1
memory = "16 GiB"
guest = {{ os = "linux" }}
workload.kind = "transactions"
workload.rate = "{rate}/s"
workload.profile = {{ base = "java", instructions = 1000000 }}
"""


def test_who_comes_finds_all_cores_taken_only_if_the_others_have_them() -> None:
    """Eight virtual processors that use 4 of eight cores, and one that hardly ever works: only
    while that one does can one of the eight find all taken. They were told to refill their caches
    for 0.034 cores, and do in a run for 0.0055.
    """
    most = COMES.format(name="most", entitlement=2.0, virtual=8, rate=12_000)
    few = COMES.format(name="few", entitlement=0.5, virtual=1, rate=20)
    words = json.dumps(Scenario.from_toml(FEW + most + few).spec())
    solved = json.loads(_engine.solve(words))["partitions"][0]
    run = json.loads(_engine.simulate(words, 0, lambda _: True))["partitions"][0]["totals"]
    assert solved["books"]["reload"] < 4.0 * run["book_reload"] / (4 * 10**9)
    assert solved["cores"] == pytest.approx(run["busy_ns"] / (4 * 10**9), rel=0.01)


VERTICAL = """
[[partition]]
name = "{name}"
processors.mode = "shared"
processors.virtual = {virtual}
processors.weight = {weight}
processors.polarization = "vertical"
memory = "16 GiB"
guest = {{ os = "linux" }}
workload = {{ {workload} }}
"""


def spinning(kind: str, base: str, instructions: int, share: float) -> str:
    lock = f'lock_kind = "test-and-set", lock_share = {share}'
    profile = f'{{ base = "{base}", instructions = {instructions}, {lock} }}'
    return f"{kind}, profile = {profile}"


WAREHOUSES = 'kind = "warehouses", count = {}'
COMING = 'kind = "transactions", rate = "{}/s", profile = {{ base = "specjbb", instructions = {} }}'
SPINS = {
    "two of eight": (
        ("ibm-z13", 8),
        (
            (50, spinning(WAREHOUSES.format(8), "database-mix", 1_000_000, 0.02)),
            (50, COMING.format(4_800, 5_000_000)),
        ),
    ),
    "three of four": (
        ("ibm-z14", 4),
        (
            (50, spinning(WAREHOUSES.format(4), "oltp", 100_000, 0.05)),
            (
                100,
                spinning(
                    'kind = "loops", count = 4, endless = true', "integer-suite", 100_000, 0.05
                ),
            ),
            (50, COMING.format(80_000, 100_000)),
        ),
    ),
}


@pytest.mark.parametrize("which", sorted(SPINS))
@pytest.mark.parametrize("more", [1, 2])
def test_vertical_logical_processors_that_spin_use_no_more_than_there_is(
    which: str, more: int
) -> None:
    """Without vertical-low logical processors, on which others spin too, cores are left, and with
    them none: 10.1 of eight cores were told, and 6.8 of four, since neither was a balance.
    """
    (model, cores), parts = SPINS[which]
    head = f'[machine]\nmodel = "{model}"\nactive_cores = {cores}\n'
    head += '[run]\nwarmup = "1 s"\nduration = "2 s"\n'
    weights = [weight * more if at == 0 else weight for at, (weight, _) in enumerate(parts)]
    each = [
        VERTICAL.format(name=f"p{at}", virtual=cores, weight=weight, workload=work)
        for at, (weight, (_, work)) in enumerate(zip(weights, parts, strict=True))
    ]
    words = json.dumps(Scenario.from_toml(head + "".join(each)).spec())
    solved = json.loads(_engine.solve(words))["partitions"]
    assert sum(one["cores"] for one in solved) <= 1.001 * cores
    run = json.loads(_engine.simulate(words, 0, lambda _: True))["partitions"]
    for one, simulated in zip(solved, run, strict=True):
        assert one["cores"] == pytest.approx(simulated["totals"]["busy_ns"] / 2e9, rel=0.1)


LOOPS = """
[[partition]]
name = "p{at}"
processors = {{ mode = "shared", entitlement = 2.0, virtual = 8, capped = true }}
smt = 1
memory = "8 GiB"
home = "drawer0"
workload = {{ kind = "loops", count = 8, endless = true, profile = "oltp" }}
"""


@pytest.mark.parametrize("count", [2, 3, 6])
def test_those_that_a_cap_has_stopped_begin_a_window_together(count: int) -> None:
    """Six of eight virtual processors use 12 of the 16 cores at home on the mean, but all 48 are
    there when a window begins: 16 find a core, and the others run elsewhere until they are stopped.
    """
    solved, simulated = both(*(LOOPS.format(at=at) for at in range(count)), seconds=2)
    far = []
    for one, run in zip(solved, simulated, strict=True):
        totals = run["totals"]
        ran = totals["home_ns"] + totals["near_ns"] + totals["far_ns"]
        far.append((one["by_distance"][2], totals["far_ns"] / ran))
        done = totals["instructions"] / 2
        assert one["instructions"] == pytest.approx(done, rel=0.15)
    for told, wanted in far:
        assert told == pytest.approx(wanted, abs=0.1)
