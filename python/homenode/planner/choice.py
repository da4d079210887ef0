"""Which of all layouts that were looked at are worth telling: few changes, none that brings
nothing, and none that another beats in everything.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homenode.planner.problem import Problem
from homenode.planner.rules import Rule
from homenode.planner.search import PENALTY, Search, Seen, changed
from homenode.planner.solver import Floats
from homenode.planner.space import Rows

EACH = 0.25
"""Part of what advice must save that each of its changes must."""
_NONE = 0.005
"""Of the goal's figure, what is told as none."""
SAME = 0.01
"""Share of the response of now by which two layouts differ in nothing."""
_AGAIN = 20
"""Of the best layouts so many are solved again, each by itself, before one is chosen."""
_BEST = 3
"""So many of these are trimmed."""
_MOST_PAIRS = 12
"""Changes up to which two are taken back at once, as those of a swap are."""


@dataclass(frozen=True)
class Refused:
    """What would be better, and the only rule that forbids it."""

    rule: Rule
    row: Rows
    saving: float
    """Of the goal's figure, below that of the best layout that is allowed."""


def best_rows(search: Search, worth: float, count: int, first: Seen | None = None) -> list[Rows]:
    """At most so many rows that save at least `worth` of the goal's figure now, the best first,
    each solved by itself. `first` is what was seen of the scenario that was given, where this is a
    variant of it. Of a search whose time is limited as much time again is spent on it.
    """
    seen, base = search.seen, first or search.seen
    now = float(base.goal[0])
    # Where the layout as it is breaks a rule, whatever keeps all of them is worth telling.
    most = now - worth * abs(now) if base.kept[0] else np.inf
    each = EACH * worth * abs(now)
    found: dict[bytes, Rows] = {}
    began, clock = search.budget.clock(), search.budget.clock
    first_ones = _first(search, seen, most)
    each_count = _of_each_count(seen, most)
    # Where time is short, those with few changes come before others as good as the best.
    order = [*first_ones[:1], *each_count] if search.late else [*first_ones, *each_count]
    for row in order:
        if found and search.allowed is not None and clock() - began > search.allowed:
            break
        # What a value nearer to now leaves of a change may be nothing.
        trimmed = trim(search, nearest_values(search, trim(search, row, each), each), each)
        if float(search.look(trimmed[None, :])[0]) > most:
            continue
        if trimmed.any() or not seen.kept[0] or first is not None:
            found[trimmed.tobytes()] = trimmed
    for row in first_ones if found else []:
        # What is left of it among neighbours may cost more by itself.
        told = search.exactly(np.stack([row, *found.values()])).goal(search.goal)
        if told[0] < told[1:].min() - each:
            lean = _trimmed_exactly(search, row, each)
            found[lean.tobytes()] = lean
    front = _front(search, _nearly_best(search, [*found.values()]), each)
    return _spread(front, count)


def _spread(front: Sequence[Rows], count: int) -> list[Rows]:
    """At most so many of a front, spread over it, so that one with few changes is among them."""
    if len(front) <= count:
        return [*front]
    places = np.linspace(0, len(front) - 1, count).round().astype(int) if count > 1 else [0]
    return [front[at] for at in places]


def _first(search: Search, seen: Seen, most: float) -> list[Rows]:
    """Of the best that were looked at those that are it when each is solved by itself: where homes
    are full, a search among neighbours is up to a hundredth off.
    """
    places = np.flatnonzero(seen.kept & (seen.goal <= most))
    places = places[np.argsort(seen.goal[places], kind="stable")][: _again(search)]
    if not len(places):
        return []
    exact = search.exactly(seen.rows[places]).goal(search.goal)
    return [seen.rows[at] for at in places[np.argsort(exact, kind="stable")][:_BEST]]


def _again(search: Search) -> int:
    """How many are solved again; fewer where time was short."""
    return _BEST if search.late else _AGAIN


def _trimmed_exactly(search: Search, row: Rows, each: float) -> Rows:
    """The row without the changes, one after the other, that bring at most so much by itself."""
    for at in np.flatnonzero(row):
        less = row.copy()
        less[at] = 0
        costs = search.exactly(np.stack([row, less])).goal(search.goal)
        if less.any() and costs[1] <= costs[0] + each and search.look(less[None, :])[0] < PENALTY:
            row = less
    return row


def _nearly_best(search: Search, rows: Sequence[Rows]) -> list[Rows]:
    """Those that may be on the front: the best, and what as the search knows them is on it."""
    again = _again(search)
    if len(rows) <= again:
        return [*rows]
    order = np.argsort(search.look(np.stack(rows)), kind="stable")[:again]
    known = _front(search, rows, 0.0, exactly=False)
    front = {row.tobytes() for row in (_spread(known, again) if search.late else known)}
    return [row for at, row in enumerate(rows) if at in order or row.tobytes() in front]


def _of_each_count(seen: Seen, most: float) -> list[Rows]:
    """For each number of changes the rows with the best figures."""
    kept = seen.kept & (seen.goal <= most)
    rows: dict[int, None] = {}
    for changes in np.unique(seen.changes[kept]):
        places = np.flatnonzero(kept & (seen.changes == changes))
        for figure in (seen.goal, seen.cores, seen.money, seen.response):
            rows[int(places[np.argmin(figure[places])])] = None
    return [seen.rows[at] for at in rows]


