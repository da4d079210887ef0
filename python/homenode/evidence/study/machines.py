"""Running studies of one machine against another: the rows' cases on both machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from homenode.errors import StudyError
from homenode.evidence.compare import CaseResult, MachineComparison, compare_machines
from homenode.evidence.compare.machines import Adjusts
from homenode.evidence.compare.scenarios import Adjust
from homenode.evidence.compare.walk import WalkedMachine, walk_machine
from homenode.evidence.study.comparison import BASE, MACHINE, MachineStudy, SuiteCase
from homenode.evidence.study.definition import Study
from homenode.evidence.study.overrides import get_values, set_value
from homenode.evidence.study.published import PublishedRow
from homenode.model import catalog
from homenode.model.catalog.flatten import machine_spec
from homenode.model.estimate import Estimate
from homenode.model.spec import Spec
from homenode.simulate.runner import ProgressFn


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


def _adjusts(parameters: Mapping[str, float], *, whole: bool) -> Adjusts:
    """What sets the parameters on the base (the study's own, if `whole`) and on the machine."""
    of_base = {
        path.replace(BASE, MACHINE, 1): value
        for path, value in parameters.items()
        if whole and path.startswith(BASE)
    }
    of_machine = {path: value for path, value in parameters.items() if path.startswith(MACHINE)}
    return _adjust(of_base), _adjust(of_machine)


def _adjust(parameters: Mapping[str, float]) -> Adjust | None:
    """Sets those of the figures that a frozen spec or a walk has."""

    def change(told: Spec | WalkedMachine) -> None:
        spec = cast("dict[str, Any]", told)  # its places are told by path
        for path, value in parameters.items():
            try:
                get_values(spec, path)
            except StudyError:
                continue
            set_value(spec, path, value)

    return change if parameters else None


def in_files(comparison: MachineStudy, parameter: str) -> float:
    """What the machine's or the base's file holds for a parameter."""
    name = comparison.base if parameter.startswith(BASE) else comparison.machine
    path = parameter.replace(BASE, MACHINE, 1)
    described = catalog.machine(name)
    try:
        values = get_values({"machine": machine_spec(described)}, path)
    except StudyError:
        values = get_values({"machine": walk_machine(described)}, path)
    if len(values) != 1:
        raise StudyError(f"parameter {parameter} does not lead to one value")
    return float(values[0])


def metric_of(cases: Sequence[CaseResult], metric: str) -> Estimate:
    """A metric over some cases: their mean, or for `_max` and `_min` the largest and the least of
    all their loads.
    """
    gain = metric.startswith("throughput")
    largest, least = metric.endswith("_max"), metric.endswith("_min")
    by_load = largest or least
    parts = [part for case in cases for part in (case.pairs if by_load else (case,))]
    values = [part.gain_pct if gain else part.saving_pct for part in parts]
    lacking = next((value for value in values if value.mean is None), None)
    if lacking is not None:
        return lacking
    if by_load:
        return (max if largest else min)(values, key=_known)
    return values[0] if len(values) == 1 else Estimate(sum(map(_known, values)) / len(values))


def _known(value: Estimate) -> float:
    return 0.0 if value.mean is None else value.mean
