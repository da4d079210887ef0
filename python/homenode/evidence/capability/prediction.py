"""The factors of a machine by its topology: what an instruction costs on n busy processors against
one that is alone.

```text
c(n) = t(1) / t(n),   t(n) = mean time of an instruction with n processors busy
```
The processors are placed as `Layout` says, their memory with them or striped; the engine prices
the layout (docs/background/cost-model.md): shared caches are divided, lines that another processor
wrote come from where that one is, controllers and links stretch with their load. The work is one
profile for all n and all machines.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from homenode.errors import CapabilityError, EngineError
from homenode.evidence.capability.layout import Layout, layout_of
from homenode.model.catalog import MachineDescription, ProfileDescription, profile
from homenode.model.catalog.capability_table import CapabilityTable
from homenode.model.catalog.flatten import machine_spec
from homenode.model.catalog.names import is_path, machine
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import to_toml
from homenode.model.scenario import Scenario
from homenode.model.spec import MachineSpec, MemoryPartSpec, PartitionSpec, ProfileSpec, Spec
from homenode.simulate.engine import load_engine

REFERENCE = "reference"
"""The profile that stands for IBM's reference workloads."""
_DATA_BYTES = 1 << 36
"""Memory of the partition: no more than a share of it at a time is placed, by where it lies."""
_PARTITION = {
    "name": "partition",
    "processors": {"mode": "dedicated", "cores": 1},
    "smt": 1,
    "memory": "1 GiB",
    "guest": {"os": "linux"},
    "workload": {"kind": "loops", "count": 1, "endless": True, "profile": "oltp"},
}
_HALVINGS = 40
_ANY_MACHINE = "ibm-z14"


@dataclass(frozen=True)
class Point:
    """What an instruction costs a partition of so many busy processors."""

    processors: int
    ns: float
    """Mean time of an instruction [ns]."""
    books: Mapping[str, float]
    """That time by cause [ns]."""


class Prediction:
    """Prices of one machine's partitions; each is asked of the engine once."""

    def __init__(self, spec: Spec, layout: Layout) -> None:
        """`spec` is the engine's input with one partition, which is placed anew for every size."""
        self.title = str(spec["machine"]["name"])
        self.spec = spec
        self.layout = layout
        self._points: dict[int, Point] = {}

    @classmethod
    def of(
        cls,
        name: str | MachineDescription,
        work: str = REFERENCE,
        layout_file: str | Path | None = None,
        *,
        burst_ns: float | None = None,
        threads: int = 1,
    ) -> Prediction:
        """A machine by name or file, with the numbers its layout changes; a description that was
        read already is taken as it is. `burst_ns` replaces that of slowed processors, `threads`
        is how many of a core are used, all of them busy.

        Raises `HomenodeError`: a machine, layout or profile that is not there, more threads than a
        core has.
        """
        described = name if isinstance(name, MachineDescription) else machine(name)
        layout = layout_of(described, layout_file)
        if burst_ns is not None:
            layout = replace(layout, burst_ns=burst_ns)
        if layout.change and not isinstance(name, MachineDescription):
            described = _changed(name, layout.change)
        if not 1 <= threads <= described.threads_per_core:
            raise CapabilityError(
                f"{described.title} does not run {threads} threads on a core",
                there=f"a core has {described.threads_per_core}",
                next_step=f"ask for 1 to {described.threads_per_core}",
            )
        spec = _template(profile(work), threads)
        spec["machine"] = {**_undispatched(described), "active_cores": layout.most}
        _assert_streams(described, spec)
        found = cls(spec, layout)
        found.title = described.title
        if layout.speed < 1.0:
            found._slow(layout.speed)
        return found

    def _slow(self, speed: float) -> None:
        """Processors pause for so much of the time that one alone has this share of full speed."""
        burst_ns = self.layout.burst_ns
        if burst_ns is None:
            raise CapabilityError(
                "slowed processors need a burst: how long they work at a time is not told",
                next_step='add burst = { value = "40 ns", assumed = "..." } beside speed',
            )
        machine = self.spec["machine"]
        wanted = self._price(1).ns / speed
        low, high = speed / 2.0, 1.0
        for _ in range(_HALVINGS):
            duty = math.sqrt(low * high)
            self.spec = {
                **self.spec,
                "machine": {**machine, "throttle": {"duty": duty, "burst_ns": burst_ns}},
            }
            low, high = (duty, high) if self._price(1).ns > wanted else (low, duty)

    @property
    def largest(self) -> int:
        """Processors that the machine has for customers."""
        return self.layout.processors

    @property
    def threads(self) -> int:
        """Threads of a core that are used."""
        return self.spec["partitions"][0]["smt"]

    def rate(self, processors: int) -> float:
        """What a partition of so many processors does [instructions a ns]."""
        return processors * self.threads / self.point(processors).ns

    @functools.cached_property
    def alone(self) -> Point:
        """One processor with nobody beside it."""
        return self._price(1)

    def point(self, processors: int) -> Point:
        """A partition of so many processors."""
        if processors not in self._points:
            self._points[processors] = self._price(processors)
        return self._points[processors]

    def factor(self, processors: int) -> float:
        """What each of so many brings, as a share of one that is alone."""
        return self.alone.ns / self.point(processors).ns

    def table(self, largest: int | None = None) -> CapabilityTable:
        """The factors of 1 to `largest` processors, all for customers if not given."""
        machine, work = (self.spec["machine"]["name"], self.spec["partitions"][0]["profile"])
        beside = f" on {self.threads} threads of each core" if self.threads > 1 else ""
        most = self.largest if largest is None else largest
        self.point(most)
        return CapabilityTable(
            name=f"{machine} predicted",
            title=self.title,
            source=f"predicted from the topology with the profile {work['name']}{beside}; nothing "
            "of it is measured",
            factors={n: self.factor(n) for n in range(1, most + 1)},
            machine=machine,
            predicted=True,
        )

    def _price(self, processors: int) -> Point:
        chips = self.layout.busy(processors)
        spec: Spec = {**self.spec, "partitions": [self._partition(chips)]}
        engine = load_engine()
        try:
            answer = engine.price(json.dumps(spec), json.dumps([[float(n) for n in chips]]))
        except engine.SpecError as error:
            raise EngineError(f"{processors} processors cannot be priced: {error}") from error
        told = json.loads(answer)["partitions"][0]
        return Point(processors, told["ns"], {b: t for b, t in told["books"].items() if t > 0})

    def _partition(self, chips: list[int]) -> PartitionSpec:
        """The partition on so many cores of each chip, with its memory."""
        template = self.spec["partitions"][0]
        processors, workload = template["processors"], template["workload"]
        if processors["mode"] != "dedicated" or workload["kind"] != "loops":
            raise AssertionError("a partition to be priced has loops on cores of its own")
        each = self.layout.cores_per_chip
        cores = [c * each + core for c, n in enumerate(chips) for core in range(n)]
        return {
            **template,
            "processors": {**processors, "cores": cores},
            "workload": {**workload, "count": len(cores) * self.threads},
            "memory": self._memory(chips),
            # No guest knows where its memory lies: all of it is common to its processors.
            "memory_policy": "proportional",
            "data_bytes": _DATA_BYTES,
        }

    def _memory(self, chips: list[int]) -> list[MemoryPartSpec]:
        beside_chips = self.spec["machine"]["memory_beside"] == "chip"
        width = 1 if beside_chips else self.layout.chips_per_node
        domains = [sum(chips[first : first + width]) for first in range(0, len(chips), width)]
        if self.layout.memory == "striped":
            return [{"domains": list(range(len(domains))), "bytes": _DATA_BYTES}]
        part = _DATA_BYTES // sum(chips) + 1
        if self.layout.memory == "drawers":
            wide = self.layout.drawer_nodes * self.layout.chips_per_node // width
            drawers = [range(first, first + wide) for first in range(0, len(domains), wide)]
            of_drawers = [(list(one), sum(domains[d] for d in one)) for one in drawers]
            return [{"domains": one, "bytes": part * n} for one, n in of_drawers if n]
        return [{"domains": [d], "bytes": part * n} for d, n in enumerate(domains) if n]


