"""A layout to move about in a notebook: homes to choose, and the machine map, the cores and where
the difference comes from as they are then. The charts are those of files, reports and the page.

Asks for `ipywidgets`, which comes with the extra `notebook`.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, cast

from homenode.errors import HomenodeError
from homenode.model.scenario.paths import spelt
from homenode.planner.variables import home_of
from homenode.report.machine_drawing import MachineDrawing
from homenode.report.machine_map import MachineMap, map_of
from homenode.report.pictures import drawing, waterfalls
from homenode.simulate.explain.explanation import explain
from homenode.simulate.scenario import Scenario
from homenode.simulate.solved.figures import Solved
from homenode.simulate.solved.solve import solve_scenario

_DRAWN = 2
"""Partitions whose difference is drawn, those that differ most."""
_LEAST = 0.05
"""Cores that are a difference."""


class LayoutWidget:
    """Choose homes in `homes`, by partition; `says` is the answer, `scenario` the layout then."""

    def __init__(self, scenario: Scenario) -> None:
        try:
            import ipywidgets
        except ImportError as error:
            raise HomenodeError(
                "a layout is moved about in a notebook by ipywidgets, which is not installed",
                next_step="pip install 'homenode[notebook]'",
            ) from error
        self.opened = self.scenario = scenario
        self._before = self._now = solve_scenario(scenario, run="opened")
        self.homes: dict[str, Any] = {}
        for one in scenario.partitions:
            told = home_of(scenario, one)
            if told is None:
                continue
            at, places = told
            options = places if at in places else [at, *places]
            pick = ipywidgets.Dropdown(options=options, value=at, description=one.name)
            pick.observe(self._moved, names="value")
            self.homes[one.name] = pick
        if not self.homes:
            raise HomenodeError(
                f"{scenario.name}: no partition's home is chosen on this machine",
                next_step="change the layout with scenario.with_({...})",
            )
        self._shown = ipywidgets.HTML()
        self._box = ipywidgets.VBox([ipywidgets.HBox([*self.homes.values()]), self._shown])
        self._draw()

    @property
    def says(self) -> str:
        """Cores that are used, and against the layout as it was opened."""
        cores, before = (_cores(one) for one in (self._now, self._before))
        less = before - cores
        told = f"{cores:.1f} cores used"
        if abs(less) < _LEAST:
            return told
        return f"{told}, {abs(less):.1f} {'fewer' if less > 0 else 'more'} than as opened"

    def svg(self) -> str:
        """The machine with who is at home where, what he uses and how near home he runs."""
        return drawing(MachineDrawing(_with(map_of(self.scenario), self._now)))

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_mimebundle_(self, **told: object) -> object:
        """What a notebook with widgets shows."""
        return self._box._repr_mimebundle_(**told)

    def _moved(self, _: object) -> None:
        picked = {name: pick.value for name, pick in self.homes.items()}
        edits = {
            f"partition.{spelt(one.name)}.home": picked[one.name]
            for one in self.opened.partitions
            if one.name in picked and picked[one.name] != _at(self.opened, one.name)
        }
        self.scenario = self.opened.with_(edits) if edits else self.opened
        self._now = solve_scenario(self.scenario, run="now")
        self._draw()

    def _draw(self) -> None:
        told = [
            explain(cast("Any", self._now), name, cast("Any", self._before), name)
            for name in self._now.partitions
            if abs(_used(self._now, name) - _used(self._before, name)) >= _LEAST
        ]
        told.sort(key=lambda one: -abs(sum(row.difference or 0.0 for row in one.rows)))
        parts = [f"<p><strong>{escape(self.says)}</strong></p>", self.svg()]
        parts += [drawing(waterfalls(told[:_DRAWN]))] if told else []
        self._shown.value = "".join(parts)


def _at(scenario: Scenario, name: str) -> object:
    told = home_of(scenario, scenario.partition(name))
    return None if told is None else told[0]


def _used(of: Solved, name: str) -> float:
    return of.metric(name, "physc").mean or 0.0


def _cores(of: Solved) -> float:
    return sum(_used(of, name) for name in of.partitions)


def _with(told: MachineMap, of: Solved) -> MachineMap:
    """The map with what was solved in place of what was simulated."""
    shares = ("home_share", "near_share", "far_share")
    partitions = [
        {
            **one,
            "used": _used(of, one["partition"]),
            "dispatches": [of.metric(one["partition"], name).mean or 0.0 for name in shares],
        }
        for one in cast("list[Mapping[str, Any]]", told["partitions"])
    ]
    return cast("MachineMap", {**told, "partitions": partitions})
