"""Studies of capability factors: `[capability]` in study.toml names a table of factors; a case is a
partition of so many processors, or several of them. Nothing is simulated.

`[[capability.prediction]]` names a machine whose factors are predicted from its topology. A row of
it has the case `NAME-n`, or `NAME-m-n` where two sizes are held against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from homenode.errors import HomenodeError, StudyError, listed, nearest
from homenode.evidence.capability import REFERENCE, CapabilityTable, Prediction, capability_table
from homenode.evidence.study import file
from homenode.evidence.study.names import check_once
from homenode.evidence.study.overrides import get_values, set_value
from homenode.evidence.study.published import PublishedRow
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.estimate import Estimate

METRICS = ("capability", "capability_ratio")
"""Capability of all partitions of a case together, and that by the capability of the base."""
OF_ONE_SIZE = ("caf", "marginal_capability")
"""The factor c(n), and what the n-th processor adds: n c(n) - (n-1) c(n-1)."""
OF_TWO_SIZES = ("marginal_ratio", "capability_ratio")
"""What the n-th adds by what the m-th adds, and the capability of n by that of m."""


@dataclass(frozen=True)
class CapabilityCase:
    """So many partitions of so many processors each."""

    name: str
    processors: int
    partitions: int = 1


@dataclass(frozen=True)
class PredictedMachine:
    """A machine whose factors are predicted."""

    name: str
    machine: str
    work: str

    def prediction(self, parameters: Mapping[str, float]) -> Prediction:
        """Its prices, with values of the profile (`profile.`) or of the machine replaced."""
        found = Prediction.of(self.machine, self.work)
        spec = dict(found.spec)
        for path, value in parameters.items():
            holder = self._holder(spec, path)
            if holder is not None:
                set_value(holder, path, value)
        return found

    def in_files(self, path: str) -> float | None:
        """What profile and machine hold at a path; None if it is of another machine."""
        holder = self._holder(dict(Prediction.of(self.machine, self.work).spec), path)
        return None if holder is None else float(get_values(holder, path)[0])

    def _holder(self, spec: dict[str, Any], path: str) -> dict[str, Any] | None:
        """What a path begins in: the profile, or this machine."""
        first = path.partition(".")[0]
        if first == "profile":
            return {first: spec["partitions"][0]["profile"]}
        return {first: spec["machine"]} if first == self.machine else None


@dataclass(frozen=True)
class _Sizes:
    """What a case of a prediction names."""

    machine: PredictedMachine
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class CapabilityStudy:
    """What `[capability]` says."""

    table: CapabilityTable
    base: int
    """Processors of the partition that ratios are told by."""
    cases: Mapping[str, CapabilityCase]
    predictions: tuple[PredictedMachine, ...] = ()
    _kept: dict[str, Prediction] = field(default_factory=dict, compare=False, repr=False)

    def value(self, row: PublishedRow) -> Estimate:
        """The computed or predicted counterpart of a published row."""
        if row.case not in self.cases:
            sizes = self.sizes_of(row.case)
            name = sizes.machine.name
            if name not in self._kept:
                self._kept[name] = sizes.machine.prediction({})
            return Estimate(_predicted(self._kept[name], row.metric, sizes.sizes))
        case = self.cases[row.case]
        capability = case.partitions * self.table.capability(case.processors)
        base = self.table.capability(self.base) if row.metric == "capability_ratio" else 1.0
        return Estimate(capability / base)

    def values(
        self, rows: Sequence[PublishedRow], parameters: Mapping[str, float]
    ) -> list[Estimate]:
        """Counterparts of predicted rows with these parameters."""
        sizes = [self.sizes_of(row.case) for row in rows]
        machines = {one.machine.name: one.machine for one in sizes}
        found = {name: machine.prediction(parameters) for name, machine in machines.items()}
        return [
            Estimate(_predicted(found[one.machine.name], row.metric, one.sizes))
            for row, one in zip(rows, sizes, strict=True)
        ]

    def in_files(self, path: str) -> float:
        """What the files hold for a parameter."""
        values = (machine.in_files(path) for machine in self.predictions)
        return next(value for value in values if value is not None)

    def sizes_of(self, case: str) -> _Sizes:
        """The machine and the sizes that a case of a prediction names."""
        for machine in self.predictions:
            words = case.removeprefix(f"{machine.name}-").split("-")
            numbers = [int(w) for w in words if w.isascii() and w.isdigit() and len(w) < 5]
            if case.startswith(f"{machine.name}-") and 0 < len(numbers) == len(words) <= 2:
                return _Sizes(machine, tuple(numbers))
        raise StudyError(f"case {case} is none of [capability]")

    def names(self, rows: Sequence[PublishedRow]) -> set[str]:
        """Cases that rows may name: those of the table, and of the rows' own those of a
        prediction.
        """
        return {*self.cases, *(row.case for row in rows if self.is_predicted(row.case))}

    def is_predicted(self, case: str) -> bool:
        """Whether a case is one of a prediction."""
        try:
            self.sizes_of(case)
        except StudyError:
            return False
        return case not in self.cases


def _predicted(prediction: Prediction, metric: str, sizes: tuple[int, ...]) -> float:
    """A metric of a prediction."""
    find: dict[str, Callable[[], float]] = {
        "caf": lambda: prediction.factor(sizes[0]),
        "marginal_capability": lambda: _marginal(prediction, sizes[0]),
        "marginal_ratio": lambda: _marginal(prediction, sizes[1]) / _marginal(prediction, sizes[0]),
        "capability_ratio": lambda: (
            _capability(prediction, sizes[1]) / _capability(prediction, sizes[0])
        ),
    }
    return find[metric]()


def _capability(prediction: Prediction, processors: int) -> float:
    return processors * prediction.factor(processors) if processors else 0.0


def _marginal(prediction: Prediction, processors: int) -> float:
    return _capability(prediction, processors) - _capability(prediction, processors - 1)


def capability_study(told: file.Capability, problems: Problems) -> CapabilityStudy:
    """The table's meaning; a case whose size the factors lack is refused."""
    here = ("capability",)
    try:
        table = capability_table(told.table)
    except HomenodeError as error:
        problems.add((*here, "table"), there=str(error))
        problems.raise_any()
        raise  # pragma: no cover - there is at least one problem
    _check_size(table, told.base, problems, (*here, "base"))
    for place, case in enumerate(told.case):
        _check_size(table, case.processors, problems, (*here, "case", place, "processors"))
    cases_named = [((*here, "case", i, "name"), one.name) for i, one in enumerate(told.case)]
    check_once(problems, cases_named)
    named = [((*here, "prediction", i, "name"), one.name) for i, one in enumerate(told.prediction)]
    check_once(problems, named)
    cases = {
        case.name: CapabilityCase(case.name, case.processors, case.partitions) for case in told.case
    }
    predictions = tuple(
        PredictedMachine(one.name, one.machine, one.profile or REFERENCE) for one in told.prediction
    )
    for place, machine in enumerate(predictions):
        _check_prediction(machine, problems, (*here, "prediction", place))
    return CapabilityStudy(table, told.base, cases, predictions)


