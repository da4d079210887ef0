"""Studies of one machine against another: `[comparison]` in study.toml names a suite and the two
machines, and every case of the suite is a case of the study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from homenode.errors import StudyError, nearest
from homenode.evidence.study.keys import only
from homenode.evidence.study.published import PublishedRow
from homenode.model.estimate import Estimate

if TYPE_CHECKING:
    from homenode.evidence.compare import CaseResult, MachineComparison
    from homenode.evidence.study.definition import Study
    from homenode.simulate.runner import ProgressFn

_TABLE = {"suite", "base", "machine", "case", "not_modelled"}
_CASE = {"name", "of", "base"}
_NOT_MODELLED = {"rows", "why"}
METRICS = (
    "throughput_gain_pct",
    "throughput_gain_pct_max",
    "saving_pct",
    "saving_pct_max",
)
"""Gain in throughput and saving of processor time for a unit of work; `_max` is the largest of all
loads and cases instead of their mean."""
_BASE, _MACHINE = "base.", "machine."


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


def read_comparison(raw: Mapping[str, Any], where: str) -> MachineStudy:
    """The table as the file has it, with the suite's cases as cases of the study."""
    from homenode.evidence.compare import load_suite

    only(raw, _TABLE, {"suite", "base", "machine"}, where)
    base = str(raw["base"])
    suite = load_suite(str(raw["suite"]))
    cases = {name: SuiteCase(name, (name,), base) for name in suite.case_names}
    for entry in raw.get("case", []):
        only(entry, _CASE, {"name", "of"}, f"{where}, [[comparison.case]]")
        one = SuiteCase(str(entry["name"]), tuple(entry["of"]), str(entry.get("base", base)))
        if one.name in cases:
            raise StudyError(f"{where}: case {one.name} stands there twice, or is one of the suite")
        for part in one.of:
            if part not in suite.case_names:
                raise StudyError(
                    f"{where}: case {one.name} names {part}, which suite {suite.name} has not"
                    f"{nearest(part, suite.case_names)}"
                )
        cases[one.name] = one
    reasons: dict[str, str] = {}
    for entry in raw.get("not_modelled", []):
        only(entry, _NOT_MODELLED, _NOT_MODELLED, f"{where}, [[comparison.not_modelled]]")
        reasons.update(dict.fromkeys(map(str, entry["rows"]), str(entry["why"])))
    return MachineStudy(suite.name, base, str(raw["machine"]), cases, reasons)


def check_rows(comparison: MachineStudy, rows: Sequence[PublishedRow], where: str) -> None:
    """Every row names a metric that a comparison has, unless it says that it is not modelled."""
    keys = {row.key for row in rows}
    for key in comparison.not_modelled:
        if key not in keys:
            raise StudyError(
                f"{where}: not_modelled names row {key}, which is not there{nearest(key, keys)}"
            )
    for row in rows:
        if row.metric not in METRICS and row.key not in comparison.not_modelled:
            raise StudyError(
                f"{where}: row {row.key}: a comparison has no metric {row.metric}"
                f"{nearest(row.metric, METRICS)}"
            )


def compare_rows(
    study: Study,
    rows: Sequence[PublishedRow],
    *,
    parameters: Mapping[str, float] | None = None,
    replications: int | None = None,
    jobs: int | None = None,
    progress: ProgressFn | None = None,
) -> dict[str, Estimate]:
    """The simulated counterpart of each row, by its key; only the cases these rows need are
    simulated.
    """
    comparison = _of(study)
    wanted = [row for row in rows if row.key not in comparison.not_modelled]
    results = {
        base: _compare(study, base, wanted, parameters, replications, jobs, share)
        for base, share in zip(comparison.bases, _shares(comparison, progress), strict=True)
        if any(comparison.cases[row.case].base == base for row in wanted)
    }
    told: dict[str, Estimate] = {}
    for row in rows:
        why = comparison.not_modelled.get(row.key)
        if why is not None:
            told[row.key] = Estimate(None, None, f"not modelled: {why}")
            continue
        case = comparison.cases[row.case]
        told[row.key] = _simulated(results[case.base], case, row.metric)
    return told


