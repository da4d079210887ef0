"""A root folder as Linux in a partition of a Power server would show it, which the tools of that
system read: lparstat, vcpustat, ppc64_cpu, lscpu, lstopo.

The tools read by absolute path, so they are run with the folder as their root: `unshare
--map-root-user chroot FOLDER lparstat -i`. Without `--live` the folder shows one moment, and a tool
that takes the difference of two looks finds none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.model.units import TIME
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.linux_power import files
from homenode.records.exporting.linux_power.live import LiveTree
from homenode.records.exporting.linux_power.state import partition_of, states
from homenode.records.exporting.options import ExportOptions, measured_ns
from homenode.records.exporting.registry import Exporter, Kind
from homenode.records.exporting.root_tree import write_tree

if TYPE_CHECKING:
    from homenode.simulate.run import Run


@dataclass(frozen=True)
class LinuxPower:
    """The tree of one partition."""

    name: str = "linux-power"
    title: str = "root folder of Linux on Power, for lparstat, vcpustat, lscpu and lstopo"
    kind: Kind = "folder"
    suffix: str = ""
    takes: Collection[str] = ("partition", "replication", "at_ns", "live_ns")

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """Write the tree of a moment: the end of the run, or of a live tree its beginning, if none
        is named. `NotFoundError` if the run has several partitions and none is named, `ExportError`
        on another machine or where the run does not reach.
        """
        partition = partition_of(run, options)
        first = _first(run, options)
        state = next(islice(states(run, partition, options), first, None))
        return write_tree(
            target,
            {
                **files.still(partition),
                **files.moving(partition, state),
                **files.held(partition, state),
                files.STATISTICS: files.statistics(partition, state),
            },
        )

    def advance(self, run: Run, target: Path, options: ExportOptions) -> None:
        """Let a tree that was written go on for `options.live_ns`, or until it is interrupted."""
        partition = partition_of(run, options)
        first, count = _first(run, options), _intervals(run, options)
        shown = islice(states(run, partition, options), first, first + count + 1)
        tree = LiveTree(target, partition, next(shown))
        with contextlib.suppress(KeyboardInterrupt):
            tree.play(shown)
            tree.linger((int(options.live_ns or 0) - count * partition.interval_ns) / 1e9)


def _first(run: Run, options: ExportOptions) -> int:
    """Which kept interval's end is shown first, counted from 0."""
    length = int(run.spec["interval_ns"])
    moment = options.moment_ns(run)
    if options.live_ns is None:
        return moment // length - 1
    begins = moment if options.at_ns is not None else length
    left = measured_ns(run) - begins
    if options.live_ns > left:
        raise ExportError(
            f"run {run.id} does not go on for {TIME.format(options.live_ns)}",
            there=f"{TIME.format(left)} are left after {TIME.format(begins)}",
            next_step="ask for less with --live, begin earlier with --at, or simulate longer",
        )
    return begins // length - 1


def _intervals(run: Run, options: ExportOptions) -> int:
    """How many kept intervals a live tree goes through."""
    return int(options.live_ns or 0) // int(run.spec["interval_ns"])


EXPORTER: Exporter = LinuxPower()
