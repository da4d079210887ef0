"""What each of two hosts did for a case whose servers ran on one and whose clients on the other."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.hosts.record import RunRecord
from homenode.hosts.reduce.repetitions import Cell
from homenode.hosts.statistics import log_mean

SIDES = ("server", "client")
SATURATED = 0.9
"""Busy of a client's host from which on it may be what limits the case (assumed)."""


@dataclass(frozen=True)
class HostFigures:
    """Of one host; geometric means over the runs, None where a run does not tell."""

    busy: float | None
    """Share of the processors that its processes were allowed [0..1]."""
    host_busy: float | None
    """Share of all its processors that were not idle, whoever used them [0..1]."""
    each_us: float | None
    """Processor time of its processes for a unit of work [us]."""
    host_each_us: float | None
    """Of the whole host, interrupts and kernel threads included [us]."""
    sent: float | None
    """Over the network [MB/s]."""
    received: float | None


@dataclass(frozen=True)
class TwoHosts:
    """A case on both hosts."""

    case: str
    processors: int
    sides: Mapping[str, HostFigures]
    load: float
    clock_us: float | None
    """How uncertain the offset of the two clocks was, at the worst of the runs [us]."""
    apart_ms: float | None
    """By which the accounts of the two hosts began or ended apart, at the worst [ms]."""

    @property
    def client_is_full(self) -> bool:
        """Whether the client's host may be what limits it."""
        busy = self.sides["client"].host_busy
        return busy is not None and busy > SATURATED

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        return dataclasses.asdict(self)


def two_hosts(cells: Sequence[Cell]) -> list[TwoHosts]:
    """Of those cells that two hosts shared; rejected runs where none counts."""
    return [
        TwoHosts(
            cell.key.case,
            cell.key.processors,
            {side: _figures(runs, side) for side in SIDES},
            cell.key.load,
            _most(runs, 1e6, "uncertainty_s"),
            _most(runs, 1e3, "server_begins_before_s", "server_ends_after_s"),
        )
        for cell in cells
        if (runs := [run for run in cell.runs or cell.rejected if "hosts" in run.details])
    ]


def _figures(runs: Sequence[RunRecord], side: str) -> HostFigures:
    told = [mapping(mapping(run.details.get("hosts")).get(side)) for run in runs]
    work, told_s = [run.work for run in runs], [run.seconds for run in runs]
    seconds = [_number(one, "seconds") for one in told]
    all_there = all_told(told, "host_processors")
    return HostFigures(
        busy=mean_told(over(all_told(told, "cpu_s"), told_s, all_told(told, "processors"))),
        host_busy=_share(mean_told(over(all_told(told, "busy_s"), seconds, all_there))),
        each_us=mean_told(over(all_told(told, "cpu_s"), work, scale=1e6)),
        host_each_us=mean_told(over(all_told(told, "busy_s"), work, scale=1e6)),
        sent=mean_told(over(all_told(told, "tx_bytes"), seconds, scale=1e-6)),
        received=mean_told(over(all_told(told, "rx_bytes"), seconds, scale=1e-6)),
    )


def _share(value: float | None) -> float | None:
    """At most 1: a short time is counted in ticks."""
    return None if value is None else min(1.0, value)


def _most(runs: Sequence[RunRecord], scale: float, *names: str) -> float | None:
    """The largest of some figures of the clocks, whatever its sign."""
    clocks = [mapping(run.details.get("clock")) for run in runs]
    found = [_number(clock, name) for clock in clocks for name in names]
    return max((scale * abs(value) for value in found if value is not None), default=None)


def all_told(told: Sequence[Mapping[str, object]], name: str) -> list[float | None]:
    """A figure of each; None where it is not told."""
    return [_number(one, name) for one in told]


def over(
    above: Sequence[float | None], *below: Sequence[float | None], scale: float = 1.0
) -> list[float | None]:
    """Quotients; None where a part is not told, or nothing to divide by."""
    found: list[float | None] = []
    for value, *parts in zip(above, *below, strict=True):
        known = [part for part in parts if part]
        if value is None or len(known) < len(parts):
            found.append(None)
        else:
            found.append(scale * value / math.prod(known))
    return found


def mean_told(values: Sequence[float | None]) -> float | None:
    """Their geometric mean, the plain one where one is 0; None where one is not told."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return math.exp(log_mean(known)) if min(known) > 0.0 else sum(known) / len(known)


def _number(told: Mapping[str, object], name: str) -> float | None:
    value = told.get(name)
    return float(value) if isinstance(value, int | float) else None


def mapping(value: object) -> Mapping[str, object]:
    """One that is a mapping, or an empty one."""
    return value if isinstance(value, Mapping) else {}
