"""The profile of a partition as the engine takes it: a base with the scenario's numbers in it."""

from __future__ import annotations

from pathlib import Path as FilePath

from homenode.errors import HomenodeError, listed, suggestion
from homenode.model.catalog import ProfileDescription, profile, profiles
from homenode.model.catalog.names import is_path
from homenode.model.catalog.profile_model import (
    ENGINE_NAMES,
    LEFT_OUT,
    Numbers,
    Score,
    worth_telling,
)
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.profile import ProfileChoice


def choose_profile(
    choice: ProfileChoice, path: Path, folder: FilePath, problems: Problems
) -> Numbers:
    """The profile that a workload of the file has at a place; empty after noting a problem."""
    replaced = {ENGINE_NAMES.get(name, name): value for name, value in choice.replaced().items()}
    if choice.base is None:
        return worth_telling({"name": choice.name or "own", **LEFT_OUT, **replaced})
    if isinstance(problems.document.value(path), dict):
        path = (*path, "base")
    base = _base(choice.base, folder, path, problems)
    if base is None:
        return {}
    return worth_telling({**base.numbers(), "name": choice.name or base.name, **replaced})


def score_of(choice: ProfileChoice, folder: FilePath) -> Score | None:
    """In what unit results of its benchmark are published, if it is one; the profile was found
    before.
    """
    name = choice.base
    if name is None:
        return None
    return profile(folder / name if is_path(name) else name).score


def _base(name: str, folder: FilePath, path: Path, problems: Problems) -> ProfileDescription | None:
    try:
        return profile(folder / name if is_path(name) else name)
    except HomenodeError as error:
        if error.where is not None:
            raise
        if is_path(name):
            problems.add(path, there=error.problem, next_step=error.next_step)
        else:
            there = f"the profiles are {listed(profiles())}"
            own = 'for one of your own write profile = "mine.toml"'
            problems.add(path, there=there, next_step=suggestion(name, profiles(), own))
        return None
