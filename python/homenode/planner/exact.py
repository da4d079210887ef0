"""The rules that are linear, handed to CP-SAT: homes, memory, entitlements, numbers of changes.

It finds the layout that keeps them with the fewest changes, or proves that there is none; cores and
responses it does not know. One worker and a limit of deterministic time: it always answers alike.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from homenode.planner.rules import Rule
from homenode.planner.solver import Features, Floats, features_of
from homenode.planner.space import Numbers, Rows, Space

_SECONDS = 20.0
"""Deterministic seconds, CP-SAT's own count of its work."""
_PER_CORE = 100
_MIB = 1 << 20
_SLACK = 1e-9


@dataclass(frozen=True)
class _Choice:
    """One of several ways in which variables of a partition may be."""

    partition: int
    columns: tuple[int, ...]
    numbers: Numbers
    features: Features
    chosen: Any
    """Whether it is this one: a variable of the model."""

    @property
    def changes(self) -> int:
        return sum(number > 0 for number in self.numbers)


class Exact:
    """The space as CP-SAT sees it; partitions of a block stay as they are."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.machine: Any = space.solver.spec["machine"]
        self.now = [features_of(self.machine, one) for one in space.base]
        self.whole = not any(
            columns and space.apart(group[0]) is None for group, columns in space.blocks
        )
        """Whether nothing that may change is left out, so that what it disproves is disproved."""

    def layout(
        self, rules: Sequence[Rule], seconds: float | None = None
    ) -> tuple[Rows | None, bool]:
        """A row that keeps the linear ones of the rules with the fewest changes, or None; and
        whether that there is none is proven. At most so many seconds, where time is limited.
        """
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        choices = [*self._choices(model)]
        for rule in rules:
            if rule.linear is not None:
                kind, what = rule.linear
                getattr(self, f"_{kind}")(model, choices, what)
        model.minimize(sum(one.changes * one.chosen for one in choices))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = _SECONDS
        if seconds is not None:
            solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None, status == cp_model.INFEASIBLE and self.whole
        row = self.space.now()
        for one in choices:
            if solver.value(one.chosen):
                row[0, list(one.columns)] = one.numbers
        return row, False

    def _choices(self, model: Any) -> Iterator[_Choice]:
        for index in range(len(self.space.base)):
            made: dict[str, list[_Choice]] = {}
            for columns, found in self._features[index]:
                told = [
                    _Choice(index, columns, numbers, one, model.new_bool_var(""))
                    for numbers, one in found.items()
                ]
                model.add_exactly_one(one.chosen for one in told)
                made[self.space.variables[columns[0]].word] = told
                yield from told
            self._fit(model, index, made)

    @functools.cached_property
    def _features(self) -> list[list[tuple[tuple[int, ...], dict[Numbers, Features]]]]:
        """By partition, groups of variables with what each of their values makes of it."""
        found = []
        for index in range(len(self.space.base)):
            groups = self.space.apart(index) or []
            told = [
                (
                    tuple(columns),
                    {n: features_of(self.machine, form) for n, form in forms.items()},
                )
                for columns, forms in groups
            ]
            found.append(told)
        return found

    def _fit(self, model: Any, index: int, made: dict[str, list[_Choice]]) -> None:
        """Entitlement and virtual processors fit each other."""
        least = self.machine["hypervisor"].get("min_entitlement_per_vp")
        entitled, virtual = made.get("entitlement", []), made.get("virtual", [])
        now = self.now[index]

        def fits(cores: float, count: float) -> bool:
            return bool(least * count - _SLACK <= cores <= count + _SLACK)

        if entitled and virtual:
            for one, other in itertools.product(entitled, virtual):
                if not fits(one.features.entitlement, other.features.virtual):
                    model.add_bool_or([one.chosen.negated(), other.chosen.negated()])
        for one in entitled if not virtual else ():
            if not fits(one.features.entitlement, now.virtual):
                model.add(one.chosen == 0)
        for one in virtual if not entitled else ():
            if not fits(now.entitlement, one.features.virtual):
                model.add(one.chosen == 0)

    def _sum(
        self, choices: Sequence[_Choice], words: Sequence[str], of: Callable[[Features], float]
    ) -> Any:
        """A sum over all partitions, each as it is where it has no variable of these words."""
        total: Any = 0
        free = set()
        for one in choices:
            if self.space.variables[one.columns[0]].word in words:
                free.add(one.partition)
                total += round(of(one.features)) * one.chosen
        return total + sum(
            round(of(now)) for index, now in enumerate(self.now) if index not in free
        )

    def _entitled(self, model: Any, choices: Sequence[_Choice], lost: float) -> None:
        if self.machine["hypervisor"]["policy"] != "phyp":
            return
        reserved = sum(pool["reserved"] for pool in self.space.solver.spec["pools"])
        room = self.machine["active_cores"] - lost - reserved
        used = self._sum(choices, ["entitlement"], lambda one: _PER_CORE * one.entitlement)
        model.add(used <= round(_PER_CORE * room))

    def _memory(self, model: Any, choices: Sequence[_Choice], room: Floats) -> None:
        for domain, most in enumerate(room):
            used = self._sum(
                choices,
                ["home", "memory"],
                lambda one, at=domain: float(one.memory[at]) / _MIB,  # type: ignore[misc]
            )
            model.add(used <= int(most / _MIB))

    def _changes(self, model: Any, choices: Sequence[_Choice], most: int) -> None:
        model.add(sum(one.changes * one.chosen for one in choices) <= most)

    def _pinned(self, model: Any, choices: Sequence[_Choice], index: int) -> None:
        own = (one.changes * one.chosen for one in choices if one.partition == index)
        model.add(sum(own) == 0)

    def _apart(self, model: Any, choices: Sequence[_Choice], members: Sequence[int]) -> None:
        only = [one for one in choices if one.partition in members]
        for node in range(len(self.now[0].nodes)):
            there: Any = sum(
                one.chosen for one in only if self._moves(one) and one.features.nodes[node] > 0
            )
            free = {one.partition for one in only if self._moves(one)}
            fixed = sum(bool(self.now[i].nodes[node] > 0) for i in members if i not in free)
            model.add(there + fixed <= 1)

    def _moves(self, one: _Choice) -> bool:
        return self.space.variables[one.columns[0]].word in ("home", "memory")
