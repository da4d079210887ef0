"""What is found: as good as going through all layouts, always allowed, always the same."""

from __future__ import annotations

import dataclasses
import itertools
import random
import threading
from pathlib import Path
from typing import Any

import layouts
import numpy as np
import pytest
from numpy.typing import NDArray

from homenode.errors import ScenarioError
from homenode.planner import advise
from homenode.planner.choice import best_rows, trim
from homenode.planner.problem import Problem
from homenode.planner.rules import excess_of
from homenode.planner.search import Search
from homenode.planner.solver import Figures, Solver
from homenode.simulate.scenario import Scenario

FEW = """\
free = ["home"]

[advise.values]
"partition.lpar1.processors.virtual" = [6, 12]
"partition.lpar2.processors.virtual" = [6]
"""


def searched(problem: Problem, **options: Any) -> Search:
    search = Search(problem.space, problem.cost, problem.rules, problem.goal, **options)
    search.run()
    return search


def least(search: Search) -> float:
    seen = search.seen
    return float(seen.goal[seen.kept].min())


@pytest.mark.parametrize("goal", ["cores", "headroom", "response"])
@pytest.mark.parametrize("advise_", [FEW, FEW.replace("free", "changes = 2\nfree")])
def test_local_search_is_as_good_as_all_layouts(
    goal: str, advise_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = layouts.scenario(
        layouts.partition("lpar1"), layouts.partition("lpar2"),
        layouts.partition("lpar3", rate=300), advise=f'goal = "{goal}"\n{advise_}',
    )  # fmt: skip
    every = searched(layouts.problem(told))
    assert every.proven
    assert len(every.seen.rows) <= every.space.count
    monkeypatch.setattr("homenode.planner.search.EVERY", 0)
    local = searched(layouts.problem(told))
    assert not local.proven
    assert least(local) == pytest.approx(least(every), rel=1e-3)


COUNTED = """\
goal = "money"
free = ["virtual"]
limit = [{ partition = "a", response = "7.5 ms" }, { partition = "b", response = "7.5 ms" }]

[[advise.licence]]
product = "database"
partitions = ["a", "b"]
cost = 1000
currency = "EUR"
"""


def counted(more: str = "") -> Problem:
    one = layouts.partition("a", rate=150, entitlement=0.8)
    other = layouts.partition("b", "drawer1", rate=240, entitlement=0.8)
    return layouts.problem(layouts.scenario(one, other, advise=COUNTED + more))


def test_every_count_of_virtual_processors_may_be_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of eight: no multiple, and neither a core more than is used nor one less than now."""
    paths = [f'"partition.{name}.processors.virtual" = {[*range(1, 9)]}' for name in "ab"]
    every = searched(counted("\n".join(["[advise.values]", *paths])))
    assert every.proven
    (best,) = {every.space.variables[0].value(row[0]) for row in best_rows(every, 0.0, 1)}
    assert best == 3
    monkeypatch.setattr("homenode.planner.search.EVERY", 0)
    local = searched(counted(), rounds=2)
    assert not local.proven
    assert least(local) == least(every)


def entitled(more: str = "") -> Problem:
    """Two capped partitions that answer in time from 1.15 and 1.85 cores on."""
    capped = ", capped = true"
    advise_ = COUNTED.replace("virtual", "entitlement") + more
    for name, response in (("a", 19), ("b", 13)):
        old = f'partition = "{name}", response = "7.5 ms"'
        advise_ = advise_.replace(old, old.replace("7.5", str(response)))
    tables = [
        layouts.partition("a", rate=150, entitlement=1.5, virtual=4, more=capped),
        layouts.partition("b", "drawer1", rate=240, entitlement=2.6, virtual=4, more=capped),
    ]
    return layouts.problem(layouts.scenario(*tables, advise=advise_))


def test_entitlements_go_down_together_to_a_licence_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """No multiples of now are three cores together, and on the way there one licence more is paid
    for by all layouts alike.
    """
    told = [round(0.05 * times, 2) for times in range(16, 58)]
    paths = [f'"partition.{name}.processors.entitlement" = {told}' for name in "ab"]
    every = searched(entitled("\n".join(["[advise.values]", *paths])))
    assert every.proven
    assert (every.seen.goal[0], least(every)) == (5000, 3000)
    monkeypatch.setattr("homenode.planner.search.EVERY", 0)
    local = searched(entitled(), rounds=2)
    assert len(local.seen.rows) < len(every.seen.rows) / 5
    assert least(local) == 3000


def test_steps_lead_from_one_count_to_its_neighbours() -> None:
    (one,) = layouts.problem(
        layouts.scenario(layouts.partition("a", virtual=20)), free=["virtual"]
    ).space.variables  # fmt: skip
    every = [one.value(number) for number in range(1 + len(one.values))]
    assert sorted(map(int, map(str, every))) == [*range(1, 81)]
    assert len(one.first_numbers()) < 25
    near = {one.value(number) for number in one.near(every.index(33))}
    assert near == {25, 29, 31, 32, 34, 35, 37, 41}


@pytest.mark.parametrize("seed", range(6))
def test_forms_are_what_the_scenario_says(seed: int) -> None:
    """A form that is put together from single values is the one that the whole scenario gives."""
    told = layouts.scenario(
        layouts.partition("lpar1"), layouts.partition("lpar2", home=None),
        layouts.partition("lpar3", more=", capped = true"), head=layouts.POOLS,
    )  # fmt: skip
    words = ["home", "entitlement", "virtual", "smt", "capped", "pool", "folding", "throughput"]
    problem = layouts.problem(told, free=words)
    forms = layouts.recorded(problem)
    numbers = random.Random(seed)
    checked = 0
    for _ in range(40):
        row = problem.space.now()[0]
        for at in numbers.sample(range(len(row)), 5):
            row[at] = numbers.randrange(problem.space.sizes[at])
        options, sound = problem.space.options(row[None, :])
        try:
            spec = problem.space.applied(row).layout_spec()
        except ScenarioError:
            continue  # the machine has no room, which rules say; or the values do not fit
        assert sound[0]
        for index, form in enumerate(spec["partitions"]):
            assert forms[index][options[0, index]] == form
        checked += 1
    assert checked


RULES = """\
changes = 3
headroom = "10 %"
apart = [["lpar1", "lpar2"]]
pinned = ["lpar3"]
node_lost = true

[[advise.limit]]
partition = "lpar1"
response = "2 s"
"""


def test_what_is_told_keeps_all_rules(tmp_path: Path) -> None:
    told = layouts.crowded(RULES)
    found = advise(told, free=["home", "virtual"], best=5, out=tmp_path)
    assert found.best
    for answer in found.best:
        changed = told.with_({one.path: one.after for one in answer.changes})
        homes = [{chip // 2 for chip in one.home} for one in changed.partitions]
        assert not homes[0] & homes[1]
        assert len(answer.changes) <= 3
        assert all(one.partition != "lpar3" for one in answer.changes)
        assert not answer.breaks
        assert answer.cores.mean is not None
        assert answer.cores.mean <= 0.9 * 48


def test_the_best_rows_keep_all_rules_whatever_the_space() -> None:
    told = layouts.crowded(RULES)
    problem = layouts.problem(told, free=["home", "entitlement", "virtual", "smt"])
    search = searched(problem, rounds=2)
    for row in best_rows(search, 0.0, 10):
        assert not problem.broken(row[None, :]).any()


def test_a_partition_alone_stays_as_it_is(tmp_path: Path) -> None:
    told = layouts.scenario(layouts.partition("lpar1", rate=200))
    found = advise(told, free=["home"], out=tmp_path)
    assert found.verdict == "no beneficial move"
    assert not found.best
    assert found.do_nothing.cores.mean is not None


def test_equals_do_not_change_places(tmp_path: Path) -> None:
    """Each of two alike has a drawer to itself: nothing is better, only different."""
    drawers = [f"drawer{n}" for n in range(3)]
    told = layouts.scenario(
        layouts.partition("lpar1"), layouts.partition("lpar2", "drawer1"),
        advise="[advise.values]\n" + "".join(
            f'"partition.lpar{n}.home" = {drawers}\n'.replace("'", '"') for n in (1, 2)
        ),
    )  # fmt: skip
    search = searched(layouts.problem(told, free=["home"]))
    assert search.space.count == 9
    assert best_rows(search, 0.01, 3) == []
    assert advise(told, free=["home"], out=tmp_path).best == ()


def test_what_brings_nothing_is_taken_back() -> None:
    """Two small partitions in each other's place, beside moves that bring something."""
    small = [layouts.partition(f"small{n}", f"drawer{n}", rate=200) for n in (1, 2)]
    told = layouts.scenario(*(layouts.partition(f"lpar{n}") for n in range(1, 5)), *small)
    problem = layouts.problem(told, free=["home"])
    search, each = searched(problem, rounds=0), 0.02
    swap = row_of(problem, {4: "drawer2", 5: "drawer1"})
    kept = trim(search, swap, each)
    assert np.count_nonzero(kept) < np.count_nonzero(swap)
    saved = search.look(np.zeros_like(swap)[None, :]) - search.look(kept[None, :])
    assert not kept.any() or float(saved[0]) > each
    row = row_of(problem, {0: "drawer1", 1: "drawer2", 4: "drawer2", 5: "drawer1"})
    trimmed = trim(search, row, each)
    changed = np.flatnonzero(trimmed).tolist()
    assert set(changed) <= {0, 1, 4, 5}
    cost = float(search.look(trimmed[None, :])[0])
    for group in [(at,) for at in changed] + [*itertools.combinations(changed, 2)]:
        without = trimmed.copy()
        without[[*group]] = 0
        assert float(search.look(without[None, :])[0]) > cost + len(group) * each


def row_of(problem: Problem, homes: dict[int, str]) -> Any:
    row = problem.space.now()[0]
    for at, home in homes.items():
        row[at] = 1 + problem.space.variables[at].values.index(home)
    return row


def test_more_freedom_never_costs_more() -> None:
    told = layouts.crowded()
    narrow = searched(layouts.problem(told, free=["home"]))
    wide = searched(layouts.problem(told, free=["home", "virtual"]))
    assert least(wide) <= 1.001 * least(narrow)


def test_the_same_seed_gives_the_same_answer(tmp_path: Path) -> None:
    told = layouts.crowded()
    asked: dict[str, Any] = {"free": ["home", "virtual"], "rounds": 2, "best": 1}
    one = advise(told, out=tmp_path / "one", jobs=1, **asked)
    other = advise(told, out=tmp_path / "two", jobs=2, seconds=3600, **asked)
    assert one.as_json() == other.as_json()
    assert one.best


def test_who_stops_it_gets_the_best_so_far(tmp_path: Path) -> None:
    stop = threading.Event()
    found = advise(
        layouts.crowded(), out=tmp_path, stop=stop, each=lambda share, _: share > 0 and stop.set()
    )
    assert found.stopped
    assert found.as_json()["interrupted"]
    assert not any(answer.run for answer in found.best)


def test_dedicated_partitions_move_together() -> None:
    """Cores of their own are never given twice."""
    own = [
        layouts.PARTITION.format(
            name=f"own{n}", entitlement=1, virtual=1, more="", memory="8 GiB", rate=300,
            home='home = "drawer0"',
        ).replace('mode = "shared", entitlement = 1, virtual = 1', 'mode = "dedicated", cores = 8')
        for n in (1, 2)
    ]  # fmt: skip
    told = layouts.scenario(*own, layouts.partition("lpar1"))
    problem = layouts.problem(told, free=["home"])
    forms = layouts.recorded(problem)
    options, sound = problem.space.options(problem.space.every())
    assert sound.any()
    for row in options[sound]:
        cores = [set(forms[at][row[at]]["processors"]["cores"]) for at in (0, 1)]
        assert not cores[0] & cores[1]


CROSSED = """\
[machine]
model = "hp-rx7640"

[[npartition]]
name = "npar0"
cells = ["cell0", "cell1"]
memory = "32 GiB"
clm = "24 GiB"

[[partition]]
name = "one"
processors = { mode = "dedicated", cores = 8, cells = { cell1 = 8 } }
memory = [{ size = "24 GiB", on = "cell0" }]
io = "cell0"
guest = { os = "hp-ux" }
workload = { kind = "users", count = 1000, think = "10 s", profile = "sap-sd" }

[[partition]]
name = "two"
processors = { mode = "dedicated", cores = 8, cells = { cell0 = 8 } }
memory = [{ size = "24 GiB", on = "cell1" }]
io = "cell1"
guest = { os = "hp-ux" }
workload = { kind = "users", count = 1000, think = "10 s", profile = "sap-sd" }
"""


def test_two_that_cannot_move_alone_may_change_places() -> None:
    """Neither partition's cores fit beside those of the other one on the cell of its memory."""
    cells = "partition.{}.processors.cells"
    values = {cells.format("one"): [{"cell0": 8}], cells.format("two"): [{"cell1": 8}]}
    crossed = Scenario.from_toml(CROSSED)
    space = layouts.problem(crossed, free=["memory"], values=values).space
    places = [one.path for one in space.variables]
    rows = space.every()
    _, sound = space.options(rows)
    stays = [at for at, path in enumerate(places) if path not in values]
    exchanged = rows[:, [places.index(path) for path in values]][
        sound & ~rows[:, stays].any(axis=1)
    ]
    assert exchanged.tolist() == [[0, 0], [1, 1]]
    nine = {cells.format("one"): [{"cell0": 9}]}
    with pytest.raises(ScenarioError, match="has 8 cores"):
        advise(crossed, free=["memory"], values=nine, confirm=False)


def test_a_goal_is_what_is_looked_for() -> None:
    told: Scenario = layouts.crowded()
    found = {
        goal: advise(told, goal=goal, free=["home"], confirm=False)
        for goal in ("cores", "headroom")
    }
    assert found["headroom"].best
    left = [found[goal].best[0].headroom for goal in ("headroom", "cores")]
    assert left[0] >= left[1] - 0.2  # what is taken back because it brings too little


def test_no_chip_holds_more_memory_than_it_has() -> None:
    """Half a TiB beside each chip, and partitions of 300 GiB: one a chip."""
    told = layouts.crowded(memory="300 GiB")
    found = advise(told, free=["home"], best=5, confirm=False)
    assert found.best
    for answer in found.best:
        changed = told.with_({one.path: one.after for one in answer.changes})
        held = np.zeros(changed.machine.domains)
        for one in changed.partitions:
            for part in one.memory:
                held[list(part.domains)] += part.bytes / len(part.domains)
        now = np.array([600 * 2**30] * 2 + [0] * 6)
        assert (held <= np.maximum(now, 512 * 2**30)).all()


def test_rules_that_simulations_tighten_are_kept_so_tightly() -> None:
    """As if responses came out a tenth longer than solved, and a form had not met its demand."""
    problem = layouts.problem(layouts.crowded(), free=["home", "virtual"], slower=0.0)
    search = searched(problem, rounds=1)
    row = best_rows(search, 0.0, 1)[0]
    options = problem.space.options(row[None, :])[0][0]
    partition = next(at for at, option in enumerate(options) if option)
    limits = search.limits.copy()
    of_response = [at for at, rule in enumerate(search.rules) if "longer" in rule.name]
    limits[of_response] = -0.1
    search.stricter(limits, {(partition, int(options[partition]))}, rounds=1)
    again = best_rows(search, 0.0, 3)
    assert again
    for other in again:
        solved = problem.solved(other[None, :])
        assert solved.options[0, partition] != options[partition]
        assert (excess_of(problem.rules, solved)[0][of_response] <= -0.1 + 0.01).all()


def test_what_only_a_search_among_neighbours_accepts_is_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Homes are full, and whatever is not solved by itself looks as if it took half of the cores.
    at: list[list[int]] = []
    near, solve = Solver.near, Solver.solve

    def stand(self: Solver, options: NDArray[np.int64]) -> None:
        at[:] = [options.tolist()]
        near(self, options)

    def flattered(self: Solver, options: NDArray[np.int64]) -> Figures:
        told = solve(self, options)
        own = [not any(row) or row in at for row in options.tolist()]
        return dataclasses.replace(told, cores=np.where(own, told.cores.T, 0.5 * told.cores.T).T)

    monkeypatch.setattr(Solver, "near", stand)
    monkeypatch.setattr(Solver, "solve", flattered)
    full = [layouts.partition(f"p{n}", f"drawer{n}", rate=1600, virtual=12) for n in range(3)]
    told = advise(layouts.scenario(*full), free=["home"], confirm=False)
    least = told.do_nothing.cores.mean
    assert least is not None
    assert least > 30
    savings = [one.saving.mean for one in told.best]
    assert all(saving is not None and saving >= 0.01 * least for saving in savings), savings


def test_what_is_told_is_what_solving_that_layout_says() -> None:
    """Whatever was solved before: where homes are full a search finds other balances, too."""
    told = layouts.crowded()
    problem = layouts.problem(told, free=["home"])
    space, numbers = problem.space, random.Random(3)
    for _ in range(4):
        row = np.array([numbers.randrange(size) for size in space.sizes])
        problem.solved(np.array([[numbers.randrange(size) for size in space.sizes]]))
        problem.cost.solver.near(space.options(row[None, :])[0][0])
        alone = space.applied(row).solve().metrics
        found = problem.exactly(np.stack([row, space.now()[0]])).figures.cores
        for figures, metrics in zip(found, (alone, told.solve().metrics), strict=True):
            told_alone = [metrics[name]["physc"].mean for name in problem.cost.names]
            # Metrics went through nanoseconds, which may cost the last digit.
            assert figures.tolist() == pytest.approx(told_alone, rel=1e-15 * 4)


def test_advice_and_doing_nothing_are_told_as_solved_alone() -> None:
    told = layouts.crowded()
    found = advise(told, free=["home"], confirm=False)
    for one in (found.do_nothing, *found.best):
        changes = {change.path: change.after for change in one.changes}
        layout = told.with_(changes) if changes else told
        metrics = layout.solve().metrics.values()
        assert one.cores.mean == pytest.approx(sum(of["physc"].mean for of in metrics), rel=1e-9)


def test_a_descent_takes_what_gains_of_each_partition_at_once() -> None:
    """Changed one at a time, each time the best of all, a layout as good takes 2,900 layouts."""
    eight = [layouts.partition(f"p{n}", virtual=6, rate=400) for n in range(8)]
    search = searched(layouts.problem(layouts.scenario(*eight), free=["home", "virtual"]), rounds=0)
    seen = search.seen
    best = int(np.flatnonzero(seen.kept)[np.argmin(seen.goal[seen.kept])])
    assert seen.changes[best] >= 12
    assert least(search) < 0.6 * float(seen.goal[0])
    assert len(seen.rows) < 1500


def test_of_the_best_layout_each_number_of_changes_is_looked_at() -> None:
    """Those first that gain most, so that one with few changes stands beside the best."""
    eight = [layouts.partition(f"p{n}", virtual=6, rate=400) for n in range(8)]
    search = searched(layouts.problem(layouts.scenario(*eight), free=["home"]), rounds=0)
    seen = search.seen
    by_count = [seen.goal[seen.kept & (seen.changes == n)].min() for n in range(8)]
    gains = -np.diff(by_count)
    assert (gains[:4] > 0.3).all()
    assert (np.diff(by_count) < 0.05).all()
