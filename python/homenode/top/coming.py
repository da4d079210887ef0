"""Rows of a simulation that is under way, by interval, as the engine hands them out.

Rows of an interval come when it has ended. Dispatches come when they have ended, and those that
have not are told anew each time; so what is known of dispatches when an interval has ended is all
that there was in it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.model.spec import Spec
from homenode.records.exporting.dispatches import UNENDED
from homenode.top.counted import TABLES, Dispatched, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

_DISPATCHES = ("start_ns", "end_ns", "partition", "core", "reason")
Packed = Mapping[str, Mapping[str, bytes]]
Columns = Mapping[str, "Integers"]


@dataclass(frozen=True)
class _Came:
    """One interval as it came: its times, the columns of its rows, what its dispatches come to."""

    begin_ns: int
    end_ns: int
    tables: Mapping[str, Columns]
    dispatched: Dispatched | None


class Coming:
    """The newest intervals of the first replication. Rows come from one thread and may be asked for
    by another.
    """

    def __init__(self, remembered: int) -> None:
        self._came: deque[_Came] = deque(maxlen=remembered)
        self._count = 0
        self._spec: Spec | None = None
        self._dispatches: Columns | None = None
        self._lock = threading.Lock()

    @property
    def there(self) -> range:
        """Numbers of the intervals that are held."""
        with self._lock:
            return range(self._count - len(self._came), self._count)

    def interval(self, number: int) -> tuple[Spec, Interval]:
        """One that is held; where it has been dropped since, the oldest one."""
        with self._lock:
            at = number - (self._count - len(self._came))
            came, spec = self._came[max(0, at)], self._spec
            if spec is None:
                raise LookupError("no interval has ended yet")
        tables = {table: _rows(columns) for table, columns in came.tables.items()}
        return spec, Interval(came.begin_ns, came.end_ns, tables, came.dispatched)

    def look(self, spec: Spec, replication: int, tables: Packed) -> None:
        """Take what came since the last time."""
        if replication != 0 or not tables:
            return
        found = {
            table: _columns(tables[table], ("time_ns", *names))
            for table, names in TABLES.items()
            if table in tables
        }
        newest = tables.get("dispatches")
        with self._lock:
            self._spec = spec
            self._dispatches = _since(self._dispatches, newest, self._reached)
            if "partition" in found:
                self._take(found, spec["duration_ns"])

    @property
    def _reached(self) -> int:
        """The end of the newest interval."""
        return self._came[-1].end_ns if self._came else 0

    def _take(self, found: Mapping[str, Columns], last: int) -> None:
        import numpy as np

        for end in np.unique(found["partition"]["time_ns"]).tolist():
            begin = self._reached
            parts = {table: _between(columns, end) for table, columns in found.items()}
            of = self._dispatches
            told = None if of is None else dispatched(of, begin, end, is_last=end == last)
            self._came.append(_Came(begin, end, parts, told))
            self._count += 1


def dispatched(columns: Columns, begin: int, end: int, *, is_last: bool) -> Dispatched:
    """What dispatches come to between two times: of those that ended then, why; of all, the time
    on cores that falls between. What ends with an interval is counted in the next one, as the
    engine counts.
    """
    import numpy as np

    ended = columns["end_ns"]
    then = (ended >= begin) & ((ended < end) | is_last) & (columns["reason"] != UNENDED)
    whose = np.stack([columns["partition"][then], columns["reason"][then]])
    pairs, counts = np.unique(whose, axis=1, return_counts=True)
    inside = np.minimum(ended, end) - np.maximum(columns["start_ns"], begin)
    there = inside > 0
    where = np.stack([columns["core"][there], columns["partition"][there]])
    places, of = np.unique(where, axis=1, return_inverse=True)
    spent = np.zeros(places.shape[1], np.int64)
    np.add.at(spent, of.ravel(), inside[there])
    return Dispatched(_by_pair(pairs, counts), _by_pair(places, spent))


def _by_pair(pairs: Integers, values: Integers) -> dict[tuple[int, int], int]:
    first, second = pairs.tolist()
    return dict(zip(zip(first, second, strict=True), values.tolist(), strict=True))


def _since(
    before: Columns | None, newest: Mapping[str, bytes] | None, reached: int
) -> Columns | None:
    """Dispatches that an interval may still ask for: those that had ended, but not before the
    newest one did, and what has come now. None as long as no dispatch was told.
    """
    import numpy as np

    now = None if newest is None else _columns(newest, _DISPATCHES)
    if before is None:
        return now
    still = (before["end_ns"] >= reached) & (before["reason"] != UNENDED)
    kept = {name: column[still] for name, column in before.items()}
    if now is None:
        return kept
    return {name: np.concatenate([kept[name], now[name]]) for name in _DISPATCHES}


def _between(columns: Columns, end: int) -> dict[str, Integers]:
    """Rows of the interval that ends then."""
    import numpy as np

    times = columns["time_ns"]
    first, last = np.searchsorted(times, end), np.searchsorted(times, end, "right")
    return {name: column[first:last] for name, column in columns.items() if name != "time_ns"}


def _columns(packed: Mapping[str, bytes], names: tuple[str, ...]) -> dict[str, Integers]:
    """The columns that are shown, as they are."""
    import numpy as np

    return {name: np.frombuffer(packed[name], np.int64) for name in names}


def _rows(columns: Columns) -> list[dict[str, int]]:
    values = [column.tolist() for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]
