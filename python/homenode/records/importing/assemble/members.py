"""Whom a scenario is made of: the partitions of a server, and what was recorded of each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from homenode.errors import listed
from homenode.records.importing.assemble.options import AssembleOptions
from homenode.records.importing.assemble.whole import whole
from homenode.records.importing.assemble.windows import Recorded, recorded
from homenode.records.importing.facts import Facts, PartitionFacts, Series, SystemFacts
from homenode.records.importing.opening.sources import ListingError, Notice

Key = tuple[str | None, str]
"""Server and name of a partition."""


def members(
    facts: Facts, options: AssembleOptions
) -> tuple[SystemFacts | None, list[PartitionFacts]]:
    """The server and its partitions; those of no server belong to the only one."""
    every = {**facts.partitions}
    for series in facts.series:
        key = (series.system, series.partition)
        every.setdefault(key, PartitionFacts(series.partition, series.system))
    keys = list(dict.fromkeys(key for key, _ in every if key is not None))
    keys += [key for key in facts.systems if key not in keys and not every]
    if options.system is not None:
        if options.system not in {*keys, *facts.systems}:
            raise ListingError(
                f'no file tells of a server "{options.system}"', there=f"there is {listed(keys)}"
            )
        keys = [options.system]
    elif len(keys) > 1 and options.machine is None:
        raise ListingError(
            f"the files tell of {len(keys)} servers: {listed(keys)}",
            next_step="name one with --system, or put all on one machine with --machine",
        )
    members = [one for (key, _), one in every.items() if key is None or key in keys]
    system = facts.systems.get(keys[0]) if len(keys) == 1 else None
    if system is None and not keys and len(facts.systems) == 1:
        system = next(iter(facts.systems.values()))
    if members:
        return system, [_with_threads(one, system) for one in members]
    system, alone = whole(facts, system)
    return system, [alone]


def _with_threads(one: PartitionFacts, system: SystemFacts | None) -> PartitionFacts:
    """Of a system that is a whole server, threads are those of its cores."""
    told = None if system is None else system.threads_per_core
    alone = one.entitlement is None and (one.mode is None or one.mode.value == "dedicated")
    if told is None or not alone or one.smt or one.virtual or one.logical is None:
        return one
    return replace(one, smt=told) if one.logical.value % told.value == 0 else one


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
        chosen = _of_one_kind(key[1], several, notices)
        own = recorded(chosen, begin) if chosen else None
        if own is None or not own.samples:
            continue
        found[key] = own
    _remark(list(found.values()), notices)
    return begin, found


def _start(series: Series) -> dt.datetime | None:
    for time, seconds in zip(series.table["time"], series.table["seconds"], strict=True):
        if isinstance(time, dt.datetime) and seconds is not None and 0 < seconds < 1e9:
            return time - dt.timedelta(seconds=seconds)
    return None


def _of_one_kind(name: str, series: Sequence[Series], notices: list[Notice]) -> list[Series]:
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
