"""What each partition used, as its recordings tell: samples on one clock, in order, none twice."""

from __future__ import annotations

import datetime as dt
import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import polars as pl
from numpy.typing import NDArray

from homenode.errors import InputError, NotFoundError, listed, nearest
from homenode.records.importing.assemble.windows import of_one_kind
from homenode.records.importing.facts import Facts, PartitionFacts, Series, SystemFacts
from homenode.records.importing.opening.sources import ListingError, Notice

Numbers = NDArray[np.float64]
Value = TypeVar("Value")
_SAME = 1e-9
"""Cores by which two recordings of one time may differ and be the same recording."""
_OUT_OF_STEP = 0.5
"""Samples overlap if they share more than this part of the shorter one: clocks of recorders drift
by a second or two.
"""
_LONGEST_S = 1e9
_MOST_CORES = 1e6


@dataclass(frozen=True)
class Demand:
    """Recorded use of one partition."""

    name: str
    partition: PartitionFacts
    system: SystemFacts | None
    starts: Numbers
    """Of each sample [s since 1970 on the common clock], in order and without overlap."""
    ends: Numbers
    cores: Numbers
    """Mean of each sample, in cores of the server that was recorded; on x86 servers in hardware
    threads, as their tools count.
    """
    files: tuple[str, ...]
    ahead_s: float | None = None
    """How far the recorder's clock was ahead of UTC [s], from which its times are reckoned then;
    None where no recording tells it.
    """

    @property
    def sample_s(self) -> float:
        """Length of a usual sample [s]."""
        return float(np.median(self.ends - self.starts))

    @property
    def memory_bytes(self) -> int | None:
        """What it has; None where no recording tells it."""
        told = self.partition.memory_bytes
        return None if told is None else told.value

    @property
    def called(self) -> tuple[str, ...]:
        """Names by which options may mean it: its own, and of its server key, model, processor."""
        of = self.system
        told = () if of is None else (of.model, of.processor)
        keys = [] if of is None else [of.key]
        return (self.name, *keys, *(one.value for one in told if one is not None))

    def is_meant_by(self, pattern: str) -> bool:
        """Whether one of its names, or a file of its, matches a pattern with `*`."""
        return any(fnmatch.fnmatch(name, pattern) for name in (*self.called, *self.files))


def closest(named: Mapping[str, Value], means: Callable[[str], bool]) -> Value | None:
    """What is said of something by the closest of the patterns that mean it: a name before one with
    `*`, a longer one before a shorter, so that their order does not matter.
    """
    meant = [pattern for pattern in named if means(pattern)]
    if not meant:
        return None
    return named[min(meant, key=lambda pattern: ("*" in pattern, -len(pattern)))]


def demands(
    facts: Facts, zones: Mapping[str, str], notices: list[Notice], told_in: str = "UTC"
) -> list[Demand]:
    """A demand for each partition that was recorded, by name; `zones` are time zones by pattern of
    a partition or file, `*` for all, in which their times were printed.

    Raises `ListingError` where nothing was recorded, where two recordings of a partition tell
    different things of one time, and where a time zone that nobody tells is needed: beside others
    that are known, or to tell hours in the zone `told_in`.
    """
    by_key: dict[tuple[str | None, str], list[Series]] = {}
    for one in facts.series:
        if len(one.table):
            by_key.setdefault((one.system, one.partition), []).append(one)
    found: list[Demand] = []
    for key, several in by_key.items():
        chosen = of_one_kind(key[1], several, notices)
        found.append(_demand(facts, key, chosen))
    named = _named_apart([one for one in found if len(one.cores)])
    found = [one for one in _zoned(named, zones, notices, told_in) if len(one.cores)]
    if not found:
        raise ListingError(
            "nothing in the files tells how many cores a partition used",
            next_step="give recordings such as those of nmon, lparstat or sar",
        )
    return sorted(found, key=lambda one: one.name)


def _demand(facts: Facts, key: tuple[str | None, str], several: Sequence[Series]) -> Demand:
    server, name = key
    partition = facts.partitions.get(key, PartitionFacts(name, server))
    of = facts.systems.get(server) if server is not None else None
    if of is None and server is None and len(facts.systems) == 1:
        of = next(iter(facts.systems.values()))
    files = np.concatenate([np.full(len(one.table), at) for at, one in enumerate(several)])
    ahead = {one.ahead_s is None for one in several}
    if len(ahead) > 1:
        zoned, plain = (
            [one.file for one in several if (one.ahead_s is None) == no] for no in (0, 1)
        )
        raise ListingError(
            f"{name}: {listed(plain, 3)} tells no time zone, {listed(zoned, 3)} does",
            next_step="give recordings of one clock, or name two partitions apart",
        )
    parts = [_columns(one) for one in several]
    starts, ends, cores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    sound = (ends > starts) & (ends - starts < _LONGEST_S) & (cores >= 0) & (cores < _MOST_CORES)
    order = np.lexsort((files[sound], ends[sound]))
    columns = [each[sound][order] for each in (starts, ends, cores)]
    told = files[sound][order]
    kept = _once(name, columns, told, [one.file for one in several])
    starts, ends, cores = (each[kept] for each in columns)
    # A clock that drifts lets samples touch: what was told of a moment first is kept.
    starts = np.maximum(starts, np.concatenate(([-np.inf], ends[:-1])))
    used = [several[at].file for at in np.unique(told[kept])]
    known = None if ahead == {True} else 0.0
    return Demand(name, partition, of, starts, ends, cores, tuple(used), known)


