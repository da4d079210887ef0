"""Responses that the solver does not know, and what is told where it knows little."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import layouts
import numpy as np
import pytest

from homenode.model.spec import Spec
from homenode.planner import Advice, advise
from homenode.planner.budget import Budget
from homenode.planner.unseen import Unseen, unknown, unseen
from homenode.simulate.scenario import Scenario

LOOPS = '{ kind = "loops", count = 16, endless = true, profile = "compute" }'
POOLS = """
[[pool]]
name = "narrow"
maximum = 4

[[pool]]
name = "wide"
maximum = 8
"""
NEVER_RESTS = """
[[partition]]
name = "batch"
processors = {{ mode = "shared", entitlement = 1.0, virtual = {virtual}, weight = 128 }}
memory = "16 GiB"
workload = {work}
"""


def beside_a_batch(active: int) -> Scenario:
    """One that comes and goes beside one that takes what is left."""
    head = layouts.HEAD.replace("active_cores = 48", f"active_cores = {active}")
    head = head.replace('duration = "1 s"', 'duration = "2 s"').replace("= 3\n", "= 5\n")
    web = layouts.partition("web", None, rate=150, entitlement=1.0, virtual=4, more=", weight = 64")
    return layouts.scenario(web, NEVER_RESTS.format(virtual=8, work=LOOPS), head=head)


def crowded_pool() -> Scenario:
    """Two that nearly fill the pool that they are in, beside an empty one."""
    two = (
        layouts.partition(
            name, f"drawer{at}", rate=250, entitlement=1.0, virtual=4, more=', pool = "narrow"'
        )
        for at, name in enumerate(("shop", "mail"))
    )
    return layouts.scenario(*two, head=layouts.HEAD + POOLS)


def test_whose_response_is_hardly_solved() -> None:
    def told(active: int, goal: str) -> tuple[str, ...]:
        return unseen(layouts.problem(beside_a_batch(active), free=["weight"], goal=goal))

    assert told(4, "response") == ("web",)
    assert told(48, "response") == ()
    assert told(4, "cores") == ()  # no entitlement may change
    pool = layouts.problem(crowded_pool(), free=["pool"], goal="response")
    assert unseen(pool) == unknown(pool, pool.solved_now) == ("shop", "mail")


def test_a_weight_that_only_simulations_tell_apart_is_found(tmp_path: Path) -> None:
    def asked() -> Advice:
        return advise(
            beside_a_batch(4),
            free=["weight"],
            goal="response",
            pinned=["batch"],
            gives_way=["batch"],
            out=tmp_path,
        )

    told = asked()
    (best,) = told.best
    assert best.saving.mean is not None
    assert best.saving.mean > 0.1 * (told.do_nothing.response_ms.mean or 0.0)
    assert all(change.word == "weight" for change in best.changes)
    assert "without it" not in best.changes[0].why
    assert asked().as_json() == told.as_json()


def test_who_leaves_a_pool_that_is_full_answers_sooner(tmp_path: Path) -> None:
    told = advise(crowded_pool(), free=["pool"], goal="response", best=1, out=tmp_path)
    assert {change.before for change in told.best[0].changes} == {"narrow"}
    alone = advise(crowded_pool(), free=["pool"], goal="response", confirm=False)
    assert "does not know how long shop, mail would answer" in alone.told


def test_of_what_brings_as_much_the_fewest_changes_come_first() -> None:
    homes = {"erp": "drawer0", "shop": "drawer0", "mail": "drawer1", "test": "drawer1"}
    rates = {"test": 100}
    parts = (
        layouts.partition(name, home, rate=rates.get(name, 400)) for name, home in homes.items()
    )
    told = advise(layouts.scenario(*parts), free=["home"], goal="headroom", confirm=False)
    best, *others = told.best
    equal = [one for one in others if one.headroom >= best.headroom - 0.02]
    assert equal
    assert all(len(one.changes) > len(best.changes) for one in equal)


def test_cores_of_a_closed_load_are_told_for_the_work_of_now(tmp_path: Path) -> None:
    work = '{ kind = "warehouses", count = 8, profile = "java" }'
    closed = NEVER_RESTS.format(virtual=8, work=work)
    closed = closed.replace("memory =", 'home = "drawer0"\nmemory =')
    told = advise(layouts.scenario(closed), free=["home"], best=1, out=tmp_path)
    cores = told.do_nothing.cores.mean, told.best[0].cores.mean
    found = re.search(r"batch ([\d.]+) -> ([\d.]+) cores", told.best[0].changes[0].why)
    assert found is not None
    assert [float(one) for one in found.groups()] == pytest.approx(cores, abs=0.02)


def lucky_and_quick(spec: Spec, replication: int) -> list[tuple[float, ...]]:
    """Of three replications, two of them unlucky, the quickest weight is not the best; what arrives
    makes as much of a difference, the same to all. By chance others have less done of what comes.
    """
    shared: Any = spec["partitions"][0]["processors"]
    mean = {255: 8.0, 192: 9.0}.get(shared["weight"], 12.0)
    chance = 3.0 if shared["weight"] == 255 and replication in (1000, 1001) else 0.0
    ms = mean + chance + 0.02 * (replication * shared["weight"] % 7) + replication % 5
    done = 150.0 if shared["weight"] == 64 else 146.0
    return [(2.0, 1e6 * ms, 3e6 * ms, done, 1.0, 0.0), (2.0, np.nan, np.nan, 5.0, 1.0, 0.0)]


def test_those_that_may_be_the_best_are_simulated_until_chance_makes_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told, played = beside_a_batch(4), list[int]()

    def counted(spec: Spec, replication: int) -> list[tuple[float, ...]]:
        played.append(replication)
        return lucky_and_quick(spec, replication)

    monkeypatch.setattr("homenode.planner.played._played", counted)
    asked = {"free": ["weight"], "goal": "response", "pinned": ["batch"], "gives_way": ["batch"]}
    problem = layouts.problem(told, **asked)
    look = Unseen(problem, ("web",), 1, Budget(), lambda _, __: None, None)
    (weight,) = problem.space.variables
    best, *_ = look.rows(lambda _: None)[0]
    assert weight.value(int(best[0])) == 255
    assert 3 * 5 < len(played) < 15 * 5
    # Where there is no time for more, three have to do.
    now = [0.0]
    budget = Budget(1.0, lambda: now[0])
    late = Unseen(problem, ("web",), 1, budget, lambda _, __: now.__setitem__(0, 2.0), None)
    assert not late.rows(lambda _: None)[0]
    assert max(played[-3:]) == 1002


def test_no_licence_is_needed_for_cores_of_another_type() -> None:
    head = layouts.HEAD.replace('"ibm-power-770"', '"ibm-z14"')
    head = head.replace("active_cores = 48", "characterized = {{ cp = 2, ifl = 8 }}")
    linux = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", virtual = 8, weight = 500 }}
memory = "32 GiB"
guest = {{ os = "linux" }}
workload = {{ kind = "transactions", rate = "200/s", profile = "oltp" }}
"""
    rules = (
        '[[advise.licence]]\nproduct = "db"\npartitions = ["one", "two"]\ncost = 1000\n'
        'currency = "EUR"\n'
    )
    both = (linux.format(name=name) for name in ("one", "two"))
    told = advise(
        layouts.scenario(*both, advise=rules, head=head),
        free=["virtual"],
        goal="money",
        confirm=False,
    )
    assert told.do_nothing.money == 8000


