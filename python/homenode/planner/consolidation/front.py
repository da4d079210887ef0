"""`consolidate`: from recordings and machines to the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from homenode.errors import InputError, NotFoundError, Where, listed, nearest
from homenode.model.catalog import machine, profile
from homenode.planner.consolidation.answer import (
    AfterLoss,
    Consolidation,
    FilledMachine,
    PlacedPartition,
)
from homenode.planner.consolidation.asked import Asked, Progress
from homenode.planner.consolidation.core_rates import core_rate
from homenode.planner.consolidation.demand import Demand, Numbers, demands
from homenode.planner.consolidation.grid import Flags, Grid, chosen, on_one_grid, scaled
from homenode.planner.consolidation.growth import Growth, days_left, recorded_growth
from homenode.planner.consolidation.peaks import peak, peaks_of, rank_of
from homenode.planner.consolidation.speeds import Speed, rating_of, ratings_of, speeds
from homenode.planner.consolidation.spread import Loads, Room, fewest, spread
from homenode.planner.consolidation.targets import Target, targets_of
from homenode.planner.consolidation.what_if import Lost, how_many_more, machine_lost, node_lost
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import nothing_taken, read_paths
from homenode.records.importing.opening.bounds import Limits
from homenode.records.importing.opening.sources import Notice

_MORE_MACHINES = 20
"""How many more than were named are tried when looking for the fewest that do."""


@dataclass(frozen=True)
class Gathered:
    """What is placed, and on what, in cores of the first target."""

    demands: list[Demand]
    speeds: list[Speed]
    grid: Grid
    wanted: Flags
    """Steps that count."""
    loads: Loads
    targets: list[Target]
    worth: Numbers
    """Cores of the first target that a core of each is."""
    room: Room


def consolidate(
    paths: Sequence[str | Path], onto: Sequence[str], *, limits: Limits | None = None, **asked: Any
) -> Consolidation:
    """How many cores partitions need that were recorded in `paths`, on which of the machines
    `onto` (`ibm-power-e1080x2`) each goes, and what is left.

    `asked` are the fields of `Asked`, such as `percentile=99` and `headroom=0.2`; `limits` as for
    `records.importing.read_paths`. Raises `HomenodeError` for what cannot be told: a recorded
    machine of unknown speed, two recordings of one time, no room for memory.
    """
    return Consolidating(paths, onto, Asked(**asked), limits).answer()


class Consolidating:
    """The work, step by step: read, on one grid, in cores of the target, placed; `answer` looks at
    what came of it, `layouts.save` writes it.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        onto: Sequence[str],
        asked: Asked | None = None,
        limits: Limits | None = None,
        processors: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.asked = asked or Asked()
        self.notices: list[Notice] = []
        self._progress = progress
        profile(self.asked.profile)
        targets = targets_of(onto, self.asked.cores, self.asked.memory_bytes)
        self._tell(0.05)
        facts = read_paths(paths, limits, processors)
        if not facts.took:
            raise nothing_taken(facts)
        self.notices += [
            Notice(f"left out: {one.why}", Where(one.file, one.line)) for one in facts.left
        ]
        self.notices += facts.notices
        self._tell(0.5)
        self.gathered = self._gathered(self._demands(facts), targets)
        self._tell(0.7)
        self.placing = spread(self.gathered.loads, self.gathered.room, self.asked.seed)
        self._tell(0.9)

    def _demands(self, facts: Facts) -> list[Demand]:
        return demands(facts, self.asked.zones, self.notices, self.asked.zone)

    def _tell(self, share: float) -> None:
        if self._progress is not None:
            self._progress(share, None)

    def _gathered(self, found: list[Demand], targets: list[Target]) -> Gathered:
        asked = self.asked
        ratings = ratings_of(asked.ratings)
        first = targets[0].reference
        fast = speeds(found, first, ratings, asked.machines, asked.profile, self.notices)
        factors = np.array([one.factor for one in fast])
        grid = on_one_grid(found, asked.step_s, asked.zone, self.notices)
        grid = scaled(grid, factors)
        wanted = chosen(grid, asked.hour_range(), asked.weekdays())
        use, wanted = self._filled(found, grid, wanted)
        worth = np.array([_worth(one.reference, first, ratings, asked.profile) for one in targets])
        cores = np.array([one.units for one in targets]) * worth * (1 - asked.headroom)
        room = Room(cores, np.array([float(one.memory_bytes) for one in targets]))
        memory = np.array([float(one.memory_bytes or 0) for one in found])
        self._remark_memory(found, memory, room)
        loads = Loads(use, memory, self._apart(found, len(targets)), asked.percentile)
        return Gathered(found, fast, grid, wanted, loads, targets, worth, room)

    def _filled(self, found: Sequence[Demand], grid: Grid, wanted: Flags) -> tuple[Numbers, Flags]:
        """Use in the steps that count, and which these are; gaps count as was asked."""
        if self.asked.gaps == "leave-out":
            asked, wanted = wanted, wanted & grid.recorded.all(axis=0)
            self._remark_left_out(int(asked.sum()), int(wanted.sum()))
        if not wanted.any():
            raise InputError(
                "no step of the recordings counts",
                there=f"they are counted in: {self.asked.counted}",
                next_step="choose other hours or days, or count gaps with --gaps peak",
            )
        use = grid.cores[:, wanted]
        never = [one.name for one, row in zip(found, use, strict=True) if np.isnan(row).all()]
        if never:
            raise InputError(
                f"{listed(never, 4)}: not recorded in {self.asked.counted}",
                next_step="choose other hours or days, or leave these recordings out",
            )
        filled = use.copy()
        for row in filled:
            gone = np.isnan(row)
            row[gone] = (
                0.0 if self.asked.gaps == "zero" else peak(row[~gone], self.asked.percentile)
            )
        self._remark_gaps(found, use)
        return filled, wanted

    def _remark_left_out(self, asked: int, kept: int) -> None:
        if kept < asked:
            text = f"{kept:,} of {asked:,} steps were recorded of all; the others are left out"
            self.notices.append(Notice(f"{text} (--gaps)"))

    def _remark_gaps(self, found: Sequence[Demand], use: Numbers) -> None:
        how = "nothing" if self.asked.gaps == "zero" else "their peaks"
        missing = np.isnan(use).mean(axis=1)
        gone = [(share, one.name) for share, one in zip(missing, found, strict=True) if share > 0]
        if gone:
            most = sorted(gone, key=lambda pair: (-pair[0], pair[1]))
            told = listed((f"{name} {share:.1%}" for share, name in most), 4)
            text = f"not recorded all the time: {told}; gaps count as {how}"
            self.notices.append(Notice(f"{text} (--gaps)"))

    def _remark_memory(self, found: Sequence[Demand], memory: Numbers, room: Room) -> None:
        unknown = [one.name for one in found if one.memory_bytes is None]
        if unknown:
            text = f"no recording tells the memory of {listed(unknown, 4)}: it counts as none"
            self.notices.append(Notice(text))
        if memory.sum() > room.memory.sum():
            need, there = memory.sum() / 2**30, room.memory.sum() / 2**30
            raise InputError(
                f"the partitions have {need:,.0f} GiB of memory, the targets {there:,.0f}",
                next_step="name more machines with --onto, or more memory with --memory",
            )
        largest = int(np.argmax(memory))
        if memory[largest] > room.memory.max():
            need, there = memory[largest] / 2**30, room.memory.max() / 2**30
            raise InputError(
                f"{found[largest].name} has {need:,.0f} GiB of memory, the largest target"
                f" {there:,.0f}",
                next_step="name a machine that holds it",
            )

    def _apart(self, found: Sequence[Demand], machines: int) -> tuple[tuple[int, ...], ...]:
        names = [one.name for one in found]
        groups = []
        for group in self.asked.apart:
            for name in group:
                if name not in names:
                    problem = f"--apart: there is no partition {name}{nearest(name, names)}"
                    raise NotFoundError(problem)
            if len(set(group)) > machines:
                raise InputError(
                    f"--apart {','.join(group)}: {len(set(group))} partitions cannot be apart on"
                    f" {machines} machine{'s' if machines > 1 else ''}"
                )
            groups.append(tuple(sorted({names.index(name) for name in group})))
        every = [one for group in groups for one in group]
        twice = [names[one] for one in every if every.count(one) > 1]
        if twice:
            raise InputError(f"--apart: {twice[0]} stands in two groups; write them as one")
        return tuple(groups)

    def answer(self) -> Consolidation:
        """All that is told."""
        of, asked = self.gathered, self.asked
        every = _whole(of.grid, of.loads.use, of.wanted)
        peaks = peaks_of(of.grid, every, of.wanted, asked.percentile)
        growth = asked.said_growth() or self._recorded_growth()
        now = self.placing
        full = peaks.of_sums / now.level if now.level > 0 else math.inf
        most = len(of.targets) + _MORE_MACHINES
        least = fewest(of.loads, of.room, asked.seed, len(of.targets) if now.fits else most)
        lost = machine_lost(of.loads, of.room, now)
        nodes = np.array([one.nodes for one in of.targets])
        moments = of.grid.moment(0), of.grid.moment(of.grid.steps)
        return Consolidation(
            partitions=tuple(self._partition(at) for at in range(len(of.demands))),
            machines=tuple(self._machine(at) for at in range(len(of.targets))),
            peaks=peaks,
            unit=_unit(of.targets),
            usable=float(of.room.cores.sum()),
            headroom=asked.headroom,
            fits=now.fits,
            fewest=least,
            growth=growth,
            days_left=days_left(growth, peaks.of_sums, full),
            machine_lost=self._after(lost),
            node_lost=self._after(node_lost(of.room, now, nodes)),
            begin=moments[0],
            end=moments[1],
            step_s=of.grid.step_s,
            percentile=asked.percentile,
            hours=asked.counted,
            gaps=asked.gaps,
            profile=asked.profile,
            notices=tuple(self.notices),
        )

    def _recorded_growth(self) -> Growth:
        """Of the sum, with each partition's mean where it was not recorded: one that was recorded
        from some day on has not grown that day.
        """
        of = self.gathered
        means = np.nanmean(of.grid.cores[:, of.wanted], axis=1)
        sums = np.where(of.grid.recorded, of.grid.cores, means[:, None]).sum(axis=0)
        told = of.wanted & of.grid.recorded.any(axis=0)
        return recorded_growth(of.grid, sums, told, of.loads.percentile)

    def _partition(self, at: int) -> PlacedPartition:
        of = self.gathered
        one, speed, number = of.demands[at], of.speeds[at], int(self.placing.at[at])
        own = of.loads.use[at] / of.worth[number]
        recorded = float(of.grid.recorded[at, of.wanted].mean())
        return PlacedPartition(
            name=one.name,
            machine=of.targets[number].name,
            source=speed.source,
            rated=speed.rated,
            factor=speed.factor / float(of.worth[number]),
            mean=float(own.mean()),
            peak=peak(own, of.loads.percentile),
            recorded=recorded,
            memory_bytes=one.memory_bytes,
            more=how_many_more(of.loads, of.room, self.placing, at),
        )

    def _machine(self, number: int) -> FilledMachine:
        of, now = self.gathered, self.placing
        target, mine = of.targets[number], now.at == number
        worth = float(of.worth[number])
        high = float(now.peaks[number]) / worth
        threads = target.units / target.cores
        return FilledMachine(
            target=target,
            partitions=tuple(of.demands[at].name for at in np.flatnonzero(mine)),
            peak=high,
            sum_of_peaks=sum(peak(row, of.loads.percentile) for row in of.loads.use[mine]) / worth,
            left=float(of.room.cores[number]) / worth - high,
            licensed=math.ceil(high / (1 - self.asked.headroom) / threads - 1e-9),
            memory_bytes=int(of.loads.memory[mine].sum()),
            binds=of.grid.moment(self.step_of(number)),
        )

    def step_of(self, number: int) -> int:
        """A step of the grid in which a machine uses its peak."""
        of = self.gathered
        sums = of.loads.use[self.placing.at == number].sum(axis=0)
        rank = rank_of(len(sums), of.loads.percentile)
        return int(np.flatnonzero(of.wanted)[np.argsort(sums, kind="stable")[rank]])

    def _after(self, lost: Lost | None) -> AfterLoss | None:
        if lost is None:
            return None
        of = self.gathered
        names = {of.demands[one].name: of.targets[to].name for one, to in lost.moves.items()}
        return AfterLoss(of.targets[lost.machine].name, lost.left, lost.fits, names)


def _whole(grid: Grid, use: Numbers, wanted: Flags) -> Numbers:
    """Use in all steps, with what counts of it; the others stay 0 and are not looked at."""
    every = np.zeros_like(grid.cores)
    every[:, wanted] = use
    return every


def _worth(reference: str, first: str, ratings: dict[str, float], of: str) -> float:
    """Cores of the first target that a core of another is."""
    if reference == first:
        return 1.0
    if not ratings:
        return core_rate(reference, of) / core_rate(first, of)
    return rating_of(reference, ratings) / rating_of(first, ratings)


def _unit(targets: Sequence[Target]) -> str:
    hosts = [machine(one.reference).host_threads > 1 for one in targets]
    return "hardware threads" if any(hosts) else "cores"
