"""Studies of capability factors: `[capability]` in study.toml names a table of factors; a case is a
partition of so many processors, or several of them. Nothing is simulated.

`[[capability.prediction]]` names a machine whose factors are predicted from its topology. A row of
it has the case `NAME-n`, or `NAME-m-n` where two sizes are held against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
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

BURST = "burst_ns"
"""Parameter of slowed processors: how long they work at a time [ns]."""
METRICS = ("capability", "capability_ratio")
"""Capability of all partitions of a case together, and that by the capability of the base."""
OF_ONE_SIZE = ("caf", "marginal_capability")
"""The factor c(n), and what the n-th processor adds: n c(n) - (n-1) c(n-1)."""
OF_TWO_SIZES = ("marginal_ratio", "capability_ratio")
"""What the n-th adds by what the m-th adds, and the capability of n by that of m."""
OF_GENERATIONS = ("generation_ratio",)
"""Instructions of a partition of the newer machine by those of one of the older."""


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
    layout: str | None = None
    """A file of the study's folder."""
    threads: int = 1
    """Of a core, that are busy."""

    def prediction(self, parameters: Mapping[str, float]) -> Prediction:
        """Its prices, with values of the profile (`profile.`) or of the machine replaced."""
        burst_ns = parameters.get(BURST)
        found = self._of_files(burst_ns)
        spec = dict(found.spec)
        for path, value in parameters.items():
            if path == BURST:
                continue
            holder = self._holder(spec, path)
            if holder is not None:
                set_value(holder, path, value)
        return found

    def in_files(self, path: str) -> float | None:
        """What profile and machine hold at a path; None if it is of another machine."""
        if path == BURST:
            return self._of_files().layout.burst_ns
        holder = self._holder(dict(Prediction.of(self.machine, self.work).spec), path)
        return None if holder is None else float(get_values(holder, path)[0])

    def _of_files(self, burst_ns: float | None = None) -> Prediction:
        """As profile, machine and layout have it."""
        where = (self.machine, self.work, self.layout)
        return Prediction.of(*where, burst_ns=burst_ns, threads=self.threads)

    @property
    def most(self) -> int:
        """Cores of the machine."""
        return Prediction.of(self.machine, self.work).layout.most

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
class GenerationCase:
    """So many processors of one machine, held against so many of another."""

    older: tuple[PredictedMachine, int]
    newer: tuple[PredictedMachine, int]

    def ratio(self, found: Mapping[str, Prediction]) -> float:
        """Instructions of the newer by those of the older, in the same time."""

        def rate(one: tuple[PredictedMachine, int]) -> float:
            return found[one[0].name].rate(one[1])

        return rate(self.newer) / rate(self.older)


@dataclass(frozen=True)
class CapabilityStudy:
    """What `[capability]` says."""

    table: CapabilityTable | None
    base: int
    """Processors of the partition that ratios are told by."""
    cases: Mapping[str, CapabilityCase]
    predictions: tuple[PredictedMachine, ...] = ()
    generations: Mapping[str, GenerationCase] = field(default_factory=dict)
    _kept: dict[str, Prediction] = field(default_factory=dict, compare=False, repr=False)

    def value(self, row: PublishedRow) -> Estimate:
        """The computed or predicted counterpart of a published row."""
        if row.case not in self.cases:
            for machine in self.machines_of(row.case):
                if machine.name not in self._kept:
                    self._kept[machine.name] = machine.prediction({})
            return Estimate(self._told(row, self._kept))
        table = self.table
        if table is None:
            raise AssertionError("cases without a table are refused")
        case = self.cases[row.case]
        capability = case.partitions * table.capability(case.processors)
        base = table.capability(self.base) if row.metric == "capability_ratio" else 1.0
        return Estimate(capability / base)

    def values(
        self, rows: Sequence[PublishedRow], parameters: Mapping[str, float]
    ) -> list[Estimate]:
        """Counterparts of predicted rows with these parameters."""
        needed = {one.name: one for row in rows for one in self.machines_of(row.case)}
        found = {name: machine.prediction(parameters) for name, machine in needed.items()}
        return [Estimate(self._told(row, found)) for row in rows]

    def _told(self, row: PublishedRow, found: Mapping[str, Prediction]) -> float:
        if row.case in self.generations:
            return self.generations[row.case].ratio(found)
        one = self.sizes_of(row.case)
        return _predicted(found[one.machine.name], row.metric, one.sizes)

    def machines_of(self, case: str) -> tuple[PredictedMachine, ...]:
        """The machines that a predicted case is about, the one it is told of first."""
        if case in self.generations:
            told = self.generations[case]
            return (told.newer[0], told.older[0])
        return (self.sizes_of(case).machine,)

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
        if case in self.generations:
            return True
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


