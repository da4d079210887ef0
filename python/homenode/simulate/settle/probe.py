"""A scenario simulated with other demand, and how many cores its partitions then use."""

from __future__ import annotations

import copy
import json
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from homenode.errors import HomenodeError
from homenode.model.scenario.played import Quantity
from homenode.model.spec import Spec, SpreadSpec, StepsSpec, WorkloadSpec, machines_of
from homenode.simulate.answers import Batch
from homenode.simulate.engine import load_engine

Rates = Mapping[str, Sequence[float]]
"""Work by partition, a value a step [instructions/s]."""
ShareFn = Callable[[float], None]
_COLUMNS = (
    "partition",
    "busy_ns",
    "user_ns",
    "sys_ns",
    "ticks_user",
    "ticks_sys",
    "tx_inside",
)
_OF_MACHINES = ("partition", "virtual_machine", "guest_ns", "chargeable_ns")
_WARMUP_NS = 10_000_000_000


@dataclass(frozen=True)
class Used:
    """What a partition used in each step."""

    cores: tuple[float, ...]
    waiting: tuple[float, ...]
    """Bursts that were not done at the end of the step."""


def counted(quantity: Quantity, os: str) -> tuple[str, ...]:
    """Columns of a run's intervals that together are what was recorded: core time, or time in which
    logical processors were busy. AIX charges a thread its share of a core, others all of its time.
    """
    if quantity == "physc":
        return ("busy_ns",)
    return ("user_ns", "sys_ns") if os == "aix" else ("ticks_user", "ticks_sys")


class Probe:
    """A frozen scenario whose demand is replaced, step for step."""

    def __init__(self, spec: Spec, quantities: Mapping[str, Quantity]) -> None:
        self._spec = copy.deepcopy(spec)
        self._quantities = quantities
        self._engine = load_engine()

    def __call__(
        self,
        rates: Rates,
        step_ns: int,
        replication: int,
        done: ShareFn | None = None,
        windows: Sequence[int] | None = None,
    ) -> dict[str, Used]:
        """What every partition uses while `rates` are played, each step for `step_ns`.

        `replication` says which random numbers are drawn, `windows` which of a recording the steps
        are where they are some of them. Raises `HomenodeError` if the load is
        beyond what the machine can do at all.
        """
        spec = self._with(rates, step_ns, windows)
        found: dict[str, list[int]] = {name: [] for name in _COLUMNS}
        machines: dict[str, list[int]] = {name: [] for name in _OF_MACHINES}

        def observe(batch: Batch) -> bool:
            if done is not None:
                done(batch["now_ns"] / max(1, batch["end_ns"]))
            for table, columns in (("partition", found), ("virtual_machine", machines)):
                for name, column in columns.items():
                    column.extend(_integers(batch["tables"].get(table, {}).get(name, b"")))
            return True

        try:
            self._engine.simulate(json.dumps(spec), replication, observe)
        except (self._engine.SpecError, self._engine.Runaway) as error:
            raise HomenodeError(f"the recorded demand cannot be played: {error}") from error
        return {**self._used(found, step_ns), **self._used_by_machines(machines, step_ns)}

    def _with(self, rates: Rates, step_ns: int, _windows: Sequence[int] | None = None) -> Spec:
        steps = max(len(values) for values in rates.values())
        spec: Spec = {
            **self._spec,
            "duration_ns": steps * step_ns,
            "interval_ns": step_ns,
            "warmup_ns": _WARMUP_NS,
            "record_dispatches": False,
        }

        def played(name: str) -> StepsSpec:
            return {"lengths_ns": [step_ns] * steps, "instructions_per_s": list(rates[name])}

        for partition in spec["partitions"]:
            name = partition["name"]
            if name in rates:
                spread = _spread(partition["workload"])
                partition["workload"] = {**spread, "kind": "trace", **played(name)}
            for machine in machines_of(partition):
                if f"{name}/{machine['name']}" in rates:
                    machine["work"]["played"] = played(f"{name}/{machine['name']}")
        return spec

    def _used(self, found: Mapping[str, Sequence[int]], step_ns: int) -> dict[str, Used]:
        partitions = self._spec["partitions"]
        names = [partition["name"] for partition in partitions]
        columns = [
            counted(self._quantities.get(one["name"], "physc"), one["guest"]["os"])
            for one in partitions
        ]
        cores: dict[str, list[float]] = {name: [] for name in names}
        waiting: dict[str, list[float]] = {name: [] for name in names}
        for row, index in enumerate(found["partition"]):
            used = sum(found[column][row] for column in columns[index])
            cores[names[index]].append(used / step_ns)
            waiting[names[index]].append(float(found["tx_inside"][row]))
        return {name: Used(tuple(cores[name]), tuple(waiting[name])) for name in names}

    def _used_by_machines(
        self, found: Mapping[str, Sequence[int]], step_ns: int
    ) -> dict[str, Used]:
        """Of virtual machines under z/VM, CP on their account among it; what is left waiting is
        not known of them.
        """
        cores: dict[str, list[float]] = {}
        for partition, machine, guest_ns, chargeable_ns in zip(*found.values(), strict=True):
            one = self._spec["partitions"][partition]
            key = f"{one['name']}/{machines_of(one)[machine]['name']}"
            cores.setdefault(key, []).append((guest_ns + chargeable_ns) / step_ns)
        return {key: Used(tuple(used), (0.0,) * len(used)) for key, used in cores.items()}


def _spread(told: WorkloadSpec) -> SpreadSpec:
    """How its bursts are spread over a step, as it was."""
    return {"spread": told["spread"]} if told["kind"] == "trace" and "spread" in told else {}


def _integers(packed: bytes) -> array[int]:
    """A column as the engine packs it: 64-bit integers, little-endian."""
    values = array("q")
    values.frombytes(packed)
    if sys.byteorder == "big":
        values.byteswap()
    return values
