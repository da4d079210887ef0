"""Of random layouts: what is advised is better than nothing, and so is each of its changes."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import layouts
import numpy as np
import pytest
from numpy.typing import NDArray

from homenode.errors import HomenodeError
from homenode.planner import advise
from homenode.planner.choice import EACH, best_rows
from homenode.planner.search import Search
from homenode.planner.solver import Figures
from homenode.simulate.run import Run
from homenode.simulate.scenario import Scenario

WORDS = (
    ["home"], ["virtual", "smt"], ["home", "virtual"], ["home", "entitlement"],
    ["throughput", "home"], ["home", "virtual", "entitlement", "smt"],
)  # fmt: skip
WORTH = 0.01


def some(dice: random.Random) -> Scenario:
    """Two to four partitions anywhere on three drawers, crowded or not."""
    return layouts.scenario(
        *(
            layouts.partition(
                f"p{n}",
                f"drawer{dice.randrange(3)}",
                rate=dice.choice([100, 200, 400, 600, 800]),
                entitlement=dice.choice([1.0, 2.0, 3.0]),
                virtual=dice.choice([4, 6, 8, 10]),
            )
            for n in range(dice.randint(2, 4))
        )
    )


def rows_of(told: Scenario, words: list[str], goal: str) -> tuple[Search, list[np.ndarray]]:
    problem = layouts.problem(told, free=words, goal=goal)
    search = Search(problem.space, problem.cost, problem.rules, problem.goal, rounds=2)
    search.run()
    return search, best_rows(search, WORTH, 3)


@pytest.mark.parametrize("goal", ["cores", "headroom", "response"])
@pytest.mark.parametrize("seed", range(8))
def test_no_change_brings_nothing(seed: int, goal: str) -> None:
    """Without any one of them it costs more than a part of what is worth a change, or a rule is
    broken.
    """
    dice = random.Random(f"{goal} {seed}")
    search, rows = rows_of(some(dice), dice.choice(WORDS), goal)
    now = float(search.seen.goal[0])
    for row in rows:
        cost = float(search.look(row[None, :])[0])
        assert cost <= now - WORTH * abs(now)
        for at in np.flatnonzero(row):
            without = row.copy()
            without[at] = 0
            lost = float(search.look(without[None, :])[0]) - cost
            assert lost > EACH * WORTH * abs(now), search.space.variables[at].path


def test_what_comes_nearer_to_now_still_brings_something() -> None:
    """A number is taken as near to what it is as costs next to nothing; what is left of the change
    then must be worth it too.
    """
    examples = Path(__file__).resolve().parents[2] / "examples"
    told = Scenario.load(examples / "prsm-three-partitions.toml")
    search, rows = rows_of(told, ["virtual"], "cores")
    each = EACH * WORTH * float(search.seen.goal[0])
    assert rows
    for row in rows:
        cost = float(search.look(row[None, :])[0])
        for at in np.flatnonzero(row):
            without = row.copy()
            without[at] = 0
            assert float(search.look(without[None, :])[0]) - cost > each


@pytest.mark.parametrize("seed", range(3))
def test_a_simulation_never_finds_it_worse_than_doing_nothing(seed: int, tmp_path: Path) -> None:
    """What is told is sure to save: its own interval does not reach nothing."""
    dice = random.Random(seed)
    told, words = some(dice), dice.choice(WORDS)
    found = advise(told, free=words, out=tmp_path, rounds=1)
    now = found.do_nothing.cores.mean
    for one in found.best:
        assert one.run is not None
        mean, ci95 = one.saving_cores.mean, one.saving_cores.ci95
        assert now is not None
        assert mean is not None
        assert ci95 is not None
        assert mean - ci95 > 0
        assert one.cores.mean is not None
        assert one.cores.mean < now
        assert not one.breaks


def test_the_best_is_simulated_without_what_brings_little(tmp_path: Path) -> None:
    """The small one's move brings less than 1.2 % of all cores, and more than .2 %."""
    told = layouts.scenario(
        *(layouts.partition(f"lpar{n}", rate=600) for n in range(3)),
        layouts.partition("small", rate=100, virtual=4, entitlement=0.5),
    )
    for worth, simulated in ((0.002, 2), (0.012, 3)):
        folder = tmp_path / f"{worth}"
        (best,) = advise(told, free=["home"], worth=worth, best=1, out=folder).best
        runs = [Run.load(one.name, folder) for one in folder.iterdir() if one.is_dir()]
        assert len(runs) == simulated, "the layout as it is, the best, and that without the move"
        assert len([one for one in runs if one.id == best.run]) == 1
    homes = [[one["home"] for one in run.spec["partitions"]] for run in runs]
    stays = [home for home in homes if home[3] == [0, 1]]
    assert len(stays) == 2
    assert stays[0] != stays[1]


