"""Frames of a kept run: one replication, an interval each."""

from __future__ import annotations

import functools

from homenode.errors import NotFoundError
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.rows import names, select
from homenode.simulate.kept.store import table_path
from homenode.top.counted import TABLES, Dispatched, Interval, frame_at
from homenode.top.frames import Frame

_REMEMBERED = 64
"""Frames that need not be read again when somebody steps back."""


class KeptSource:
    """A kept run; a frame is read from its files when it is shown."""

    grows = False

    def __init__(self, run: KeptRun, replication: int | None = None) -> None:
        kept = run.provenance["replications"]
        replication = kept[0] if replication is None else replication
        if replication not in kept:
            raise NotFoundError(
                f"run {run.id} has no replication {replication}",
                there=f"it kept {', '.join(map(str, kept[:8]))}{', ...' if len(kept) > 8 else ''}",
            )
        self._run, self._replication = run, replication
        self._ends = [
            int(end)
            for (end,) in select(
                "DISTINCT time_ns",
                run.table_file("partition"),
                "WHERE replication = $replication ORDER BY time_ns",
                replication=replication,
            )
        ]
        self.frame = functools.lru_cache(_REMEMBERED)(self._frame)

    @property
    def title(self) -> str:
        """The run's id."""
        return self._run.id

    @property
    def state(self) -> str:
        """Which replication."""
        return f"kept run, replication {self._replication}"

    @property
    def there(self) -> range:
        """All its intervals."""
        return range(len(self._ends))

    def _frame(self, number: int) -> Frame:
        end = self._ends[number]
        begin = self._ends[number - 1] if number else 0
        tables = {name: self._rows(name, columns, end) for name, columns in TABLES.items()}
        told = self._dispatched(begin, end)
        return frame_at(self._run.spec, Interval(begin, end, tables, told))

    def _rows(self, table: str, columns: tuple[str, ...], end: int) -> list[dict[str, int]]:
        """Rows of an interval; none of a table that an earlier version did not keep."""
        if table == "fabric" and not table_path(self._run.path, table).exists():
            return []
        path = (
            table_path(self._run.path, table) if table == "fabric" else self._run.table_file(table)
        )
        rest = "WHERE replication = $replication AND time_ns = $end"
        rows = select(names(columns), path, rest, replication=self._replication, end=end)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _dispatched(self, begin: int, end: int) -> Dispatched | None:
        """What dispatches come to in an interval; None where they were not recorded."""
        path = table_path(self._run.path, "dispatches")
        if not path.exists():
            return None
        of, times = "WHERE replication = $replication", {"begin": begin, "end": end}
        ended = select(
            "partition, reason, count(*)",
            path,
            # What ends with an interval is counted in the next one, as the engine counts.
            f"{of} AND end_ns >= $begin AND (end_ns < $end OR $end = $last)"
            " GROUP BY partition, reason",
            last=self._ends[-1],
            replication=self._replication,
            **times,
        )
        there = select(
            "core, partition, sum(least(end_ns, $end) - greatest(start_ns, $begin))::BIGINT",
            path,
            f"{of} AND end_ns > $begin AND start_ns < $end GROUP BY core, partition",
            replication=self._replication,
            **times,
        )
        return Dispatched(
            {(partition, reason): count for partition, reason, count in ended},
            {(core, partition): ns for core, partition, ns in there},
        )
