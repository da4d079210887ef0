"""Scenarios: the files people write, read and checked, and turned into what the engine takes.

>>> from homenode.model.scenario import load
>>> scenario = load("examples/p795-shared-book.toml")  # doctest: +SKIP
>>> scenario.spec_json()  # doctest: +SKIP
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.model.scenario.placed import PlacedPartition, Resolved
    from homenode.model.scenario.scenario import Scenario, load

__all__ = ["PlacedPartition", "Resolved", "Scenario", "load"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "PlacedPartition": "placed",
            "Resolved": "placed",
            "Scenario": "scenario",
            "load": "scenario",
        },
    )