OF_TYPES = """
[[partition]]
name = "own"
processors = { mode = "dedicated", cores = 4, type = "ifl" }
memory = "32 GiB"
guest = { os = "linux" }
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[[partition]]
name = "lin"
count = 2
processors = { mode = "shared", virtual = 4, weight = 500, type = "ifl" }
memory = "32 GiB"
guest = { os = "linux" }
workload = { kind = "transactions", rate = "1300/s", profile = "oltp" }
"""


def test_what_a_dedicated_partition_takes_of_a_type_is_lost_to_those_that_share_it() -> None:
    """Licences count what is left of the type in each layout, and so does what is solved."""
    head = layouts.HEAD.replace('"ibm-power-770"', '"ibm-z14"')
    head = head.replace("active_cores = 48", "characterized = {{ cp = 2, ifl = 8 }}")
    rules = (
        '[[advise.licence]]\nproduct = "db"\npartitions = ["lin1", "lin2"]\ncost = 1000\n'
        'currency = "EUR"\n'
    )
    told = layouts.scenario(OF_TYPES, advise=rules, head=head)
    problem = layouts.problem(told, free=["cores"])
    (cores,) = problem.space.variables
    rows = np.arange(1 + len(cores.values)).reshape(-1, 1)
    found = problem.solved(rows)
    counts = [int(str(cores.value(int(row[0])))) for row in rows]
    left = {count: money for count, money in zip(counts, found.money, strict=True) if count <= 4}
    assert left == {count: 1000 * min(8 - count, 8) for count in left}
    assert left.keys() >= {1, 4}
    places = {count: at for at, count in enumerate(counts)}
    lin, work = found.figures.cores[:, 1], found.figures.throughput[:, 1]
    assert work[places[1]] > 1.2 * work[places[4]]
    alone = layouts.problem(told.with_({"partition.own.processors.cores": 1}), free=["weight"])
    assert alone.solved_now.figures.cores[0, 1] == pytest.approx(lin[places[1]])
