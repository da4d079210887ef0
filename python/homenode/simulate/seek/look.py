"""Whatever a scenario looks for, by its table `[find]` or by who runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from homenode.model.scenario import Scenario
from homenode.model.scenario.sought import Sought, sought
from homenode.simulate.runner import FrozenScenario
from homenode.simulate.seek.users import UsersFound, find_users
from homenode.simulate.seek.warehouses import ScoreFound, find_score

Found = UsersFound | ScoreFound


def sought_of(scenario: Scenario) -> Sought | None:
    """What a scenario looks for; None if it is nothing."""
    find = scenario.looks_for
    return None if find is None else sought(scenario.partitions, find, scenario.source)


def look_for(
    scenario: Scenario,
    wanted: Sought,
    frozen: Callable[[Scenario], FrozenScenario] = lambda scenario: scenario,
    **options: Any,
) -> Found:
    """Find it, with the options of `find_users`; `frozen` may replace values in what is run."""

    def at(count: int) -> FrozenScenario:
        return frozen(scenario.with_(wanted.changes(count)))

    find = find_users if wanted.of == "users" else find_score
    return find(wanted, at, **options)
