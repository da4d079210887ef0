"""`fit_profile`: from recordings to a fitted profile."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from homenode.errors import HomenodeError, listed, suggestion
from homenode.model.catalog import ProfileDescription
from homenode.model.catalog import profile as base_profile
from homenode.model.catalog.figure import CatalogName
from homenode.model.estimate import mean_of
from homenode.model.scenario import Scenario
from homenode.records.calibrate.fitted import Deviation, Fitted, Parameter, spell
from homenode.records.calibrate.free import FREE, NAMES, Free
from homenode.records.calibrate.imported import Told
from homenode.records.calibrate.model import Z95, Model, Recording
from homenode.records.calibrate.reading import read_recordings
from homenode.records.calibrate.solve import DETERMINED, Solution, solve
from homenode.simulate.runner.job import refuse_replications

ProgressFn = Callable[[float, float | None], None]
ACCURACY = 0.003
"""How far a recorded figure may be off by itself, as a share: counters and clocks agree to a few
thousandths.
"""
_MOST = 60
"""Trials of a fit, roughly, for the bar."""


def fit_profile(
    *recordings: str | Path,
    base: str | Path = "oltp",
    name: str = "calibrated",
    partition: str | None = None,
    scenario: Scenario | str | Path | None = None,
    know: Sequence[str] | None = None,
    free: Sequence[str] = NAMES,
    rate: float | Path | None = None,
    cpi: float | None = None,
    accuracy: float = ACCURACY,
    replications: int = 3,
    jobs: int | None = None,
    root: str | Path = "runs",
    progress: ProgressFn | None = None,
) -> Fitted:
    """Fit the free parameters of a profile to kept runs, measured results or imported recordings.

    `know` names the figures that are known of them; `rate` [1/s], or a table of it over time (see
    `homenode.records.calibrate.rates`), and `cpi` are what an imported recording does not tell;
    `accuracy` is the share by which any figure may be off. Raises `HomenodeError` where a recording
    tells nothing or cannot be played.
    """
    refuse_replications(replications)
    chosen = _chosen(free)
    _check(name, accuracy, rate, cpi)
    described = base_profile(base)
    where = Scenario.load(scenario) if isinstance(scenario, (str, Path)) else scenario
    recording = read_recordings(
        recordings,
        partition=partition,
        scenario=where,
        know=know,
        accuracy=accuracy,
        told=Told(rate, cpi),
        root=root,
    )
    model = Model(recording, described.spec(), replications, jobs or os.cpu_count() or 1)
    residuals = _Residuals(recording, model, chosen, progress)
    start = [one.start(described) for one in chosen]
    widths = [one.width(described) for one in chosen]
    reaches = [one.reach(described) for one in chosen]
    begin = _begin(recording, model, chosen, start)
    solution = solve(residuals, start, widths, reaches, begin)
    return _told(name, recording, described, chosen, solution, model)


def _begin(
    recording: Recording, model: Model, free: Sequence[Free], start: Sequence[float]
) -> list[float]:
    """Where the search begins: at the base's values, but with as many instructions as the recorded
    time of a unit holds. With ever more of them a played load that arrives whatever happens fills
    all processors, from where on the figures tell nothing of how many there are.
    """
    names = [one.name for one in free]
    begin = list(start)
    if "instructions" not in names:
        return begin
    times = model(values_at(start, free)).instruction_ns
    logs = []
    for one in recording.observations:
        unit_us = one.value if one.metric == "cpu_per_tx_us" else None
        rate, ns = recording.conditions[one.condition].rate, times[one.condition]
        if one.metric == "physc" and rate:
            unit_us = 1e6 * one.value / rate
        if unit_us and ns:
            logs.append(math.log(1e3 * unit_us / ns))
    if logs:
        begin[names.index("instructions")] = mean_of(logs)
    return begin


def _chosen(free: Sequence[str]) -> tuple[Free, ...]:
    unknown = [one for one in free if one not in NAMES]
    if unknown or not free:
        asked = unknown[0] if unknown else "nothing"
        step = suggestion(asked, NAMES, "")
        raise HomenodeError(
            f"{asked} is no free parameter", there=f"there is {listed(NAMES)}", next_step=step
        )
    return tuple(one for one in FREE if one.name in free)


def _check(name: str, accuracy: float, rate: float | Path | None, cpi: float | None) -> None:
    """A name and numbers that cannot be."""
    try:
        TypeAdapter(CatalogName).validate_python(name)
    except ValidationError as error:
        there = "a name has up to 64 small letters, digits and . -"
        raise HomenodeError(f'"{name}" is no name of a profile', there=there) from error
    if not 0 < accuracy < 1:
        there = "no figure is exact, and one that may be off by all of itself tells nothing"
        raise HomenodeError(f"an accuracy of {accuracy:g} is none", there=there)
    steady = None if isinstance(rate, Path) else rate
    for words, value in (("rate of work", steady), ("number of cycles an instruction", cpi)):
        if value is not None and not (value > 0 and math.isfinite(value)):
            there = "it must be more than 0"
            raise HomenodeError(f"{value:g} is no {words}", there=there)


class _Residuals:
    """Deviations of a point on the scales from what was recorded."""

    def __init__(
        self,
        recording: Recording,
        model: Model,
        free: Sequence[Free],
        progress: ProgressFn | None,
    ) -> None:
        self._recorded = recording.observations
        self._model, self._free, self._progress = model, free, progress
        self._trials = 0

    def __call__(self, x: Any) -> tuple[Any, Any]:
        import numpy as np

        shown = self._model(values_at(x, self._free))
        self._trials += 1
        if self._progress is not None:
            self._progress(min(0.99, self._trials / _MOST), None)
        logs = np.array([math.log(one.value) for one in self._recorded])
        errors = np.array([one.error for one in self._recorded])
        return np.array(shown.logs) - logs, np.hypot(errors, np.array(shown.errors))


def values_at(x: Sequence[float], free: Sequence[Free]) -> dict[str, float]:
    """Values in their own units."""
    return {one.name: one.from_scale(float(at)) for one, at in zip(free, x, strict=True)}


def _told(
    name: str,
    recording: Recording,
    base: ProfileDescription,
    free: Sequence[Free],
    solution: Solution,
    model: Model,
) -> Fitted:
    parameters = tuple(
        _parameter(place, one, base, free, solution) for place, one in enumerate(free)
    )
    shown = model(values_at(solution.x, free))
    deviations = tuple(
        Deviation(
            recording.conditions[one.condition].title,
            one.metric,
            one.value,
            math.exp(log),
            float(off),
        )
        for one, log, off in zip(
            recording.observations, shown.logs, solution.deviations, strict=True
        )
    )
    cpi = next(
        (
            math.exp(log)
            for one, log in zip(recording.observations, shown.logs, strict=True)
            if one.metric == "cpi"
        ),
        None,
    )
    busy = base.eicpi.value
    stall = None if cpi is None else max(0.0, 1.0 - busy / cpi)
    return Fitted(
        name,
        recording,
        base,
        parameters,
        deviations,
        solution.quality,
        solution.singular,
        stall,
        recording.notes,
        shown.placed,
    )


def _parameter(
    place: int,
    one: Free,
    base: ProfileDescription,
    free: Sequence[Free],
    solution: Solution,
) -> Parameter:
    fitted = place in solution.fitted
    x, sd = float(solution.x[place]), float(solution.sd[place])
    low, high = one.range(base)
    if fitted:
        low, high = (one.from_scale(end) for end in (x - Z95 * sd, x + Z95 * sd))
    return Parameter(
        name=one.name,
        words=one.words,
        value=one.from_scale(x),
        low=low,
        high=high,
        determined=fitted,
        base=one.from_scale(one.start(base)),
        effect=solution.alone[place],
        said=_said(place, one, free, solution, (low, high)),
    )


def _said(
    place: int,
    one: Free,
    free: Sequence[Free],
    solution: Solution,
    ends: tuple[float, float],
) -> str:
    """Whether the data determine it, in words."""
    if place in solution.fitted:
        return "determined"
    low, high = (spell(one.name, end) for end in ends)
    effect = solution.alone[place]
    if effect < DETERMINED:
        return (
            f"all of {low} to {high} looks the same within {effect:.1f} standard errors of what was"
            " recorded"
        )
    others = listed([free[other].words for other in solution.alike.get(place, ())])
    left = solution.left.get(place, effect)
    if left < DETERMINED:
        return (
            f"what it changes, {effect:.1f} standard errors over half its range, is but for"
            f" {left:.1f} as well changed by {others or 'the others together'}; it stays at the"
            " base's"
        )
    beside = f" beside {others}" if others else ""
    return (
        f"{left:.1f} standard errors over half its range are too few to tell it{beside}; it stays"
        " at the base's"
    )
