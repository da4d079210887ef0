"""A day that was played, by the hour, and which hour binds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from homenode.model.numbers import NOTHING
from homenode.model.units import TIME
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.simulate.kept.hours import ByHour


def day_tables(day: ByHour) -> list[Table]:
    """The machine by the hour, and each partition at the hour that binds it."""
    return [_hours_table(day), _binding_table(day)]


def day_line(day: ByHour) -> str:
    """What was shortened."""
    extras = [hour.label for hour in day.hours[24:]]
    after = f", then {', '.join(extras)} as an hour" if extras else ""
    return f"a day of 24 hours{after}: each hour is played in {TIME.format(day.hour_ns)}"


def _hours_table(day: ByHour) -> Table:
    table = plain_table("hour", "cores", "of the machine", title="By the hour")
    table.add_column("most use")
    for hour in day.hours:
        share = 100 * hour.together / day.active_cores
        most = max(range(len(hour.cores)), key=lambda one: hour.cores[one])
        binds = " *" if hour is day.binding else ""
        table.add_row(
            escape(f"{hour.label}{binds}"),
            f"{hour.together:.2f}",
            f"{share:.1f} %",
            escape(f"{day.partitions[most]} {hour.cores[most]:.2f}"),
        )
    return table


def _binding_table(day: ByHour) -> Table:
    table = plain_table(
        "partition", "mean cores", "hour", "cores", "of", "response ms", title="The hour that binds"
    )
    for index, name in enumerate(day.partitions):
        if name in day.level:
            continue
        hour = day.binding_of(index)
        response = hour.response_ms[index]
        table.add_row(
            escape(name),
            f"{day.mean_of(index):.2f}",
            escape(hour.label),
            f"{hour.cores[index]:.2f}",
            str(day.processors[index]),
            NOTHING if response is None else f"{response:.2f}",
        )
    for name in day.level:
        table.add_row(escape(name), f"{day.mean_of(day.partitions.index(name)):.2f}", "any")
    return table
