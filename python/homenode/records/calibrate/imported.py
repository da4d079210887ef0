"""What `homenode import` reads, as a recording: used cores, which tell of a profile where the rate
of the work is known too, and where threads were dispatched.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import HomenodeError, listed
from homenode.model.estimate import mean_of
from homenode.model.scenario import Scenario
from homenode.records.calibrate.levels import Levels, recorded_levels
from homenode.records.calibrate.model import Condition, Observation, Recording
from homenode.records.calibrate.rates import Rate, read_rates
from homenode.records.calibrate.windows import Group, Window, groups, mean_cpi, per_unit
from homenode.records.importing.assemble import Assembled, AssembleOptions, assemble
from homenode.records.importing.front import read_paths
from homenode.records.importing.shared.words import counted

if TYPE_CHECKING:
    import polars as pl

    from homenode.records.importing.facts import Affinity, Facts, Series

FIGURES = ("physc", "cpu_per_tx_us", "cpi")
"""What an imported recording may tell."""
USUAL = ("physc", "cpi")
"""Without the processor time of a unit, which is the cores over the rate: the same fact again."""
_UNITS = 20_000
"""Units of work that are played: their chance is a per cent divided by the square root of two."""
_FEW = 4
"""Windows of which there are two stretches, whose difference tells an error."""
_FULL = 0.98
"""Share of a partition's processors from which on they are all busy."""
_SHORTEST_S, _LONGEST_S = 4.0, 20.0
_BY_CLOCK = "by the clock"
_NO_DATE = 1970
"""The year from which times count where no date is told."""
_CLOCK_S = 0.5
"""Clocks of two tools of one host that differ by less than this are the same."""


