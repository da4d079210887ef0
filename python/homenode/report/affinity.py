"""Affinity scores of a frame, now and after a run of the Dynamic Platform Optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape

from homenode.model.numbers import NOTHING
from homenode.model.spec import chips_of
from homenode.report.places import frame_table, home_in_words, size_in_words
from homenode.report.tables import plain_table
from homenode.simulate.affinity.frame import in_words
from homenode.simulate.affinity.score import HOW
from homenode.tools.frame import frame_rows

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.model.catalog import MachineDescription
    from homenode.model.spec import Spec
    from homenode.simulate.affinity.frame import FrameAffinity

_GIB = 1 << 30


def affinity_tables(frame: FrameAffinity, machine: MachineDescription) -> list[Table]:
    """Who lies where, how near to each other, and what of it the run would change."""
    return [
        frame_table(frame_rows(frame.spec), machine),
        _now_table(frame, machine),
        _then_table(frame, machine),
    ]


def _homes(spec: Spec, machine: MachineDescription) -> Iterator[str]:
    for partition in spec["partitions"]:
        chips = {*chips_of(partition, machine.cores_per_chip)}
        yield home_in_words(sorted(chips), machine)


def _now_table(frame: FrameAffinity, machine: MachineDescription) -> Table:
    table = plain_table(
        "partition", "entitled", "memory", "local", "near", "far", "score", title="Affinity now"
    )
    table.add_column("home")
    for row, home in zip(frame.rows, _homes(frame.spec, machine), strict=True):
        apart = row.now.apart
        table.add_row(
            escape(row.partition),
            f"{row.entitlement:.2f}",
            size_in_words(row.memory_bytes),
            *(f"{100 * share:.0f} %" for share in (apart.local, apart.near, apart.far)),
            str(row.now.score),
            home,
        )
    return table


def _then_table(frame: FrameAffinity, machine: MachineDescription) -> Table:
    title = "After a run of the Dynamic Platform Optimizer"
    table = plain_table("partition", "local", "score", "moved", "an instruction", title=title)
    table.add_column("home")
    for row, home in zip(frame.rows, _homes(frame.spec_then, machine), strict=True):
        table.add_row(
            escape(row.partition),
            f"{100 * row.then.apart.local:.0f} %",
            str(row.then.score),
            size_in_words(row.moved_bytes) if row.moved_bytes else NOTHING,
            in_words(row),
            home,
        )
    return table


def affinity_lines(frame: FrameAffinity) -> list[str]:
    """What comes of it, and what the figures are."""
    now, then = frame.now, frame.then
    told = f"affinity score {now} of 100, after a run {then}"
    if not frame.moved_bytes:
        return [f"{frame.scenario}: {told}: nothing would move", HOW]
    lines = [f"{frame.scenario}: {told}; up to {frame.moved_bytes / _GIB:,.4g} GiB would move"]
    one, every = frame.saved_cores, frame.saved_cores_all
    if one is not None and every is not None:
        lines.append(
            f"the entitled capacity of all would do the same work with {_fewer(one)} cores if one "
            f"thread of each is busy, with {_fewer(every)} if all are"
        )
        lines.append("(the price of an instruction with that capacity busy at home; not simulated)")
    return [*lines, HOW]


def _fewer(cores: float) -> str:
    return f"{abs(cores):.2f} {'fewer' if cores >= 0 else 'more'}"
