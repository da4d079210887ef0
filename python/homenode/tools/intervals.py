"""From kept intervals to the intervals a person asks for: counters add up, gauges keep their last
value.

The tools know two ways of asking: without an interval they show the totals since the start (of
the measured time: the warm-up is not kept), with one they show a report an interval, counters as
differences over it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from homenode.model.units import TIME
from homenode.tools.configuration import SystemConfiguration
from homenode.tools.errors import ToolError
from homenode.tools.summing import Summed, intervals_kept, summed
from homenode.tools.view import RunView, Table

Counters = Mapping[str, int]


@dataclass(frozen=True)
class Sample:
    """What was counted in one interval."""

    end_ns: int
    """End of the interval since the start [ns]."""
    elapsed_ns: int
    """Length of the interval [ns]."""
    partition: Counters
    """Counters of the partition."""
    cpus: tuple[Counters, ...] = field(default=())
    """Counters of each logical processor, in order of its number (key `cpu`)."""
    pool: Counters = field(default_factory=dict)
    """Counters of the physical shared pool."""

    @property
    def start_ns(self) -> int:
        """Start of the interval since the start of the run [ns]."""
        return self.end_ns - self.elapsed_ns

    def during(self, configuration: SystemConfiguration) -> SystemConfiguration:
        """What its partition was in the interval."""
        return configuration.during(self.start_ns, self.end_ns)


def samples(
    view: RunView,
    partition: str,
    interval_ns: int | None,
    count: int | None,
    tables: Sequence[Table] = ("partition", "pool"),
) -> list[Sample]:
    """The reports asked for; without `interval_ns` one report over all that was kept."""
    rows = view.rows("partition", partition)
    kept = intervals_kept(rows)
    rows_each = _rows_each(view.interval_ns, interval_ns, count, kept)
    window_ns = rows_each * view.interval_ns
    reports = kept // rows_each if count is None else count
    of_partition = summed(rows, (), window_ns, reports)
    of_cpus: Summed = {}
    if "cpu" in tables:
        of_cpus = summed(view.rows("cpu", partition), ("cpu",), window_ns, reports)
    of_pool = summed(view.rows("pool", ""), (), window_ns, reports) if "pool" in tables else {}
    return [
        Sample(
            end_ns=(window + 1) * window_ns,
            elapsed_ns=window_ns,
            partition=of_partition[window][0],
            cpus=tuple(of_cpus.get(window, ())),
            pool=next(iter(of_pool.get(window, ())), {}),
        )
        for window in range(reports)
    ]


def _rows_each(kept_ns: int, interval_ns: int | None, count: int | None, kept: int) -> int:
    """Kept intervals that make one report."""
    if kept == 0:
        raise ToolError(
            "the run kept no interval",
            next_step="simulate for at least one interval of the [run] section",
        )
    if interval_ns is None:
        return kept
    rows_each, rest = divmod(interval_ns, kept_ns)
    if rest or not rows_each:
        raise ToolError(
            f"an interval of {TIME.format(interval_ns)} cannot be shown",
            there=f"the run kept one row every {TIME.format(kept_ns)}",
            next_step=f"ask for a multiple of {TIME.format(kept_ns)}",
        )
    available = kept // rows_each
    if available < (count or 1):
        raise ToolError(
            f"{count or 1} intervals of {TIME.format(interval_ns)} were asked for",
            there=f"the run kept {TIME.format(kept * kept_ns)}, which holds {available}",
            next_step="ask for fewer or shorter ones, or simulate longer",
        )
    return rows_each
