"""What a recording says that a profile must explain: kept runs, results of `homenode measure`, and
recordings that `homenode import` reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import HomenodeError, listed, suggestion
from homenode.hosts.result import KIND, load
from homenode.model.scenario import Scenario
from homenode.records.calibrate.imported import Told, read_imported
from homenode.records.calibrate.model import Z95, Condition, Observation, Recording, mean_error
from homenode.simulate.run import Run

if TYPE_CHECKING:
    from homenode.hosts.record import RunRecord

KNOWN = ("cpu_per_tx_us", "cpi", "etr_per_s", "instructions_per_tx", "efcpi", "physc")
"""Figures that tell of a profile; what is printed of a real system under each name is in the guide.
"""
USUAL = ("cpu_per_tx_us", "cpi")
"""Without the throughput: where every processor is busy it says the same as the processor time, and
one fact counted twice makes intervals too narrow.
"""

_OF_RUNS = "replications.json"
_RUN = "run "
_HEAD = 1 << 16


def read_recordings(
    names: Sequence[str | Path],
    *,
    partition: str | None,
    scenario: Scenario | None,
    know: Sequence[str] | None,
    accuracy: float,
    told: Told,
    root: str | Path,
) -> Recording:
    """All recordings together. Raises `HomenodeError` for what tells nothing of a profile."""
    if not names:
        raise HomenodeError("name a recording", next_step="a run, a FILE.json or a folder")
    unknown = [one for one in know or () if one not in KNOWN]
    if unknown:
        there = f"there is {listed(KNOWN, 10)}"
        step = suggestion(unknown[0], KNOWN, "")
        raise HomenodeError(f"{unknown[0]} tells nothing here", there=there, next_step=step)
    if not told.is_nothing and not any(_is_import(Path(name)) for name in names):
        raise HomenodeError(
            f"{listed([str(name) for name in names])}: how much work was done is recorded",
            next_step="leave --rate and --cpi out: they are for recordings that import reads",
        )
    parts: list[Recording] = []
    seen: dict[str, str] = {}
    for name in names:
        part = _read(Path(name), partition, scenario, know, accuracy, told, Path(root))
        key = str(Path(name).resolve()) if Path(name).exists() else part.title
        key = part.title if part.title.startswith(_RUN) else key
        if key in seen:
            # The same fact counted twice would make the intervals too narrow.
            step = "name each recording once"
            raise HomenodeError(f"{name} and {seen[key]} are the same recording", next_step=step)
        seen[key] = str(name)
        parts.append(part)
    conditions: list[Condition] = []
    observations: list[Observation] = []
    for part in parts:
        first = len(conditions)
        conditions += part.conditions
        observations += [replace(one, condition=first + one.condition) for one in part.observations]
    if not observations:
        raise HomenodeError(
            f"{listed([part.title for part in parts])} tells nothing of a profile",
            there=f"it has none of {listed(list(know or USUAL), 10)}",
            next_step=f"name others with --know: {listed(KNOWN, 10)}",
        )
    notes = tuple(note for part in parts for note in part.notes)
    title = ", ".join(dict.fromkeys(part.title for part in parts))
    return Recording(title, tuple(conditions), tuple(observations), notes)


def _is_import(path: Path) -> bool:
    """Whether it is neither a measured result nor a kept run."""
    return path.exists() and not _is_measured(path) and not (path / _OF_RUNS).is_file()


def _is_measured(path: Path) -> bool:
    """Whether it is a result of `homenode measure`: recordings may be JSON too."""
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return KIND.encode() in file.read(_HEAD)
    except OSError as error:
        raise HomenodeError(f"{path} cannot be read: {error.strerror}") from error


def _read(
    path: Path,
    partition: str | None,
    scenario: Scenario | None,
    know: Sequence[str] | None,
    accuracy: float,
    told: Told,
    root: Path,
) -> Recording:
    if _is_measured(path):
        return read_measured(path, scenario, partition, know, accuracy)
    if _is_import(path):
        return read_imported(path, partition, scenario, know, accuracy, told)
    is_run = (path / _OF_RUNS).is_file()
    run = Run.load(path if is_run else str(path), root)
    return read_run(run, partition, know, accuracy)


def read_run(
    run: Run, partition: str | None, know: Sequence[str] | None, accuracy: float
) -> Recording:
    """A kept run as a recording of its partition."""
    name = run.partition(partition)
    scenario = Scenario.load(run.path / "scenario.toml")
    metrics = tuple(know or USUAL)
    found, missing = [], []
    for metric in metrics:
        logs = [math.log(value) for value in run.values(name, metric) if value > 0]
        if not logs:
            missing.append(metric)
            continue
        mean, error = mean_error(logs)
        if len(logs) == 1:
            told = run.metric(name, metric)
            error = (told.ci95 or 0.0) / (Z95 * (told.mean or 1.0))
        found.append(Observation(0, metric, math.exp(mean), math.hypot(error, accuracy)))
    if not found:
        reason = run.unsteady_reason(name)
        there = reason or f"it has no {listed(missing)}"
        raise HomenodeError(
            f"{name} of run {run.id} tells nothing of its profile",
            there=there,
            next_step=f"name others with --know: {listed(KNOWN, 10)}",
        )
    notes = tuple(f"{run.id} has no {metric} of {name}" for metric in missing)
    condition = Condition(f"{run.id} {name}", scenario, name)
    return Recording(f"{_RUN}{run.id}", (condition,), tuple(found), notes)


def read_measured(
    path: Path,
    scenario: Scenario | None,
    partition: str | None,
    know: Sequence[str] | None,
    accuracy: float,
) -> Recording:
    """A result of `homenode measure`: a condition for each number of processors and load."""
    result = load(path)
    if scenario is None:
        raise HomenodeError(
            f"{path.name} says what was measured, not on which machine",
            next_step="name the scenario of that host with --scenario; import makes one of lscpu's",
        )
    name = _of(scenario, partition)
    groups: dict[tuple[str, int, float], list[RunRecord]] = {}
    for record in result.used():
        if record.cpu is not None and record.work > 0:
            groups.setdefault((record.case, record.processors, record.load), []).append(record)
    cases = {case for case, _, _ in groups}
    if len(cases) > 1:
        raise HomenodeError(
            f"{path.name} has several cases, which are several workloads",
            there=listed(sorted(cases), 8),
            next_step="measure one alone with --only CASE",
        )
    if not groups:
        raise HomenodeError(
            f"{path.name} has no repetition with work and processor time that counts",
            next_step="measure again, or name another file",
        )
    conditions: list[Condition] = []
    observations: list[Observation] = []
    for (case, processors, load_level), records in groups.items():
        changed = _set(scenario, name, processors, load_level)
        title = f"{case}, {processors} processors" + (
            f", load {load_level:g}" if load_level else ""
        )
        figures = _figures(records)
        for metric in know or (*USUAL, "instructions_per_tx"):
            logs = [math.log(value) for value in figures.get(metric, [])]
            if logs:
                mean, error = mean_error(logs)
                error = math.hypot(error, accuracy)
                observations.append(Observation(len(conditions), metric, math.exp(mean), error))
        conditions.append(Condition(title, changed, name))
    stamp = result.finished[:10] or "unknown day"
    return Recording(f"{path.name} of {stamp}", tuple(conditions), tuple(observations))


def _figures(records: Sequence[RunRecord]) -> dict[str, list[float]]:
    """Values of each figure, one a repetition."""
    found: dict[str, list[float]] = {"cpu_per_tx_us": []}
    for one in records:
        if one.cpu is not None and one.cpu.total > 0:
            found["cpu_per_tx_us"].append(1e6 * one.cpu.total / one.work)
        found.setdefault("etr_per_s", []).append(one.work / one.seconds)
        if one.instructions:
            found.setdefault("instructions_per_tx", []).append(one.instructions / one.work)
        if one.instructions and one.cycles:
            found.setdefault("cpi", []).append(one.cycles / one.instructions)
    return found


def _of(scenario: Scenario, partition: str | None) -> str:
    """The partition that was measured; the only one if none is named."""
    names = [one.name for one in scenario.partitions]
    if partition is None and len(names) == 1:
        return names[0]
    if partition is None:
        step = f"name one of {listed(names)} with -p"
        raise HomenodeError(f"{scenario.name} has {len(names)} partitions", next_step=step)
    return scenario.partition(partition).name


def _set(scenario: Scenario, name: str, processors: int, load: float) -> Scenario:
    """The scenario with as many processors and as much load."""
    table = scenario.partition(name).table
    path = f"partition.{table.name}"
    count = "cores" if table.processors.mode == "dedicated" else "virtual"
    changes: dict[str, object] = {f"{path}.processors.{count}": processors}
    told = getattr(table.processors, "entitlement", None)
    if told is not None:
        each = min(1.0, told / scenario.partition(name).virtual)
        changes[f"{path}.processors.entitlement"] = max(0.01, round(each * processors, 2))
    pins = getattr(table.processors, "pins", None)
    if pins is not None and len(pins) > 1:
        changes[f"{path}.processors.pins"] = [list(pin) for pin in pins[:processors]]
    if table.workload.kind == "idle":
        # As import leaves it: as many programs that never pause as were measured.
        endless = {"kind": "warehouses", "count": round(load) or processors, "profile": "oltp"}
        changes[f"{path}.workload"] = endless
    elif load and hasattr(table.workload, "count"):
        changes[f"{path}.workload.count"] = round(load)
    return scenario.with_(changes, why="as measured")
