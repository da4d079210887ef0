"""Recorded series of all partitions put on one clock: windows of the same times for all of them.

Series that were sampled at the same moments, or a single one, keep their samples as windows, so
that a replay is held against the very figures that were printed. Others are spread over windows of
equal length, each sample over those that it covers. Windows in which nothing was recorded are left
out.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from homenode.errors import listed
from homenode.records.importing.facts import Facts, PartitionFacts, Quantity, Series
from homenode.records.importing.opening.sources import ListingError, Notice

Key = tuple[str | None, str]
"""Server and name of a partition."""
_FACTORS = (1, 2, 3, 4, 6, 12, 24, 36, 48, 72, 144, 288, 576, 1152, 2304, 4608, 9216)
_MOST_COVERED = 0.5
"""Share of a window that must be recorded for it to count."""
_MOST_WINDOWS = 1_000_000
_OUT_OF_STEP = 0.5
"""A pause between two samples is a gap if it is longer than this share of one."""


@dataclass(frozen=True)
class Sample:
    """Recorded use in one piece of time; seconds since the first of all."""

    start: float
    end: float
    cores: float
    folded: float | None = None

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


@dataclass(frozen=True)
class Recorded:
    """All that was recorded of a partition, in the order of time and without overlap."""

    partition: str
    quantity: Quantity
    samples: tuple[Sample, ...]
    overlapping: int = 0
    """Samples left out because another had recorded the same time."""
    gaps: int = 0

    @property
    def mean(self) -> float:
        """Cores, over the recorded time."""
        seconds = sum(one.seconds for one in self.samples)
        return sum(one.cores * one.seconds for one in self.samples) / seconds if seconds else 0.0

    @property
    def length(self) -> float:
        """Of a usual sample [s]."""
        return median(one.seconds for one in self.samples)


@dataclass(frozen=True)
class Window:
    """What a partition used in a window; None where it was not recorded."""

    cores: float | None
    folded: float | None = None


@dataclass(frozen=True)
class Windows:
    """The windows of all partitions."""

    begin: dt.datetime
    ends: tuple[float, ...]
    """End of each window [s since `begin`]."""
    seconds: tuple[float, ...]
    """Length of each."""
    partitions: Mapping[str, tuple[Window, ...]]
    merged: int
    """Samples in a window; 0 where samples were spread over windows of equal length."""
    left_out: int
    """Windows in which nothing was recorded."""
    starts: tuple[float, ...]
    """When each began; pauses within a window that holds several samples are in it."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.ends)


def recorded_of(
    facts: Facts, every: Sequence[PartitionFacts], notices: list[Notice]
) -> tuple[dt.datetime, dict[Key, Recorded]]:
    """What was recorded of each partition, and the first moment of all."""
    by_partition: dict[Key, list[Series]] = {(one.system, one.name): [] for one in every}
    for series in facts.series:
        key = (series.system, series.partition)
        if key in by_partition and len(series.table):
            by_partition[key].append(series)
    starts = [
        start
        for several in by_partition.values()
        for one in several
        if (start := _start(one)) is not None
    ]
    begin = min(starts, default=dt.datetime(1970, 1, 1))  # noqa: DTZ001 - as recorded, zoneless
    found: dict[Key, Recorded] = {}
    for key, several in by_partition.items():
        chosen = of_one_kind(key[1], several, notices)
        own = recorded(chosen, begin) if chosen else None
        if own is None or not own.samples:
            continue
        found[key] = own
    _remark(list(found.values()), notices)
    return begin, found


def pauses(facts: Facts) -> Iterator[tuple[str, dt.datetime, dt.datetime]]:
    """Which partition was not recorded from when to when, between samples of it."""
    begin, found = recorded_of(facts, list(facts.partitions.values()), [])
    for one in found.values():
        for before, after in pairwise(one.samples):
            if after.start - before.end > _OUT_OF_STEP * after.seconds:
                ends = (begin + dt.timedelta(seconds=at) for at in (before.end, after.start))
                yield one.partition, next(ends), next(ends)


def _start(series: Series) -> dt.datetime | None:
    for time, seconds in zip(series.table["time"], series.table["seconds"], strict=True):
        if isinstance(time, dt.datetime) and seconds is not None and 0 < seconds < 1e9:
            return time - dt.timedelta(seconds=seconds)
    return None


def of_one_kind(name: str, series: Sequence[Series], notices: list[Notice]) -> list[Series]:
    """Series of one quantity: cores it was on count before time in which it was busy."""
    kinds = {one.quantity for one in series}
    if len(kinds) < 2:
        return list(series)
    left = [one.file for one in series if one.quantity != "physc"]
    notices.append(Notice(f"{name}: physc counts; what {listed(left)} tell is left out"))
    return [one for one in series if one.quantity == "physc"]


def _remark(every: Sequence[Recorded], notices: list[Notice]) -> None:
    twice = [one for one in every if one.overlapping]
    if twice:
        count = sum(one.overlapping for one in twice)
        text = f"{count} samples of {_partitions(twice)} tell of time that others had told of"
        notices.append(Notice(f"{text}; the first count"))
    paused = [one for one in every if one.gaps]
    if paused:
        count = sum(one.gaps for one in paused)
        pauses = "pause" if count == 1 else "pauses"
        text = f"{count} {pauses} in the recordings of {_partitions(paused)}"
        notices.append(Notice(f"{text}: nothing was recorded there"))


def _partitions(every: Sequence[Recorded]) -> str:
    return listed((one.partition for one in every), 4)


