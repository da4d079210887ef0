"""A study: what was claimed, the cases and how they are simulated, what is calibrated; read from
its folder and checked as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from homenode.errors import NotFoundError, StudyError, nearest
from homenode.evidence.study import advice, capability, comparison, file
from homenode.evidence.study.capability import CapabilityStudy
from homenode.evidence.study.comparison import MachineStudy
from homenode.evidence.study.listing import list_studies, studies_folder
from homenode.evidence.study.names import check_known, check_once
from homenode.evidence.study.published import PublishedRow, read_published
from homenode.evidence.study.series import OF_A_SIZE, OF_THE_SET, Series, series_of
from homenode.model.document import Problems
from homenode.model.estimate import mean_of

COUNTED = {"vcsw": "vcsw_per_s", "phint": "phint_per_s"}
"""Columns of lparstat that count over its interval, and the metric that has their rate."""
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Case:
    """One partition of one simulated scenario, which stands for one published situation."""

    name: str
    scenario: str
    partition: str | None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    interval_s: float | None = None
    """Interval of the tool whose counts were published [s]."""

    @property
    def run_key(self) -> tuple[str, str]:
        """Cases with the same key share a run."""
        return self.scenario, repr(sorted(self.overrides.items()))


@dataclass(frozen=True)
class Ratio:
    """A derived case: the mean over some cases divided by the mean over others."""

    name: str
    of: tuple[str, ...]
    to: tuple[str, ...]
    totals: bool = False
    """Whether sums are divided in place of means: of partitions that make up one machine."""

    def value(self, figures: Mapping[str, float]) -> float:
        """The quotient, from the figure of each case."""
        above, below = ([figures[name] for name in names] for names in (self.of, self.to))
        if self.totals:
            return math.fsum(above) / math.fsum(below)
        return mean_of(above) / mean_of(below)


@dataclass(frozen=True)
class Calibration:
    """A parameter that is fitted: where it stands in the frozen scenario, to which rows, within
    which bounds.
    """

    name: str
    parameter: str
    rows: tuple[str, ...]
    low: float
    high: float
    scenarios: tuple[str, ...] = ()
    unit: str = ""
    told: tuple[str, ...] = ()
    """Its rows as study.toml names them, many by a pattern."""


@dataclass(frozen=True)
class Study:
    """A published result with everything needed to hold a simulation against it."""

    name: str
    folder: Path
    title: str
    source: str
    claim: str
    assumptions: tuple[str, ...]
    replications: int | None
    cases: dict[str, Case]
    ratios: dict[str, Ratio]
    calibrations: tuple[Calibration, ...]
    explain: tuple[tuple[str, str], ...]
    published: list[PublishedRow]
    series: tuple[Series, ...] = ()
    advices: Mapping[str, advice.Asked] = field(default_factory=dict)
    rankings: tuple[advice.Ranking, ...] = ()
    comparison: MachineStudy | None = None
    """Set if it holds two machines against each other instead of simulating scenarios."""
    capability: CapabilityStudy | None = None
    """Set if it computes from a table of capability factors instead of simulating."""

    def rows(self, role: str | None = None) -> list[PublishedRow]:
        """Published rows of a role, or all."""
        return [row for row in self.published if role is None or row.role == role]

    def scenario_path(self, scenario: str) -> Path:
        """File of a scenario: its own, or `OTHER-STUDY/FILE`."""
        other, slash, name = scenario.partition("/")
        folder = self.folder.parent / other if slash else self.folder
        return folder / "scenarios" / (name or scenario)


def load_study(name: str, root: Path | None = None) -> Study:
    """Read a study and check that its parts fit together.

    Raises `NotFoundError` where there is none of that name, `StudyError` for what is wrong in its
    files, with the place.
    """
    root = root or studies_folder()
    folder = root / name
    if not (folder / "study.toml").is_file():
        raise NotFoundError(f"there is no study {name}{nearest(name, list_studies(root))}")
    told, document = file.read_study_file(folder / "study.toml")
    problems = Problems(document, StudyError)
    published = read_published(folder / "published.csv")
    study = Study(
        name=name,
        folder=folder,
        title=told.title,
        source=told.source,
        claim=told.claim,
        assumptions=tuple(told.assumptions),
        replications=None,
        cases={},
        ratios={},
        calibrations=tuple(_calibration(one, published) for one in told.calibrate),
        explain=(),
        published=published,
    )
    if isinstance(told, file.OfFactors):
        study = _of_factors(study, told, problems)
    elif isinstance(told, file.OfMachines):
        study = _of_machines(study, told, problems)
    else:
        study = _of_scenarios(study, told, problems)
    _check_calibrations(study, told, problems)
    problems.raise_any()
    _check_roles(study)
    return study


def _calibration(told: file.Calibrate, published: Sequence[PublishedRow]) -> Calibration:
    return Calibration(
        name=told.name,
        parameter=told.parameter,
        rows=tuple(row for words in told.rows for row in _meant(words, published)),
        told=tuple(told.rows),
        low=told.bounds[0],
        high=told.bounds[1],
        scenarios=tuple(told.scenarios),
        unit=told.unit,
    )


def _meant(told: str, published: Sequence[PublishedRow]) -> list[str]:
    """The calibration rows that `z196-*:caf` stands for; anything else stands for itself."""
    if "*" not in told:
        return [told]
    keys = [row.key for row in published if row.role == "calibration"]
    return [key for key in keys if fnmatchcase(key, told)] or [told]


def _of_factors(study: Study, told: file.OfFactors, problems: Problems) -> Study:
    """The study with what it computes, and its rows checked."""
    computed = capability.capability_study(told.capability, study.folder, problems)
    capability.check_parameters(computed, told.calibrate, problems)
    problems.raise_any()
    _check_cases(study, computed.names(study.published))
    capability.check_rows(computed, study.published)
    return replace(study, capability=computed)


def _of_machines(study: Study, told: file.OfMachines, problems: Problems) -> Study:
    """The study with the machines it compares, and its rows checked."""
    compared = comparison.machine_study(told.comparison, problems)
    comparison.check_parameters(told.calibrate, problems)
    comparison.check_left_out(told.comparison, study.published, problems)
    problems.raise_any()
    left_out = {key.partition(":")[0] for key in compared.not_modelled}
    _check_cases(study, {*compared.cases, *left_out})
    comparison.check_rows(compared, study.published)
    return replace(study, comparison=compared, replications=told.run.replications)


def _of_scenarios(study: Study, told: file.OfScenarios, problems: Problems) -> Study:
    """The study with its cases, and its rows checked."""
    series = tuple(series_of(one, place, problems) for place, one in enumerate(told.series))
    problems.raise_any()
    cases = [_case_of(one) for one in told.case]
    cases += [case for one in series for case in _cases_of(one)]
    ratios = [Ratio(one.name, tuple(one.of), tuple(one.to), one.totals) for one in told.ratio]
    study = replace(
        study,
        replications=told.run.replications,
        cases={case.name: case for case in cases},
        ratios={ratio.name: ratio for ratio in ratios},
        explain=tuple((one.case, one.base) for one in told.explain),
        series=series,
        advices={one.name: advice.asked_of(one) for one in told.advice},
        rankings=tuple(advice.Ranking(tuple(one.of), one.by, one.least) for one in told.ranking),
    )
    _check_scenarios(study, told, problems)
    _check_named(study, told, problems)
    problems.raise_any()
    names = {*study.cases, *study.ratios, *study.advices, *(one.name for one in series)}
    _check_cases(study, names)
    _check_advice(study)
    _check_series(study)
    _check_counts(study)
    return study


def _case_of(told: file.Case) -> Case:
    """Its meaning."""
    interval_s = None if told.interval is None else told.interval / _NS_PER_S
    return Case(told.name, told.scenario, told.partition, told.changes, interval_s)


def _cases_of(series: Series) -> list[Case]:
    """Its sizes as cases."""
    return [
        Case(series.case(size), series.scenario, series.partition, series.overrides(size))
        for size in series.processors
    ]


def _check_scenarios(study: Study, told: file.OfScenarios, problems: Problems) -> None:
    """Every scenario is a file."""
    named = [(("case", place), one.scenario) for place, one in enumerate(told.case)]
    named += [(("series", place), one.scenario) for place, one in enumerate(told.series)]
    named += [(("advice", place), one.scenario) for place, one in enumerate(told.advice)]
    for path, scenario in named:
        if not study.scenario_path(scenario).is_file():
            near = nearest(scenario, _files(study.scenario_path(scenario).parent))
            problems.add((*path, "scenario"), there=f"there is no file scenarios/{scenario}{near}")


def _files(folder: Path) -> list[str]:
    """Names of the files of a folder that need not be there."""
    return [path.name for path in folder.glob("*") if path.is_file()]


def _check_named(study: Study, told: file.OfScenarios, problems: Problems) -> None:
    """No name is there twice, and every case that is named is there."""
    named = [(("case", place, "name"), one.name) for place, one in enumerate(told.case)]
    for place, one in enumerate(study.series):
        named += [(("series", place, "name"), name) for name in (one.name, *one.cases)]
    named += [(("ratio", place, "name"), one.name) for place, one in enumerate(told.ratio)]
    named += [(("advice", place, "name"), one.name) for place, one in enumerate(told.advice)]
    check_once(problems, named)
    ranked = [
        (("ranking", place, "of", number), name)
        for place, one in enumerate(told.ranking)
        for number, name in enumerate(one.of)
    ]
    check_once(problems, ranked)
    for path, name in ranked:
        check_known(problems, path, name, {*study.cases, *study.ratios}, "case or ratio")
    for place, ratio in enumerate(told.ratio):
        for key, parts in (("of", ratio.of), ("to", ratio.to)):
            for number, part in enumerate(parts):
                check_known(problems, ("ratio", place, key, number), part, study.cases, "case")
    for place, pair in enumerate(told.explain):
        for key, part in (("case", pair.case), ("base", pair.base)):
            check_known(problems, ("explain", place, key), part, study.cases, "case")


def _check_calibrations(study: Study, told: file.StudyFile, problems: Problems) -> None:
    """What is fitted is fitted to calibration rows, in scenarios of this study."""
    rows = {row.key for row in study.rows("calibration")}
    scenarios = {case.scenario for case in study.cases.values()}
    for place, one in enumerate(told.calibrate):
        for number, words in enumerate(one.rows):
            if not rows.issuperset(_meant(words, study.published)):
                path = ("calibrate", place, "rows", number)
                check_known(problems, path, words, rows, "calibration row")
        for number, scenario in enumerate(one.scenarios):
            path = ("calibrate", place, "scenarios", number)
            check_known(problems, path, scenario, scenarios, "scenario of a case")


def _check_cases(study: Study, names: set[str]) -> None:
    """Every row is of a case that is there."""
    for row in study.published:
        if row.case not in names:
            raise StudyError(
                f"row {row.key}: study.toml has no case {row.case}{nearest(row.case, names)}",
                where=row.where,
            )


def _check_roles(study: Study) -> None:
    """A run that something is fitted to is known as a whole: no row of it is validation."""
    used = {key.partition(":")[0] for c in study.calibrations for key in c.rows}
    for row in study.published:
        if row.role == "calibration" and row.case not in used:
            raise StudyError(
                f"row {row.key} has the role calibration, but no [[calibrate]] entry uses its case",
                where=row.where,
            )
        if row.role == "validation" and not row.by_construction and row.case in used:
            raise StudyError(
                f"row {row.key} has the role validation, but a parameter is fitted to its case: it "
                "is calibration or informed",
                where=row.where,
            )


def _check_counts(study: Study) -> None:
    """What is counted is counted over an interval."""
    for row in study.published:
        case = study.cases.get(row.case)
        if row.metric in COUNTED and (case is None or case.interval_s is None):
            raise StudyError(
                f"row {row.key} is a count of an interval, but its case has none",
                where=row.where,
            )


def _check_advice(study: Study) -> None:
    """Every row of advice is a figure of advice, and what has a rank is ranked."""
    ranked = {name for one in study.rankings for name in one.of}
    for row in study.published:
        if (row.metric in advice.METRICS) != (row.case in study.advices):
            raise StudyError(
                f"row {row.key}: {' and '.join(advice.METRICS)} are told of an [[advice]], and "
                "nothing else is",
                where=row.where,
            )
        if row.metric == advice.RANK and row.case not in ranked:
            raise StudyError(f"row {row.key} is in no [[ranking]]", where=row.where)


def _check_series(study: Study) -> None:
    """What is told of a set has a set."""
    whole, sizes = {s.name for s in study.series}, {c for s in study.series for c in s.cases}
    for row in study.published:
        if (row.metric in OF_THE_SET) != (row.case in whole):
            raise StudyError(
                f"row {row.key}: {' and '.join(OF_THE_SET)} are told of a [[series]], and nothing "
                "else is",
                where=row.where,
            )
        if row.metric in OF_A_SIZE and study.series and row.case not in sizes:
            raise StudyError(f"row {row.key} is no size of a [[series]]", where=row.where)
