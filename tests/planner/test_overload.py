"""A partition that gets more work than it can do is named, given room, or held as it is."""

from __future__ import annotations

import re
from pathlib import Path

import layouts
import numpy as np
import pytest

from homenode.planner import advise
from homenode.simulate.scenario import Scenario

OWNED = """
[[advise.licence]]
product = "database"
partitions = ["db"]
cost = 1000.0
currency = "EUR"
owned = 1
"""


def small(name: str, home: str, rate: float) -> str:
    """One virtual processor for the work of several."""
    return layouts.partition(name, home, rate=rate, entitlement=1, virtual=1)


def overloaded(advise: str = "", rate: float = 400, more: str = "") -> Scenario:
    """A small database, and three partitions beside it that have room."""
    others = [layouts.partition(f"web{n}", rate=400) for n in (1, 2, 3)]
    return layouts.scenario(small("db", "drawer0", rate), *others, more, advise=advise)


@pytest.mark.parametrize("confirm", [False, True])
def test_where_nothing_gives_it_room_the_others_are_advised(tmp_path: Path, confirm: bool) -> None:
    found = advise(overloaded(), free=["home"], out=tmp_path, confirm=confirm)
    assert found.best
    assert not found.conflict
    assert not any(one.partition == "db" for best in found.best for one in best.changes)
    (db,) = found.overloaded
    assert db.held
    assert db.wants > 1.5
    assert db.has == pytest.approx(1.0, abs=0.01)
    assert found.told.startswith(f"db wants {db.wants:.2f} cores and can have {db.has:.2f}.")
    assert "db as now, whose backlog is no cost" in found.told
    assert found.do_nothing.cores.mean is not None
    assert found.best[0].saving.mean is not None
    assert found.best[0].saving.mean > 0


def test_what_gives_it_room_comes_first(tmp_path: Path) -> None:
    found = advise(overloaded(), free=["home", "virtual", "entitlement"], out=tmp_path)
    assert found.best
    for best in found.best:
        assert "partition.db.processors.virtual" in {one.path for one in best.changes}
        assert not best.breaks
    (db,) = found.overloaded
    assert not db.held
    assert found.told.startswith("db wants")
    assert "mend" in found.told
    assert found.as_json()["overloaded"][0]["partition"] == "db"


def test_it_is_said_what_forbids_to_give_it_room() -> None:
    found = advise(overloaded(OWNED), free=["home", "virtual"], slower=100.0, confirm=False)
    assert found.overloaded[0].held
    assert "while this holds: 1 licences of database" in found.told


def test_of_two_the_one_that_can_have_room_gets_it() -> None:
    values = 'free = ["home"]\n[advise.values]\n"partition.shop.processors.virtual" = [8]'
    told = overloaded(values, more=small("shop", "drawer1", 400))
    found = advise(told, slower=100.0, confirm=False)
    assert {one.partition: one.held for one in found.overloaded} == {"db": True, "shop": False}
    assert all(any(one.partition == "shop" for one in best.changes) for best in found.best)


def test_the_more_comes_the_more_it_wants_and_no_more_it_has() -> None:
    wants, has = [], []
    for rate in (300, 400, 800):
        (db,) = advise(overloaded(rate=rate), free=["home"], confirm=False, rounds=0).overloaded
        wants.append(db.wants)
        has.append(db.has)
    assert wants[2] == pytest.approx(2 * wants[1], rel=0.01)
    assert wants[0] < wants[1]
    assert has == pytest.approx([has[0]] * 3, rel=0.01)


def test_nobody_is_held_who_meets_his_demand() -> None:
    found = advise(layouts.crowded(), free=["home"], confirm=False)
    assert found.overloaded == ()
    assert "backlog" not in found.told


def test_what_its_room_would_cost_others_is_said() -> None:
    """Thirty virtual processors would do, on drawers of sixteen cores, and slow others down who
    stay where they are.
    """
    told = layouts.scenario(
        layouts.partition("erp", entitlement=3, virtual=10, rate=6000),
        layouts.partition("shop", entitlement=3, virtual=10, rate=800),
        layouts.partition("mail", virtual=8, rate=500),
        layouts.partition("test", "drawer1", entitlement=1, virtual=4, rate=200),
    )
    found = advise(told, free=["virtual"], confirm=False, best=1, slower=0.02)
    (erp,) = found.overloaded
    assert erp.held
    assert re.search(
        r"gives it room while this holds: response of (mail|shop|test) at most 2 % longer",
        found.told,
    )
    lenient = advise(told, free=["virtual"], confirm=False, best=1, slower=0.3)
    assert lenient.overloaded
    assert not lenient.overloaded[0].held
    assert any(one.partition == "erp" for one in lenient.best[0].changes)
    # Where they may move it gets room that costs nobody more than that.
    moved = advise(told, confirm=False, best=1)
    assert not moved.overloaded[0].held
    assert not moved.best[0].breaks


