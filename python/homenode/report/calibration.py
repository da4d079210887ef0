"""A fitted profile as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from homenode.records.calibrate.fitted import spell
from homenode.records.importing.facts import HOME_DISPATCHES, REDISPATCHES
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from homenode.records.calibrate import Fitted
    from homenode.records.calibrate.levels import Levels
    from homenode.records.calibrate.placement import Placed

_FAR = 3.0
_MUCH = 0.1
"""Change of the time by where threads were dispatched, from which on more is to be said."""


def calibration_tables(fitted: Fitted) -> list[Table]:
    """The parameters with their intervals, and the recorded figures beside the fitted ones."""
    table = plain_table("parameter", title="Fitted to the recording")
    for column in ("base", "value", "95 % interval"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("determined")
    for one in fitted.parameters:
        ends = f"{spell(one.name, one.low)} to {spell(one.name, one.high)}"
        table.add_row(
            escape(one.words),
            spell(one.name, one.base),
            spell(one.name, one.value),
            ends if one.determined else f"({ends})",
            escape("yes" if one.determined else f"no: {one.said}"),
        )
    figures = plain_table("recorded under", title="Recorded and fitted")
    for column in ("figure", "recorded", "fitted", "off", "in errors"):
        figures.add_column(column, justify="right", no_wrap=True)
    for row in fitted.deviations:
        figures.add_row(
            escape(row.condition),
            row.metric,
            f"{row.recorded:.5g}",
            f"{row.shown:.5g}",
            f"{100 * (row.shown / row.recorded - 1):+.2f} %",
            f"{row.errors:+.1f}",
        )
    placed = [one for one in fitted.placed if one.played is not None]
    return [table, figures, *([_placed_table(placed)] if placed else [])]


def _placed_table(placed: Sequence[Placed]) -> Table:
    """Where threads were dispatched, as `mpstat -d` has it, recorded and played."""
    table = plain_table("recorded under", title="Where threads were dispatched [%]")
    table.add_column("")
    for name in (*REDISPATCHES, *HOME_DISPATCHES):
        table.add_column(name.replace("s", "S", 1), justify="right", no_wrap=True)
    table.add_column("cs/s", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    for one in placed:
        change = f"{100 * (one.factor - 1):+.2f} %" if not one.why_not else "as played"
        table.add_row(escape(one.condition), "recorded", *_levels(one.recorded), change)
        if one.played is not None:
            table.add_row("", "played", *_levels(one.played), "")
    return table


def _placed_lines(one: Placed) -> Iterator[str]:
    """What is to be said of dispatches that were not priced, or are far from those played."""
    if one.why_not:
        yield f"{one.condition}: where its threads ran is taken as played, for {one.why_not}."
    elif one.played is not None and abs(one.factor - 1) > _MUCH:
        yield (
            f"{one.condition}: its threads were dispatched so unlike those played that the priced"
            f" difference is {100 * (one.factor - 1):+.0f} % of the time; homes and neighbours as"
            " they were, in a scenario named with --scenario, would tell more."
        )


def _levels(levels: Levels) -> list[str]:
    home = levels.home or (None,) * len(HOME_DISPATCHES)
    shares = ["-" if one is None else f"{100 * one:.1f}" for one in (*levels.redispatches, *home)]
    rate = "-" if levels.per_s is None else f"{levels.per_s['cs']:,.0f}"
    return [*shares, rate]


def calibration_lines(fitted: Fitted) -> Iterator[str]:
    """What else there is to say."""
    sizes = ", ".join(f"{value:.3g}" for value in fitted.singular)
    yield (
        f"Sensitivities: {sizes} standard errors over the parameters' ranges along their"
        " independent directions; below 2 a direction is not determined."
    )
    if fitted.stall_share is not None:
        yield f"At the fit {100 * fitted.stall_share:.1f} % of the cycles wait for cache lines."
    if not any(one.determined for one in fitted.parameters):
        yield "What was recorded determines none of them: the profile is the base's."
    for one in fitted.placed:
        yield from _placed_lines(one)
    if fitted.quality > _FAR:
        yield (
            f"The fit is {fitted.quality**0.5:.1f} times worse than the figures' errors allow:"
            " something else than these parameters differs. The intervals are that much wider."
        )
    yield from fitted.notes
