"""What travelled through the machine's ports: memory controllers, links, shared caches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homenode.model.spec import MachineSpec, Spec
from homenode.simulate.kept.store import table_path

PORTS = ("memory", "into_chip", "out_of_chip", "into_node", "out_of_node", "cache")
"""Kinds of ports, in the order of their numbers in the table `fabric`."""


@dataclass(frozen=True)
class Traffic:
    """Of one port, the mean over a run."""

    port: str
    """Its kind, one of `PORTS`."""
    place: int
    """Of which memory domain, chip or node."""
    gb_per_s: float
    """What it carried, in time of lines that are read [GB/s]."""
    most_gb_per_s: float
    """What it can carry [GB/s]."""
    wait_ns: float
    """What a line waited there beside its latency on an idle machine [ns]."""

    @property
    def used_pct(self) -> float:
        """Share of its bandwidth that was used [%]."""
        return 100.0 * self.gb_per_s / self.most_gb_per_s


def traffic(folder: Path, spec: Spec, replications: int) -> list[Traffic]:
    """Of each port that carried anything in a kept run, the most used first; nothing of a run that
    an earlier version kept.
    """
    if not table_path(folder, "fabric").exists():
        return []
    seconds = spec["duration_ns"] * 1e-9 * replications
    found = [
        Traffic(
            port=PORTS[port],
            place=place,
            gb_per_s=carried / seconds * 1e-9,
            most_gb_per_s=_most(spec["machine"], PORTS[port]),
            wait_ns=wait_ns / max(lines, 1),
        )
        for (port, place), (carried, lines, wait_ns) in _sums(folder).items()
        if carried
    ]
    return sorted(found, key=lambda one: (-one.used_pct, one.port, one.place))


def _sums(folder: Path) -> dict[tuple[int, int], list[int]]:
    """Bytes, lines and waits of each port, added row by row: the library that adds columns takes
    longer to load than that.
    """
    import pyarrow.parquet as pq

    counted = ("bytes", "lines", "wait_ns")
    found: dict[tuple[int, int], list[int]] = {}
    with pq.ParquetFile(table_path(folder, "fabric")) as source:
        for number in range(source.num_row_groups):
            group = source.read_row_group(
                number, columns=["port", "place", *counted], use_threads=False
            )
            columns = (group[name].to_pylist() for name in ("port", "place", *counted))
            for port, place, *values in zip(*columns, strict=True):
                sums = found.setdefault((port, place), [0] * len(counted))
                for at, value in enumerate(values):
                    sums[at] += value
    return found


def _most(machine: MachineSpec, port: str) -> float:
    """Bandwidth of a kind of port [GB/s]."""
    if port == "cache":
        stated = [rate for c in machine["caches"] if (rate := c["bytes_per_s"]) is not None]
        return stated[-1] * 1e-9
    if port == "memory":
        return machine["memory_bytes_per_s"] * 1e-9
    of_chip = port in ("into_chip", "out_of_chip")
    return machine["chip_link_bytes_per_s" if of_chip else "node_link_bytes_per_s"] * 1e-9