@dataclass(frozen=True)
class Told:
    """What no recording of processors says."""

    rate: float | Path | None = None
    """Units of work done [1/s], or a table of them over time."""
    cpi: float | None = None
    """Cycles per instruction."""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is told."""
        return self.rate is None and self.cpi is None


@dataclass
class _Windows:
    """Windows of a recording, with what is to be said of them."""

    kept: list[Window] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_imported(
    path: Path,
    partition: str | None,
    scenario: Scenario | None,
    know: Sequence[str] | None,
    accuracy: float,
    told: Told,
) -> Recording:
    """One recording; `scenario` is of the host, in place of the one that import makes."""
    if told.rate is None:
        raise HomenodeError(
            f"{path.name} tells how many cores were used, not how much work was done",
            next_step='say so with --rate "1400/s" or --rate FILE.csv (time,rate);'
            " without it no number of a profile follows",
        )
    wanted = tuple(know or USUAL)
    unknown = [one for one in wanted if one not in FIGURES]
    if unknown:
        there = f"it has {listed(FIGURES)}"
        raise HomenodeError(f"{path.name} does not tell {unknown[0]}", there=there)
    made = assemble(read_paths([path]), AssembleOptions(convert=False))
    recorded = _recorded_of(made, partition, path)
    played, name = _played(made.scenario if scenario is None else scenario, partition, recorded)
    rows = _cores(made.files["demand.parquet"], recorded)
    own = [one for one in made.facts.series if one.partition == recorded]
    moves = _Moves(_affinity(made.facts, recorded), own or made.facts.series)
    found = _windows(rows, moves, told, path)
    return _conditions(path, played, name, found, wanted, accuracy, told)


def _recorded_of(made: Assembled, partition: str | None, path: Path) -> str:
    """The partition whose use was recorded."""
    names = [one.name for one in made.scenario.partitions if one.demand is not None]
    if partition in names:
        return str(partition)
    if not names:
        raise HomenodeError(
            f"nothing in {path.name} tells what was used",
            next_step="give a folder with a recording over time, as of lparstat or nmon",
        )
    if partition is not None:
        there = f"it tells of {listed(names, 8)}"
        text = f"nothing in {path.name} tells what {partition} used"
        raise HomenodeError(text, there=there)
    if len(names) > 1:
        step = f"name one of {listed(names, 8)} with -p"
        raise HomenodeError(f"{path.name} tells of {len(names)} partitions", next_step=step)
    return names[0]


def _played(scenario: Scenario, partition: str | None, recorded: str) -> tuple[Scenario, str]:
    """The scenario and the partition in it that stands for the recorded one."""
    names = [one.name for one in scenario.partitions]
    for name in (partition, recorded):
        if name in names:
            return scenario, str(name)
    if len(names) == 1:
        return scenario, names[0]
    there = f"there is {listed(names, 8)}"
    raise HomenodeError(
        f"{scenario.name} has no partition {partition or recorded}",
        there=there,
        next_step="name the one that was recorded with -p, or give it that name",
    )


def _cores(packed: bytes, name: str) -> pl.DataFrame:
    """`time`, `seconds`, `cores` of each recorded window."""
    import polars as pl

    table = pl.read_parquet(io.BytesIO(packed)).filter(pl.col("partition") == name)
    if "cores" not in table.columns:
        raise HomenodeError(f"the recording of {name} has no cores")
    return table.select("time", "seconds", "cores").drop_nulls().sort("time")


def _affinity(facts: Facts, name: str) -> Affinity | None:
    """What was recorded of the same partition's dispatches; the only one, where names are those of
    files.
    """
    own = [one for one in facts.affinity if one.partition == name]
    chosen = own or (facts.affinity if len(facts.affinity) == 1 else [])
    over_time = [one for one in chosen if not one.since_start]
    return next(iter(over_time or chosen), None)


def _windows(rows: pl.DataFrame, moves: _Moves, told: Told, path: Path) -> _Windows:
    """All windows whose work is known."""
    found = _Windows()
    steady = None if isinstance(told.rate, Path) else told.rate
    rates = read_rates(told.rate) if isinstance(told.rate, Path) else None
    ends = [value / 1e6 for value in rows["time"].to_physical()]
    unknown = 0
    for end, seconds, cores in zip(ends, rows["seconds"], rows["cores"], strict=True):
        rate, cpi = (steady, None) if rates is None else _work(rates, end, seconds)
        if rate is None:
            unknown += 1
            continue
        levels = moves.within(end - seconds, end)
        found.kept.append(Window(cores, seconds, rate, cpi, levels))
    if not found.kept:
        first = "" if rates is None else f"; the rates begin at {rates[0].time:.0f} s since 1970"
        raise HomenodeError(
            f"no window of {path.name} has a rate of work",
            there=f"the windows begin at {ends[0]:.0f} s since 1970{first}" if ends else None,
            next_step="write the times of the rates on the clock of the recording",
        )
    if unknown:
        found.notes.append(f"{counted(unknown, 'window')} of {path.name} without a rate: left out")
    found.notes += moves.notes(len(found.kept))
    return found


def _work(rates: Sequence[Rate], end: float, seconds: float) -> tuple[float | None, float | None]:
    """Rate of work and cycles per instruction in a window; None where no sample ends in it."""
    inside = [one for one in rates if end - seconds + _CLOCK_S < one.time <= end + _CLOCK_S]
    if not inside:
        return None, None
    cycles = [one.cpi for one in inside if one.cpi is not None]
    cpi = mean_of(cycles) if cycles else None
    return math.fsum(one.per_s for one in inside) / len(inside), cpi


class _Moves:
    """Where threads were dispatched, window by window where clocks allow it, else in the mean."""

    def __init__(self, affinity: Affinity | None, series: Sequence[Series]) -> None:
        self._table = None if affinity is None else affinity.table
        self._mean = None if affinity is None else recorded_levels(affinity.table)
        self._affinity = affinity
        self._paired = "" if affinity is None else _paired(affinity, series)
        self._hits = 0

    def within(self, start: float, end: float) -> Levels | None:
        """In a window [s since 1970]."""
        import polars as pl

        if self._table is None or not self._paired:
            return self._mean
        time = pl.col("time").to_physical() / 1e6
        rows = self._table.filter((time > start + _CLOCK_S) & (time <= end + _CLOCK_S))
        found = recorded_levels(rows) if len(rows) else None
        self._hits += found is not None
        return found or self._mean

    def notes(self, count: int) -> Iterator[str]:
        """What is to be said of it, after `count` windows."""
        if self._affinity is None:
            return
        file = self._affinity.file
        if self._mean is None:
            yield f"{file} counts no dispatch: where threads ran is taken as played"
        elif self._affinity.since_start:
            text = f"{file} tells where threads ran in the mean of a time that is not told"
            yield f"{text}, so not how often they were switched: that is as played"
        elif not self._paired:
            text = "no clock says which windows reports of where threads ran belong to"
            yield f"{text}: their mean stands for all"
        else:
            if self._paired != _BY_CLOCK:
                yield self._paired
            if self._hits < count:
                text = f"{count - self._hits} of {count} windows have no report of where threads"
                yield f"{text} ran: the mean of the others stands for them"


def _paired(affinity: Affinity, series: Sequence[Series]) -> str:
    """Why reports of dispatches belong to the windows of the same times; nothing if they do not:
    without a clock, times only count from the beginning of each command.
    """
    tables = [one.table for one in series]
    if affinity.since_start or not tables:
        return ""
    clocks = [bool(table["time"][0].year > _NO_DATE) for table in (affinity.table, *tables)]
    if all(clocks):
        return _BY_CLOCK
    if any(clocks) or len(tables) > 1:
        return ""
    rows, own = tables[0], affinity.table
    same_file = series[0].file == affinity.file
    if same_file and rows["line"].to_list() == own["line"].to_list():
        return _BY_CLOCK
    if not same_file and rows["seconds"].to_list() == own["seconds"].to_list():
        return f"{series[0].file} and {affinity.file} are taken to have begun together"
    return ""


def _conditions(
    path: Path,
    scenario: Scenario,
    name: str,
    found: _Windows,
    wanted: Sequence[str],
    accuracy: float,
    told: Told,
) -> Recording:
    """A condition for each group of windows."""
    conditions: list[Condition] = []
    observations: list[Observation] = []
    whole = (Group("", tuple(found.kept)),)
    # One number of cycles an instruction is that of all windows together.
    for group in groups(found.kept) if told.cpi is None else whole:
        if not group.rate > 0 or not group.cores > 0:
            continue
        title = f"{path.name} {name}" + (f", {group.title}" if group.title else "")
        changed = _loaded(scenario, name, group.rate)
        place = len(conditions)
        observations += [
            Observation(place, metric, value, math.hypot(error, accuracy))
            for metric, value, error in _figures(group, told)
            if metric in wanted
        ]
        conditions.append(
            Condition(title, changed, name, _mean_levels(group), alone=True, rate=group.rate)
        )
    if not conditions:
        raise HomenodeError(
            f"{name} did no work in {path.name}",
            there="it used no processor, or its rate is 0 throughout",
        )
    if len(found.kept) < _FEW:
        found.notes.append(
            f"{counted(len(found.kept), 'window')} cannot tell how far windows vary: the intervals"
            " hold what --accuracy and the digits printed allow, no more"
        )
    rates = [one.rate for one in found.kept]
    most = scenario.partition(name).virtual
    full = sum(one.cores >= _FULL * most for one in found.kept)
    if full:
        text = f"in {full} of {len(found.kept)} windows all {most} processors of {name} were busy"
        found.notes.append(f"{text}: what waited there is not seen, a unit may take more")
    notes = [
        f"physc is the mean of {counted(len(found.kept), 'window')}"
        + (
            f" in which {rates[0]:g}/s are taken to be steady"
            if not isinstance(told.rate, Path)
            else f" with {min(rates):g} to {max(rates):g} units of work a second"
        ),
        *found.notes,
    ]
    return Recording(path.name, tuple(conditions), tuple(observations), tuple(notes))


def _figures(group: Group, told: Told) -> list[tuple[str, float, float]]:
    """Figure, value and its standard error as a share of it."""
    unit, error = per_unit(group.windows)
    found = [("physc", unit * group.rate, error), ("cpu_per_tx_us", unit * 1e6, error)]
    cycles = mean_cpi(group.windows)
    if cycles is not None:
        found.append(("cpi", *cycles))
    elif told.cpi is not None:
        found.append(("cpi", told.cpi, 0.0))
    return found


def _mean_levels(group: Group) -> Levels | None:
    """Of all windows, each weighed by its time."""
    told = [(one.levels, one.seconds) for one in group.windows if one.levels is not None]
    if not told:
        return None
    total = math.fsum(seconds for _, seconds in told)

    def mean(values: Sequence[float]) -> float:
        return math.fsum(x * s for x, (_, s) in zip(values, told, strict=True)) / total

    levels = [one for one, _ in told]
    moves = tuple(mean([one.redispatches[at] for one in levels]) for at in range(6))
    homes = [one.home for one in levels if one.home is not None]
    home = None
    if len(homes) == len(levels):
        home = tuple(mean([one[at] for one in homes]) for at in range(len(homes[0])))
    rates = [one.per_s for one in levels if one.per_s is not None]
    per_s = None
    if len(rates) == len(levels):
        per_s = {name: mean([one[name] for one in rates]) for name in rates[0]}
    return Levels(moves, home, per_s)


def _loaded(scenario: Scenario, name: str, rate: float) -> Scenario:
    """The scenario with that much work."""
    table = scenario.partition(name).table
    workload = {"kind": "transactions", "rate": f"{rate:.9g}/s", "profile": "oltp"}
    changes = {
        f"partition.{table.name}.workload": workload,
        "run.duration": f"{min(max(_UNITS / rate, _SHORTEST_S), _LONGEST_S):.3g} s",
        "run.interval": None,
    }
    return scenario.with_(changes, why="as recorded")
