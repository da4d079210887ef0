"""One replication of a run, for exporters that walk over all partitions. Unlike the tools it takes
partitions of every guest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from homenode.model.units import TIME
from homenode.records.exporting.errors import ExportError
from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools.configuration import SystemConfiguration, from_spec
from homenode.tools.intervals import Sample, samples
from homenode.tools.summing import Rows
from homenode.tools.view import KeptRunView, Table, configuration_details

if TYPE_CHECKING:
    from pathlib import Path

    from homenode.records.exporting.options import ExportOptions
    from homenode.simulate.run import Run

_MAINFRAME = "core_types"
"""Detail that only partitions of a mainframe have; their `mode` is another thing than that of
`SystemConfiguration`.
"""


@dataclass(frozen=True)
class Frames:
    """A `RunView` of all partitions."""

    run: Run
    replication: int
    interval_ns: int
    configurations: Mapping[str, SystemConfiguration]

    @classmethod
    def of(cls, run: Run, options: ExportOptions) -> Frames:
        """The replication that the options ask for; `NotFoundError` if it is not there."""
        view = options.view(run)
        details = configuration_details(run)
        found = {
            name: from_spec(run.spec, name, _known(details.get(name, {})))
            for name in run.partitions
        }
        return cls(run, view.replication, view.interval_ns, found)

    def partition(self, name: str | None) -> SystemConfiguration:
        """See `RunView.partition`."""
        return self.configurations[self.run.partition(name)]

    def rows(self, table: Table, partition: str) -> Rows:
        """See `RunView.rows`."""
        return KeptRunView(self.run, self.replication).rows(table, partition)

    def samples(self, partition: str, interval_ns: int, *, cpus: bool = False) -> list[Sample]:
        """All samples of that length; `ToolError` where the run cannot be cut so."""
        tables: tuple[Table, ...] = ("partition", "cpu", "pool") if cpus else ("partition", "pool")
        return samples(self, partition, interval_ns, None, tables)


def _known(details: Mapping[str, object]) -> dict[str, object]:
    """Details that are fields of `SystemConfiguration`, in its sense."""
    names = {one.name for one in fields(SystemConfiguration)}
    if _MAINFRAME in details:
        names.discard("mode")
    return {name: value for name, value in details.items() if name in names}


def each_partition(
    target: Path, options: ExportOptions, names: Iterable[str], suffix: str
) -> Iterator[tuple[str, Path]]:
    """Partitions with the file of each, for a form of kind `each`; makes the folder."""
    if options.partition is not None:
        yield options.partition, target
        return
    target.mkdir()
    for name in names:
        yield name, target / f"{name}{suffix}"


def sample_ns(run: Run, options: ExportOptions) -> int:
    """Length of a sample: as asked, else the run's interval [ns]."""
    return options.interval_ns or int(run.spec["interval_ns"])


def whole_seconds(run: Run, options: ExportOptions, form: str) -> int:
    """Length of a sample for a form whose times are whole seconds [ns]: as asked, else the
    shortest that the run's interval divides. `ExportError` if it is no whole number of seconds.
    """
    kept = int(run.spec["interval_ns"])
    if options.interval_ns is None:
        import math

        return math.lcm(kept, NS_PER_S)
    if options.interval_ns % NS_PER_S:
        raise ExportError(
            f"{form} counts time in whole seconds, and --interval is "
            f"{TIME.format(options.interval_ns)}",
            next_step="ask for a whole number of seconds",
        )
    return options.interval_ns