def _check_size(table: CapabilityTable, processors: int, problems: Problems, path: Path) -> None:
    try:
        table.factor(processors)
    except HomenodeError as error:
        problems.add(path, there=str(error))


def _check_prediction(machine: PredictedMachine, problems: Problems, path: Path) -> None:
    """Its machine and its profile are there and can be priced."""
    try:
        Prediction.of(machine.machine, machine.work)
    except HomenodeError as error:
        problems.add(path, str(error), at_key=True)


def check_rows(study: CapabilityStudy, rows: Sequence[PublishedRow]) -> None:
    """Every row names a metric that its case has, and sizes that its machine has."""
    most = {one.name: Prediction.of(one.machine, one.work).layout.most for one in study.predictions}
    for row in rows:
        known, what = METRICS, "a table of factors"
        if study.is_predicted(row.case):
            one = study.sizes_of(row.case)
            known, what = OF_ONE_SIZE, "a prediction of one size"
            if len(one.sizes) > 1:
                known, what = OF_TWO_SIZES, "a prediction of two sizes"
            if not all(1 <= size <= most[one.machine.name] for size in one.sizes):
                raise StudyError(
                    f"row {row.key}: {one.machine.machine} has 1 to {most[one.machine.name]} cores",
                    where=row.where,
                )
        if row.metric not in known:
            raise StudyError(
                f"row {row.key}: {what} has no metric {row.metric}{nearest(row.metric, known)}",
                where=row.where,
            )


def check_parameters(
    study: CapabilityStudy, told: Sequence[file.Calibrate], problems: Problems
) -> None:
    """Every parameter is one of the profile or of a machine that is predicted."""
    known = ["profile", *(machine.machine for machine in study.predictions)]
    for place, one in enumerate(told):
        if one.parameter.partition(".")[0] not in known:
            path = ("calibrate", place, "parameter")
            problems.add(path, there=f"it begins with none of {listed(known)}")
