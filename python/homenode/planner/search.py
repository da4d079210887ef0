"""Looks for the layout that costs least: every one of a small space, else local search from the
layout as it is, again from what chance makes of the best. The same seed goes the same way.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from homenode.planner.budget import Budget
from homenode.planner.cost import Cost, Solved
from homenode.planner.lazy import Lazy
from homenode.planner.rules import SLACK, Rule, excess_of
from homenode.planner.solver import Floats
from homenode.planner.space import Rows, Space, together

EVERY = 5_000
"""Layouts of a space that is gone through as a whole."""
ROUNDS = 8
"""Times that local search begins anew."""
_BATCH = 1_024
_FEW = 8
"""The most rows that are solved at once, and the least where time is limited."""
_PARTS_OF_TIME = 20
"""A batch takes at most about one of so many parts of a time that is limited."""
_SCANS = 4
"""A limited time suffices for so many looks at neighbours, after each of which a descent may go on
from the best of them."""
_BETTER = 1e-4
"""Share of the goal's figure that a step must gain: solving leaves a tenth of that open."""
PENALTY = 1e6
"""The least score of what breaks a rule."""
_SAME = 1e-9
"""Share of the score by which two are as much."""
_SHAKEN = (2, 3, 4)
"""Variables that chance changes before a new descent."""
_FITTING = ({"entitlement", "virtual"}, {"home", "memory"}, {"entitlement", "capped"})
"""Words of which two change at once."""
_JOINED = 16
"""Changes that are looked at together where there was no time to go on from one."""
_NEARLY = 4
"""Layouts that nearly keep all rules, on from which one is looked for that does."""
_BEAM = 8
_MOST_BEYOND = 2_000
"""The best neighbours whose own neighbours are looked at too, and the most of these."""
Telling = Callable[[float, str], None]


