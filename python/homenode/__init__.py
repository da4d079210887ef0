"""homenode tells you what a partition layout costs.

>>> import homenode
>>> scenario = homenode.load_scenario("examples/p795-shared-book.toml")  # doctest: +SKIP
>>> run = scenario.run()  # doctest: +SKIP
"""

from homenode.errors import (
    DamagedRunError,
    EngineError,
    EngineMissingError,
    HomenodeError,
    InputError,
    Interrupted,
    MachineError,
    NotFoundError,
    ProfileError,
    RunError,
    ScenarioError,
    StoreError,
    StudyError,
    Where,
)
from homenode.scenario import Scenario
from homenode.scenario import load as load_scenario

__all__ = [
    "DamagedRunError",
    "EngineError",
    "EngineMissingError",
    "HomenodeError",
    "InputError",
    "Interrupted",
    "MachineError",
    "NotFoundError",
    "ProfileError",
    "RunError",
    "Scenario",
    "ScenarioError",
    "StoreError",
    "StudyError",
    "Where",
    "load_scenario",
]
