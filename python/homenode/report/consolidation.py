"""A consolidation in tables and sentences: cores, days and partitions left first of all."""

from __future__ import annotations

from collections.abc import Iterator

from rich.markup import escape
from rich.table import Table

from homenode.errors import listed
from homenode.planner.consolidation.answer import AfterLoss, Consolidation, PlacedPartition
from homenode.planner.consolidation.grid import weekday
from homenode.planner.consolidation.growth import HORIZON_DAYS, DaysLeft, Trend
from homenode.planner.consolidation.what_if import MOST_COPIES
from homenode.records.importing.telling import noted
from homenode.report.tables import plain_table

_GIB = 2**30
_CLUSTERED = 0.5
"""Share of the steps beyond the percentile from which on a few days that hold them are told."""
_FAR = 1.05
"""So much more than the percentile the most must be for that."""
_MOST = 3
"""Partitions of which is told on screen how many more fit; --json has all."""


def answer_lines(of: Consolidation) -> list[str]:
    """The answer in short: what is left, for how long, for whom."""
    return [*_capacity(of), *_days(of), _more(of), *_losses(of)]


def _capacity(of: Consolidation) -> Iterator[str]:
    peaks = of.peaks
    count = len(of.partitions)
    yield f"{count} partition{'s' if count > 1 else ''}: {of.verdict}"
    yield (
        f"cores to license: {of.licensed}, for {peaks.of_sums:.1f} {of.unit} at the"
        f" {_percentile(of.percentile)} of their sum; each on its own would need"
        f" {peaks.sum_of:.1f}, the mean is {peaks.mean:.1f}, the most {peaks.largest:.1f}"
    )
    if of.fits and of.fewest is not None and of.fewest < len(of.machines):
        yield f"fewest machines: {of.fewest} of these {len(of.machines)} would do"


def _days(of: Consolidation) -> Iterator[str]:
    if not of.days_left:
        yield f"days left: not told, {of.growth.why}"
    for one in of.days_left:
        yield f"days left: {_until(one)}, {_trend(one.trend, of.unit)}, {of.growth.why}"


def _until(one: DaysLeft) -> str:
    if one.trend.low == one.trend.high:
        return _days_text(one.days)
    ends = [_days_text(days) for days in (one.earliest, one.latest)]
    told = _days_text(one.days)
    return told if ends == [told, told] else f"{told} ({' to '.join(ends)})"


def _days_text(days: float) -> str:
    return f"{days:,.0f}" if days <= HORIZON_DAYS else f"over {HORIZON_DAYS}"


def _trend(one: Trend, unit: str) -> str:
    def rate(value: float) -> str:
        return f"{value:+.1%}" if one.kind == "compound" else f"{value:+.2f}"

    of = "compound" if one.kind == "compound" else f"{unit}, linear"
    band = "" if one.low == one.high else f" ({rate(one.low)} to {rate(one.high)})"
    return f"{rate(one.rate)}{band} a month {of}"


