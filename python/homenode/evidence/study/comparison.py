"""Studies of one machine against another: `[comparison]` in study.toml names a suite and the two
machines, and every case of the suite is a case of the study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.errors import HomenodeError, NotFoundError, StudyError, nearest
from homenode.evidence.compare import Suite, load_suite
from homenode.evidence.study import file
from homenode.evidence.study.names import check_known, check_machine
from homenode.evidence.study.published import PublishedRow
from homenode.model.document import Problems

METRICS = (
    "throughput_gain_pct",
    "throughput_gain_pct_max",
    "throughput_gain_pct_min",
    "saving_pct",
    "saving_pct_max",
    "saving_pct_min",
)
"""Gain in throughput and saving of processor time for a unit of work; `_max` is the largest and
`_min` the least of all loads and cases instead of their mean."""
BASE, MACHINE = "base.", "machine."
"""What a path to a figure of either machine begins with."""


@dataclass(frozen=True)
class SuiteCase:
    """A case of the study: the mean over some cases of the suite, against a base."""

    name: str
    of: tuple[str, ...]
    base: str


@dataclass(frozen=True)
class MachineStudy:
    """What `[comparison]` says."""

    suite: str
    base: str
    machine: str
    cases: Mapping[str, SuiteCase]
    not_modelled: Mapping[str, str]
    """By row (`case:metric`) that needs what is not modelled, the reason."""

    @property
    def bases(self) -> list[str]:
        """Machines that are compared with."""
        return list(dict.fromkeys(case.base for case in self.cases.values()))


def machine_study(told: file.Comparison, problems: Problems) -> MachineStudy:
    """The table's meaning, with the suite's cases as cases of the study."""
    here = ("comparison",)
    for key, name in (("base", told.base), ("machine", told.machine)):
        check_machine(problems, (*here, key), name)
    suite = _suite(told.suite, problems)
    cases = {name: SuiteCase(name, (name,), told.base) for name in suite.case_names}
    for place, case in enumerate(told.case):
        path = (*here, "case", place)
        if case.name in cases:
            problems.add(
                (*path, "name"),
                there="a case of this name stands there already, or is one of the suite",
                next_step="give it another name",
            )
        for number, part in enumerate(case.of):
            what = f"case in suite {suite.name}"
            check_known(problems, (*path, "of", number), part, suite.case_names, what)
        if case.base is not None:
            check_machine(problems, (*path, "base"), case.base)
        cases[case.name] = SuiteCase(case.name, tuple(case.of), case.base or told.base)
    reasons = {row: entry.why for entry in told.not_modelled for row in entry.rows}
    return MachineStudy(suite.name, told.base, told.machine, cases, reasons)


def _suite(name: str, problems: Problems) -> Suite:
    try:
        return load_suite(name)
    except HomenodeError as error:
        # What to do next where there is none is said for the command line.
        found = error.problem if isinstance(error, NotFoundError) else str(error)
        problems.add(("comparison", "suite"), there=found)
        problems.raise_any()
        raise  # pragma: no cover - there is at least one problem


def check_left_out(told: file.Comparison, rows: Sequence[PublishedRow], problems: Problems) -> None:
    """Every row that is not modelled is there."""
    keys = {row.key for row in rows}
    for place, entry in enumerate(told.not_modelled):
        for number, key in enumerate(entry.rows):
            path = ("comparison", "not_modelled", place, "rows", number)
            check_known(problems, path, key, keys, "row in published.csv")


def check_rows(study: MachineStudy, rows: Sequence[PublishedRow]) -> None:
    """Every row names a metric that a comparison has, unless it says that it is not modelled."""
    for row in rows:
        if row.metric not in METRICS and row.key not in study.not_modelled:
            raise StudyError(
                f"row {row.key}: a comparison has no metric {row.metric}"
                f"{nearest(row.metric, METRICS)}",
                where=row.where,
            )


def check_parameters(told: Sequence[file.Calibrate], problems: Problems) -> None:
    """Every parameter is one of either machine."""
    for place, one in enumerate(told):
        if not one.parameter.startswith((BASE, MACHINE)):
            path = ("calibrate", place, "parameter")
            problems.add(path, there=f"it begins neither with {BASE} nor with {MACHINE}")
