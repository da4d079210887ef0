"""`study.toml`: what was claimed, the cases and how they are simulated, what is calibrated.
Documented in studies/README.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from homenode.errors import NotFoundError, StudyError, nearest
from homenode.evidence.study.capability import CapabilityStudy, check_metrics, read_capability
from homenode.evidence.study.keys import only
from homenode.evidence.study.listing import list_studies, studies_folder
from homenode.evidence.study.machines import MachineStudy, check_rows, read_comparison
from homenode.evidence.study.published import PublishedRow, read_published
from homenode.evidence.study.series import OF_A_SIZE, OF_THE_SET, Series, read_series

_NEEDED = {"title", "source", "claim"}
_ALWAYS = {*_NEEDED, "assumptions", "run", "calibrate"}
_OF_SCENARIOS = {*_ALWAYS, "case", "series", "ratio", "explain"}
_OF_MACHINES = {*_ALWAYS, "comparison"}
_OF_FACTORS = {*_NEEDED, "assumptions", "capability", "calibrate"}
_CASE = {"name", "scenario", "partition", "set"}
_RATIO = {"name", "of", "to"}
_CALIBRATE = {"name", "parameter", "scenarios", "rows", "bounds", "unit"}
_EXPLAIN = {"case", "base"}
_RUN = {"replications"}


@dataclass(frozen=True)
class Case:
    """One partition of one simulated scenario, which stands for one published situation."""

    name: str
    scenario: str
    partition: str | None
    overrides: Mapping[str, Any] = field(default_factory=dict)

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
    comparison: MachineStudy | None = None
    """Set if it holds two machines against each other instead of simulating scenarios."""
    capability: CapabilityStudy | None = None
    """Set if it computes from a table of capability factors instead of simulating."""

    def rows(self, role: str | None = None) -> list[PublishedRow]:
        """Published rows of a role, or all."""
        return [row for row in self.published if role is None or row.role == role]

    def scenario_path(self, scenario: str) -> Path:
        """File of a scenario."""
        return self.folder / "scenarios" / scenario


def load_study(name: str, root: Path | None = None) -> Study:
    """Read a study and check that its parts fit together."""
    root = root or studies_folder()
    folder = root / name
    path = folder / "study.toml"
    if not path.is_file():
        raise NotFoundError(f"there is no study {name}{nearest(name, list_studies(root))}")
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StudyError(f"{path}: {error}") from error
    try:
        study = _study(name, folder, raw, f"{path}")
    except (TypeError, ValueError, AttributeError) as error:
        raise StudyError(f"{path}: a value has the wrong type ({error})") from error
    _check(study, f"{path}")
    return study


def _study(name: str, folder: Path, raw: dict[str, Any], where: str) -> Study:
    if "capability" in raw:
        only(raw, _OF_FACTORS, _NEEDED, where)
    elif "comparison" in raw:
        only(raw, _OF_MACHINES, _NEEDED, where)
    else:
        only(raw, _OF_SCENARIOS, _NEEDED, where)
        if not {"case", "series"} & set(raw):
            raise StudyError(f"{where}: case is missing")
    run = only(raw.get("run", {}), _RUN, set(), f"{where}, [run]")
    series = tuple(read_series(entry, f"{where}, [[series]]") for entry in raw.get("series", []))
    cases = [_case(entry, f"{where}, [[case]]") for entry in raw.get("case", [])]
    cases += [case for one in series for case in _cases_of(one)]
    ratios = [_ratio(entry, f"{where}, [[ratio]]") for entry in raw.get("ratio", [])]
    explain = [only(e, _EXPLAIN, _EXPLAIN, f"{where}, [[explain]]") for e in raw.get("explain", [])]
    published = read_published(folder / "published.csv")
    names = [*(c.name for c in cases), *(r.name for r in ratios), *(s.name for s in series)]
    doubled = {n for n in names if names.count(n) > 1}
    if doubled:
        raise StudyError(f"{where}: case {min(doubled)} stands there twice")
    return Study(
        name=name,
        folder=folder,
        title=str(raw["title"]),
        source=str(raw["source"]),
        claim=str(raw["claim"]),
        assumptions=tuple(map(str, raw.get("assumptions", []))),
        replications=run.get("replications"),
        cases={case.name: case for case in cases},
        ratios={ratio.name: ratio for ratio in ratios},
        calibrations=tuple(
            _calibration(e, f"{where}, [[calibrate]]", published) for e in raw.get("calibrate", [])
        ),
        explain=tuple((str(entry["case"]), str(entry["base"])) for entry in explain),
        published=published,
        series=series,
        comparison=_comparison(raw, where),
        capability=_capability(raw, where),
    )


def _comparison(raw: Mapping[str, Any], where: str) -> MachineStudy | None:
    if "comparison" not in raw:
        return None
    return read_comparison(raw["comparison"], f"{where}, [comparison]")


def _capability(raw: Mapping[str, Any], where: str) -> CapabilityStudy | None:
    if "capability" not in raw:
        return None
    return read_capability(raw["capability"], f"{where}, [capability]")


def _case(raw: Mapping[str, Any], where: str) -> Case:
    only(raw, _CASE, {"name", "scenario"}, where)
    return Case(
        str(raw["name"]), str(raw["scenario"]), raw.get("partition"), dict(raw.get("set", {}))
    )


def _cases_of(series: Series) -> list[Case]:
    """Its sizes as cases."""
    return [
        Case(series.case(size), series.scenario, series.partition, series.overrides(size))
        for size in series.processors
    ]


def _ratio(raw: Mapping[str, Any], where: str) -> Ratio:
    only(raw, _RATIO, _RATIO, where)
    return Ratio(str(raw["name"]), tuple(raw["of"]), tuple(raw["to"]))


def _calibration(
    raw: Mapping[str, Any], where: str, published: Sequence[PublishedRow]
) -> Calibration:
    only(raw, _CALIBRATE, {"name", "parameter", "rows", "bounds"}, where)
    low, high = (float(bound) for bound in raw["bounds"])
    if not 0 < low < high:
        raise StudyError(f"{where}, {raw['name']}: bounds must be two rising numbers above 0")
    return Calibration(
        name=str(raw["name"]),
        parameter=str(raw["parameter"]),
        rows=tuple(row for told in raw["rows"] for row in _meant(str(told), published)),
        told=tuple(map(str, raw["rows"])),
        low=low,
        high=high,
        scenarios=tuple(raw.get("scenarios", ())),
        unit=str(raw.get("unit", "")),
    )


def _meant(told: str, published: Sequence[PublishedRow]) -> list[str]:
    """The calibration rows that `z196-*:caf` stands for; anything else stands for itself."""
    if "*" not in told:
        return [told]
    keys = [row.key for row in published if row.role == "calibration"]
    return [key for key in keys if fnmatchcase(key, told)] or [told]


def _check(study: Study, where: str) -> None:
    names = _checked_names(study, where)
    for case in study.cases.values():
        if not study.scenario_path(case.scenario).is_file():
            raise StudyError(
                f"{where}: case {case.name} names scenarios/{case.scenario}, which is not there"
            )
    for ratio in study.ratios.values():
        for part in (*ratio.of, *ratio.to):
            _known(part, study.cases, f"{where}: ratio {ratio.name} names case")
    for row in study.published:
        _known(row.case, names, f"{study.folder / 'published.csv'}: a row names case")
    for pair in study.explain:
        for part in pair:
            _known(part, study.cases, f"{where}: [[explain]] names case")
    calibration_rows = {row.key for row in study.rows("calibration")}
    for calibration in study.calibrations:
        for key in calibration.rows:
            _known(
                key, calibration_rows, f"{where}: {calibration.name} is fitted to calibration row"
            )
    _check_series(study, where)
    _check_roles(study, where)


def _check_roles(study: Study, where: str) -> None:
    """A run that something is fitted to is known as a whole: no row of it is validation."""
    used = {key.partition(":")[0] for c in study.calibrations for key in c.rows}
    for row in study.published:
        if row.role == "calibration" and row.case not in used:
            raise StudyError(
                f"{where}: row {row.key} has the role calibration, but no [[calibrate]] entry uses "
                "its case"
            )
        if row.role == "validation" and not row.by_construction and row.case in used:
            raise StudyError(
                f"{where}: row {row.key} has the role validation, but a parameter is fitted to its "
                "case: it is calibration or informed"
            )


def _check_series(study: Study, where: str) -> None:
    """What is told of a set has a set."""
    whole, sizes = {s.name for s in study.series}, {c for s in study.series for c in s.cases}
    for row in study.published:
        if (row.metric in OF_THE_SET) != (row.case in whole):
            raise StudyError(
                f"{where}: row {row.key}: {' and '.join(OF_THE_SET)} are told of a [[series]], and "
                "nothing else is"
            )
        if row.metric in OF_A_SIZE and study.series and row.case not in sizes:
            raise StudyError(f"{where}: row {row.key} is no size of a [[series]]")


def _checked_names(study: Study, where: str) -> set[str]:
    """Cases that rows may name; the metrics of a study without scenarios are checked here."""
    if study.capability is not None:
        check_metrics(study.capability, study.published, where)
        return study.capability.names(study.published)
    if study.comparison is not None:
        check_rows(study.comparison, study.published, where)
        left_out = {key.partition(":")[0] for key in study.comparison.not_modelled}
        return {*study.comparison.cases, *left_out}
    return {*study.cases, *study.ratios, *(one.name for one in study.series)}


def _known(name: str, there: Any, what: str) -> None:
    if name not in there:
        raise StudyError(f"{what} {name}, which is not there{nearest(name, there)}")
