"""The host at hand as a machine of the simulation.

Its topology is read as `homenode import` reads lscpu; its scheduler has the kernel's settings.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.hosts.errors import MeasureError
from homenode.judge.kernel import Kernel, Set, read_kernel
from homenode.records.importing import read_paths
from homenode.records.importing.assemble.machine_file import machine_file

if TYPE_CHECKING:
    from homenode.records.importing.facts import TopologyFacts, TopologyObject

MACHINE_FILE = "host.toml"
_LSCPU_S = 20.0
_TIMES = ("tick", "base_slice", "bandwidth_slice", "migration_cost")


@dataclass(frozen=True)
class Twin:
    """The host as it is simulated."""

    machine: str
    """Text of its machine file."""
    processor: str
    """Model as lscpu prints it."""
    places: Mapping[int, int]
    """Of each logical processor as Linux counts, the number in the simulation."""
    threads_per_core: int
    nodes: int
    kernel: Kernel

    def overrides(self) -> str:
        """The `[machine.hypervisor]` table of a scenario: what this kernel is set to."""
        lines = ["[machine.hypervisor]"]
        lines += [
            f'{name} = {{ value = {_written(name, one)}, why = "{one.source}" }}'
            for name, one in self.kernel.settings.items()
        ]
        return "\n".join(lines) + "\n"


def _written(name: str, one: Set) -> str:
    if isinstance(one.value, bool):
        return str(one.value).lower()
    return f'"{one.value} ns"' if name in _TIMES else f'"{one.value}"'


def read_twin() -> Twin:
    """Read the host.

    Raises `MeasureError` if lscpu is missing or what it prints is no topology.
    """
    topology = read_topology(_lscpu())
    return twin_of(topology, read_kernel())


def twin_of(topology: TopologyFacts, kernel: Kernel) -> Twin:
    """The twin of a host of this topology and kernel."""
    cores = [one for one in topology.root.walk() if one.kind == "Core"]
    threads = [[_number(thread) for thread in _within(core, "PU")] for core in cores]
    most = max(len(some) for some in threads)
    places = {
        number: core * most + thread
        for core, some in enumerate(threads)
        for thread, number in enumerate(sorted(some))
    }
    return Twin(
        machine_file(topology, None, "this-host").text,
        str(topology.root.attributes.get("processor", "unknown processor")),
        places,
        most,
        max(1, sum(one.kind == "NUMANode" for one in topology.root.walk())),
        kernel,
    )


def read_topology(text: bytes) -> TopologyFacts:
    """What lscpu's output says.

    Raises `MeasureError` for anything else.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lscpu.txt"
        path.write_bytes(text)
        facts = read_paths([path])
    if not facts.topologies:
        why = "; ".join(left.why for left in facts.left) or "it tells no processors"
        raise MeasureError(
            f"lscpu's output cannot be used: {why}", next_step="run lscpu and see what it prints"
        )
    return facts.topologies[0]


def _lscpu() -> bytes:
    try:
        done = subprocess.run(
            ["lscpu"],
            capture_output=True,
            check=True,
            timeout=_LSCPU_S,
            env={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"},
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise MeasureError(
            "lscpu does not run, so the host cannot be described",
            there=str(error),
            next_step="install util-linux",
        ) from error
    return done.stdout


def _within(one: TopologyObject, kind: str) -> list[TopologyObject]:
    return [inner for inner in one.walk() if inner.kind == kind]


def _number(one: TopologyObject) -> int:
    if one.os_index is None:
        raise MeasureError("the topology has a processor without a number")
    return int(one.os_index)


def used(twin: Twin, processors: Sequence[int]) -> tuple[int, ...]:
    """The simulation's numbers of these logical processors."""
    return tuple(twin.places[one] for one in processors)
