"""`advise`: search by the solver, confirm by simulation, say why."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from homenode.model.scenario import Scenario
from homenode.planner.advice import Advice
from homenode.planner.advising import Advising
from homenode.planner.budget import Budget
from homenode.planner.combining import MOST as COMBINED
from homenode.planner.combining import Branch
from homenode.planner.confirm import Runs
from homenode.planner.overload import Overload, held_in_words
from homenode.planner.played import Played, Saying, say_if_played, say_nothing
from homenode.planner.problem import Problem, problem_of
from homenode.planner.search import ROUNDS, Search, Telling, changed
from homenode.planner.space import Rows
from homenode.planner.variants import Variant, Varying
from homenode.simulate.run import Run
from homenode.simulate.runner import ProgressFn

MOST = 3
"""Layouts that are simulated and told."""
_ROUNDS = 2
"""Times that the search of a variant begins anew."""
_SEARCHED, _ALONE = 0.3, 0.5
"""Parts of a limited time for searching, where simulations follow and where none do: choosing what
is told takes up to as long again, and a quarter.
"""
_LEAST = 12
"""Layouts of each of several searches that are simulated at least."""


def advise(
    scenario: Scenario | str | Path,
    *,
    best: int = MOST,
    seconds: float | None = None,
    confirm: bool = True,
    seed: int | None = None,
    rounds: int = ROUNDS,
    replications: int | None = None,
    jobs: int | None = None,
    on: str | None = None,
    out: str | Path = "runs",
    each: Telling = lambda _, __: None,
    stop: threading.Event | None = None,
    **asked: Any,
) -> Advice:
    """The layout that costs least, beside the layout as it is.

    `asked` are keys of the scenario's table `[advise]`, which they replace, such as `goal="cores"`
    and `free=["home"]`. At most `best` layouts are told; `seconds` limits all of it, but for the
    simulations of one layout beside that of now. `confirm=False` leaves these out; `jobs` processes
    or the cluster `on` do them, as `run_sweep`: what is kept in `out` is not simulated again.
    `seed` is that of the search; the scenario's own if not given. `each` is told how far it is
    [0..1], and in words; once `stop` is set, the best so far is told.

    Raises `HomenodeError` for what cannot be asked of this machine. That no layout keeps all rules
    is an answer: `conflict` holds the fewest rules that contradict each other, or that no
    layout kept together that was simulated.
    """
    budget = Budget(seconds)
    return advised(
        problem_of(scenario, asked),
        Asked(best, budget, seed, rounds, each, stop),
        Runs(replications, jobs, on, out, _simulating(each), stop) if confirm else None,
    )


@dataclass(frozen=True)
class Asked:
    """How a search goes about; see `advise`."""

    best: int = MOST
    budget: Budget = field(default_factory=Budget)
    seed: int | None = None
    rounds: int = ROUNDS
    each: Telling = lambda _, __: None
    stop: threading.Event | None = None
    say: Saying = say_nothing
    """Is told what makes it long: before the search, and after one whose time is over."""


def _simulating(each: Telling) -> ProgressFn:
    def tell(share: float, _: float | None) -> None:
        each(share, "simulating the best")

    return tell


def advised(problem: Problem, asked: Asked, runs: Runs | None, base: Run | None = None) -> Advice:
    """The answer to a problem; `runs` is how layouts are simulated, None for not at all, and `base`
    the run of the layout as it is, if there is one.

    Where nothing gives an overloaded partition room, the others are advised with it as it is.
    """
    say_if_played(problem.space.solver, asked.say)
    first, told = _searched(problem, asked, runs, base)
    over = first.overloads()
    if not over:
        return told
    broken = {one.rule for one in told.conflict}
    stuck = [one for one in over if one.rule in broken] or over
    rest = None if first.is_mended(told) else problem.holding(one.partition for one in stuck)
    if rest is None:
        named = "".join(f"{one}. " for one in over)
        return replace(told, told=named + told.told, overloaded=tuple(over))
    others = advised(rest, replace(asked, say=say_nothing), runs, first.base)
    forbids = broken - {one.rule for one in stuck} or first.in_the_way(stuck)
    forbids = forbids or _nearest(problem, stuck, asked) or _nearest_seen(first, stuck)
    return replace(
        others,
        told=f"{held_in_words(stuck, sorted(forbids))} {others.told}",
        solved=told.solved + others.solved,
        proven=told.proven and others.proven,
        overloaded=(*(replace(one, held=True) for one in stuck), *others.overloaded),
    )


def _nearest(problem: Problem, stuck: Sequence[Overload], asked: Asked) -> set[str]:
    """Of the layouts in which one change of one of them gives that one room, what the one breaks
    that comes nearest to breaking nothing; of each variable those values that are looked at
    everywhere, as long as there is time.
    """
    if isinstance(problem.space.solver, Played):
        return set()
    rules = {one.partition: one.rule for one in stuck}
    broken_now = {name for name, _ in _broken(problem, problem.space.now())[0]}
    nearest: dict[str, float] | None = None
    for at, variable in enumerate(problem.space.variables):
        own = rules.get(problem.cost.names[variable.partition])
        if own is None or asked.budget.over or (asked.stop is not None and asked.stop.is_set()):
            continue
        rows = changed(problem.space.now()[0], at, variable.first_numbers())
        for broken in _broken(problem, rows):
            if own in dict(broken):
                continue
            new = {name: by for name, by in broken if name not in broken_now}
            if nearest is None or fsum(new.values()) < fsum(nearest.values()):
                nearest = new
    return {*(nearest or ())}


def _nearest_seen(told: Advising, stuck: Sequence[Overload]) -> set[str]:
    """The same of all layouts that were looked at, several changes each."""
    search, problem = told.search, told.problem
    own = [rule.name in {one.rule for one in stuck} for rule in search.rules]
    room = np.flatnonzero(~search.seen.broken[:, own].all(axis=1))
    if not len(room):
        return set()
    over = np.maximum(search.seen.excess[room], 0.0).sum(axis=1)
    (broken,) = _broken(problem, search.seen.rows[room[[int(np.argmin(over))]]])
    broken_now = {name for name, _ in _broken(problem, problem.space.now())[0]}
    return {name for name, _ in broken} - broken_now


def _broken(problem: Problem, rows: Rows) -> list[list[tuple[str, float]]]:
    """Of each row the rules that it breaks, and by how much."""
    return [
        [(rule.name, float(by)) for rule, by in zip(problem.rules, excess, strict=True) if by > 0]
        for excess in problem.broken(rows)
    ]


def _searched(
    problem: Problem, asked: Asked, runs: Runs | None, base: Run | None
) -> tuple[Advising, Advice]:
    """A search and what it tells. Chance decides where one ends, so that nothing gives overloaded
    partitions room is said of two, where time is not limited.
    """
    first = _advising(problem, asked, runs, base)
    told = first.advice(asked.best)
    unlimited = not asked.budget.is_limited and not told.proven
    if not unlimited or first.is_mended(told) or not first.overloads():
        return first, told
    seed = problem.scenario.timing.seed if asked.seed is None else asked.seed
    once = replace(asked, seed=seed + 1, say=say_nothing)  # what was said before holds of both
    second = _advising(problem, once, runs, first.base)
    again = second.advice(asked.best)
    solved = told.solved + again.solved
    if second.is_mended(again):
        return second, replace(again, solved=solved)
    return first, replace(told, solved=solved)


def _advising(problem: Problem, asked: Asked, runs: Runs | None, base: Run | None) -> Advising:
    """The problem and its variants, which share time and simulations."""
    varying = Varying(problem, [])
    variants = [*varying.all()]
    combined = len({one.of_what for one in variants}) > 1
    searches = 1 + len(variants) + (COMBINED if combined else 0)
    seconds = asked.budget.share((_ALONE if runs is None else _SEARCHED) / searches)
    less = replace(asked, rounds=min(_ROUNDS, asked.rounds))

    def branch_of(one: Variant) -> Branch:
        return Branch(one.problem, _search(one.problem, less, searches, seconds), one)

    branches = [branch_of(one) for one in variants]
    search = _search(problem, asked, searches, seconds)
    more = branch_of if combined else None
    return Advising(problem, search, runs, base, branches, varying.unfit, more, asked.say)


def _search(problem: Problem, asked: Asked, searches: int, seconds: float | None) -> Search:
    most = problem.space.solver.most
    return Search(
        problem.space,
        problem.cost,
        problem.rules,
        problem.goal,
        most=None if most is None else max(most // searches, _LEAST),
        seed=problem.scenario.timing.seed if asked.seed is None else asked.seed,
        rounds=asked.rounds,
        seconds=seconds,
        budget=asked.budget,
        each=asked.each,
        stop=asked.stop,
    )
