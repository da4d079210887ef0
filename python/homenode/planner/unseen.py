"""Responses that the solver does not know: where these are to be shorter, a few layouts of those
partitions are simulated, briefly, and the best of them are among those that are confirmed.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from homenode.errors import listed
from homenode.model.spec import processors_of
from homenode.planner.budget import Budget
from homenode.planner.choice import trim
from homenode.planner.confirm import is_sure, saved
from homenode.planner.cost import Cost, Solved
from homenode.planner.played import DURATION_NS, Played, Saying
from homenode.planner.problem import Problem
from homenode.planner.search import Search, Telling
from homenode.planner.solver import Figures, Floats
from homenode.planner.space import Rows, Space
from homenode.planner.variables import Variable
from homenode.simulate.solved.counters import is_limited, is_recorded
from homenode.simulate.solved.crowded import beside_greedy

_MOST, _LEAST = 100, 16
"""How many layouts are simulated, each a few simulated seconds: of small ones, and of any."""
_WORK = 20_000
"""Seconds of virtual processors that are simulated in all, by which the number lies between the
two: minutes on two cores. Assumed, 5,000 to 50,000.
"""
_REPLICATIONS = range(1000, 1003)
"""Replications of each layout: others than confirm, in which the best of many would look better
than it is.
"""
_BEST = 2
_RUNNERS, _TIMES, _MOST_TIMES = 6, 3, 15
"""Of the best so many are simulated further, so many replications at a time, up to so many."""
_CHANCE = 0.02
"""Share of the response that a change must bring: less chance makes of so little that is simulated.
Assumed, 0.01 to 0.05.
"""
_OF_OTHERS = {"weight", "pool", "capped", "virtual"}
"""What of other partitions decides how long one waits for processors that all share."""

_PLACES = {"home", "memory"}
_KEEPS_HOME = "entitlement"


def unknown(problem: Problem, solved: Solved) -> tuple[str, ...]:
    """Partitions of which the solver does not know how long their work takes in a layout."""
    solver = problem.cost.solver
    if solver.simulates:
        return ()
    spec, known = solver.layout(solved.options[0]), np.isfinite(solved.figures.response_ns[0])
    named = zip(spec["partitions"], known, solver.silent, strict=True)
    return tuple(
        one["name"]
        for one, is_known, silent in named
        if not silent
        and one["name"] not in problem.held
        and (not is_known or is_limited(spec, one) or is_recorded(one))
    )


def unseen(problem: Problem) -> tuple[str, ...]:
    """The same of the layout as it is, where responses are what counts, and those who wait beside
    others that always want more: their weights are hardly in what is solved of them. Where cores
    count, those of these whose entitlement may change: it keeps them at home, of which solving
    tells a part.
    """
    if problem.goal not in ("response", "cores") or problem.cost.solver.simulates:
        return ()
    now, names = problem.solved_now, problem.cost.names
    used = dict(zip(names, map(float, now.figures.cores[0]), strict=True))
    late = {name: bool(s <= 0) for name, s in zip(names, now.figures.steady[0], strict=True)}
    waits = {*beside_greedy(problem.cost.solver.spec, used, late)}
    if problem.goal == "cores":
        variables = problem.space.variables
        waits &= {names[one.partition] for one in variables if one.word == _KEEPS_HOME}
    else:
        waits |= {*unknown(problem, now)}
    silent = problem.cost.solver.silent
    named = zip(names, silent, strict=True)
    return tuple(one for one, says_nothing in named if one in waits and not says_nothing)


@dataclass(frozen=True)
class Unseen:
    """How the layouts of such partitions are looked at."""

    problem: Problem
    names: tuple[str, ...]
    seed: int
    budget: Budget
    """Of which it may take half."""
    each: Telling
    stop: threading.Event | None

    def rows(self, say: Saying) -> tuple[list[Rows], Search]:
        """The best few that save what they must, the very best first, and the search for them."""
        most = _most(self.problem)
        places = _places(self.problem, self.names, most)
        why = in_words(self.problem, self.names)
        say(f"{why}: such layouts are simulated too, briefly, {most} at most")
        told = _by_simulation(self.problem, [self.problem.space.variables[p] for p in places], why)
        search = Search(
            told.space,
            told.cost,
            told.rules,
            told.goal,
            seed=self.seed,
            rounds=1,
            seconds=self.budget.share(0.5),
            budget=self.budget,
            each=self.each,
            stop=self.stop,
            most=most,
        )
        search.run()
        found = list[Rows]()
        each = _CHANCE * float(search.seen.goal[0])
        for row in self._raced(told, search)[:_BEST]:
            whole = self.problem.space.now()[0]
            whole[places] = trim(search, row, each)
            found += [whole] if whole.any() else []
        return found, search

    def _raced(self, told: Problem, search: Search) -> list[Rows]:
        """The best of what was simulated, the very best first: a few replications tell neighbours
        hardly apart, so that those that may be it are simulated further, beside the layout as it
        is, until what the others cost more than the best is no chance.
        """
        seen, solver = search.seen, told.cost.solver
        order = np.flatnonzero(seen.kept & (seen.changes > 0))
        order = order[np.argsort(seen.goal[order], kind="stable")][:_RUNNERS]
        left = [0, *map(int, order)]
        goals = {at: np.array([seen.goal[at]]) for at in left}
        while len(left) > 2 and isinstance(solver, Played) and len(goals[0]) < _MOST_TIMES:
            if search.stopped or self.budget.over or (self.stop is not None and self.stop.is_set()):
                break
            try:
                figures = solver.further(seen.options[left], _TIMES)
            except KeyboardInterrupt:
                search.stopped = True
                break
            goals |= {
                at: _goals(told, seen.rows[at], seen.options[at], one)
                for at, one in zip(left, figures, strict=True)
            }
            best = min(left[1:], key=lambda at: goals[at].mean())
            left = [at for at in left if at in (0, best) or not _is_more(goals[at], goals[best])]
        ahead = sorted(left[1:], key=lambda at: goals[at].mean())
        most = goals[0].mean() * (1 - told.wishes.told.worth)
        return [seen.rows[at] for at in ahead if goals[at].mean() <= most]


def _goals(told: Problem, row: Rows, options: Rows, figures: Figures) -> Floats:
    """What counts of each replication of a layout."""
    count = len(figures.cores)
    rows, chosen = (np.repeat(one[None, :], count, axis=0) for one in (row, options))
    return told.cost.priced(rows, chosen, np.ones(count, dtype=bool), figures).goal(told.goal)


def _is_more(one: Floats, best: Floats) -> bool:
    """Whether one is more than the other beyond chance, by replications with the same arrivals."""
    return is_sure(saved(one.tolist(), best.tolist()), 0.0)


def in_words(problem: Problem, names: Sequence[str]) -> str:
    """What the solver does not know of these."""
    whose = listed(names, 6)
    if problem.goal == "cores":
        return f"the solver knows little of what entitlement does for {whose} on a full machine"
    return f"the solver does not know how long {whose} would answer"


def joined(row: Rows, others: Sequence[Rows]) -> list[Rows]:
    """The row on top of each of these, where both change something."""
    found = [np.where(row > 0, row, other) for other in others]
    return [one for one in found if not np.array_equal(one, row)]


def _most(problem: Problem) -> int:
    """How many layouts are simulated."""
    if problem.goal == "cores":
        return _LEAST
    spec = problem.cost.solver.spec
    each_s = (spec["warmup_ns"] + min(spec["duration_ns"], DURATION_NS)) / 1e9
    virtual = sum(processors_of(one) for one in spec["partitions"])
    return int(np.clip(_WORK / (len(_REPLICATIONS) * each_s * virtual), _LEAST, _MOST))


def _places(problem: Problem, names: Collection[str], most: int) -> list[int]:
    """Variables that decide how long they take: something of them may change, or nothing may; not
    where they are at home if there are so many places that nothing else would be looked at.
    """
    variables = problem.space.variables
    own = [problem.cost.names[one.partition] in names for one in variables]
    told = zip(variables, own, strict=True)
    if problem.goal == "cores":
        return [at for at, (one, is_own) in enumerate(told) if is_own and one.word == _KEEPS_HOME]
    places = [at for at, (one, is_own) in enumerate(told) if is_own or one.word in _OF_OTHERS]
    if sum(len(variables[at].first_numbers()) for at in places) > most:
        return [at for at in places if variables[at].word not in _PLACES] or places
    return places


def _by_simulation(problem: Problem, variables: Sequence[Variable], why: str) -> Problem:
    """The same question of fewer variables, whose layouts are simulated."""
    solver, cost = Played(problem.cost.solver.spec, why, _REPLICATIONS), problem.cost
    solver.tells_p95 = cost.solver.tells_p95
    priced = Cost(solver, cost.licences, cost.most_memory, cost.held)
    space = Space(problem.scenario, variables, solver)
    return Problem(problem.scenario, problem.wishes, space, priced, problem.held)
