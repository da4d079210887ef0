"""Partitions and virtual machines of a MONWRITE file, beside z/VM's own processors.

Places of the fields are those of records that are published in parts: of a virtual processor
(domain 4, record 3) its first fields, which are those of the record at logoff; of partitions
(domain 0, record 16) all, but for where an entry is padded and in which unit its times are. So
nothing is taken that the file does not bear out itself: what virtual machines were charged must be
what z/VM's processors worked for users, and z/VM's partition must have had the processors that
z/VM used, or all of them where they are dedicated.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from homenode.errors import Where
from homenode.records.importing.facts import Count, MachineFacts, Told
from homenode.records.importing.formats.fcxmachines import MOST_CPUS
from homenode.records.importing.formats.monwritetimes import (
    SUM,
    TICKS_PER_US,
    Span,
    moment,
    seconds,
)

_OF_PARTITION = 0.10
"""How far what PR/SM gave z/VM's partition may be from what z/VM used, as a share of it: what it
does to come and go is in the one and not in the other."""
_ROUNDING = 1.02
"""Most of an interval that a processor may be told to have been held: records of it have times of
their own."""
_MOST_WEIGHT = 999
"""What PR/SM takes as the weight of a shared partition."""

Row = tuple[str, datetime, float, float, int]
"""Name, end of the sample, cores, its length [s], line."""
Vcpu = tuple[str, int]
"""Name of a virtual machine, number of its virtual processor."""


def machines_of(
    users: Iterable[Mapping[str, Any]], spans: Sequence[Span], where: Where
) -> tuple[tuple[MachineFacts, ...], str | None]:
    """Virtual machines with the processors that they were charged over all spans, the first of
    which counts from zero where it logged on between; or why none is told.
    """
    at: dict[int, dict[Vcpu, int]] = defaultdict(dict)
    for one in users:
        at[one["interval"]][one["name"], one["address"]] = one["charged"]
    if not at:
        return (), None
    used: Counter[str] = Counter()
    told = charged = 0.0
    length = 0
    for span in spans:
        then, now = at.get(span.first, {}), at.get(span.last, {})
        gone = {one: _gone(then.get(one, 0), ticks) for one, ticks in now.items()}
        sound = all(ticks <= _ROUNDING * span.ticks for ticks in gone.values())
        if not sound:
            continue
        length += span.ticks
        for (name, _), ticks in gone.items():
            used[name] += ticks
        if then.keys() == now.keys():
            told += sum(gone.values())
            charged += span.charged
    if charged <= 0 or abs(told - charged) > SUM * charged:
        found = f"{seconds(told):.2f} s" if charged > 0 else "nothing that can be compared"
        return (), (
            "records of virtual machines are left out: they were charged "
            f"{found} where z/VM's processors worked {seconds(charged):.2f} s for users"
        )
    counts = _processors(at.values())
    return tuple(
        MachineFacts(Told(name, where), Told(used[name] / length, where), _virtual(count, where))
        for name, count in counts.items()
        if name in used
    ), None


def _gone(then: int, now: int) -> int:
    """Charged between two records; one that is smaller is of a machine that logged on anew."""
    return now - then if now >= then else now


def _processors(all_of: Iterable[Mapping[Vcpu, int]]) -> dict[str, int]:
    """The most virtual processors that each had, in the order in which they are first told."""
    most: dict[str, int] = {}
    for interval in all_of:
        for name, count in Counter(name for name, _ in interval).items():
            most[name] = max(count, most.get(name, 0))
    return most


def _virtual(count: int, where: Where) -> Count | None:
    return Told(count, where) if count <= MOST_CPUS else None


@dataclass(frozen=True)
class PartitionOf:
    """A partition of the machine, as PR/SM told z/VM of it."""

    name: str
    number: int
    logical: int
    """Logical processors of the type of which it has most."""
    kind: str
    """That type."""
    others: tuple[str, ...]
    """Types of others, which are left out."""
    weight: int | None
    """Weight of that type; none if it is none that a shared one can have."""


@dataclass(frozen=True)
class _Held:
    """A logical processor at the end of an interval."""

    time: int
    held: int
    kind: str
    weight: int


_Intervals = Mapping[int, Mapping[str, Mapping[int, _Held]]]
"""Logical processors by the number of the interval, the partition's name and their own number."""


def partitions_of(
    records: Iterable[Mapping[str, Any]], spans: Sequence[Span], own: str
) -> tuple[list[PartitionOf], list[Row], str | None]:
    """Partitions that are active and what each but z/VM's own used by interval, or why none is
    told. The name is that of the partition that z/VM runs in, empty if it is not known.
    """
    at: dict[int, dict[str, dict[int, _Held]]] = defaultdict(lambda: defaultdict(dict))
    numbers: dict[str, int] = {}
    for one in records:
        numbers.setdefault(one["name"], one["number"])
        for each in one["processors"]:
            held = _Held(one["time_of_day"], each["held"], each["kind"], each["weight"])
            at[one["interval"]][one["name"]][each["address"]] = held
    if not at:
        return [], [], None
    unit = _unit(at, spans, own)
    if unit is None:
        return (
            [],
            [],
            (
                "records of partitions are left out: what they tell of "
                f"{own or 'the partition with z/VM, whose name is not known,'} is not what z/VM's "
                "processors used"
            ),
        )
    found = [_partition(name, number, at) for name, number in numbers.items()]
    active = [one for one in found if one is not None]
    rows = [row for one in active if one.name != own for row in _rows(one, at, unit)]
    return active, rows, None


def _unit(at: _Intervals, spans: Sequence[Span], own: str) -> int | None:
    """Ticks of a unit of time of logical processors, as z/VM's own partition bears out."""
    for unit in (1, TICKS_PER_US):
        held = worked = all_of = 0.0
        for span in spans:
            then, now = (at.get(one, {}).get(own, {}) for one in (span.first, span.last))
            if then and then.keys() == now.keys():
                held += unit * sum(now[each].held - then[each].held for each in now)
                worked += span.worked
                all_of += span.ticks * len(now)
        for told in (worked, all_of):
            if told > 0 and abs(held - told) <= _OF_PARTITION * told:
                return unit
    return None


def _partition(name: str, number: int, at: _Intervals) -> PartitionOf | None:
    last = next((one[name] for one in reversed(list(at.values())) if one.get(name)), None)
    if not name or not last:
        return None
    kinds = Counter(one.kind for one in last.values())
    kind, logical = kinds.most_common(1)[0]
    weights = {one.weight for one in last.values() if one.kind == kind}
    weight = weights.pop() if len(weights) == 1 else 0
    others = tuple(sorted(kinds.keys() - {kind}))
    told = weight if 0 < weight <= _MOST_WEIGHT else None
    return PartitionOf(name, number, logical, kind, others, told)


def _rows(one: PartitionOf, at: _Intervals, unit: int) -> Iterable[Row]:
    """What its logical processors had by interval; none where they changed or had more than all."""
    before: Mapping[int, _Held] = {}
    for interval in at.values():
        now = {
            address: each
            for address, each in interval.get(one.name, {}).items()
            if each.kind == one.kind
        }
        then, before = before, now
        if not then or then.keys() != now.keys():
            continue
        span = max(each.time for each in now.values()) - max(each.time for each in then.values())
        held = [unit * (now[each].held - then[each].held) for each in now]
        if span > 0 and all(0 <= each <= _ROUNDING * span for each in held):
            end = moment(max(each.time for each in now.values()))
            yield one.name, end, sum(held) / span, seconds(span), 0
