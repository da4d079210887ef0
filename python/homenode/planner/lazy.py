"""Several neighbours of a layout taken at once, as a lazy greedy search takes them.

A change of one partition hardly ever gains more beside those of others than it does alone, so that
what it gained when it was last looked at bounds what it gains now. Only those are looked at again
that gained most, until one of them gains more now than any other did before: few are solved. What
else may change of the same partition is looked at each time, for it may gain more than alone: fewer
virtual processors do once a partition is at home on one chip.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np

from homenode.planner.solver import Floats
from homenode.planner.space import Rows

Look = Callable[[Rows], Floats]
"""Scores of rows."""
IsLess = Callable[[float, float], bool]
_AT_ONCE = 8
"""Of those that are looked at again."""


class Lazy:
    """Neighbours of a row, whose changes are taken one after the other."""

    def __init__(self, row: Rows, partition_of: Rows, look: Look, is_less: IsLess) -> None:
        self.here, self.now = row, float(look(row[None, :])[0])
        """What was come to, and its score."""
        self._partition_of = partition_of
        self._look, self._is_less = look, is_less

    def take(self, rows: Rows, scores: Floats, best: int) -> tuple[Rows, float]:
        """The best of these neighbours, with the changes of all others that gain beside it; and its
        score. `scores` are theirs, infinite where that is not known or cannot be.

        Of each variable one change is taken. Whether another is better beside the rest, the
        neighbours of what is found tell.
        """
        self._rows, self._changes = rows, rows != self.here
        self._free = np.ones(len(self.here), dtype=bool)
        self._count, self._when = 0, np.zeros(len(rows), dtype=np.int64)
        self._scores = scores.copy()
        # What each gained, its place, and how many were taken when that was found.
        less = np.flatnonzero(scores < self.now)
        self._waiting = [(float(scores[at] - self.now), int(at), 0) for at in less]
        heapq.heapify(self._waiting)
        self._go_to(best)
        while self._waiting:
            _, at, when = self._waiting[0]
            if when != self._when[at] or not self._is_free(at):
                heapq.heappop(self._waiting)
            elif when == self._count:
                self._go_to(at)
            else:
                self._look_at(self._stale())
        return self.here, self.now

    def _go_to(self, at: int) -> None:
        """Take one of them; what it leaves free of the same partitions is looked at again."""
        self.here, self.now = self._with(at), float(self._scores[at])
        self._free &= ~self._changes[at]
        self._count += 1
        partitions = np.isin(self._partition_of, self._partition_of[self._changes[at]])
        kin = self._changes[:, partitions].any(axis=1) & ~self._changes[:, ~self._free].any(axis=1)
        self._look_at([int(one) for one in np.flatnonzero(kin)])

    def _look_at(self, places: Sequence[int]) -> None:
        if not places:
            return
        found = self._look(np.stack([self._with(at) for at in places]))
        for at, score in zip(places, found, strict=True):
            self._when[at], self._scores[at] = self._count, score
            if self._is_less(float(score), self.now):
                heapq.heappush(self._waiting, (float(score) - self.now, at, self._count))

    def _stale(self) -> list[int]:
        """Those that gained most when fewer were taken."""
        found: list[int] = []
        while self._waiting and len(found) < _AT_ONCE and self._waiting[0][2] != self._count:
            _, at, when = heapq.heappop(self._waiting)
            if when == self._when[at] and self._is_free(at):
                found.append(at)
        return found

    def _is_free(self, at: int) -> bool:
        """Whether nothing was taken of what one changes."""
        return bool(self._free[self._changes[at]].all())

    def _with(self, at: int) -> Rows:
        """What was come to with one's changes."""
        return np.asarray(np.where(self._changes[at], self._rows[at], self.here))
