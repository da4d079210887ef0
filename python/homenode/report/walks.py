"""Walks through memory as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from homenode.evidence.compare.walk import gain_pct
from homenode.model.numbers import signed
from homenode.model.units import SIZE
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.evidence.compare.walk import WalkResult

CAUSES = ("core", "store", "link", "fetch")
"""What the time of a line is made of, in the order of the table."""


def walk_table(
    machine: str,
    pattern: str,
    rows: Sequence[tuple[int, WalkResult]],
    base: tuple[str, Sequence[WalkResult]] | None = None,
) -> Table:
    """A row a buffer size: where it lives, what a line costs and why, how fast that is; with `base`
    also how much faster than another machine.
    """
    columns = ["buffer", "level", "latency ns", "ns/line", *CAUSES, "GB/s"]
    if base is not None:
        columns += [f"{base[0]} level", "GB/s", "gain"]
    table = plain_table(*columns, title=f"{machine}: {pattern}")
    for index, (size, walked) in enumerate(rows):
        cells = [SIZE.format(size), walked.level, _ns(walked.latency_ns), _ns(walked.line_ns)]
        cells += [_ns(walked.parts[cause]) for cause in CAUSES] + [_ns(walked.gb_per_s)]
        if base is not None:
            other = base[1][index]
            gain = signed(gain_pct(walked, other), 1, " %")
            cells += [other.level, _ns(other.gb_per_s), gain]
        table.add_row(*cells)
    return table


def walk_json(
    machine: str, pattern: str, size: int, walked: WalkResult, base: WalkResult | None
) -> dict[str, object]:
    """The same as plain data, of one size."""
    answer: dict[str, object] = {
        "machine": machine,
        "pattern": pattern,
        "buffer_bytes": size,
        "footprint_bytes": walked.footprint_bytes,
        "level": walked.level,
        "latency_ns": walked.latency_ns,
        "line_ns": walked.line_ns,
        "parts_ns": walked.parts,
        "bytes_per_s": walked.units_per_s,
    }
    if base is not None:
        answer |= {
            "base_level": base.level,
            "base_bytes_per_s": base.units_per_s,
            "gain_pct": gain_pct(walked, base),
        }
    return answer


def _ns(value: float) -> str:
    return f"{value:,.2f}"
