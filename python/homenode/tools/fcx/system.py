"""FCX102 SYSTEM: how often the system did what, in the two column groups of the original.

Of the original's rows only those that a simulation counts are shown.
"""

from __future__ import annotations

from typing import TypedDict

from homenode.tools.fcx.heading import heading
from homenode.tools.guestview import GuestView

_HEAD = f"{'Operation':<24} {'Count':>10} {'Rate/s':>9}"
_GAP = "   "


class Operation(TypedDict):
    """How often the system did something."""

    operation: str
    count: int
    rate_per_s: float


def rows(view: GuestView, partition: str, _every: bool = False) -> list[Operation]:
    """Each operation with its count and rate."""
    volumes = view.total("volume", partition)
    machines = view.total("virtual_machine", partition)
    counted = view.total("partition", partition)
    paging = view.zvm(partition)["paging"]
    transport = bool(paging and paging.get("transport"))
    ios = volumes.get("ios", 0)
    operations = {
        "Real SSCH": ios,
        "HPF reads": volumes.get("reads", 0) if transport else 0,
        "HPF writes": ios - volumes.get("reads", 0) if transport else 0,
        "Virtual CPU dispatches": machines.get("dispatches", 0),
        "Pages read": counted["pages_in"],
        "Pages written": counted["pages_out"],
    }
    return [
        {"operation": name, "count": count, "rate_per_s": count / view.seconds}
        for name, count in operations.items()
    ]


def render(view: GuestView, partition: str, _every: bool = False) -> str:
    """The report; rows run down the left group first."""
    told = rows(view, partition)
    half = (len(told) + 1) // 2
    lines = [heading(view, "FCX102"), "", f"{_HEAD}{_GAP}{_HEAD}"]
    for left, right in zip(told[:half], [*told[half:], None], strict=False):
        lines.append((_cells(left) + _GAP + (_cells(right) if right else "")).rstrip())
    return "\n".join(lines) + "\n"


def _cells(row: Operation) -> str:
    return f"{row['operation']:<24} {row['count']:>10d} {row['rate_per_s']:>9.1f}"
