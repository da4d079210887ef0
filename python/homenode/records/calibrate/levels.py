"""How near threads are dispatched to where they were and to where they belong: the affinity levels
of AIX's `mpstat -d`, recorded or counted in a simulation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.records.importing.facts import HOME_DISPATCHES, REDISPATCHES, SWITCHES
from homenode.simulate.answers import Batch

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Levels:
    """Shares and rates over some time."""

    redispatches: tuple[float, ...]
    """Of the redispatches of software threads, by level S0rd to S5rd [0..1]."""
    home: tuple[float, ...] | None
    """Of the dispatches, by distance from home, S3hrd to S5hrd [0..1]; None where not printed."""
    per_s: Mapping[str, float] | None
    """`cs`, `ics`, `ilcs`, `vlcs` [1/s]; None where the time is not known."""

    def as_json(self) -> dict[str, float | None]:
        """The same as plain data, by the tool's names."""
        home = self.home or (None,) * len(HOME_DISPATCHES)
        return {
            **dict(zip(REDISPATCHES, self.redispatches, strict=True)),
            **dict(zip(HOME_DISPATCHES, home, strict=True)),
            **{f"{name}_per_s": (self.per_s or {}).get(name) for name in SWITCHES},
        }

    @property
    def moved(self) -> float:
        """Share of the redispatches that went to another core [0..1]."""
        return math.fsum(self.redispatches[2:])

    @property
    def away(self) -> float | None:
        """Share of the dispatches away from the home chip [0..1]."""
        return None if self.home is None else math.fsum(self.home[1:])


def recorded_levels(rows: pl.DataFrame) -> Levels | None:
    """Of rows of `Affinity.table`; every switch weighs the same. None if there was no switch."""
    weights = [float(value) for value in rows["cs"]]
    total = math.fsum(weights)
    if not total > 0:
        return None

    def mean(name: str) -> float:
        return math.fsum(w * x for w, x in zip(weights, rows[name], strict=True)) / total

    shares = tuple(mean(name) for name in REDISPATCHES)
    home = tuple(mean(name) for name in HOME_DISPATCHES)
    seconds = math.fsum(rows["seconds"])
    rates = {name: math.fsum(rows[name]) / seconds for name in SWITCHES} if seconds > 0 else None
    is_printed = not any(map(math.isnan, home)) and math.fsum(home) > 0
    return Levels(shares, home if is_printed else None, rates)


class Counting:
    """Takes the batches of a replication and adds up what one partition's processors counted."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._sums = dict.fromkeys((*SWITCHES, *REDISPATCHES, *HOME_DISPATCHES), 0)

    def __call__(self, batch: Batch) -> bool:
        """See `Engine.simulate`."""
        import numpy as np

        columns = batch["tables"].get("cpu")
        if columns is not None:
            own = np.frombuffer(columns["partition"], dtype="<i8") == self._partition
            for name in self._sums:
                self._sums[name] += int(np.frombuffer(columns[name], dtype="<i8")[own].sum())
        return True

    @property
    def sums(self) -> dict[str, int]:
        """Counts by name."""
        return dict(self._sums)


def played_levels(counts: Sequence[Mapping[str, int]], seconds: float) -> Levels | None:
    """Of all replications of `seconds` each; None if no thread was dispatched."""
    sums = {name: sum(one[name] for one in counts) for name in counts[0]} if counts else {}
    every = sum(sums.get(name, 0) for name in REDISPATCHES)
    if not every:
        return None
    homes = sum(sums[name] for name in HOME_DISPATCHES)
    home = tuple(sums[name] / homes for name in HOME_DISPATCHES) if homes else None
    length = seconds * len(counts)
    rates = {name: sums[name] / length for name in SWITCHES}
    return Levels(tuple(sums[name] / every for name in REDISPATCHES), home, rates)
