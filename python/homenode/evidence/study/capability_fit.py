"""Fitting the parameters behind predicted capability factors to the calibration rows.

A prediction has no noise and takes a fraction of a millisecond, so that the least squares are
found to many digits. The search begins in the middle of all bounds, whatever the files hold, and is
the same each time. The rows of a machine weigh together as much as those of any other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from homenode.evidence.study.capability import CapabilityStudy
from homenode.evidence.study.definition import Study
from homenode.evidence.study.published import PublishedRow
from homenode.model.estimate import Estimate
from homenode.simulate.runner import ProgressFn

_STEP = 1e-4
"""Relative step of the differences."""
_PRECISE = 1e-7
_MOST_STEPS = 60


class CapabilityFit:
    """Evaluations of a study's calibration rows."""

    def __init__(
        self, study: Study, capability: CapabilityStudy, progress: ProgressFn | None = None
    ) -> None:
        self._study = study
        self._capability = capability
        self._progress = progress
        self.evaluations = 0
        self.rows: list[PublishedRow] = [
            row
            for row in study.rows("calibration")
            if any(row.key in one.rows for one in study.calibrations)
        ]
        machines = [capability.machines_of(row.case)[0].name for row in self.rows]
        count = Counter(machines)
        self._weights = [1.0 / math.sqrt(count[name]) for name in machines]

    @property
    def start(self) -> list[float]:
        """What the files hold."""
        return [self._capability.in_files(one.parameter) for one in self._study.calibrations]

    def values(self, parameters: Sequence[float]) -> list[Estimate]:
        """Counterparts of the rows with these parameters."""
        names = [one.parameter for one in self._study.calibrations]
        self.evaluations += 1
        if self._progress is not None:
            most = _MOST_STEPS * (len(names) + 1)
            self._progress(min(self.evaluations / most, 0.99), None)
        return self._capability.values(self.rows, dict(zip(names, parameters, strict=True)))

    def solve(self) -> list[float]:
        """The parameters with the least squares of relative deviations."""
        from scipy.optimize import least_squares

        bounds = [(math.log(one.low), math.log(one.high)) for one in self._study.calibrations]
        result = least_squares(
            self._residuals,
            [(low + high) / 2.0 for low, high in bounds],
            bounds=tuple(zip(*bounds, strict=True)),
            diff_step=_STEP,
            x_scale=[high - low for low, high in bounds],
            xtol=_PRECISE,
            ftol=_PRECISE,
            gtol=_PRECISE,
            max_nfev=_MOST_STEPS,
        )
        return [math.exp(value) for value in result.x]

    def _residuals(self, logarithms: Sequence[float]) -> list[float]:
        found = self.values([math.exp(value) for value in logarithms])
        return [
            weight * ((one.mean or 0.0) / row.value - 1.0)
            for weight, one, row in zip(self._weights, found, self.rows, strict=True)
        ]
