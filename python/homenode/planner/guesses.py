"""What stands for rules of which the solver knows nothing.

Of work told in cores, of schedules and of recorded demand it knows no response, and a demand that
it says is met may not be in a simulation. All that is known of such a layout is how full its
processors are: the fuller, the longer its work waits. So where simulations refuse one, the search
goes on with what is less full, up to half the way to what held.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from homenode.planner.cost import Cost, Solved
from homenode.planner.rules import SLACK, Rule, Simulated
from homenode.planner.solver import Floats, offered

_LEAST_STEP = 0.05
_MOST_STEP = 0.5
"""Parts of the way from what was refused to what held by which less is tried."""


def guesses_of(rules: Sequence[Rule], cost: Cost, now: Solved) -> Iterator[Rule]:
    """For each rule of a response, and for each demand that is met now, one that is kept until a
    simulation refuses a layout: what it is kept by is how full the partition's processors are.
    """
    for rule in rules:
        if rule.partition is not None:
            yield _guess(rule, rule.partition, cost)
    for index, name in enumerate(cost.names):
        comes = offered(cost.solver.spec["partitions"][index])
        if comes > 0 and now.figures.steady[0, index] > 0:
            yield _demand(index, name, cost)


def _guess(rule: Rule, index: int, cost: Cost) -> Rule:
    """In place of a rule of a response, where that is not solved."""

    def excess(solved: Solved) -> Floats:
        known = (rule.excess(solved) > -1) & solved.rows.any(axis=1)
        return np.where(known, -1.0, _full(cost, solved, index))

    name = f"load of {cost.names[index]}"
    return Rule(name, excess, wished=False, ratio=rule.ratio, partition=index, guessed=True)


def _demand(index: int, name: str, cost: Cost) -> Rule:
    def ratio(told: Simulated) -> float:
        return math.inf if name in told.unsteady else 0.0

    def excess(solved: Solved) -> Floats:
        return _full(cost, solved, index)

    # Forms that do not meet a demand are forbidden anyhow: this is about no partition.
    title = f"load of {name}, whose demand is met"
    return Rule(title, excess, wished=False, ratio=ratio, guessed=True)


def _full(cost: Cost, solved: Solved, index: int) -> Floats:
    """The busy part of the processors that a partition may have, less one: none breaks a rule by
    that alone.
    """
    tell = cost.solver.features.column
    capped, entitled, virtual = (
        tell(index, word, solved.options) for word in ("capped", "entitlement", "virtual")
    )
    room = np.where(capped, entitled, virtual)
    busy = np.divide(solved.figures.cores[:, index], room, out=np.ones(len(room)), where=room > 0)
    return np.asarray(np.clip(busy, 0.0, 1.0) - 1)


@dataclass
class Guess:
    """What simulations said of a rule that is guessed."""

    held: float
    """The most excess of which one said that it holds, that of the layout as it is at first."""
    refused: list[tuple[float, float, NDArray[np.int64]]] = field(default_factory=list)
    """Excess, by how much it was too much, and options of what they refused."""

    def hear(self, excess: float, ratio: float | None, options: NDArray[np.int64]) -> None:
        """Take what one said of a layout, if anything."""
        if ratio is not None and ratio > 1:
            self.refused.append((excess, ratio, options))
        elif ratio is not None:
            self.held = max(self.held, excess)

    def limit(self) -> float:
        """The most excess that is tried: of what was refused a part of the way to what held that is
        the longer, the more it was too much.
        """
        fuller = [one for one in self.refused if one[0] > self.held]
        parts = (np.clip(1 / ratio, _MOST_STEP, 1 - _LEAST_STEP) for _, ratio, _ in fuller)
        gaps = (excess - self.held for excess, _, _ in fuller)
        steps = (part * gap for part, gap in zip(parts, gaps, strict=True))
        return self.held + float(min(steps)) if fuller else SLACK

    def forbidden(self, partition: int) -> set[tuple[int, int]]:
        """Forms that were refused though no fuller than what held: that of the partition itself, or
        those of all others where it is as now.
        """
        found = set[tuple[int, int]]()
        for excess, _, options in self.refused:
            if excess <= self.held:
                changed = {(at, int(option)) for at, option in enumerate(options) if option}
                own = {one for one in changed if one[0] == partition}
                found |= own or changed
        return found
