"""Work told by the cores it takes: what every step of it is to take.

How many instructions make a partition use a core depends on machine, guest and neighbours, so this
floor only says what is asked; `homenode.simulate.settle` finds the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from homenode.errors import HomenodeError
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.day import Day, day_of, fault_of, parts_of, used_at
from homenode.model.scenario.day_file import read_day
from homenode.model.scenario.file.cores import CoresTaken, Hours
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.file.scenario import Run, ScenarioFile
from homenode.model.scenario.placed import PlacedPartition
from homenode.model.scenario.played import Asked
from homenode.model.units import TIME

_SLACK = 1e-9
_HOUR_NS = 1_000_000_000


@dataclass(frozen=True)
class _Wanted:
    """What one partition's work is to take."""

    day: tuple[tuple[int, float], ...]
    """Cores by when they begin [minutes since midnight]."""
    extras: dict[str, float]
    told: CoresTaken

    def at(self, day: Day) -> tuple[float, ...]:
        """In each step; what comes now and then for others alone finds it at its busiest hour."""
        most = max(use for _, use in self.day)
        extras = [self.extras.get(name, most) for name in day.extras]
        return (*(used_at(self.day, minute) for minute in day.cuts), *extras)


def has_day(file: ScenarioFile) -> Day | None:
    """How the day of a scenario is played, as far as the file alone says it; None if it has none.
    Cuts of days in files of their own are not in it.
    """
    told = [one.workload for one in file.partition if isinstance(one.workload, CoresTaken)]
    schedules = [one.schedule for one in told if one.schedule is not None]
    if not schedules:
        return None
    days = [[(part.since, 0.0) for part in parts_of(one)] for one in schedules]
    extras = [hours.every for one in schedules for hours in one if hours.every is not None]
    return day_of(days, extras)


def by_the_hour(file: ScenarioFile) -> ScenarioFile:
    """With intervals of an hour of the day that is played, unless the file says other ones."""
    day = has_day(file)
    if day is None or file.run.interval is not None or file.run.duration % day.hours:
        return file
    run = file.run.model_copy(update={"interval": file.run.duration // day.hours})
    return file.model_copy(update={"run": run})


def with_asked(
    partitions: Sequence[PlacedPartition],
    machine: MachineDescription,
    folder: FilePath,
    file: ScenarioFile,
    problems: Problems,
) -> tuple[PlacedPartition, ...]:
    """The partitions with the cores that their work is to take, where it is told so."""
    wanted: dict[str, _Wanted] = {}
    for one in partitions:
        if isinstance(one.table.workload, CoresTaken):
            found = _wanted(one, one.table.workload, machine, folder, problems)
            if found is not None:
                wanted[one.name] = found
    day = has_day(file)
    if day is not None:
        _check_shortened(day, file.run, problems)
        starts = [one.day for one in wanted.values() if one.told.schedule is not None]
        day = day_of(starts, day.extras)
    lengths = (file.run.duration,) if day is None else day.lengths_ns(file.run.duration)
    return tuple(
        replace(
            one,
            asked=Asked(
                (wanted[one.name].day[0][1],) if day is None else wanted[one.name].at(day),
                lengths,
                wanted[one.name].told.reference,
                wanted[one.name].told.work,
            ),
        )
        if one.name in wanted
        else one
        for one in partitions
    )


def _wanted(
    partition: PlacedPartition,
    told: CoresTaken,
    machine: MachineDescription,
    folder: FilePath,
    problems: Problems,
) -> _Wanted | None:
    path: Path = ("partition", partition.row, "workload")
    before = len(problems)

    def cores(one: CoresTaken | Hours, here: Path) -> float:
        return _cores(one, here, partition, machine, problems)

    if told.schedule is None:
        day, extras = [(0, cores(told, path))], {}
    else:
        here = (*path, "schedule")
        rows = [
            0.0 if hours.file else cores(hours, (*here, row))
            for row, hours in enumerate(told.schedule)
        ]
        extras = {
            hours.every: use
            for hours, use in zip(told.schedule, rows, strict=True)
            if hours.every is not None
        }
        day = _day(told.schedule, rows, here, folder, problems)
        if any(hours.file for hours in told.schedule):
            _fitting(max(use for _, use in day), here, partition, problems)
    return _Wanted(tuple(day), extras, told) if len(problems) == before else None


def _day(
    schedule: Sequence[Hours],
    rows: Sequence[float],
    path: Path,
    folder: FilePath,
    problems: Problems,
) -> list[tuple[int, float]]:
    """Cores by when they begin."""
    files = [hours.file for hours in schedule if hours.file is not None]
    parts = parts_of(schedule)
    if files and (parts or len(files) > 1):
        problems.add(
            path, there="a file says a whole day", next_step="leave one of file and from out"
        )
    elif files:
        try:
            return read_day(folder / files[0])
        except HomenodeError as error:
            there = ": ".join(str(one) for one in (error.where, error.problem, error.there) if one)
            problems.add(path, there=there, next_step=error.next_step)
    elif not parts:
        problems.add(path, there="it says nothing of a day", next_step="say when it begins")
    elif fault := fault_of(parts):
        step = "let each part begin where the one before ends, or leave to out"
        problems.add((*path, fault[0]), there=fault[1], next_step=step)
    return [(part.since, rows[part.row]) for part in parts] or [(0, 0.0)]


def _cores(
    told: CoresTaken | Hours,
    path: Path,
    partition: PlacedPartition,
    machine: MachineDescription,
    problems: Problems,
) -> float:
    """The cores that a table says."""
    if told.busy is not None:
        return told.busy * partition.virtual
    use = told.use
    if use is None:
        return 0.0
    share = 0.0 if use.machine is None else use.machine * processors_of(machine)
    return _fitting(use.cores or share, (*path, "use"), partition, problems)


def processors_of(machine: MachineDescription) -> int:
    """What a share of a machine is of: its active cores, on a host its hardware threads."""
    is_host = machine.hypervisor.policy in HOST_POLICIES
    return machine.active_cores * (machine.threads_per_core if is_host else 1)


def _fitting(
    cores: float,
    path: Path,
    partition: PlacedPartition,
    problems: Problems,
) -> float:
    """The cores, noted if the partition can't use so many whatever its neighbours do."""
    processors, what = partition.table.processors, "virtual processors"
    most = float(partition.virtual)
    if not isinstance(processors, Shared):
        what = "cores"
    elif processors.capped and partition.entitlement < most:
        most, what = partition.entitlement, "cores at most, for it is capped"
    if cores > most + _SLACK:
        there = f"{partition.name} has {most:g} {what}, {cores:g} are asked for"
        step = "ask for less, give it more, or say in reference on which layout it takes so much"
        if not _is_elsewhere(partition):
            problems.add(path, there=there, next_step=step)
    return cores


def _is_elsewhere(partition: PlacedPartition) -> bool:
    """Whether another layout than this one is to carry it."""
    told = partition.table.workload
    return isinstance(told, CoresTaken) and (told.reference is not None or told.work is not None)


def _check_shortened(day: Day, run: Run, problems: Problems) -> None:
    """An hour of the day is so much simulated time, and that is whole intervals."""
    each, rest = divmod(run.duration, day.hours)
    if rest or each % run.interval_ns:
        length = _HOUR_NS * max(1, round(each / _HOUR_NS))
        there = f"{day.hours} hours are played in {TIME.format(run.duration)}"
        step = f'write duration = "{TIME.format(length * day.hours)}" and leave interval out'
        problems.add(("run", "duration"), there=there, next_step=step)