def trim(search: Search, row: Rows, each: float) -> Rows:
    """The row without changes that bring nothing: those, alone or two at once, without which it
    costs at most `each` a change more.
    """
    while True:
        changed = np.flatnonzero(row)
        if not len(changed):
            return row
        groups: list[tuple[int, ...]] = [(int(at),) for at in changed]
        if len(changed) <= _MOST_PAIRS and not search.late:
            groups += itertools.combinations([int(at) for at in changed], 2)
        rows = np.repeat(row[None, :], len(groups), axis=0)
        for at, group in enumerate(groups):
            rows[at, list(group)] = 0
        gained = search.look(rows) - float(search.look(row[None, :])[0])
        allowed = np.array([each * len(group) for group in groups])
        able = gained <= allowed
        if not able.any():
            return row
        row = rows[int(np.argmin(np.where(able, gained - allowed, np.inf)))]


def nearest_values(search: Search, row: Rows, each: float) -> Rows:
    """The row with each number as near to what it is now as costs no more: an entitlement that fits
    fewer virtual processors falls no lower than it must.
    """
    for at in np.flatnonzero(row):
        values = [search.space.variables[at].now, *search.space.variables[at].values]
        if not all(map(_is_number, values)):
            continue
        away = [abs(float(str(one)) - float(str(values[0]))) for one in values]
        most = float(search.look(row[None, :])[0]) + each
        nearer = _nearer(search, row, int(at), away, most)
        while nearer is not None:
            row = nearer
            nearer = _nearer(search, row, int(at), away, most)
    return row


def _nearer(search: Search, row: Rows, at: int, away: Sequence[float], most: float) -> Rows | None:
    """The row with that number nearest to now, of those looked at from it on, that costs no more
    than so much; None where there is none.
    """
    numbers = [n for n in search.around(at, row) if n and away[n] < away[row[at]]]
    if not numbers:
        return None
    rows = changed(row, at, numbers)
    able = np.flatnonzero(search.look(rows) <= most)
    return rows[min(able, key=lambda place: away[numbers[place]])] if len(able) else None


def needed(problem: Problem, rows: Sequence[Rows], *, of_variant: bool = False) -> list[Rows]:
    """The rows without changes that bring nothing, solved by themselves: of one of many that are
    solved together the search knows it less exactly. Of a variant a row without changes is left.
    """
    found: dict[bytes, Rows] = {}
    for row in rows:
        # All of them together may cost no more than what is told as none, nor than one must save.
        most = None
        for at in np.flatnonzero(row):
            less = row.copy()
            less[at] = 0
            solved = problem.exactly(np.stack([np.zeros_like(row), row, less]))
            now, goal, without = solved.goal(problem.goal)
            if most is None:
                most = goal + min(_NONE, EACH * problem.wishes.told.worth * abs(now))
            kept = solved.sound[2] and not problem.broken(less[None, :]).any()
            if kept and without < most:
                row = less  # noqa: PLW2901
        if row.any() or of_variant:
            found[row.tobytes()] = row
    return [*found.values()]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _front(
    search: Search, rows: Sequence[Rows], each: float, *, exactly: bool = True
) -> list[Rows]:
    """Those that no other beats in cores, money, response and number of changes, each solved by
    itself; the one that saves most first.
    """
    if not rows:
        return []
    table = np.stack(rows)
    told = search.exactly(table) if exactly else search.found(table)
    changes = (table > 0).sum(axis=1)
    figures = np.stack(
        [told.goal(search.goal), told.cores, told.money, told.response, changes], axis=1
    )
    slack = np.array([each, each, 0.0, SAME * float(search.seen.response[0]), 0.0])
    goal = figures[:, 0]
    # Of those that are as good as the best, but for what counts as none, the fewest changes win.
    best = goal <= goal.min() + each
    order = [int(one) for one in np.lexsort((changes, goal, np.where(best, changes, 0), ~best))]
    left: list[int] = []
    for one in order:
        alike = any((np.abs(figures[one] - figures[other]) <= slack).all() for other in left)
        if not alike and not _beaten(figures, one, slack):
            left.append(one)
    return [rows[one] for one in left]


def _beaten(figures: Floats, one: int, slack: Floats) -> bool:
    """Whether another is as good in all, but for what counts as none, and better in one."""
    others = np.delete(np.arange(len(figures)), one)
    as_good = (figures[others] <= figures[one] + slack).all(axis=1)
    better = (figures[others] < figures[one] - slack - 1e-9).any(axis=1)
    return bool((as_good & better).any())


def refused(search: Search, best: float, least: float) -> list[Refused]:
    """For each rule the best of what it alone forbids, where that saves at least `least` more."""
    seen = search.seen
    breaks = seen.broken
    found = []
    for at, rule in enumerate(search.rules):
        alone = (
            breaks[:, at] & (breaks.sum(axis=1) == 1) & ~seen.forbidden & (seen.goal < best - least)
        )
        if not rule.wished or not alone.any():
            continue
        places = np.flatnonzero(alone)
        goals = seen.goal[places]
        fewest = places[goals <= goals.min() + least]
        row = int(fewest[np.argmin(seen.changes[fewest])])
        found.append(Refused(rule, seen.rows[row], best - float(seen.goal[row])))
    return sorted(found, key=lambda one: -one.saving)
