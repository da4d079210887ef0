"""A run as nmon would have recorded it: one file a partition, a snapshot a sample.

AIX partitions are written as topas_nmon of AIX writes them, Linux partitions as nmon for Linux
does. What is not modelled (memory, paging, disks, network, processes) has no section. nmon counts
time in whole seconds, so a sample is at least one second long.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.frames import Frames, each_partition, whole_seconds
from homenode.records.exporting.nmon import aix, head, linux
from homenode.records.exporting.nmon.recording import Recording, date_of
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind

if TYPE_CHECKING:
    from homenode.simulate.run import Run

_SYSTEMS = {
    "aix": (head.aix, aix.sections, head.reports),
    "linux": (head.linux, linux.sections, linux.configuration_file),
}


@dataclass(frozen=True)
class Nmon:
    """One file a partition."""

    name: str = "nmon"
    title: str = "nmon recordings, a file a partition (AIX, Linux)"
    kind: Kind = "each"
    suffix: str = ".nmon"
    takes: Collection[str] = ("partition", "replication", "interval_ns", "start")

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """See `Exporter.write`."""
        frames = Frames.of(run, options)
        interval_ns = whole_seconds(run, options, "nmon")
        systems = {name: _system(run, name) for name in options.partitions(run)}
        files = []
        for name, path in each_partition(target, options, systems, self.suffix):
            recording = Recording(
                frames=frames,
                partition=name,
                interval_ns=interval_ns,
                begins=options.begins,
                samples=frames.samples(name, interval_ns, cpus=True),
            )
            with path.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in _lines(recording, systems[name]))
            files.append(path)
        return sorted(files)


def _system(run: Run, name: str) -> str:
    system = str(run.partition_spec(name)["guest"]["os"])
    if system not in _SYSTEMS:
        raise ExportError(
            f"partition {name} of run {run.id} runs {system}, for which there is no nmon",
            next_step="name another partition with -p, or write --as csv",
        )
    return system


def _lines(recording: Recording, system: str) -> Iterator[str]:
    heads, sections_of, reports = _SYSTEMS[system]
    sections = sections_of(recording)
    yield from heads(recording)
    for section in sections:
        yield f"{section.name},{section.heading}"
    yield from reports(recording)
    for number, sample in enumerate(recording.samples, start=1):
        snapshot = f"T{number:04d}"
        yield f"ZZZZ,{snapshot},{_stamp(recording.begins, sample.end_ns)}"
        for section in sections:
            yield f"{section.name},{snapshot},{section.row(sample)}"


def _stamp(begins: datetime, end_ns: int) -> str:
    moment = begins + timedelta(microseconds=end_ns // 1000)
    return f"{moment:%H:%M:%S},{date_of(moment)}"


EXPORTER: Exporter = Nmon()
