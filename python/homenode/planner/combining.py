"""Variants on top of each other: a partition in parts on another machine, two partitions in parts.

Of those that bring something each by itself the most promising pairs are searched, then the pairs
that are better than their halves with one more, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from homenode.planner.problem import Problem
from homenode.planner.search import Search
from homenode.planner.variants import Variant, Varying

MOST = 8
"""Combinations of as many variants that are searched, the most promising ones."""


@dataclass
class Branch:
    """A scenario with its search: the one that was asked for, or a variant of it."""

    problem: Problem
    search: Search
    variant: Variant | None = None
    halves: tuple[Branch, ...] = ()
    """What it is combined of."""

    @property
    def steps(self) -> tuple[Variant, ...]:
        """The variants that it is made of."""
        return () if self.variant is None else self.variant.steps

    @property
    def least(self) -> float:
        """The best score that its search found."""
        return self.search.least if self.search.begun else float("inf")

    def brings(self, least: float) -> bool:
        """Whether it is better than each of its halves, by so much at least."""
        return all(self.least < half.least - least for half in self.halves)


@dataclass
class Combining:
    """Branches combined, once those of single variants were searched."""

    base: Branch
    singles: Sequence[Branch]
    branch_of: Callable[[Variant], Branch]
    each: float
    """What another change must bring at least, of the goal's figure."""
    left_out: list[str] = field(default_factory=list)
    """What was not looked at, in words."""

    def all(self) -> Iterator[Branch]:
        """Each is to be searched before the next is asked for."""
        level = [one for one in self.singles if self._gain(one) > 0]
        while pairs := self._pairs(level):
            if len(pairs) > MOST:
                count = len(pairs[0][0].steps) + 1
                told = f"only {MOST} of {len(pairs)} combinations of {count}"
                self.left_out.append(f"{told} were looked at, the most promising ones")
            level = []
            for one, other in pairs[:MOST]:
                made = self._made(one, other)
                if made is not None:
                    yield made
                    level += [made] if made.brings(self.each) else []

    def _gain(self, one: Branch) -> float:
        return self.base.least - one.least

    def _pairs(self, level: Sequence[Branch]) -> list[tuple[Branch, Branch]]:
        """Those of a level with a single variant of something else, the most promising first."""
        found: dict[frozenset[tuple[str, str, str]], tuple[Branch, Branch]] = {}
        for one in level:
            varied = {step.of_what for step in one.steps}
            for other in self.singles:
                (step,) = other.steps
                if self._gain(other) > 0 and step.of_what not in varied:
                    steps = (*one.steps, step)
                    found.setdefault(
                        frozenset((s.word, s.name, str(s.after)) for s in steps), (one, other)
                    )
        pairs = [*found.values()]
        return sorted(pairs, key=lambda pair: -self._gain(pair[0]) - self._gain(pair[1]))

    def _made(self, one: Branch, other: Branch) -> Branch | None:
        """One on top of the other; None where that cannot be."""
        if one.variant is None or other.variant is None:
            return None
        variant = Varying(one.problem, [], one.variant).again(other.variant)
        if variant is None:
            return None
        made = self.branch_of(variant)
        made.halves = (one, other)
        return made