def _simulated(result: MachineComparison, case: SuiteCase, metric: str) -> Estimate:
    """A metric of a case of the study, as far as its cases of the suite were done."""
    found = {name: result.case(name) for name in case.of}
    for name, one in found.items():
        if one is None:
            return Estimate(None, None, f"{name}: {result.left_out.get(name, 'it was not done')}")
    return metric_of([one for one in found.values() if one is not None], metric)


def _of(study: Study) -> MachineStudy:
    if study.comparison is None:
        raise StudyError(f"study {study.name} compares no machines")
    return study.comparison


def _shares(comparison: MachineStudy, progress: ProgressFn | None) -> list[ProgressFn | None]:
    """Progress of each base; all but the first are small."""
    return [progress, *[None] * (len(comparison.bases) - 1)]


def _compare(
    study: Study,
    base: str,
    rows: Sequence[PublishedRow],
    parameters: Mapping[str, float] | None,
    replications: int | None,
    jobs: int | None,
    progress: ProgressFn | None,
) -> MachineComparison:
    from homenode.evidence.compare import compare_machines

    comparison = _of(study)
    named = [comparison.cases[row.case] for row in rows]
    only = dict.fromkeys(part for case in named if case.base == base for part in case.of)
    result = compare_machines(
        base,
        comparison.machine,
        comparison.suite,
        only=list(only),
        replications=replications or study.replications,
        jobs=jobs,
        adjust=_adjusts(parameters or {}, whole=base == comparison.base),
        progress=progress,
    )
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def _adjusts(parameters: Mapping[str, float], *, whole: bool) -> tuple[Any, Any]:
    """What sets the parameters on the base (the study's own, if `whole`) and on the machine."""
    of_base = {
        path.replace(_BASE, _MACHINE, 1): value
        for path, value in parameters.items()
        if whole and path.startswith(_BASE)
    }
    of_machine = {path: value for path, value in parameters.items() if path.startswith(_MACHINE)}
    return _adjust(of_base), _adjust(of_machine)


def _adjust(parameters: Mapping[str, float]) -> Any:
    """Sets those of the figures that a frozen spec or a walk has."""
    from homenode.evidence.study.overrides import get_values, set_value

    def change(spec: dict[str, Any]) -> None:
        for path, value in parameters.items():
            try:
                get_values(spec, path)
            except StudyError:
                continue
            set_value(spec, path, value)

    return change if parameters else None


def in_files(comparison: MachineStudy, parameter: str) -> float:
    """What the machine's or the base's file holds for a parameter."""
    from homenode.evidence.compare.walk import walk_machine
    from homenode.evidence.study.overrides import get_values
    from homenode.model import catalog
    from homenode.model.catalog.flatten import machine_spec

    if not parameter.startswith((_BASE, _MACHINE)):
        raise StudyError(f"parameter {parameter} begins neither with {_BASE} nor with {_MACHINE}")
    name = comparison.base if parameter.startswith(_BASE) else comparison.machine
    path = parameter.replace(_BASE, _MACHINE, 1)
    described = catalog.machine(name)
    try:
        values = get_values({"machine": machine_spec(described)}, path)
    except StudyError:
        values = get_values({"machine": walk_machine(described)}, path)
    if len(values) != 1:
        raise StudyError(f"parameter {parameter} does not lead to one value")
    return float(values[0])


def metric_of(cases: Sequence[CaseResult], metric: str) -> Estimate:
    """A metric over some cases: their mean, or for `_max` the largest of all their loads."""
    gain, largest = metric.startswith("throughput"), metric.endswith("_max")
    parts = [part for case in cases for part in (case.pairs if largest else (case,))]
    values = [part.gain_pct if gain else part.saving_pct for part in parts]
    lacking = next((value for value in values if value.mean is None), None)
    if lacking is not None:
        return lacking
    if largest:
        return max(values, key=_known)
    return values[0] if len(values) == 1 else Estimate(sum(map(_known, values)) / len(values))


def _known(value: Estimate) -> float:
    return 0.0 if value.mean is None else value.mean
