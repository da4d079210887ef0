"""Running a study: its scenarios, each once however many cases look at it, then the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from homenode.evidence.scaling.runs import run_all
from homenode.evidence.study.advice import RANK
from homenode.evidence.study.definition import COUNTED, Case, Ratio, Study, load_study
from homenode.evidence.study.deviation import Comparison
from homenode.evidence.study.machines import compare_rows
from homenode.evidence.study.overrides import override
from homenode.evidence.study.published import PublishedRow
from homenode.evidence.study.result import StudyResult
from homenode.evidence.study.series import OF_A_SIZE, OF_THE_SET
from homenode.model import scenario as model
from homenode.model.estimate import Estimate, estimate, scaled
from homenode.model.scenario import Scenario
from homenode.model.scenario.sought import Sought
from homenode.planner import Advice, advise
from homenode.simulate.explain.explanation import explain
from homenode.simulate.kept.finding import folder_of_study
from homenode.simulate.run import Run
from homenode.simulate.runner import (
    FrozenScenario,
    InterruptedRun,
    ProgressFn,
    run_scenario,
)
from homenode.simulate.seek.look import look_for, sought_of


def run_study(
    study: Study | str,
    *,
    replications: int | None = None,
    jobs: int | None = None,
    out: str | Path = "runs",
    progress: ProgressFn | None = None,
) -> StudyResult:
    """Simulate all cases of a study and compare; the runs are kept apart, in a folder of the study
    below `out`. A study of machines keeps none, and one of capability factors simulates nothing.
    """
    if isinstance(study, str):
        study = load_study(study)
    if study.capability is not None:
        computed = [Comparison(row, study.capability.value(row)) for row in study.published]
        return StudyResult(study, computed, {}, [])
    if study.comparison is not None:
        found = compare_rows(
            study, study.published, replications=replications, jobs=jobs, progress=progress
        )
        compared = [Comparison(row, found[row.key]) for row in study.published]
        return StudyResult(study, compared, {}, [])
    place = folder_of_study(out, study.name)
    runs = run_cases(study, list(study.cases), {}, replications, jobs, place, progress)
    advised = ask_all(study, replications, jobs, place)
    comparisons = [
        Comparison(row, study.advices[row.case].value(advised[row.case], row.metric))
        if row.case in advised
        else Comparison(row, simulated(study, runs, row))
        for row in study.published
    ]
    explanations = [
        explain(runs[case], study.cases[case].partition, runs[base], study.cases[base].partition)
        for case, base in study.explain
    ]
    return StudyResult(study, comparisons, runs, explanations, advised)


def ask_all(
    study: Study, replications: int | None, jobs: int | None, out: str | Path
) -> dict[str, Advice]:
    """The advice for each layout that is asked about, the one answer that is best."""
    told = {}
    for name, asked in study.advices.items():
        scenario = Scenario.load(study.scenario_path(asked.scenario))
        told[name] = advise(
            scenario.with_(asked.overrides, why="set by the study"),
            best=1,
            replications=replications or study.replications,
            jobs=jobs,
            out=out,
        )
        if told[name].stopped:
            raise InterruptedRun(None, 0, 1)
    return told


def run_cases(
    study: Study,
    cases: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]],
    replications: int | None,
    jobs: int | None,
    out: str | Path,
    progress: ProgressFn | None = None,
) -> dict[str, Run]:
    """Run of each of these cases; `parameters` are values by path for each scenario file, on top of
    the cases' own.
    """
    wanted = {name: study.cases[name] for name in cases}
    frozen = {
        case.run_key: freeze_case(study, case, parameters.get(case.scenario, {}))
        for case in wanted.values()
    }
    runs = run_all(
        frozen,
        run_or_find,
        replications=replications or study.replications,
        jobs=jobs,
        out=out,
        progress=progress,
    )
    return {name: runs[case.run_key] for name, case in wanted.items()}


def freeze_case(study: Study, case: Case, parameters: Mapping[str, Any]) -> FrozenScenario:
    """The scenario of a case with what the case sets; one that looks for something does so when it
    is run.
    """
    scenario = Scenario.load(study.scenario_path(case.scenario))
    if case.overrides:
        scenario = scenario.with_(case.overrides, why="set by the study")
    frozen = override(scenario, parameters)
    wanted = sought_of(scenario)
    return frozen if wanted is None else Seeking(scenario, wanted, frozen, parameters)


@dataclass(frozen=True)
class Seeking:
    """A scenario that looks for something, with values to replace in each of its runs."""

    scenario: Scenario
    wanted: Sought
    frozen: FrozenScenario
    parameters: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Its file, with what was replaced."""
        return self.frozen.text

    @property
    def replications(self) -> int:
        """How often each run is repeated."""
        return self.frozen.replications

    def spec_json(self) -> str:
        """The engine's input with the file's own number of users or warehouses."""
        return self.frozen.spec_json()


def run_or_find(scenario: FrozenScenario, **options: Any) -> Run:
    """The run of a scenario; of one that looks for something the run that it leads to."""
    if not isinstance(scenario, Seeking):
        return run_scenario(scenario, **options)

    def frozen(one: model.Scenario) -> FrozenScenario:
        return override(one, scenario.parameters)

    return look_for(scenario.scenario, scenario.wanted, frozen, **options).run


def simulated(study: Study, runs: Mapping[str, Run], row: PublishedRow) -> Estimate:
    """The simulated counterpart of a published row."""
    if row.metric == RANK:
        ranking = next(one for one in study.rankings if row.case in one.of)
        return ranking.rank(
            row.case,
            lambda case, metric: simulated(study, runs, replace(row, case=case, metric=metric)),
        )
    if row.case in study.ratios:
        return _ratio(study, runs, study.ratios[row.case], row.metric)
    series = next((one for one in study.series if row.case in (one.name, *one.cases)), None)
    if series is not None and row.metric in (*OF_A_SIZE, *OF_THE_SET):
        return series.value(
            row.case,
            row.metric,
            lambda case: runs[case].metric(study.cases[case].partition, "itr_per_s"),
        )
    case = study.cases[row.case]
    if row.metric in COUNTED and case.interval_s is not None:
        rate = runs[row.case].metric(case.partition, COUNTED[row.metric])
        return scaled(rate, case.interval_s)
    return runs[row.case].metric(case.partition, row.metric)


def _ratio(study: Study, runs: Mapping[str, Run], ratio: Ratio, metric: str) -> Estimate:
    """Quotient of two means or sums, replication by replication where there are several."""
    for name in (*ratio.of, *ratio.to):
        one = runs[name].metric(study.cases[name].partition, metric)
        if one.mean is None:
            return Estimate(None, None, one.reason or f"{name} has no {metric}")
    values = {n: runs[n].values(study.cases[n].partition, metric) for n in (*ratio.of, *ratio.to)}
    count = min(len(found) for found in values.values())
    return estimate(
        [
            ratio.value({name: found[i] for name, found in values.items()})
            for i in range(count)
            if any(values[n][i] for n in ratio.to)
        ]
    )