BESIDE_LOOPS = """
[machine]
model = "intel-xeon-6240-2s"
sockets = 1
cores_per_socket = 4
threads = 2

[[partition]]
name = "late"
kvm = {}
processors = { mode = "shared", virtual = 2 }
memory = "8 GiB"
workload = { kind = "transactions", rate = "260/s", profile = "oltp" }

[[partition]]
name = "batch"
kvm = {}
processors = { mode = "shared", virtual = 4 }
memory = "8 GiB"
workload = { kind = "loops", count = 3, endless = true, profile = "compute" }

[run]
warmup = "1 s"
duration = "2 s"
"""


def test_what_forbids_room_is_told_where_nobody_asked_for_it(tmp_path: Path) -> None:
    """A third virtual processor would do, but beside it loops do a few per cent less."""
    found = advise(Scenario.from_toml(BESIDE_LOOPS), free=["virtual"], out=tmp_path, confirm=False)
    (late,) = found.overloaded
    assert late.held
    assert "room while this holds: no less work is done (who may do less is named" in found.told


def test_who_gives_way_may_do_less(tmp_path: Path) -> None:
    told = Scenario.from_toml(
        BESIDE_LOOPS + '\n[advise]\ngives_way = ["batch"]\npinned = ["batch"]\n'
    )
    found = advise(told, free=["virtual"], out=tmp_path, confirm=False)
    assert found.best
    assert not found.overloaded[0].held
    assert {one.partition for one in found.best[0].changes} == {"late"}


CONTENDED = """
[machine]
model = "intel-xeon-6240-2s"
sockets = 1
cores_per_socket = 4
threads = 2

[[partition]]
name = "late"
processors = { mode = "shared", virtual = 4, weight = 20 }
memory = "8 GiB"
workload = { kind = "transactions", rate = "150/s", profile = "oltp" }

[[partition]]
name = "batch"
processors = { mode = "shared", virtual = 16, weight = 500 }
memory = "8 GiB"
workload = { kind = "loops", count = 16, endless = true, profile = "compute" }

[run]
warmup = "1 s"
duration = "2 s"
"""


def test_what_forbids_several_changes_is_told() -> None:
    """Neither weight alone is enough; both are, and then loops do less."""
    told = Scenario.from_toml(CONTENDED)
    found = advise(told, free=["weight"], confirm=False)
    assert "room while this holds: no less work is done" in found.told
    mended = told.with_({"advise.gives_way": ["batch"]})
    (best, *_) = advise(mended, free=["weight"], confirm=False).best
    assert len(best.changes) == 2
    assert {one.partition for one in best.changes} == {"late", "batch"}


def test_a_cap_is_lifted_where_it_is_all_that_is_in_the_way() -> None:
    """What it does under its cap is no more than what it does without, though more processors
    have work than may run.
    """
    one = layouts.partition("a", rate=300, entitlement=1, virtual=6, more=", capped = true")
    found = advise(layouts.scenario(one), free=["capped"], confirm=False)
    assert [str(change.after) for change in found.best[0].changes] == ["False"]
    (late,) = found.overloaded
    assert late.has == pytest.approx(1.0, abs=0.01)
    assert 1.1 < late.wants < 2.2


@pytest.mark.parametrize(
    ("text", "free", "least"),
    [
        (layouts.partition("a", rate=1200, entitlement=1, virtual=1), ["virtual"], 5),
        (
            layouts.partition("a", rate=800).replace(
                'mode = "shared", entitlement = 2.0, virtual = 8', 'mode = "dedicated", cores = 1'
            ),
            ["cores"],
            4,
        ),
    ],
)
def test_more_than_four_times_as_much_may_be_what_it_wants(
    text: str, free: list[str], least: int
) -> None:
    found = advise(layouts.scenario(text), free=free, confirm=False)
    (change,) = found.best[0].changes
    assert float(str(change.after)) >= least


def test_a_guest_may_have_as_many_processors_as_it_wants() -> None:
    """Seven and more of the 72 of its host; its neighbour finds memory and clock busier then."""
    text = BESIDE_LOOPS.replace("sockets = 1\ncores_per_socket = 4\n", "")
    told = Scenario.from_toml(
        text.replace("virtual = 2", "virtual = 1", 1).replace("260/s", "1000/s")
        + '\n[advise]\npinned = ["batch"]\ngives_way = ["batch"]\n'
    )
    found = advise(told, free=["virtual"], confirm=False)
    assert [int(str(one.after)) > 4 for one in found.best[0].changes] == [True]


def test_what_one_lacks_of_its_demand_is_told_by_degrees() -> None:
    """A step that gives some room, not all, leads on to one that does."""
    problem = layouts.problem(overloaded(rate=900), free=["virtual"])
    (rule,) = [one for one in problem.rules if one.name == "db meets its demand"]
    (at,) = [n for n, one in enumerate(problem.space.variables) if one.partition == 0]
    values = problem.space.variables[at].values
    rows = np.repeat(problem.space.now(), 1 + len(values), axis=0)
    rows[:, at] = range(1 + len(values))
    lacking = rule.excess(problem.exactly(rows))
    order = np.argsort([1, *values])
    assert 0.5 < lacking[0] < 1
    assert (np.diff(lacking[order]) <= 1e-6).all()
    assert len({*np.round(lacking, 3)}) > 3
    assert lacking[order][-1] == 0
