"""Fitting parameters to the calibration rows of a study, and to no others.

The normal run of a study uses what its scenario files hold; this finds what they ought to hold. The
parameters are varied on a logarithmic scale between their bounds; every evaluation simulates with
the same seeds, so that what differs between two of them is the parameter alone.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.errors import StudyError
from homenode.evidence.study.capability import CapabilityStudy
from homenode.evidence.study.capability_fit import CapabilityFit
from homenode.evidence.study.comparison import MachineStudy
from homenode.evidence.study.definition import Calibration, Study, load_study
from homenode.evidence.study.deviation import Comparison
from homenode.evidence.study.evaluate import freeze_case, run_cases, simulated
from homenode.evidence.study.machines import compare_rows, in_files
from homenode.evidence.study.newton import newton
from homenode.evidence.study.overrides import get_values
from homenode.evidence.study.published import PublishedRow
from homenode.model.estimate import Estimate
from homenode.simulate.runner import ProgressFn

_STEP = 0.05
"""Relative step of the differences; large, because a simulation answers small ones with noise."""
_PRECISE = 2e-3
_MOST_EVALUATIONS = 40
_UNSTEADY_RESIDUAL = 10.0
_MANY = 3
"""Parameters from which on, if each has a row of its own, a Newton method is the shorter way."""


@dataclass(frozen=True)
class Fitted:
    """A parameter as found and as the files hold it, in the unit of the frozen scenario."""

    calibration: Calibration
    found: float
    in_files: float

    @property
    def change_pct(self) -> float:
        """How far the files are from what was found [percent]."""
        return 100.0 * (self.in_files / self.found - 1.0)


@dataclass(frozen=True)
class CalibrationResult:
    """All fitted parameters, with the rows they were fitted to."""

    study: Study
    fitted: list[Fitted]
    comparisons: list[Comparison]
    evaluations: int

    def as_json(self) -> dict[str, object]:
        """What `homenode study --calibrate --json` prints."""
        return {
            "study": self.study.name,
            "evaluations": self.evaluations,
            "parameters": [
                {
                    "name": f.calibration.name,
                    "parameter": f.calibration.parameter,
                    "unit": f.calibration.unit,
                    "found": f.found,
                    "in_files": f.in_files,
                    "bounds": [f.calibration.low, f.calibration.high],
                }
                for f in self.fitted
            ],
            "rows": [comparison.as_json() for comparison in self.comparisons],
        }


def calibrate_study(
    study: Study | str,
    *,
    replications: int | None = None,
    jobs: int | None = None,
    progress: ProgressFn | None = None,
) -> CalibrationResult:
    """Find the parameters for which the calibration rows come out."""
    if isinstance(study, str):
        study = load_study(study)
    if not study.calibrations:
        raise StudyError(
            f"study {study.name} calibrates nothing: its study.toml has no [[calibrate]] entry"
        )
    if study.capability is not None:
        return _fit_capability(study, study.capability, progress)
    kind = _Fit if study.comparison is None else _MachineFit
    fit = kind(study, replications, jobs, progress)
    start = [fit.in_files(c) for c in study.calibrations]
    found = _solve(fit, start)
    comparisons = fit.compare(found)
    fitted = [Fitted(c, f, s) for c, f, s in zip(study.calibrations, found, start, strict=True)]
    return CalibrationResult(study, fitted, comparisons, fit.evaluations)


def _fit_capability(
    study: Study, capability: CapabilityStudy, progress: ProgressFn | None
) -> CalibrationResult:
    """Predicted factors, which need no simulation."""
    fit = CapabilityFit(study, capability, progress)
    found = fit.solve()
    comparisons = [Comparison(*pair) for pair in zip(fit.rows, fit.values(found), strict=True)]
    both = zip(study.calibrations, found, fit.start, strict=True)
    return CalibrationResult(study, [Fitted(*one) for one in both], comparisons, fit.evaluations)


class _Fit:
    """Evaluations of a study's calibration rows."""

    def __init__(
        self, study: Study, replications: int | None, jobs: int | None, progress: ProgressFn | None
    ) -> None:
        self.study = study
        self.evaluations = 0
        self._replications = replications
        self._jobs = jobs
        self._progress = progress
        keys = {key for calibration in study.calibrations for key in calibration.rows}
        self.rows: list[PublishedRow] = [
            row for row in study.rows("calibration") if row.key in keys
        ]

    def in_files(self, calibration: Calibration) -> float:
        """The value the scenario files hold now."""
        scenario = self._scenarios(calibration)[0]
        case = next(case for case in self.study.cases.values() if case.scenario == scenario)
        spec = json.loads(freeze_case(self.study, case, {}).spec_json())
        values = [float(value) for value in get_values(spec, calibration.parameter)]
        if not values or any(value != values[0] for value in values):
            raise StudyError(
                f"{calibration.name}: {calibration.parameter} does not lead to one common value"
            )
        return values[0]

    def compare(self, values: Sequence[float]) -> list[Comparison]:
        """Simulate the rows' cases with these values."""
        found = self._evaluate(values)
        self.evaluations += 1
        if self._progress is not None:
            self._progress(min(self.evaluations / _MOST_EVALUATIONS, 0.99), None)
        return [Comparison(row, one) for row, one in zip(self.rows, found, strict=True)]

    def _evaluate(self, values: Sequence[float]) -> list[Estimate]:
        """The simulated counterparts of the rows."""
        parameters: dict[str, dict[str, Any]] = {}
        for calibration, value in zip(self.study.calibrations, values, strict=True):
            for scenario in self._scenarios(calibration):
                parameters.setdefault(scenario, {})[calibration.parameter] = value
        with tempfile.TemporaryDirectory(prefix="homenode-") as folder:
            runs = run_cases(
                self.study, self._cases(), parameters, self._replications, self._jobs, Path(folder)
            )
        return [simulated(self.study, runs, row) for row in self.rows]

    def residuals(self, values: Sequence[float]) -> list[float]:
        """Relative deviations; a case without a steady state counts as far off."""
        found = []
        for comparison in self.compare(values):
            percent = comparison.deviation_pct
            found.append(_UNSTEADY_RESIDUAL if percent is None else percent / 100.0)
        return found

    def own_rows(self) -> list[int]:
        """Of each parameter the place of its first row."""
        keys = [row.key for row in self.rows]
        return [keys.index(c.rows[0]) for c in self.study.calibrations]

    def _cases(self) -> list[str]:
        wanted: dict[str, None] = {}
        for row in self.rows:
            ratio = self.study.ratios.get(row.case)
            wanted.update(dict.fromkeys((*ratio.of, *ratio.to) if ratio else (row.case,)))
        return list(wanted)

    def _scenarios(self, calibration: Calibration) -> list[str]:
        everything = dict.fromkeys(case.scenario for case in self.study.cases.values())
        return list(calibration.scenarios or everything)


