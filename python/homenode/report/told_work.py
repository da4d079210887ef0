"""Work told by the cores it takes, and what was found for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.errors import listed
from homenode.model.scenario import Scenario
from homenode.simulate.kept.hours import told_rates

if TYPE_CHECKING:
    from homenode.simulate.kept.kept_run import KeptRun

_MOST = 6


def asked_lines(scenario: Scenario) -> list[str]:
    """What is asked of a layout that is not simulated yet."""
    told = [
        f"{key} {_span(one.cores)}{_where(one.reference)}"
        for key, one in scenario.resolved.asked.items()
    ]
    return [f"work told in cores: {listed(told, _MOST)}; `run` finds what it is"] if told else []


def found_lines(run: KeptRun) -> list[str]:
    """What was found, in billions of instructions a second."""
    rates = dict(told_rates(run.spec))
    if not rates:
        return []
    asked = Scenario.load(run.path / "scenario.toml").resolved.asked
    told = [
        f"{key} {_span([rate / 1e9 for rate in rates[key]])} for {_span(one.cores)} cores"
        for key, one in asked.items()
        if key in rates
    ]
    return [f"work told in cores, billion instructions/s: {listed(told, _MOST)}"] if told else []


def _span(values: tuple[float, ...] | list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def _where(reference: str | None) -> str:
    return "" if reference is None else f" on {reference}"
