"""Columns of a kept table added up, one row group after the other: memory follows the number of
sums and not how long was simulated.

A command that writes tables has the library that reads them; another one for a handful of sums
would take longer to load than to add.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.simulate.kept.store import table_path

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

Columns = Mapping[str, bytes]
"""Columns of a table as the engine hands them over: packed 64-bit integers."""
BATCH = "batch"
"""A key that is no column: it follows from the time of a row."""
REPLICATION = "replication"
_TIME = "time_ns"
_FEW = 8


@dataclass(frozen=True)
class Held:
    """Interval tables in memory, where nothing but their sums is kept: as the engine handed them
    over, each with the number of its replication.
    """

    tables: Mapping[str, Sequence[tuple[int, Columns]]]

    def groups(self, table: str, columns: Sequence[str] | None) -> Iterator[dict[str, Integers]]:
        """What was handed over at once, one after the other."""
        import numpy as np

        for replication, packed in self.tables.get(table, ()):
            wanted = packed if columns is None else [one for one in columns if one in packed]
            rows = {name: np.frombuffer(packed[name], np.int64) for name in wanted}
            count = len(next(iter(packed.values()))) // 8
            rows[REPLICATION] = np.full(count, replication, np.int64)
            yield rows


Source = Path | Held
"""Where interval tables are: a run folder, or memory."""


@dataclass
class Added:
    """Rows that have the same keys."""

    count: int
    """How many there are."""
    sums: dict[str, int]
    last: dict[str, int]
    """What stands in the last of them."""

    def mean(self, column: str) -> float:
        """Mean of a column."""
        return self.sums[column] / self.count


def end_times(folder: Source, table: str) -> list[int]:
    """Ends of all intervals, each once, the earliest first."""
    found: set[int] = set()
    for group in _groups(folder, table, [_TIME]):
        found.update(group[_TIME].tolist())
    return sorted(found)


def added(
    folder: Source,
    table: str,
    keys: Sequence[str],
    columns: Sequence[str] | None = None,
    *,
    batches: Mapping[int, int] | None = None,
    replication: int | None = None,
) -> dict[tuple[int, ...], Added]:
    """Columns of a table (all but the keys and the time, if none is named) by the values of `keys`,
    in the order of these. `batches` says to which batch an interval belongs, by its end; rows of
    others are left out, and so are those of other replications than the one named.
    """
    import numpy as np

    found: dict[tuple[int, ...], Added] = {}
    for group in _groups(folder, table, _needed(keys, columns)):
        rows = _chosen(group, batches, replication)
        names = [name for name in columns or rows if name not in (*keys, _TIME, REPLICATION)]
        if len(rows[_TIME]) <= _FEW:
            _add_few(found, rows, keys, names)
            continue
        order = np.lexsort([rows[key] for key in reversed(keys)])
        places = np.stack([rows[key][order] for key in keys])
        starts = np.flatnonzero(np.r_[True, np.any(places[:, 1:] != places[:, :-1], axis=0)])
        if not len(order):
            continue
        ends = np.r_[starts[1:], len(order)]
        sums = [np.add.reduceat(rows[name][order], starts).tolist() for name in names]
        last = [rows[name][order[ends - 1]].tolist() for name in names]
        counts = (ends - starts).tolist()
        for at, place in enumerate(map(tuple, places[:, starts].T.tolist())):
            one = found.setdefault(place, Added(0, dict.fromkeys(names, 0), {}))
            one.count += counts[at]
            for name, values in zip(names, sums, strict=True):
                one.sums[name] += values[at]
            one.last = {name: values[at] for name, values in zip(names, last, strict=True)}
    return dict(sorted(found.items()))


def _add_few(
    found: dict[tuple[int, ...], Added],
    rows: Mapping[str, Integers],
    keys: Sequence[str],
    names: Sequence[str],
) -> None:
    """The same of a handful of rows, which are added up before a library has ordered them."""
    values = [rows[name].tolist() for name in names]
    for at, place in enumerate(zip(*(rows[key].tolist() for key in keys), strict=True)):
        one = found.setdefault(place, Added(0, dict.fromkeys(names, 0), {}))
        one.count += 1
        one.last = {name: column[at] for name, column in zip(names, values, strict=True)}
        for name, value in one.last.items():
            one.sums[name] += value


def _groups(
    folder: Source, table: str, columns: Sequence[str] | None
) -> Iterator[dict[str, Integers]]:
    """The row groups of a table."""
    if isinstance(folder, Held):
        yield from folder.groups(table, columns)
        return
    import pyarrow.parquet as pq

    with pq.ParquetFile(table_path(folder, table)) as source:
        for number in range(source.num_row_groups):
            group = source.read_row_group(number, columns=columns, use_threads=False)
            yield {name: _integers(group[name]) for name in group.column_names}


def _integers(column: pa.ChunkedArray) -> Integers:
    """A column without a copy where it is in one piece. Arrow's own way would load pandas, where
    that is installed.
    """
    import numpy as np

    pieces = [
        np.frombuffer(chunk.buffers()[1], np.int64, len(chunk), 8 * chunk.offset)
        for chunk in column.chunks
    ]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _needed(keys: Sequence[str], columns: Sequence[str] | None) -> list[str] | None:
    """What is to be read; None if it is everything."""
    if columns is None:
        return None
    return [name for name in dict.fromkeys((*keys, *columns, REPLICATION, _TIME)) if name != BATCH]


def _chosen(
    group: Mapping[str, Integers], batches: Mapping[int, int] | None, replication: int | None
) -> dict[str, Integers]:
    """The rows that count, with their batch."""
    import numpy as np

    rows = dict(group)
    if batches is None and replication is None:
        return rows
    counts = np.ones(len(rows[_TIME]), dtype=bool)
    if replication is not None:
        counts &= rows[REPLICATION] == replication
    if batches is not None:
        ends, inverse = np.unique(rows[_TIME], return_inverse=True)
        known = np.array([batches.get(end, -1) for end in ends.tolist()])
        rows[BATCH] = known[inverse]
        counts &= rows[BATCH] >= 0
    return rows if counts.all() else {name: values[counts] for name, values in rows.items()}