def test_what_only_another_balance_saves_is_not_told() -> None:
    """Where homes are full the search, which starts each layout from its neighbour's balance, sees
    weights save cores that none of them saves; solved by themselves they save nothing.
    """
    told = layouts.scenario(
        layouts.partition("erp", rate=800, entitlement=3.0, virtual=10),
        layouts.partition("shop", rate=800, entitlement=3.0, virtual=10),
        layouts.partition("mail", rate=500),
        layouts.partition("test", "drawer1", rate=200, entitlement=1.0, virtual=4),
    )
    found = advise(told, free=["weight"], confirm=False)
    assert "simulated, the best" not in found.told
    for best in found.best:
        assert not [one.why for one in best.changes if "without it 0.00 " in one.why]


def test_small_figures_are_no_reason_to_advise_nothing() -> None:
    """Four times 400,000 short transactions a second, all at home in one drawer: what each change
    saves of a response of hundredths of a millisecond is told as 0.00, together it is a third.
    """
    short = 'bursts = 1, profile = { base = "oltp", instructions = 5e3 }'
    each = (layouts.partition(f"lpar{n}", rate=400_000) for n in range(4))
    told = layouts.scenario(*(one.replace('bursts = 4, profile = "oltp"', short) for one in each))
    found = advise(told, free=["home"], goal="response", confirm=False)
    assert found.best


def test_the_best_is_that_of_those_solved_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search among neighbours takes the second for the best, a hundredth off."""
    one = layouts.partition("a", rate=150, entitlement=0.8)
    other = layouts.partition("b", "drawer1", rate=240, entitlement=0.8)
    problem = layouts.problem(layouts.scenario(one, other), free=["virtual"])
    first = Search(problem.space, problem.cost, problem.rules, problem.goal)
    kept = first.run().rows[first.seen.kept]
    exact = problem.exactly(kept).cores
    best, *others = np.argsort(exact, kind="stable")
    second = next(at for at in others if exact[at] > 1.0005 * exact[best])
    assert exact[second] < 1.01 * exact[best]
    solve = problem.space.solver.solve
    flattered = problem.space.options(kept[[second]])[0][0]

    def roughly(options: NDArray[np.int64]) -> Figures:
        found = solve(options)
        wrong = np.where((options == flattered).all(axis=1), 0.985, 1.0)
        return dataclasses.replace(found, cores=found.cores * wrong[:, None])

    monkeypatch.setattr(problem.space.solver, "solve", roughly)
    search = Search(problem.space, problem.cost, problem.rules, problem.goal)
    seen = search.run()
    assert (seen.rows[seen.kept][np.argmin(seen.goal[seen.kept])] == kept[second]).all()
    (found,) = best_rows(search, 0.0, 1)
    assert problem.exactly(found[None, :]).cores[0] == pytest.approx(exact[best], rel=5e-4)


def test_those_of_whom_something_may_change_are_pinned_though_not_all_are() -> None:
    dedicated = {"mode": "dedicated", "cores": 4}
    told = layouts.crowded('pinned = ["lpar2"]').with_({"partition.lpar2.processors": dedicated})
    with pytest.raises(HomenodeError, match=r"only pinned partitions have any \(lpar2\)"):
        advise(told, free=["cores"], confirm=False)
