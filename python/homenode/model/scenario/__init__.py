"""Scenarios: the files people write, read and checked, and turned into what the engine takes.

>>> from homenode.model.scenario import load
>>> scenario = load("examples/p795-shared-book.toml")  # doctest: +SKIP
>>> scenario.spec_json()  # doctest: +SKIP
"""

from __future__ import annotations

from pathlib import Path

from homenode.model.scenario.placed import PlacedPartition, Resolved
from homenode.model.scenario.scenario import Scenario

__all__ = ["PlacedPartition", "Resolved", "Scenario", "load"]


def load(path: str | Path) -> Scenario:
    """Read and check a scenario file: the second of the six stops from the command line to the
    engine.
    """
    return Scenario.load(path)