class _MachineFit(_Fit):
    """Evaluations of a study that holds two machines against each other."""

    def in_files(self, calibration: Calibration) -> float:
        """The value the machine's file holds now."""
        return in_files(self._comparison, calibration.parameter)

    def residuals(self, values: Sequence[float]) -> list[float]:
        """Relative deviations of the ratios, not of the gains: a gain may be 0."""
        found = []
        for comparison in self.compare(values):
            mean = comparison.simulated.mean
            ratio = 1.0 + comparison.published.value / 100.0
            found.append(_UNSTEADY_RESIDUAL if mean is None else (1.0 + mean / 100.0) / ratio - 1.0)
        return found

    def _evaluate(self, values: Sequence[float]) -> list[Estimate]:
        names = [calibration.parameter for calibration in self.study.calibrations]
        found = compare_rows(
            self.study,
            self.rows,
            parameters=dict(zip(names, values, strict=True)),
            replications=self._replications,
            jobs=self._jobs,
        )
        return [found[row.key] for row in self.rows]

    @property
    def _comparison(self) -> MachineStudy:
        if self.study.comparison is None:
            raise StudyError(f"study {self.study.name} compares no machines")
        return self.study.comparison


def _solve(fit: _Fit, start: Sequence[float]) -> list[float]:
    """One parameter and one row: a root. Otherwise: least squares."""
    bounds = [(math.log(c.low), math.log(c.high)) for c in fit.study.calibrations]
    inside = [
        min(max(math.log(value), low), high)
        for value, (low, high) in zip(start, bounds, strict=True)
    ]
    if len(inside) == 1 and len(fit.rows) == 1:
        return [math.exp(_root(lambda x: fit.residuals([math.exp(x)])[0], inside[0], *bounds[0]))]
    if len(inside) >= _MANY and all(len(c.rows) == 1 for c in fit.study.calibrations):
        # A simulation answers the logarithm of its parameter; so does the logarithm of its answer.
        return [
            math.exp(value)
            for value in newton(
                lambda x: [_logarithm(r) for r in fit.residuals([math.exp(v) for v in x])],
                inside,
                bounds,
                step=_STEP,
                precise=_PRECISE,
                own=fit.own_rows(),
            )
        ]
    from scipy.optimize import least_squares

    result = least_squares(
        lambda x: fit.residuals([math.exp(value) for value in x]),
        inside,
        bounds=tuple(zip(*bounds, strict=True)),
        diff_step=_STEP,
        x_scale=[high - low for low, high in bounds],
        # Relative to the logarithms themselves, which are near 25 for a path length.
        xtol=_PRECISE / 100,
        ftol=_PRECISE,
        max_nfev=_MOST_EVALUATIONS // (len(inside) + 1),
    )
    return [math.exp(value) for value in result.x]


def _logarithm(residual: float) -> float:
    """Of simulated over published; a metric that vanishes counts as a hundredth."""
    return math.log1p(max(residual, -0.99))


def _root(residual: Callable[[float], float], start: float, low: float, high: float) -> float:
    """Where the residual changes its sign; the bracket grows from the start outwards."""
    from scipy.optimize import brentq

    there = residual(start)
    if abs(there) < _PRECISE / 10:
        return start
    width = 2 * _STEP
    while True:
        for edge in (max(start - width, low), min(start + width, high)):
            if there * residual(edge) <= 0:
                return float(brentq(residual, *sorted((start, edge)), xtol=_PRECISE, maxiter=20))
        if start - width <= low and start + width >= high:
            raise StudyError(
                f"no value between {math.exp(low):g} and {math.exp(high):g} brings the calibration "
                "row about"
            )
        width *= 2
