"""What simulations teach the search: where solving flattered a layout, rules are taken more
strictly, and forms that did not meet their demand are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homenode.planner.confirm import Groups, looked_at
from homenode.planner.guesses import Guess
from homenode.planner.problem import Problem
from homenode.planner.rules import excess_of
from homenode.planner.solver import Floats
from homenode.planner.space import Rows
from homenode.simulate.run import Run

_MARGIN = 0.01
"""Share beyond what was simulated that a rule is taken more strictly."""


def lessons(
    problem: Problem,
    runs: Mapping[bytes, tuple[Rows, Run]],
    base: Run,
    limits: Floats,
    groups: Groups = (),
) -> tuple[Floats, set[tuple[int, int]]]:
    """For each rule the excess by the solver up to which it counts as kept, at most `limits`; and
    the forms, by partition and option, that are not to be told.
    """
    stricter, forbidden = limits.copy(), set()
    now = excess_of(problem.rules, problem.solved(problem.space.now()))[0]
    guesses = [Guess(float(one)) for one in now]
    for row, run in runs.values():
        if run is base:
            continue
        solved = problem.solved(row[None, :])
        excess = excess_of(problem.rules, solved)[0]
        at = looked_at(run, base, problem.held, groups)
        for index, rule in enumerate(problem.rules):
            ratio = rule.ratio(at)
            if rule.guessed and excess[index] > -1:
                guesses[index].hear(float(excess[index]), ratio, solved.options[0])
            elif ratio is not None and ratio > 1 and excess[index] > -1:
                # What was solved is wrong by this factor: so much less may be solved.
                least = (1 + float(excess[index])) / ratio - 1 - _MARGIN
                if least > now[index]:
                    stricter[index] = min(stricter[index], least)
                else:
                    # Not even the layout as it is would keep that: wrong are these forms alone.
                    forbidden |= _changed(solved.options[0])
        forbidden |= {
            (partition, int(solved.options[0, partition]))
            for partition in map(run.partitions.index, at.unsteady)
            if solved.options[0, partition]
        }
    for index, rule in enumerate(problem.rules):
        if rule.guessed:
            stricter[index] = guesses[index].limit()
            own = rule.partition
            forbidden |= set() if own is None else guesses[index].forbidden(own)
    return np.asarray(stricter), forbidden


def _changed(options: Floats) -> set[tuple[int, int]]:
    """The forms of a layout that are not those of now."""
    return {(partition, int(option)) for partition, option in enumerate(options) if option}
