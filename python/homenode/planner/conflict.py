"""Where no layout keeps all rules: the fewest of them that already contradict each other.

Every layout breaks some of them, so that a set of which none keeps all has one of those in it,
whichever the layout. The smallest that has one of each layout's which was looked at is the smallest
there is, unless a layout turns up that keeps it; then what that one breaks counts as well. Where
the smallest takes too long to find, it is one of which none can be left out.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from homenode.planner.advice import Answer, Named
from homenode.planner.exact import Exact
from homenode.planner.problem import Problem
from homenode.planner.rules import SLACK, Rule
from homenode.planner.search import EVERY, Search, Seen, nearly
from homenode.planner.solver import Floats
from homenode.planner.space import Rows, Space

_LOOKED_FOR = 60
"""Sets that are looked for a layout of at most, where not every one was looked at; beyond, one of
which none can be left out is as good.
"""
_ROUNDS = 2
_FEW = 50
"""Layouts that are looked at again where each is simulated."""
_EACH = 0.25
"""Part of what is left of a limited time for each set."""
_STEPS = 4_000_000
"""Sets that are gone through for the smallest that has one of each."""
_Set = frozenset[int]


def conflict(
    search: Search, problem: Problem, stop: threading.Event | None = None
) -> tuple[list[Rule], bool, bool]:
    """The fewest wished rules of which no layout was found that keeps them all, a partition of
    which nothing may change counted as one of them, whether it is proven that there is none, and
    whether they are the fewest: where that took too long it is only known that none of them can be
    left out. No rules where those of the machine are the matter, or where some layout keeps all,
    which the search has seen then; nor where it is stopped, which `search` is told, as that time is
    over.
    """
    free = problem.unpinned() if problem.wishes.told.pinned else problem
    pins = [*_pins(problem, free.space)]
    rules = [*(free.rules if pins else search.rules), *pins]
    whole = free.space.solver.whole
    finding = _Finding(
        Search(
            free.space,
            free.cost,
            rules,
            search.goal,
            seed=search.seed,
            rounds=_ROUNDS,
            budget=search.budget,
            stop=stop,
            most=_FEW if whole else None,
        ),
        exact_of(free.space),
        proven=search.proven and not pins,
    )
    none = np.zeros((len(search.seen.rows), len(pins)))
    finding.learn(search.seen, np.concatenate([search.seen.excess, none], axis=1))
    if not pins:
        finding.starts = [row[None, :] for row in nearly(search.seen, range(len(rules)))]
    chosen: Sequence[int] = ()
    try:
        chosen = finding.fewest()
    except KeyboardInterrupt:  # what was looked for in vain until then may be there all the same
        search.stopped = True
    search.late |= finding.late and not finding.proven
    if finding.keeps_all is not None and not pins:
        search.look(finding.keeps_all)
    return [rules[at] for at in chosen], finding.proven, finding.least


def exact_of(space: Space) -> Exact | None:
    """CP-SAT, where local search would have to look for what keeps a linear rule."""
    return None if space.solver.whole or space.count <= EVERY else Exact(space)


def _pins(problem: Problem, space: Space) -> Iterator[Rule]:
    """For each partition of which nothing may change, that it does not, in a space where it may."""
    for row, name in enumerate(problem.wishes.told.pinned):
        index = problem.cost.names.index(name)
        own = [at for at, one in enumerate(space.variables) if one.partition == index]
        yield Rule(
            f"pinned: nothing of {name} changes",
            lambda s, own=own: (s.rows[:, own] > 0).any(axis=1).astype(float),  # type: ignore[misc]
            problem.wishes.where("pinned", row),
            linear=("pinned", index),
        )


@dataclass
class _Finding:
    """What layouts are known to break, by places of rules."""

    search: Search
    """Not begun: how layouts are looked for."""
    exact: Exact | None
    proven: bool
    """Whether nothing keeps what is told, for every layout was looked at, or by CP-SAT."""
    starts: list[Rows] = field(default_factory=list)
    keeps_all: Rows | None = None
    late: bool = False
    """Whether the time was over while a layout was looked for."""
    least: bool = True
    """Whether no smaller set can be there."""
    sets: set[_Set] = field(default_factory=set)

    def __post_init__(self) -> None:
        rules = self.search.rules
        self.wished = [at for at, rule in enumerate(rules) if rule.wished]
        self.machine = [at for at, rule in enumerate(rules) if not rule.wished]

    def learn(self, seen: Seen, excess: Floats) -> None:
        """Take what layouts that can be break."""
        broken = excess > SLACK
        able = ~broken[:, self.machine].any(axis=1) & ~seen.forbidden
        wished = np.unique(broken[able][:, self.wished], axis=0)
        self.sets |= {frozenset(self.wished[at] for at in np.flatnonzero(row)) for row in wished}

    def fewest(self) -> Sequence[int]:
        """The smallest set of wished rules of which no layout keeps all; none where one does."""
        steps = _Steps()
        for _ in range(_LOOKED_FOR):
            chosen = smallest(self.sets, steps)
            self.least = steps.left >= 0
            if chosen is None or not self._is_kept(chosen):
                return chosen or ()
        left, self.least = self.wished, False
        for at in self.wished:
            less = [one for one in left if one != at]
            if all(one & {*less} for one in self.sets) and not self._is_kept(less):
                left = less
        return () if _Set() in self.sets else left

    def _is_kept(self, chosen: Collection[int]) -> bool:
        """Whether a layout is found that keeps these rules, and those of the machine."""
        budget = self.search.budget
        self.late |= budget.over
        if self.proven or budget.over:
            return False
        asked = [*self.machine, *chosen]
        starts = [*self.starts]
        if self.exact is not None:
            rules = [self.search.rules[at] for at in asked]
            row, disproved = self.exact.layout(rules, budget.share(_EACH))
            if disproved:
                self.proven = True
                return False
            starts += [] if row is None else [row]
        seconds = budget.share(_EACH)
        again = replace(
            self.search, seconds=seconds, _parts=[], _excess=[], _places=[], _scores={}, _towards={}
        )
        again.limits = np.full(len(again.rules), np.inf)
        again.limits[asked] = SLACK
        seen = again.run(starts)
        if again.stopped:
            raise KeyboardInterrupt
        self.late |= again.late
        self.learn(seen, seen.excess)
        self.proven = again.proven
        whole = seen.kept & ~(seen.excess > SLACK).any(axis=1)
        if whole.any():
            self.keeps_all = seen.rows[whole][:1]
        return bool(seen.kept.any())


class _Steps:
    """How many sets may be gone through still."""

    def __init__(self) -> None:
        self.left = _STEPS

    def take(self, count: int) -> None:
        """Raises `_TooManyError` where that is more than are left."""
        self.left -= count
        if self.left < 0:
            raise _TooManyError


def smallest(sets: Collection[_Set], steps: _Steps | None = None) -> tuple[int, ...] | None:
    """The smallest set that has one of each of these, or None where one of them is empty; where
    that takes too many steps one of which none can be left out.
    """
    if not all(sets):
        return None
    steps, order = steps or _Steps(), sorted(sets, key=lambda one: (len(one), sorted(one)))
    try:
        least = list[_Set]()
        for one in order:
            steps.take(len(least))
            least += [] if any(less <= one for less in least) else [one]
        sizes = range(1 + len(least))
        return next(found for n in sizes if (found := _of_size(least, n, steps)) is not None)
    except _TooManyError:
        return _irreducible(order)


def _irreducible(sets: Sequence[_Set]) -> tuple[int, ...]:
    """A set that has one of each of these, and would not without any of its own: what is in most of
    them stays longest.
    """
    count = Counter(at for one in sets for at in one)
    left = {*count}
    for at in sorted(count, key=lambda at: (count[at], at)):
        if all(one & left != {at} for one in sets):
            left -= {at}
    return tuple(sorted(left))


def _of_size(sets: Sequence[_Set], size: int, steps: _Steps) -> tuple[int, ...] | None:
    """A set of at most so many that has one of each of these, or None."""
    if not sets:
        return ()
    steps.take(len(sets))
    apart, taken = 0, _Set()
    for one in sets:
        if not one & taken:
            apart, taken = apart + 1, taken | one
    if apart > size or not all(sets):
        return None
    first, *_ = sets
    without = _Set()
    for at in sorted(first):
        steps.take(len(sets))
        # Whoever was tried is in none of the sets that are left to find.
        left = [one - without for one in sets if at not in one]
        rest = _of_size(left, size - 1, steps)
        if rest is not None:
            return tuple(sorted((at, *rest)))
        without |= {at}
    return None


def never_together(answers: Sequence[Answer]) -> tuple[Named, ...]:
    """The fewest rules of which none of these layouts keeps all; none where one breaks nothing."""
    names = list(dict.fromkeys(named for one in answers for named in one.lacks))
    sets = {frozenset(map(names.index, one.lacks)) for one in answers}
    return tuple(names[at] for at in smallest(sets) or ())


class _TooManyError(Exception):
    """The smallest takes too long to find."""
