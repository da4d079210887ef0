"""Home nodes of an ESXi host's virtual machines: where each is at home, how often that changed, and
on which node its memory lies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from homenode.simulate.kept.rows import select
from homenode.simulate.kept.store import table_path
from homenode.tools.linux.readings import FULL
from homenode.tools.linux.system import LinuxSystem

_MIB = 1 << 20
PER_NODE = "GST_ND"
"""How the column of memory on a node begins."""
_COUNTERS = {
    "NHN": "NHN", "NMIG": "NMIG", "NRMEM": "NRMEM MBytes", "NLMEM": "NLMEM MBytes", "N%L": "N%L",
}  # fmt: skip
"""The columns of the screen, and their names in batch mode: documents that show those are not at
hand, so that they bear the screen's.
"""


@dataclass(frozen=True)
class Home:
    """A virtual machine's at the end of an interval."""

    nodes: tuple[int, ...]
    """Where its virtual processors are at home."""
    changes: int
    """Changes of home since the start of what was kept."""
    memory: Mapping[int, int] = field(default_factory=dict)
    """Its memory on each node [bytes]."""

    def figures(self) -> dict[str, float | str]:
        """Its columns [MB]."""
        local = sum(self.memory[node] for node in self.nodes)
        held = sum(self.memory.values())
        told: dict[str, float | str] = {
            "NHN": ",".join(map(str, self.nodes)),
            "NMIG": self.changes,
            "NRMEM": (held - local) / _MIB,
            "NLMEM": local / _MIB,
            "N%L": FULL * local / held if held else 0.0,
        }
        return told | {f"{PER_NODE}{node}": size / _MIB for node, size in self.memory.items()}


def in_batch_mode(column: str) -> str:
    """What a column is called in batch mode."""
    return _COUNTERS.get(column, f"{column} MBytes")


def homes(system: LinuxSystem, ends_ns: list[int]) -> dict[tuple[int, int], Home]:
    """By the machine's index and the end of an interval; nothing on hosts with a single node."""
    source = table_path(system.run.path, "home")
    if not source.exists():
        return {}
    found = select(
        "partition, time_ns, domain, vps_at_home, memory_bytes, "
        "sum(home_changes) OVER (PARTITION BY partition, domain ORDER BY time_ns)",
        source,
        "WHERE replication = $replication ORDER BY partition, time_ns, domain",
        replication=system.view.replication,
    )
    rows: dict[tuple[int, int], list[tuple[int, int, int, int]]] = {}
    for partition, time_ns, *values in found:
        if time_ns in ends_ns:
            node, vps, held, changes = map(int, values)
            rows.setdefault((int(partition), int(time_ns)), []).append((node, vps, held, changes))
    return {
        key: Home(
            tuple(node for node, vps, _, _ in told if vps),
            sum(changes for *_, changes in told),
            {node: held for node, _, held, _ in told},
        )
        for key, told in rows.items()
    }
