"""A fitted profile as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from homenode.calibrate.fitted import spell
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from homenode.calibrate import Fitted

_FAR = 3.0


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
    return [table, figures]


def calibration_lines(fitted: Fitted) -> Iterator[str]:
    """What else there is to say."""
    sizes = ", ".join(f"{value:.3g}" for value in fitted.singular)
    yield (
        f"Sensitivities: {sizes} standard errors over the parameters' ranges along their"
        " independent directions; below 2 a direction is not determined."
    )
    if fitted.stall_share is not None:
        yield f"At the fit {100 * fitted.stall_share:.1f} % of the cycles wait for cache lines."
    if fitted.quality > _FAR:
        yield (
            f"The fit is {fitted.quality**0.5:.1f} times worse than the figures' errors allow:"
            " something else than these parameters differs. The intervals are that much wider."
        )
    yield from fitted.notes