def predicted(
    name: str | MachineDescription,
    work: str = REFERENCE,
    *,
    largest: int | None = None,
    threads: int = 1,
) -> CapabilityTable:
    """The factors of a machine, predicted for 1 to `largest` processors (all it has for customers
    if not given) with so many busy threads each, as a table like the published ones. Raises as
    `Prediction.of`.
    """
    return Prediction.of(name, work, threads=threads).table(largest)


def _undispatched(described: MachineDescription) -> MachineSpec:
    """The machine with cores of one's own also where its hypervisor knows none: what a layout of
    cores is worth is the hardware's matter, and no dispatcher takes part in a price.
    """
    spec = machine_spec(described, streams=True, copies=True)
    if described.hypervisor.policy in HOST_POLICIES:
        spec["hypervisor"] = {**spec["hypervisor"], "policy": "dedicated", "siblings": 1}
    return spec


def _assert_streams(described: MachineDescription, spec: Spec) -> None:
    """What a stream of lines costs is asked only where the machine's way of lines is told."""
    work = spec["partitions"][0]["profile"]
    if work.get("stream_bytes") and described.streams is None:
        raise CapabilityError(
            f"what streams cost, as those of profile {work['name']}, is not told of "
            f"{described.title}",
            there="that needs [streams] in the machine's file",
            next_step="choose another profile, or add [streams] to a copy of the file",
        )


def _changed(name: str, change: Mapping[str, object]) -> MachineDescription:
    """The machine with the numbers of its layout."""
    choice = {"file" if is_path(name) else "model": name, **change}
    text = to_toml({"machine": choice, "partition": [_PARTITION]})
    return Scenario.from_toml(text, f"layout of {name}").machine


def _template(work: ProfileDescription, threads: int) -> Spec:
    """The engine's input for a partition of one processor, on a machine that is then replaced."""
    spec: Spec = json.loads(_template_text())
    partition = spec["partitions"][0]
    partition["profile"] = cast(ProfileSpec, work.spec())
    partition["smt"] = threads
    return spec


@functools.cache
def _template_text() -> str:
    text = to_toml({"machine": {"model": _ANY_MACHINE}, "partition": [_PARTITION]})
    return Scenario.from_toml(text, "prediction").spec_json()
