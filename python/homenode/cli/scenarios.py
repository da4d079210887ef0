"""Scenarios as the command line names them: a file, or `-` for standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.errors import ScenarioError

if TYPE_CHECKING:
    from homenode.simulate.scenario import Scenario

STANDARD_INPUT = Path("-")
SOURCE = "stdin"
"""What standard input is called in messages; a scenario without a name has this one."""
ScenarioArgument = Annotated[
    Path,
    typer.Argument(help="Scenario file (TOML); - reads standard input.", metavar="SCENARIO"),
]


def scenario_at(path: Path, *, simulated: bool = True) -> Scenario:
    """The scenario of a file, or of standard input; files it names are looked for here then.
    Without `simulated` it may be one that can only be looked at.
    """
    from homenode.simulate.scenario import Scenario

    if path != STANDARD_INPUT:
        return Scenario.load(path, simulated=simulated)
    try:
        text = sys.stdin.read()
    except (UnicodeDecodeError, AttributeError) as error:
        raise ScenarioError(
            "standard input cannot be read as UTF-8", next_step="name the file instead of -"
        ) from error
    return Scenario.from_toml(text, SOURCE, Path(), simulated=simulated)
