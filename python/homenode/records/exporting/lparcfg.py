"""What `/proc/ppc64/lparcfg` of a partition says at the end of a sample, by name: for recordings
that hold it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.records.exporting.linux_power.lparcfg import lparcfg
from homenode.records.exporting.linux_power.state import State, partition_of
from homenode.records.exporting.options import ExportOptions

if TYPE_CHECKING:
    from homenode.simulate.run import Run
    from homenode.tools import Sample

LPARCFG_VERSION = "1.9"
"""Of the file's layout."""


def on_power(run: Run) -> bool:
    """Whether the run is of a Power server, whose partitions have that file."""
    return bool(run.spec["machine"]["hypervisor"]["policy"] == "phyp")


def lparcfg_lines(run: Run, name: str, sample: Sample) -> dict[str, str]:
    """Name and value of each line but the first; counters are those of the sample. The server's
    serial number is the id of the run.
    """
    partition = partition_of(run, ExportOptions(partition=name))
    state = State(sample.elapsed_ns, sample.partition, {}, sample.pool)
    _version, *lines = lparcfg(partition, state).decode().splitlines()
    pairs = (line.partition("=") for line in lines)
    return {"serial_number": f"IBM,{run.id}"} | {key: value for key, _, value in pairs}
