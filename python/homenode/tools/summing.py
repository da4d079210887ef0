"""Kept rows added up over windows of time, where they are kept: only what is shown is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from homenode.simulate.kept.rows import column_names, names, select

if TYPE_CHECKING:
    from homenode.simulate.kept.rows import Source

GAUGES = frozenset({"tx_inside", "vps_unfolded", "cores", "vp"})
"""What is read at the end of an interval: of a window its last value counts."""
MAXIMA = frozenset({"cede_max_ns"})
"""What is the longest of an interval: of a window the longest counts."""
_KEYS = frozenset({"time_ns", "replication", "partition", "pool"})

Summed = dict[int, list[dict[str, int]]]
"""By number of the window, its rows in the order of their keys."""


@dataclass(frozen=True)
class Rows:
    """Rows of an interval table."""

    source: Source
    only: Mapping[str, int] = field(default_factory=dict)
    """Which rows of it: values of columns."""

    @property
    def where(self) -> str:
        """The choice, for a question."""
        return " AND ".join(["true", *(f"{name} = {value}" for name, value in self.only.items())])


def intervals_kept(rows: Rows) -> int:
    """How many intervals there are."""
    ((count,),) = select("count(DISTINCT time_ns)", rows.source, f"WHERE {rows.where}")
    return int(count)


def summed(rows: Rows, keys: Sequence[str], window_ns: int, windows: int) -> Summed:
    """Each counter added up over each of so many windows, for each value of the keys; of gauges the
    last value, of maxima the largest.
    """
    counted = [c for c in column_names(rows.source) if c not in _KEYS and c not in keys]
    keyed = names(["window_", *keys])
    found = select(
        ", ".join(["(time_ns - 1) // $window AS window_", *keys, *map(_reduced, counted)]),
        rows.source,
        f"WHERE {rows.where} AND window_ < $windows GROUP BY {keyed} ORDER BY {keyed}",
        window=window_ns,
        windows=windows,
    )
    by_window: Summed = {}
    for window, *values in found:
        row = dict(zip((*keys, *counted), map(int, values), strict=True))
        by_window.setdefault(window, []).append(row)
    return by_window


def _reduced(column: str) -> str:
    if column in GAUGES:
        return f"arg_max({column}, time_ns)"
    return f"max({column})" if column in MAXIMA else f"sum({column})"
