"""Work told by the cores it takes: what every step of it is to take.

How many instructions make a partition use a core depends on machine, guest and neighbours, so this
floor only says what is asked; `homenode.simulate.settle` finds the work.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from homenode.errors import HomenodeError
from homenode.model.catalog import MachineDescription
from homenode.model.document import Document, Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.day import Day, day_of, fault_of, parts_of, used_at
from homenode.model.scenario.day_file import read_day
from homenode.model.scenario.file.cores import CoresTaken, Hours
from homenode.model.scenario.file.mainframe import GuestCores
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.file.scenario import Run, ScenarioFile
from homenode.model.scenario.loads import place_of_load
from homenode.model.scenario.placed import PlacedPartition
from homenode.model.scenario.played import Asked
from homenode.model.units import TIME

_SLACK = 1e-9
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class _Holder:
    """Who has such work: a partition, or a virtual machine."""

    key: str
    told: CoresTaken | GuestCores
    place: Path
    """Of the work in the file."""
    virtual: int
    """Virtual processors, or cores of its own."""
    most: float
    """The most it can use [cores], and what that is."""
    what: str

    @property
    def is_elsewhere(self) -> bool:
        """Whether another layout than this one is to carry it."""
        return self.told.work_file is not None or getattr(self.told, "reference", None) is not None


@dataclass(frozen=True)
class _Wanted:
    """What its work is to take."""

    day: tuple[tuple[int, float], ...]
    """Cores by when they begin [minutes since midnight]."""
    extras: dict[str, float]

    def at(self, day: Day) -> tuple[float, ...]:
        """In each step; what comes now and then for others alone finds it at its busiest hour."""
        most = max(use for _, use in self.day)
        extras = [self.extras.get(name, most) for name in day.extras]
        return (*(used_at(self.day, minute) for minute in day.cuts), *extras)


def has_day(file: ScenarioFile) -> Day | None:
    """How the day of a scenario is played, as far as the file alone says it; None if it has none.
    Cuts of days in files of their own are not in it.
    """
    told = [
        work
        for one in file.partition
        for work in (*one.loads, *(machine.workload for machine in one.virtual_machine))
        if isinstance(work, CoresTaken | GuestCores)
    ]
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


def asked_of(
    partitions: Sequence[PlacedPartition],
    machine: MachineDescription,
    folder: FilePath,
    file: ScenarioFile,
    problems: Problems,
    *,
    held: Sequence[object],
) -> dict[str, Asked]:
    """The cores that work is to take, where it is told so, by who has it. Who has it must have so
    many, but for what is told as in `held`: the work of the layout that this one was changed from.
    """
    holders = [
        replace(one, most=math.inf) if one.told in held else one
        for partition in partitions
        for one in _holders(partition, problems.document)
    ]
    before = len(problems)
    by_place: dict[Path, _Wanted] = {}
    for one in holders:  # what several of a kind are told is looked at once
        if one.place not in by_place:
            by_place[one.place] = _wanted(one, machine, folder, problems)
    wanted = {one.key: by_place[one.place] for one in holders}
    day = has_day(file)
    if day is not None:
        _check_shortened(day, file.run, problems)
        starts = [wanted[one.key].day for one in holders if one.told.schedule is not None]
        day = day_of(starts, day.extras)
    if len(problems) > before:
        return {}
    lengths = (file.run.duration,) if day is None else day.lengths_ns(file.run.duration)
    return {
        one.key: Asked(
            place=one.place,
            told=one.told,
            cuts=(0,) if day is None else day.cuts,
            extras=() if day is None else day.extras,
            cores=(wanted[one.key].day[0][1],) if day is None else wanted[one.key].at(day),
            lengths_ns=lengths,
            reference=getattr(one.told, "reference", None),
            work=one.told.work_file,
        )
        for one in holders
    }


def _holders(partition: PlacedPartition, document: Document) -> Iterator[_Holder]:
    """Those of a partition whose work is told by cores."""
    place: Path = ("partition", partition.row)
    processors, told = partition.table.processors, partition.table.workload
    if isinstance(told, CoresTaken):
        most, what = float(partition.virtual), "virtual processors"
        if not isinstance(processors, Shared):
            what = "cores"
        elif processors.capped and partition.entitlement < most:
            most, what = partition.entitlement, "cores at most, for it is capped"
        name, virtual = partition.name, partition.virtual
        yield _Holder(name, told, place_of_load(document, partition.row), virtual, most, what)
    for one in partition.machines:
        work, cpus = one.table.workload, one.table.cpus
        if isinstance(work, GuestCores):
            tables = partition.table.virtual_machine
            row = next(at for at, table in enumerate(tables) if table is one.table)
            here: Path = (*place, "virtual_machine", row, "workload")
            key, what = f"{partition.name}/{one.name}", "virtual processors"
            yield _Holder(key, work, here, cpus, float(cpus), what)


def _wanted(
    holder: _Holder, machine: MachineDescription, folder: FilePath, problems: Problems
) -> _Wanted:
    told, path = holder.told, holder.place
    if told.schedule is None:
        return _Wanted(((0, _cores(told, path, holder, machine, problems)),), {})
    here = (*path, "schedule")
    rows = [
        0.0 if hours.file else _cores(hours, (*here, row), holder, machine, problems)
        for row, hours in enumerate(told.schedule)
    ]
    extras: dict[str, float] = {}
    for row, (hours, use) in enumerate(zip(told.schedule, rows, strict=True)):
        if hours.every in extras:
            there = "another part has the same name"
            problems.add((*here, row, "every"), there=there, next_step="name each but once")
        if hours.every is not None:
            extras[hours.every] = use
    day = _day(told.schedule, rows, here, folder, problems)
    if any(hours.file for hours in told.schedule):
        _fitting(max(use for _, use in day), here, holder, problems)
    return _Wanted(tuple(day), extras)


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
    told: CoresTaken | GuestCores | Hours,
    path: Path,
    holder: _Holder,
    machine: MachineDescription,
    problems: Problems,
) -> float:
    """The cores that a table says."""
    if told.busy is not None:
        return told.busy * holder.virtual
    use = told.use
    if use is None:
        return 0.0
    share = 0.0 if use.machine is None else use.machine * machine.host_cpus
    return _fitting(use.cores or share, (*path, "use"), holder, problems)


def _fitting(cores: float, path: Path, holder: _Holder, problems: Problems) -> float:
    """The cores, noted if it can't use so many whatever its neighbours do."""
    if cores > holder.most + _SLACK and not holder.is_elsewhere:
        there = f"{holder.key} has {holder.most:g} {holder.what}, {cores:g} are asked for"
        step = "ask for less, or give it more"
        if isinstance(holder.told, CoresTaken):
            step = "ask for less, give it more, or say in reference where it takes so much"
        problems.add(path, there=there, next_step=step)
    return cores


def _check_shortened(day: Day, run: Run, problems: Problems) -> None:
    """An hour of the day is so much simulated time, and that is whole intervals."""
    each, rest = divmod(run.duration, day.hours)
    if rest or each % run.interval_ns:
        length = _SECOND_NS * max(1, round(each / _SECOND_NS))
        there = f"{day.hours} hours are played in {TIME.format(run.duration)}"
        step = f'write duration = "{TIME.format(length * day.hours)}" and leave interval out'
        problems.add(("run", "duration"), there=there, next_step=step)