@dataclass
class Seen:
    """All layouts that were looked at, in the order of looking."""

    rows: Rows
    options: Rows
    goal: Floats
    cores: Floats
    money: Floats
    response: Floats
    excess: Floats
    """By how much each breaks each rule."""
    broken: NDArray[np.bool_]
    """Which rules each breaks, as strictly as they are taken now."""
    forbidden: NDArray[np.bool_]
    """Which have a form that did not meet its demand when it was simulated."""

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which of them keep all rules."""
        return np.asarray(~self.broken.any(axis=1) & ~self.forbidden)

    @property
    def changes(self) -> NDArray[np.int64]:
        """How much each changes."""
        return np.asarray((self.rows > 0).sum(axis=1))


@dataclass
class Search:
    """A search in a space; `run` it once. What it has seen stays when it is stopped."""

    space: Space
    cost: Cost
    rules: Sequence[Rule]
    goal: str
    seed: int = 1
    rounds: int = ROUNDS
    seconds: float | None = None
    """The most that it may take."""
    budget: Budget = field(default_factory=Budget)
    """What there is for the whole answer: once it is over nothing new is looked at."""
    each: Telling = lambda _, __: None
    stop: threading.Event | None = None
    most: int | None = None
    """The most layouts that are looked at, a few at once."""
    full: bool = False
    """Whether these were looked at before the search was over."""
    late: bool = False
    """Whether the time was over before the search was."""
    stopped: bool = False
    proven: bool = False
    """Whether every layout of the space was looked at."""
    forbidden: set[tuple[int, int]] = field(default_factory=set)
    """Forms, by partition and option, that did not meet their demand when they were simulated."""
    refused: set[bytes] = field(default_factory=set)
    """Rows that did not hold when they were solved by themselves."""
    _parts: list[Solved] = field(default_factory=list)
    _excess: list[Floats] = field(default_factory=list)
    _places: list[Rows] = field(default_factory=list)
    """By part, in which order its rows are told."""
    _scores: dict[bytes, float] = field(default_factory=dict)
    _towards: dict[bytes, float] = field(default_factory=dict)
    """Of what was solved, what is to be less among rows of equal score."""
    _best: float = np.inf
    _end: float | None = None
    _share: float = 0.0

    def __post_init__(self) -> None:
        self.allowed = self.seconds
        """The time that it may take, of which `seconds` are left."""
        # Of those that take long no more at once than are worked at.
        self._least = self._size = _FEW if self.most is None else min(os.cpu_count() or 1, _FEW)
        self._partition_of = np.array([one.partition for one in self.space.variables], dtype=int)
        self.limits = np.full(len(self.rules), SLACK)
        """Excess up to which each rule counts as kept; less than 0 where solving flatters it."""

    def run(self, starts: Sequence[Rows] = ()) -> Seen:
        """Search, beginning with the layout as it is and with `starts`."""
        self._bounded(lambda: self._all(starts))
        self.stop = self.most = None  # what was found is looked at in peace
        return self.seen

    def _all(self, starts: Sequence[Rows]) -> None:
        self.look(self.space.now())
        if self.space.count <= (EVERY if self.most is None else self.most):
            self._every()
        else:
            self._local(starts)
            self._repair()

    def _bounded(self, search: Callable[[], None]) -> None:
        """Search as long as there is time, which what comes after it does not count against."""
        began = self.budget.clock()
        self._limit(self.seconds)
        try:
            search()
        except _Over:
            pass
        except KeyboardInterrupt:
            self.stopped = True
        if self.seconds is not None:
            self.seconds = max(0.0, self.seconds - (self.budget.clock() - began))
        self._end = None
        self._near(self.space.now()[0])
        if self.late:
            self._round_off()

    def _limit(self, seconds: float | None) -> None:
        """From now on at most so many, and no more than the whole answer has."""
        if seconds is not None:
            self._end = min(self.budget.end, self.budget.clock() + seconds)

    def _round_off(self) -> None:
        """Where the time was over before the search was: see what a part of it tells of layouts
        with fewer changes than the best, or with several where there was time for one each.
        """
        best = min(self._scores, key=lambda key: self._scores[key])
        row = np.frombuffer(best, dtype=np.int64).copy()
        if (row > 0).sum() <= 1 or not self.allowed:
            self.look(self._joined())
            return
        self._limit(self.allowed / _SCANS)
        with contextlib.suppress(_Over):
            self._way_to(row)
        self._end = None

    def _joined(self) -> Rows:
        """The single changes that bring something, of each variable the best, together: the best
        of them, two, four, and so on, where there was no time to go on from any.
        """
        seen = self.seen
        places = np.flatnonzero(seen.kept & (seen.changes == 1) & (seen.goal < seen.goal[0]))
        row, rows, taken = seen.rows[0].copy(), list[Rows](), 0
        for place in places[np.argsort(seen.goal[places], kind="stable")]:
            (at,) = np.flatnonzero(seen.rows[place])
            if not row[at] and taken < _JOINED:
                row[at], taken = seen.rows[place][at], taken + 1
                rows += [row.copy()] if taken & (taken - 1) == 0 else []
        return together([seen.rows[:1], *(one[None, :] for one in rows)])

    @property
    def least(self) -> float:
        """The best score so far."""
        return self._best

    @property
    def begun(self) -> bool:
        """Whether it looked at any layout."""
        return bool(self._parts)

    @property
    def seen(self) -> Seen:
        """What was looked at so far."""
        names = ("rows", "options", "cores", "money", "response")
        order = np.argsort(np.concatenate(self._places), kind="stable")
        told = {n: np.concatenate([getattr(one, n) for one in self._parts])[order] for n in names}
        goal = np.concatenate([one.goal(self.goal) for one in self._parts])[order]
        excess = np.concatenate(self._excess)[order]
        forbidden = self._is_forbidden(told["options"])
        if self.refused:
            forbidden |= np.array([row.tobytes() in self.refused for row in told["rows"]])
        return Seen(
            **told, goal=goal, excess=excess, broken=excess > self.limits, forbidden=forbidden
        )

    def found(self, rows: Rows) -> Solved:
        """What rows cost, from where the search stands."""
        options, sound = self.space.options(rows)
        return self.cost.of(rows, options, sound)

    def exactly(self, rows: Rows) -> Solved:
        """What rows cost, each solved by itself."""
        options, sound = self.space.options(rows)
        return self.cost.of(rows, options, sound, exactly=True)

    def stricter(self, limits: Floats, forbidden: set[tuple[int, int]], rounds: int) -> Seen:
        """Search on from what was seen, with rules taken so strictly, and without these forms."""
        self.limits, self.forbidden = limits, forbidden
        seen, self.rounds = self.seen, rounds
        scores = self._scored(seen.goal, seen.excess, seen.forbidden)
        self._scores |= {
            row.tobytes(): float(score) for row, score in zip(seen.rows, scores, strict=True)
        }
        self._best = float(scores.min())
        if not self.proven and not self.late:
            self._bounded(lambda: self._local([seen.rows[[int(np.argmin(scores))]]]))
        return self.seen

    def longer(self, seconds: float | None) -> None:
        """Go on where the time was over before the search was."""
        self.seconds, self.late = seconds, False
        self._bounded(lambda: self._all([]))

    def refuse(self, rows: Sequence[Rows]) -> None:
        """Take these rows as forbidden from now on."""
        self.refused |= {row.tobytes() for row in rows}
        self._scores |= {row.tobytes(): 2 * PENALTY for row in rows}
        self._best = min(self._scores.values())

    def look(self, rows: Rows) -> Floats:
        """The score of each row: its goal's figure, far above all others where it breaks rules."""
        keys = [row.tobytes() for row in rows]
        if self._end is None and self.begun and self.budget.over:
            return np.array([self._scores.get(key, np.inf) for key in keys])
        new = np.array([at for at, key in enumerate(keys) if key not in self._scores], dtype=int)
        places = len(self._scores) + np.arange(len(new))
        first = 0
        while first < len(new):
            part = slice(first, first + self._batch())
            self._look([keys[at] for at in new[part]], rows[new[part]], places[part])
            first = part.stop
        return np.array([self._scores[key] for key in keys])

    def _batch(self) -> int:
        """How many are solved at once."""
        if self.most is not None:
            return _FEW if self._end is None else min(self._size, _FEW)
        return _BATCH if self._end is None else self._size

    def _look(self, keys: Sequence[bytes], rows: Rows, places: Rows) -> None:
        """Solve rows that were not looked at."""
        began = self.budget.clock()
        options, sound = self.space.options(rows)
        solved = self.cost.of(rows[sound], options[sound], np.ones(int(sound.sum()), dtype=bool))
        self._scores |= dict.fromkeys(keys, np.inf)
        self._keep(solved)
        self._places.append(places[sound])
        if self.seconds is not None:
            took = max(self.budget.clock() - began, 1e-6)
            fit = int(len(keys) * self.seconds / (_PARTS_OF_TIME * took))
            self._size = max(self._least, min(fit, 2 * len(keys), _BATCH))
        self._tick()

    def _keep(self, solved: Solved) -> None:
        excess = excess_of(self.rules, solved)
        forbidden = self._is_forbidden(solved.options)
        scores = self._scored(solved.goal(self.goal), excess, forbidden)
        keys = [row.tobytes() for row in solved.rows]
        self._scores |= dict(zip(keys, map(float, scores), strict=True))
        self._towards |= dict(zip(keys, map(float, solved.towards(self.goal)), strict=True))
        self._parts.append(solved)
        self._excess.append(excess)
        self._best = min(self._best, float(scores.min(initial=np.inf)))

    def _scored(self, goal: Floats, excess: Floats, forbidden: NDArray[np.bool_]) -> Floats:
        """The goal's figure; above all others by how much rules are broken."""
        over = np.where(excess > self.limits, excess - self.limits, 0.0).sum(axis=1) + forbidden
        return np.where(over > 0, PENALTY * (1 + over), goal)

    def _is_forbidden(self, options: Rows) -> NDArray[np.bool_]:
        found = np.zeros(len(options), dtype=bool)
        for partition, option in self.forbidden:
            found |= options[:, partition] == option
        return found

    def _tick(self) -> None:
        """Tell how far it is; raise `_Over` where it is to end."""
        best = self._best
        shown = f"{best:.2f}" if abs(best) < PENALTY else "none that keeps all rules"
        self.each(self._share, f"{self.cost.solver.solved:,} layouts, least {self.goal} {shown}")
        if self.stop is not None and self.stop.is_set():
            self.stopped = True
            raise _Over
        if self.most is not None and len(self._scores) >= self.most and not self.proven:
            self.full = True
            raise _Over
        if self._end is not None and self.budget.clock() > self._end:
            self.late = True
            raise _Over

    def _every(self) -> None:
        rows = self.space.every()
        for first in range(0, len(rows), _BATCH):
            self._share = first / len(rows)
            self.look(rows[first : first + _BATCH])
        self.proven = True

    def _local(self, starts: Sequence[Rows]) -> None:
        random_numbers = random.Random(self.seed)  # noqa: S311 - a search, no secret
        best = self.descend(self.space.now()[0])
        for start in starts:
            best = self._better(best, self.descend(start[0]))
        self._way_to(best)
        first = best
        for number in range(self.rounds):
            self._share = (number + 1) / (self.rounds + 1)
            shaken = self._shaken(best, random_numbers)
            best = self._better(best, self.descend(shaken))
        if (best != first).any():
            self._way_to(best)

    def _way_to(self, best: Rows) -> None:
        """Look at what comes of its changes, those of a partition at once, too, taken one after the
        other, the most gain first: of layouts with few changes these are among the best.
        """
        now, own = self.space.now()[0], self._partition_of
        taken = np.flatnonzero(best)
        groups = [taken == at for at in taken] + [own[taken] == one for one in np.unique(own)]
        places = [taken[group] for group in groups if group.any()]
        if not places:
            return
        rows = np.repeat(now[None, :], len(places), axis=0)
        for row, at in zip(rows, places, strict=True):
            row[at] = best[at]
        self._near(now)
        rows = together([rows])
        scores = self.look(rows)
        Lazy(now, own, self.look, self._is_less).take(rows, scores, int(np.argmin(scores)))

    def _repair(self) -> None:
        """Where no layout was found that keeps all rules: on from those that nearly do. A step that
        mends one rule may break another one, which the next but one mends.
        """
        for row in [] if self.seen.kept.any() else nearly(self.seen, range(len(self.rules))):
            self.descend(row, beyond=True)
            if self._best < PENALTY:
                return

    def _better(self, one: Rows, other: Rows) -> Rows:
        scores = self.look(np.stack([one, other]))
        return other if self._is_less(float(scores[1]), float(scores[0])) else one

    def _is_less(self, one: float, other: float) -> bool:
        """Whether a score is less by what counts; whatever can be is less than what cannot."""
        return one < (other - _BETTER * max(abs(other), 1e-9) if np.isfinite(other) else other)

    def _flat(self, row: Rows) -> float:
        """What is to be less among rows of equal score; nothing of what cannot be, and where few
        layouts can be looked at.
        """
        return self._towards.get(row.tobytes(), 0.0) if self.most is None else 0.0

    def _leads(self, row: Rows, score: float, here: Rows, now: float) -> bool:
        """Whether a descent goes on there: it is less, or as much and on the way to less."""
        if self._is_less(score, now):
            return True
        as_much = now < PENALTY and abs(score - now) <= _SAME * max(abs(now), 1.0)
        return as_much and self._is_less(self._flat(row), self._flat(here))

    def descend(self, row: Rows, *, beyond: bool = False) -> Rows:
        """The best neighbour, with whatever else of them gains beside it, and on from there, until
        none is better; where none of those far apart is, one step away; `beyond` those their best
        neighbours' ones, too.
        """
        score = float(self.look(row[None, :])[0])
        kinds = (self._single, self._pairs, self._steps, *([self._beyond] if beyond else []))
        while True:
            self._near(row)
            for near in kinds:
                rows = near(row)
                if not len(rows):
                    continue
                following = self._following(row, score, rows)
                if following is not None:
                    row, score = following
                    break
            else:
                return row

    def _following(self, row: Rows, score: float, rows: Rows) -> tuple[Rows, float] | None:
        """Where a descent goes on among neighbours of a row, and its score; None for nowhere."""
        for scores in self._scans(row, rows):
            self._tick()
            changes = (rows > 0).sum(axis=1)
            flat = np.round([self._flat(one) for one in rows], 9)
            at = int(np.lexsort((changes, flat, np.round(scores, 9)))[0])
            if not self._leads(rows[at], float(scores[at]), row, score):
                continue
            lazy = Lazy(row, self._partition_of, self.look, self._is_less)
            return lazy.take(rows, scores, at)
        return None

    def _scans(self, row: Rows, rows: Rows) -> Iterator[Floats]:
        """Scores of neighbours. Where time is limited it is told several times what is known of
        them, so that a descent may go on before all are: infinity of what is not looked at yet.
        """
        order = self._mixed(row, rows)
        scores, first = np.full(len(rows), np.inf), 0
        while first < len(rows):
            now = self.budget.clock()
            until = np.inf if self._end is None else now + (self._end - now) / _SCANS
            # Some of each partition, as not all can be; nor none at all.
            least = first + 2 * len(np.unique(self._partition_of))
            while first < len(rows) and (first < least or self.budget.clock() < until):
                part = order[first : first + self._batch()]
                scores[part], first = self.look(rows[part]), first + len(part)
            yield scores

    def _mixed(self, row: Rows, rows: Rows) -> NDArray[np.int64]:
        """The order in which neighbours are looked at: one of each partition, another one of each,
        and so on, so that of each something is seen in time.
        """
        order = np.random.default_rng(self.seed).permutation(len(rows))
        own = self._partition_of[np.argmax(rows[order] != row, axis=1)]
        turn = np.zeros(len(rows), dtype=np.int64)
        for partition in np.unique(own):
            turn[own == partition] = np.arange((own == partition).sum())
        return np.asarray(order[np.argsort(turn, kind="stable")])

    def _near(self, row: Rows) -> None:
        """Neighbours of a row are looked at from now on."""
        options, sound = self.space.options(row[None, :])
        if sound[0]:
            self.cost.solver.near(options[0])

    def _single(self, row: Rows) -> Rows:
        """One variable at another value, and two partitions in each other's place."""
        variables = enumerate(self.space.variables)
        found = [changed(row, at, one.first_numbers()) for at, one in variables]
        return together([*found, *self._swaps(row)])

    def _steps(self, row: Rows) -> Rows:
        """One count some steps larger or smaller."""
        variables = enumerate(self.space.variables)
        return together([changed(row, at, one.near(int(row[at]))) for at, one in variables])

    def _beyond(self, row: Rows) -> Rows:
        """Neighbours of the best neighbours."""
        rows = self._single(row)
        if not len(rows):
            return rows
        width = int(np.clip(_MOST_BEYOND // len(rows), 1, _BEAM))
        best = np.argsort(self.look(rows), kind="stable")[:width]
        return together([self._single(rows[at]) for at in best])

    def _swaps(self, row: Rows) -> Iterator[Rows]:
        places = [at for at, one in enumerate(self.space.variables) if one.word == "home"]
        for one, other in itertools.combinations(places, 2):
            mine, theirs = (self.space.variables[at].value(int(row[at])) for at in (one, other))
            if mine == theirs:
                continue
            there, here = self._number(one, theirs), self._number(other, mine)
            if there is None or here is None:
                continue
            swapped = row.copy()
            swapped[one], swapped[other] = there, here
            yield swapped[None, :]

    def _number(self, at: int, value: object) -> int | None:
        one = self.space.variables[at]
        values = [one.now, *one.values]
        return values.index(value) if value in values else None

    def _pairs(self, row: Rows) -> Rows:
        """Two variables of one partition at other values, of those that must fit each other."""
        found = []
        by_partition = itertools.groupby(
            range(len(row)), key=lambda at: self.space.variables[at].partition
        )
        for _, group in by_partition:
            for one, other in itertools.combinations(group, 2):
                if {self.space.variables[at].word for at in (one, other)} not in _FITTING:
                    continue
                numbers = itertools.product(*(self.around(at, row) for at in (one, other)))
                pairs = np.array([*numbers], dtype=np.int64)
                rows = np.repeat(row[None, :], len(pairs), axis=0)
                rows[:, [one, other]] = pairs
                found.append(rows)
        return together(found) if found else row[None, :][:0]

    def around(self, at: int, row: Rows) -> list[int]:
        """Numbers of a variable that are looked at from a row on."""
        one, here = self.space.variables[at], int(row[at])
        return sorted({*one.first_numbers(), here, *one.near(here)})

    def _shaken(self, row: Rows, random_numbers: random.Random) -> Rows:
        shaken = row.copy()
        count = min(random_numbers.choice(_SHAKEN), len(row))
        for at in random_numbers.sample(range(len(row)), count):
            shaken[at] = random_numbers.choice(self.space.variables[at].first_numbers())
        return shaken


def changed(row: Rows, at: int, numbers: Iterable[int]) -> Rows:
    """The row with each of these numbers in the place of the one it has."""
    others = [number for number in numbers if number != row[at]]
    rows = np.repeat(row[None, :], len(others), axis=0)
    rows[:, at] = others
    return rows


def nearly(seen: Seen, rules: Iterable[int]) -> list[Rows]:
    """Of what was looked at, for each of these rules that layout which keeps it and breaks the
    others least; those first that break least.
    """
    asked = [*rules]
    over = np.where(seen.broken, np.maximum(seen.excess, 0.0), 0.0)[:, asked]
    total = over.sum(axis=1) + seen.forbidden
    found: dict[int, float] = {}
    for column in range(len(asked)):
        places = np.flatnonzero(over[:, column] == 0)
        if len(places):
            at = int(places[np.argmin(total[places])])
            found[at] = float(total[at])
    return [seen.rows[at] for at in sorted(found, key=lambda at: found[at])][:_NEARLY]


class _Over(Exception):  # noqa: N818 - no error: the time is over, or somebody stops it
    """The search is to end."""
