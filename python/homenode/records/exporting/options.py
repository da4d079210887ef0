"""What can be asked of an export beside the form: which partition, which replication, which moment.

Each exporter names the options it takes (`takes`); one that is given to an exporter which does not
take it is refused, never passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from homenode.model.units import TIME
from homenode.records.exporting.errors import ExportError
from homenode.tools import KeptRunView

if TYPE_CHECKING:
    from homenode.simulate.run import Run

FIRST_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
"""The date at which the measured time of a run begins, where a format wants a date and none is
given. Simulated time has none.
"""


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The options; None = not given."""

    partition: str | None = None
    """Only this partition."""
    replication: int | None = None
    """Which replication, counted from 0; the first if not given."""
    interval_ns: int | None = None
    """Length of one sample, a multiple of the run's interval [ns]."""
    start: datetime | None = None
    """When the measured time begins."""
    at_ns: int | None = None
    """The moment shown, from the beginning of the measured time [ns]; its end if not given."""
    live_ns: int | None = None
    """How long what was written goes on changing at the speed of the clock on the wall [ns]."""

    @property
    def begins(self) -> datetime:
        """When the measured time begins, in UTC; a time without a zone is taken as UTC."""
        start = self.start or FIRST_MOMENT
        return start.replace(tzinfo=UTC) if start.tzinfo is None else start.astimezone(UTC)

    def given(self) -> list[str]:
        """Names of the options that were given."""
        return [one.name for one in fields(self) if getattr(self, one.name) is not None]

    def partitions(self, run: Run) -> list[str]:
        """Names of the partitions asked for: the one given, or all; `NotFoundError` if the run has
        none of that name.
        """
        return run.partitions if self.partition is None else [run.partition(self.partition)]

    def view(self, run: Run) -> KeptRunView:
        """The replication asked for, as the tools see it; `NotFoundError` if it is not there."""
        return KeptRunView.of(run, self.replication or 0)

    def moment_ns(self, run: Run) -> int:
        """The end of the kept interval that holds `at_ns`, from the beginning of the measured time
        [ns]; `ExportError` where the run does not reach.
        """
        length, end = int(run.spec["interval_ns"]), measured_ns(run)
        if self.at_ns is None:
            return end
        moment = -(-self.at_ns // length) * length
        if not length <= moment <= end:
            raise ExportError(
                f"run {run.id} does not reach {TIME.format(self.at_ns)}",
                there=f"it kept {TIME.format(end)}",
                next_step="give a moment in between with --at",
            )
        return moment


def measured_ns(run: Run) -> int:
    """Length of the measured time that was kept [ns]."""
    return int(run.intervals("partition")["time_ns"].max() or 0)  # type: ignore[arg-type]