def _more(of: Consolidation) -> str:
    """Small, middle and large ones."""
    every = sorted(of.partitions, key=lambda one: (one.peak, one.name))
    picked: list[PlacedPartition] = []
    for at in (len(every) - 1, len(every) // 2, 0):
        if every[at] not in picked:
            picked.append(every[at])
    told = listed((f"{one.more:,} of {one.name} ({_peak(one)} {of.unit})" for one in picked), _MOST)
    return f"more that fit: {told}"


def _peak(one: PlacedPartition) -> str:
    return f"{one.peak:.2f}" if one.peak >= 0.005 else f"{one.peak:.1g}"


def _losses(of: Consolidation) -> Iterator[str]:
    if of.machine_lost is not None:
        yield f"a machine lost: {_after(of.machine_lost, of.unit)}"
    if of.node_lost is not None:
        yield f"a node lost: {_after(of.node_lost, of.unit)}"


def _after(lost: AfterLoss, unit: str) -> str:
    where = f"worst is {lost.lost}"
    if lost.fits:
        return f"they fit still; {where}, then {lost.left:.1f} {unit} are left on the fullest"
    if lost.left < 0:
        return f"they do not fit; {where}, then {-lost.left:.1f} {unit} are short on the fullest"
    return f"they do not fit; {where}, then memory is short"


def _percentile(of: float) -> str:
    if of == 100:
        return "highest step"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(int(of) % 10, "th") if of == int(of) else "th"
    return f"{of:g}{'th' if 10 < of % 100 < 14 else ending} percentile"


def binding_lines(of: Consolidation) -> list[str]:
    """Which hour of which day binds."""
    lines = [
        f"busiest hour: {one.day} {one.hour:02}:00, {one.cores:.1f} {of.unit}"
        for one in of.peaks.hours[:3]
    ]
    days = [(value, day) for day, value in enumerate(of.peaks.by_weekday) if value is not None]
    hours = [(value, hour) for hour, value in enumerate(of.peaks.by_hour) if value is not None]
    if days and hours:
        day, hour = max(days), max(hours)
        lines.append(
            f"by the week {weekday(day[1])} binds ({day[0]:.1f}), by the day"
            f" {hour[1]:02}:00 ({hour[0]:.1f}); counted are {of.hours}"
        )
    far = of.peaks.largest > _FAR * of.peaks.of_sums
    if far and of.peaks.beyond_share >= _CLUSTERED:
        lines.append(
            f"beyond the {_percentile(of.percentile)}: {of.peaks.beyond_share:.0%} of those steps"
            f" are on {listed(of.peaks.beyond)}, up to {of.peaks.largest:.1f}; --percentile 100"
            " holds them too"
        )
    return lines


def machines_table(of: Consolidation) -> Table:
    """A row a machine."""
    table = plain_table("machine", "holds", "peak", "of", "left", "license", "GiB", "of")
    table.add_column("fullest")
    for one in of.machines:
        target = one.target
        table.add_row(
            target.name,
            str(len(one.partitions)),
            f"{one.peak:.1f}",
            f"{target.units:g}",
            f"{one.left:.1f}",
            str(one.licensed),
            f"{one.memory_bytes / _GIB:,.0f}",
            f"{target.memory_bytes / _GIB:,.0f}",
            one.binds.strftime("%a %m-%d %H:%M"),
        )
    return table


def partitions_table(of: Consolidation) -> Table:
    """A row a partition, by machine, the largest first."""
    table = plain_table("partition")
    table.add_column("goes to")
    for head in ("mean", "peak", "GiB", "recorded", "factor", "more"):
        table.add_column(head, justify="right")
    places = [one.target.name for one in of.machines]
    rows = sorted(of.partitions, key=lambda one: (places.index(one.machine), -one.peak, one.name))
    for one in rows:
        memory = "-" if one.memory_bytes is None else f"{one.memory_bytes / _GIB:,.1f}"
        told = (f"{one.mean:.2f}", f"{one.peak:.2f}", memory, f"{one.recorded:.0%}")
        more = f"{one.more:,}" if one.more < MOST_COPIES else f"over {MOST_COPIES:,}"
        table.add_row(escape(one.name), one.machine, *told, f"{one.factor:.2f}", more)
    return table


def legend(of: Consolidation) -> list[str]:
    """What the columns are."""
    kept = f", {of.headroom:.0%} of each machine kept free" if of.headroom else ""
    sources = listed(dict.fromkeys(one.source for one in of.partitions), 4)
    work = f", doing {of.profile}" if any(not one.rated for one in of.partitions) else ""
    return [
        (
            f"peak: {_percentile(of.percentile)}, by steps of {of.step_s:g} s, in {of.unit} of the"
            f" machine{kept}; more: how many more such partitions fit"
        ),
        f"factor: what a core of {sources} is in those of the machine{work}",
    ]


def note_lines(of: Consolidation) -> list[str]:
    """What was assumed or left out."""
    return list(noted(of.notices))
