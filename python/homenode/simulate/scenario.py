"""`Scenario` with the means to run it: what `homenode.load_scenario` gives."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from homenode.model import scenario as model
from homenode.simulate.run import Run
from homenode.simulate.runner.running import RunOptions, run_scenario


class Scenario(model.Scenario):
    """A partition layout with its workloads: loaded once, checked once, never changed, run as often
    as one likes.

    Make one with `load`, `from_toml` or `with_`. Two scenarios are equal if their texts are.
    """

    def run(self, **options: Unpack[RunOptions]) -> Run:
        """Simulate it and keep the results; the options are those of `homenode.run_scenario`."""
        return run_scenario(self, **options)


def load(path: str | Path) -> Scenario:
    """Read and check a scenario file: the second of the six stops from the command line to the
    engine.
    """
    return Scenario.load(path)
