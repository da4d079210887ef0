"""A question put together: the scenario, its layouts, what they cost, what must hold."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from homenode.errors import HomenodeError, listed
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.scenario import Scenario
from homenode.model.spec import Spec, zvm_of
from homenode.planner.cost import Cost, Now, Solved
from homenode.planner.guesses import guesses_of
from homenode.planner.played import Played, Together
from homenode.planner.rules import SLACK, Rule, excess_of, rules_of
from homenode.planner.solver import Floats, NotSolvedError, Solver, offered
from homenode.planner.space import Rows, Space
from homenode.planner.variables import variables_of
from homenode.planner.wishes import Wishes, wishes_of
from homenode.simulate.settle.work import settled


@dataclass(frozen=True)
class Problem:
    """All that a search needs."""

    scenario: Scenario
    wishes: Wishes
    space: Space
    cost: Cost
    held: frozenset[str] = frozenset()
    """Partitions that cannot meet their demand and stay as they are: their backlog is no cost."""

    @property
    def goal(self) -> str:
        """What is to be least."""
        return self.wishes.told.goal

    @functools.cached_property
    def rules(self) -> list[Rule]:
        """What must hold."""
        rules = rules_of(self.wishes, self.cost, self.solved_now)
        return [*rules, *guesses_of(rules, self.cost, self.solved_now)]

    def holding(self, names: Iterable[str]) -> Problem | None:
        """The same with these partitions held as they are; None where nothing else may change."""
        held = self.held | {*names}
        partitions = self.scenario.partitions
        free = (partitions[one.partition].name not in held for one in self.space.variables)
        if not any(free) and not self.wishes.varies:
            return None
        return problem_of(self.scenario, {}, self.wishes, held)

    def unpinned(self) -> Problem:
        """The same where every partition may change."""
        told = self.wishes.told.model_copy(update={"pinned": []})
        return problem_of(self.scenario, {}, replace(self.wishes, told=told), self.held)

    @functools.cached_property
    def solved_now(self) -> Solved:
        """What the layout as it is costs."""
        return self.exactly(self.space.now())

    def solved(self, rows: Rows) -> Solved:
        """What rows cost, as the search sees it: from the layout that it stands at."""
        options, sound = self.space.options(rows)
        return self.cost.of(rows, options, sound)

    def exactly(self, rows: Rows) -> Solved:
        """What rows cost, each solved by itself: this is told, and hangs on no other layout."""
        options, sound = self.space.options(rows)
        return self.cost.of(rows, options, sound, exactly=True)

    def broken(self, rows: Rows) -> Floats:
        """By how much rows break each rule, each solved by itself; 0 where it holds."""
        excess = excess_of(self.rules, self.exactly(rows))
        return np.where(excess > SLACK, excess, 0.0)


def problem_of(
    scenario: Scenario | str | Path,
    asked: Mapping[str, Any],
    wishes: Wishes | None = None,
    held: frozenset[str] = frozenset(),
    now: Now | None = None,
    *,
    searched: bool = True,
) -> Problem:
    """Of a scenario, with what is asked in place of its own wishes, or with the wishes of the one
    that it was made from; nothing of `held` changes. `now` is what the layout as it is does, where
    that is another scenario. If no other layout is `searched`, nothing need be free. Raises
    `HomenodeError` for what cannot be asked.
    """
    told = Scenario.load(scenario) if isinstance(scenario, str | Path) else scenario
    if told.axes:
        raise HomenodeError(
            f"{told.name} is a sweep of {listed(told.axes)}",
            next_step="leave [sweep] out; what may change stands in [advise]",
        )
    wishes = wishes_of(told, **asked) if wishes is None else wishes
    told = settled(told)
    if told.file.change:
        raise HomenodeError(
            f"{told.name} changes during its run",
            next_step="leave [[change]] out: advice is for one layout",
        )
    solver = _solver(told.spec(), wishes)
    solver.tells_p95 = any(one.p95 is not None for one in wishes.told.limit)
    cost = Cost(solver, wishes.told.licence, float(told.machine.memory.maximum.value), held, now)
    variables = variables_of(told, wishes, _uses(solver), held, searched=searched)
    return Problem(told, wishes, Space(told, variables, solver), cost, held)


def _uses(solver: Solver) -> list[tuple[float, float]]:
    """Cores that each partition uses now, and those that all its work would take, at what a
    transaction takes now, where it gets more than it can do; else none.
    """
    partitions = solver.spec["partitions"]
    now = solver.solve(np.zeros((1, len(partitions)), dtype=np.int64))
    found = []
    for index, one in enumerate(partitions):
        used, done = float(now.cores[0, index]), float(now.throughput[0, index])
        late = now.steady[0, index] <= 0 and done > 0
        found.append((used, used * max(1.0, offered(one) / done) if late else 0.0))
    return found


def _solver(spec: Spec, wishes: Wishes) -> Solver:
    """The steady solver; where it does not know the layout, simulations."""
    on_host = spec["machine"]["hypervisor"]["policy"] in HOST_POLICIES
    parks = any(zvm_of(one) is not None for one in spec["partitions"])
    # Cores that one has for itself are none of its type's pool, under PR/SM, where all share it.
    typed = any(pool.get("cores") is not None for pool in spec["pools"])
    divides = typed and any(
        word == "cores" or word.endswith(".cores")
        for word in (*wishes.told.free, *wishes.told.values)
    )
    try:
        return Together(spec) if on_host or parks or divides else Solver(spec)
    except NotSolvedError as fault:
        return Played(spec, fault.why)