def _columns(series: Series) -> tuple[Numbers, Numbers, Numbers]:
    """Starts, ends [s since 1970, in UTC where the zone is told] and cores; what is not known is
    NaN.
    """
    table = series.table.select(
        pl.col("time").cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64),
        pl.col("seconds", "cores").cast(pl.Float64),
    )
    columns = (table[name].fill_null(np.nan).to_numpy() for name in ("time", "seconds", "cores"))
    ends, seconds, cores = columns
    ends = ends / 1e6 - (series.ahead_s or 0.0)
    return ends - seconds, ends, cores


def _once(
    name: str, columns: Sequence[Numbers], told: NDArray[np.int64], files: Sequence[str]
) -> NDArray[np.bool_]:
    """Which samples to keep of those in order of their ends: a recording that was given twice
    counts once. Raises `ListingError` for two that tell different things.
    """
    starts, ends, cores = columns
    kept = np.ones(len(ends), dtype=bool)
    shared = ends[:-1] - starts[1:]
    lengths = ends - starts
    shorter = np.minimum(lengths[1:], lengths[:-1])
    for at in np.flatnonzero(shared > _OUT_OF_STEP * shorter) + 1:
        before = at - 1
        while before > 0 and not kept[before]:
            before -= 1
        alike = lengths[at] < 2 * lengths[before] < 4 * lengths[at]
        same = abs(ends[at] - ends[before]) < 1 and abs(cores[at] - cores[before]) < _SAME
        if not (same and alike):
            when = dt.datetime.fromtimestamp(starts[at], dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
            both = sorted({files[told[before]], files[told[at]]})
            raise ListingError(
                f"{name}: {' and '.join(both)} tell{'s' if len(both) == 1 else ''} of the same"
                f" time, from {when} on, and not the same: {cores[before]:.3f} and"
                f" {cores[at]:.3f} cores",
                next_step="give one of them, or if they are two partitions, name them apart",
            )
        kept[at] = False
    return kept


def _named_apart(found: Sequence[Demand]) -> list[Demand]:
    """Partitions of one name on several servers get their server's key as well."""
    names = [one.name for one in found]
    return [
        one if names.count(one.name) == 1 else _renamed(one, f"{one.name}-{one.partition.system}")
        for one in found
    ]


def _renamed(one: Demand, name: str) -> Demand:
    return Demand(**{**vars(one), "name": name})


def _zoned(
    found: Sequence[Demand], zones: Mapping[str, str], notices: list[Notice], told_in: str
) -> list[Demand]:
    """The same in UTC, where zones are said."""
    for pattern in zones:
        if not any(one.is_meant_by(pattern) for one in found):
            names = [one.name for one in found]
            raise NotFoundError(
                f"--zone: no partition or file is {pattern}{nearest(pattern, names)}"
            )
    moved: list[Demand] = []
    plain: list[str] = []
    known: list[str] = []
    for one in found:
        zone = closest(zones, one.is_meant_by)
        if zone is not None and one.ahead_s is not None:
            text = f"{one.name}: its recordings tell their time zone, --zone does not move them"
            notices.append(Notice(text))
            zone = None
        (plain if zone is None and one.ahead_s is None else known).append(one.name)
        moved.append(one if zone is None else _in_utc(one, zone, notices))
    if plain and (known or told_in != "UTC"):
        raise _unzoned(plain, known, told_in)
    if plain:
        text = "times count as they are printed, all of one clock: recordings tell no time zone"
        notices.append(Notice(f"{text}; --zone NAME=ZONE says where one was recorded"))
    return moved


def _unzoned(plain: Sequence[str], known: Sequence[str], told_in: str) -> ListingError:
    """The error for recordings whose time zone is needed, and nobody tells it."""
    if known:
        return ListingError(
            f"nothing tells the time zone of {listed(plain, 4)}, that of {listed(known, 4)} is"
            " known",
            there="hours of different zones must not be added up",
            next_step=f"say it: --zone '{plain[0]}=Europe/Berlin', or --zone '*=UTC' if it is that",
        )
    return ListingError(
        f"--zone {told_in}: nothing tells the time zone that {listed(plain, 4)} were recorded in",
        there=f"their hours cannot be told in {told_in}",
        next_step=f"say it with --zone '*=ZONE' as well, such as --zone '*={told_in}' if they were"
        " recorded there",
    )


def _in_utc(one: Demand, zone: str, notices: list[Notice]) -> Demand:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        step = "write one of the IANA names, such as Europe/Berlin or UTC"
        raise InputError(f"--zone: there is no time zone {zone}", next_step=step) from error
    frame = pl.DataFrame({"at": one.ends}).select(
        (pl.col("at") * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
        .dt.replace_time_zone(zone, ambiguous="null", non_existent="null")
        .dt.convert_time_zone("UTC").dt.epoch("us").cast(pl.Float64)
    )  # fmt: skip
    ends = frame["at"].fill_null(np.nan).to_numpy() / 1e6
    sound = ~np.isnan(ends)
    if not sound.all():
        gone = int((~sound).sum())
        text = f"{one.name}: {gone} samples of the hour that {zone} has twice or not are left out"
        notices.append(Notice(text))
    starts = ends - (one.ends - one.starts)
    columns = {"starts": starts[sound], "ends": ends[sound], "cores": one.cores[sound]}
    return Demand(**{**vars(one), **columns})