def recorded(series: Sequence[Series], begin: dt.datetime) -> Recorded:
    """The series of one partition as one; where two tell of the same time the first counts."""
    found: list[Sample] = []
    for one in series:
        found += _samples(one, begin)
    ordered = sorted(enumerate(found), key=lambda entry: (entry[1].end, entry[0]))
    kept: list[Sample] = []
    overlapping = gaps = 0
    for _, sample in ordered:
        before = kept[-1].end if kept else sample.start
        if sample.end - before < 0.5 * sample.seconds:
            overlapping += 1
            continue
        gaps += bool(kept) and sample.start - before > _OUT_OF_STEP * sample.seconds
        start = max(sample.start, before)
        kept.append(Sample(start, sample.end, sample.cores, sample.folded))
    name, quantity = series[0].partition, series[0].quantity
    return Recorded(name, quantity, tuple(kept), overlapping, gaps)


def _samples(series: Series, begin: dt.datetime) -> list[Sample]:
    table = series.table
    folded = table["folded"].to_list() if "folded" in table.columns else [None] * len(table)
    rows = zip(table["time"], table["seconds"], table["cores"], folded, strict=True)
    found = []
    for time, seconds, cores, gone in rows:
        if None in (time, seconds, cores) or not 0 < seconds < 1e9 or not 0 <= cores < 1e6:
            continue
        end = (time - begin).total_seconds()
        found.append(Sample(end - seconds, end, cores, None if gone is None else float(gone)))
    return found


def put_together(
    every: Sequence[Recorded], begin: dt.datetime, most: int, window: float | None
) -> Windows:
    """Windows for all partitions, at most about `most` of them; of `window` seconds, if given."""
    first = every[0].samples
    ends = [sample.end for sample in first]
    alike = all([sample.end for sample in one.samples] == ends for one in every)
    if alike and (window is None or abs(window - every[0].length) < 0.5):
        merge = 1 if window is not None else _factor(len(ends), most)
        return _merged(every, begin, merge)
    length = window
    if length is None:
        usual = max(1e-3, round(median(one.length for one in every), 3))
        span = _last(every) - _first(every)
        length = usual * _factor(round(span / usual), most)
    return _spread(every, begin, length)


def _factor(count: int, most: int) -> int:
    return next((factor for factor in _FACTORS if count / factor <= most), _FACTORS[-1])


def _first(every: Sequence[Recorded]) -> float:
    return min(one.samples[0].start for one in every)


def _last(every: Sequence[Recorded]) -> float:
    return max(one.samples[-1].end for one in every)


def _merged(every: Sequence[Recorded], begin: dt.datetime, merge: int) -> Windows:
    """So many samples to a window, the same of every partition."""
    first = every[0].samples
    groups = [range(at, min(at + merge, len(first))) for at in range(0, len(first), merge)]
    windows = {
        one.partition: tuple(_together([one.samples[at] for at in group]) for group in groups)
        for one in every
    }
    seconds = tuple(sum(first[at].seconds for at in group) for group in groups)
    ends = tuple(first[group[-1]].end for group in groups)
    starts = tuple(first[group[0]].start for group in groups)
    return Windows(begin, ends, seconds, windows, merge, 0, starts)


def _together(samples: Sequence[Sample]) -> Window:
    if len(samples) == 1:
        return Window(samples[0].cores, samples[0].folded)
    seconds = sum(one.seconds for one in samples)
    cores = sum(one.cores * one.seconds for one in samples) / seconds
    folded = [one.folded for one in samples]
    known = [gone for gone in folded if gone is not None]
    mean = sum(known) / len(known) if len(known) == len(folded) else None
    return Window(cores, mean)


def _spread(every: Sequence[Recorded], begin: dt.datetime, length: float) -> Windows:
    """Windows of one length, from the first sample's start on."""
    start = _first(every)
    count = max(1, round((_last(every) - start) / length + 0.49))
    if count > _MOST_WINDOWS:
        days = (_last(every) - start) / 86_400
        raise ListingError(
            f"the recordings reach over {days:,.0f} days, {count:,} windows of {length:g} s",
            next_step="import recordings of the same time together, or name a longer --window",
        )
    shares = {one.partition: _shares(one, start, length, count) for one in every}
    told = [any(row[at].cores is not None for row in shares.values()) for at in range(count)]
    kept = [at for at, known in enumerate(told) if known]
    partitions = {name: tuple(row[at] for at in kept) for name, row in shares.items()}
    ends = tuple(start + (at + 1) * length for at in kept)
    left_out = kept[-1] + 1 - len(kept) if kept else 0
    starts = tuple(start + at * length for at in kept)
    return Windows(begin, ends, (length,) * len(kept), partitions, 0, left_out, starts)


def _shares(of: Recorded, start: float, length: float, count: int) -> list[Window]:
    """What each window holds of the samples of a partition."""
    covered, cores = [0.0] * count, [0.0] * count
    folded: list[float | None] = [0.0] * count
    for sample in of.samples:
        first = max(0, int((sample.start - start) / length))
        last = min(count - 1, int((sample.end - start) / length))
        for at in range(first, last + 1):
            begins = start + at * length
            inside = min(sample.end, begins + length) - max(sample.start, begins)
            if inside <= 0:
                continue
            covered[at] += inside
            cores[at] += sample.cores * inside
            gone = folded[at]
            known = gone is not None and sample.folded is not None
            folded[at] = (
                gone + (sample.folded or 0.0) * inside if known and gone is not None else None
            )
    found = []
    for at in range(count):
        if covered[at] < _MOST_COVERED * length:
            found.append(Window(None))
            continue
        gone = folded[at]
        mean = None if gone is None else gone / covered[at]
        found.append(Window(cores[at] / covered[at], mean))
    return found
