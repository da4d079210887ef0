"""Partitions that get more work than they can do: how many cores they want, how many they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from homenode.errors import listed
from homenode.model.numbers import number
from homenode.planner.confirm import unsteady
from homenode.planner.problem import Problem
from homenode.planner.rules import MEETS_DEMAND, NO_LESS_WORK
from homenode.planner.solver import offered
from homenode.simulate.run import Run


@dataclass(frozen=True)
class Overload:
    """A partition whose backlog grows."""

    partition: str
    wants: float
    """Cores that all its work would take, at what a transaction takes now."""
    has: float
    """Cores that it uses while its backlog grows."""
    held: bool = False
    """Whether nothing gives it room, so that it stays as it is."""

    @property
    def rule(self) -> str:
        """What it breaks."""
        return f"{self.partition} {MEETS_DEMAND}"

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        cores = {"wants_cores": self.wants, "has_cores": self.has}
        return {"partition": self.partition, **cores, "held": self.held}

    def __str__(self) -> str:
        """`db wants 6.20 cores and can have 4.00`."""
        return f"{self.partition} wants {number(self.wants)} cores and can have {number(self.has)}"


def overloads(problem: Problem, run: Run | None) -> list[Overload]:
    """Those of the layout as it is that are not held: by its run where there is one, and by the
    solver where that alone says so.
    """
    late = {} if run is None else unsteady(run)
    figures = problem.solved_now.figures
    found = []
    for index, name in enumerate(problem.cost.names):
        if name in problem.held:
            continue
        if run is not None and name in late:
            totals = run.totals(name)
            done, arrived = (fsum(t[of] for t in totals) for of in ("tx_done", "tx_arrived"))
            has = run.metrics[name]["physc"].mean or 0.0
        elif figures.steady[0, index] <= 0:
            has, done = float(figures.cores[0, index]), float(figures.throughput[0, index])
            arrived = offered(problem.cost.solver.spec["partitions"][index])
        else:
            continue
        found.append(Overload(name, has * max(1.0, arrived / done) if done else has, has))
    return found


def held_in_words(ones: Sequence[Overload], forbids: Sequence[str]) -> str:
    """That nothing gives them room, as long as what `forbids` names must hold."""
    named = ". ".join(map(str, ones))
    it = "it" if len(ones) == 1 else "them"
    within = f" while this holds: {listed(forbids, 6)}" if forbids else ""
    if NO_LESS_WORK in forbids:
        within += " (who may do less is named by advise.gives_way)"
    names = listed(one.partition for one in ones)
    return (
        f"{named}. Nothing that may change gives {it} room{within}. All else is advised with "
        f"{names} as now, whose backlog is no cost."
    )
