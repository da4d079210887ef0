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
from homenode.model.spec import Spec, SpreadSpec, WorkloadSpec
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
        self, rates: Rates, step_ns: int, replication: int, done: ShareFn | None = None
    ) -> dict[str, Used]:
        """What every partition uses while `rates` are played, each step for `step_ns`.

        `replication` says which random numbers are drawn. Raises `HomenodeError` if the load is
        beyond what the machine can do at all.
        """
        spec = self._with(rates, step_ns)
        found: dict[str, list[int]] = {name: [] for name in _COLUMNS}

        def observe(batch: Batch) -> bool:
            if done is not None:
                done(batch["now_ns"] / max(1, batch["end_ns"]))
            for name, column in found.items():
                column.extend(_integers(batch["tables"].get("partition", {}).get(name, b"")))
            return True

        try:
            self._engine.simulate(json.dumps(spec), replication, observe)
        except (self._engine.SpecError, self._engine.Runaway) as error:
            raise HomenodeError(f"the recorded demand cannot be played: {error}") from error
        return self._used(found, step_ns)

    def _with(self, rates: Rates, step_ns: int) -> Spec:
        steps = max(len(values) for values in rates.values())
        spec: Spec = {
            **self._spec,
            "duration_ns": steps * step_ns,
            "interval_ns": step_ns,
            "warmup_ns": _WARMUP_NS,
            "record_dispatches": False,
        }
        for partition in spec["partitions"]:
            if partition["name"] in rates:
                partition["workload"] = {
                    **_spread(partition["workload"]),
                    "kind": "trace",
                    "lengths_ns": [step_ns] * steps,
                    "instructions_per_s": list(rates[partition["name"]]),
                }
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