def capability_study(
    told: file.Capability, folder: FilePath, problems: Problems
) -> CapabilityStudy:
    """The table's meaning; a case whose size the factors lack is refused."""
    here = ("capability",)
    table = _table(told, problems)
    cases_named = [((*here, "case", i, "name"), one.name) for i, one in enumerate(told.case)]
    check_once(problems, cases_named)
    named = [((*here, "prediction", i, "name"), one.name) for i, one in enumerate(told.prediction)]
    check_once(problems, named)
    cases = {
        case.name: CapabilityCase(case.name, case.processors, case.partitions) for case in told.case
    }
    predictions = tuple(
        PredictedMachine(
            one.name,
            one.machine,
            one.profile or REFERENCE,
            None if one.layout is None else str(folder / one.layout),
            one.threads,
        )
        for one in told.prediction
    )
    for place, machine in enumerate(predictions):
        _check_prediction(machine, problems, (*here, "prediction", place))
    generations = _generations(told, predictions, problems)
    return CapabilityStudy(
        table, 1 if told.base is None else told.base, cases, predictions, generations
    )


def _table(told: file.Capability, problems: Problems) -> CapabilityTable | None:
    """The table of factors, with a point for every case."""
    here = ("capability",)
    if told.table is None:
        return None
    try:
        table = capability_table(told.table)
    except HomenodeError as error:
        problems.add((*here, "table"), there=str(error))
        problems.raise_any()
        raise  # pragma: no cover - there is at least one problem
    _check_size(table, 1 if told.base is None else told.base, problems, (*here, "base"))
    for place, case in enumerate(told.case):
        _check_size(table, case.processors, problems, (*here, "case", place, "processors"))
    return table


def _generations(
    told: file.Capability, predictions: Sequence[PredictedMachine], problems: Problems
) -> dict[str, GenerationCase]:
    """Machines held against each other; a prediction that is not there is refused."""
    known = {one.name: one for one in predictions}
    found = {}
    for place, one in enumerate(told.generation):
        for key, name in (("older", one.older), ("newer", one.newer)):
            if name not in known:
                path = ("capability", "generation", place, key)
                problems.add(path, there=f"no prediction has this name{nearest(name, known)}")
        if one.older in known and one.newer in known:
            found[one.name] = GenerationCase(
                (known[one.older], one.older_processors), (known[one.newer], one.newer_processors)
            )
    return found


def _check_size(table: CapabilityTable, processors: int, problems: Problems, path: Path) -> None:
    try:
        table.factor(processors)
    except HomenodeError as error:
        problems.add(path, there=str(error))


def _check_prediction(machine: PredictedMachine, problems: Problems, path: Path) -> None:
    """Its machine and its profile are there and can be priced."""
    try:
        machine.prediction({})
    except HomenodeError as error:
        problems.add(path, str(error), at_key=True)


def check_rows(study: CapabilityStudy, rows: Sequence[PublishedRow]) -> None:
    """Every row names a metric that its case has, and sizes that its machine has."""
    most = {one.name: one.most for one in study.predictions}
    for row in rows:
        known: Sequence[str] = METRICS
        what = "a table of factors"
        if row.case in study.generations:
            known, what = OF_GENERATIONS, "two machines held against each other"
        elif study.is_predicted(row.case):
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
    known = ["profile", BURST, *(machine.machine for machine in study.predictions)]
    for place, one in enumerate(told):
        if one.parameter.partition(".")[0] not in known:
            path = ("calibrate", place, "parameter")
            problems.add(path, there=f"it begins with none of {listed(known)}")
