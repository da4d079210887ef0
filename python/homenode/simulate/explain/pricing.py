"""What a partition would pay in another layout: the engine prices the layout of the run and the
other one, and the ratio of the two is applied to what was measured.

The busy cores on each chip are those of the run, put where the other layout puts them. Two prices
are compared with each other, never a price with a measurement: what the price leaves out (cache
reload, waiting, threads that share a core) is left out on both sides.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from homenode.errors import EngineMissingError
from homenode.model.spec import PartitionSpec, Spec
from homenode.simulate.answers import PriceAnswer
from homenode.simulate.engine import Engine, load_engine
from homenode.simulate.explain.moves import Move
from homenode.simulate.explain.places import Tree, even
from homenode.simulate.kept.books import IDLE
from homenode.simulate.kept.kept_run import KeptRun

WORTH = 0.005
"""Share of its cores that a move must save to be worth a word."""
_LEAST_USED = 0.005


@dataclass(frozen=True)
class Outcome:
    """A move with what it changes, for the same work."""

    move: Move
    now: float
    """Cores the partition uses."""
    then: float
    """Cores it would use."""
    others: dict[str, tuple[float, float]]
    """The same of partitions whose cores are moved as well."""
    total: float
    """Cores saved over all partitions."""

    @property
    def saving(self) -> float:
        """Share of its own cores that it saves [0..1]."""
        return 1.0 - self.then / self.now


class Pricing:
    """Prices of one run's layouts."""

    def __init__(self, run: KeptRun, engine: Engine) -> None:
        self.run = run
        self.engine = engine
        self.tree = Tree(run.spec["machine"])

    @classmethod
    def of(cls, run: KeptRun) -> Pricing | None:
        """None where the engine is not there: reports work without it."""
        try:
            return cls(run, load_engine())
        except EngineMissingError:
            return None

    @cached_property
    def used(self) -> list[float]:
        """Cores that each partition kept busy."""
        found = []
        for name in self.run.partitions:
            idle = math.fsum(self._mean(name, f"cores_{cause}") for cause in IDLE)
            found.append(max(self._mean(name, "physc") - idle, 0.0))
        return found

    def _mean(self, partition: str, metric: str) -> float:
        return self.run.metric(partition, metric).mean or 0.0

    @cached_property
    def now(self) -> list[float] | None:
        """Time of an instruction of each partition in the run's layout [ns]."""
        return self.prices(self.run.spec)

    def prices(self, spec: Spec, at_home: tuple[int, ...] = ()) -> list[float] | None:
        """The same in any layout of these partitions, `at_home` those that never leave their home;
        None where the engine refuses the layout.
        """
        busy = [
            self._busy(partition, index, index in at_home)
            for index, partition in enumerate(spec["partitions"])
        ]
        try:
            answer = self.engine.price(json.dumps(spec), json.dumps(self._fitted(busy)))
            told: PriceAnswer = json.loads(answer)
        except ValueError:
            return None
        return [float(partition["ns"] or 0.0) for partition in told["partitions"]]

    def is_used(self, index: int) -> bool:
        """Whether a partition works at all."""
        return self.used[index] >= _LEAST_USED

    def outcomes(self, index: int, candidates: Iterable[Move]) -> list[Outcome]:
        """What each move does to a partition; none where nothing can be priced. An instruction of
        several workloads has no one price.
        """
        if self.now is None or not self.is_used(index) or "beside" in self._partition(index):
            return []
        found = (self._outcome(index, move) for move in candidates)
        return [outcome for outcome in found if outcome is not None]

    def _partition(self, index: int) -> PartitionSpec:
        return self.run.spec["partitions"][index]

    def _outcome(self, index: int, move: Move) -> Outcome | None:
        prices = self.prices(move.spec)
        if prices is None or self.now is None:
            return None
        then = [
            used * new / old if old > 0 else used
            for used, new, old in zip(self.used, prices, self.now, strict=True)
        ]
        names = self.run.partitions
        return Outcome(
            move,
            self.used[index],
            then[index],
            {names[other]: (self.used[other], then[other]) for other in move.exchanged},
            math.fsum(self.used) - math.fsum(then),
        )

    def _busy(self, partition: PartitionSpec, index: int, at_home: bool) -> list[float]:
        """Cores it keeps busy on each chip.

        A dedicated partition loads its cores evenly. A shared one is on its home chips, on others
        of its home nodes and on other nodes as the run found it.
        """
        used, seats = self.used[index], self.tree.seats(partition)
        chips = list(seats.elements())
        places = [even(used, chips)] if chips else []
        if not at_home and partition["processors"]["mode"] == "shared":
            places = self._roaming(index, chips)
        cores = [0.0] * len(self.tree.chips)
        for place in places:
            for chip, amount in place.items():
                cores[chip] += amount
        return cores

    def _fitted(self, busy: list[list[float]]) -> list[list[float]]:
        """Not more cores on a chip than it has: where a shared partition was, is known by distance
        only.
        """
        most = float(self.tree.machine["cores_per_chip"])
        for chip in self.tree.chips:
            together = math.fsum(row[chip] for row in busy)
            if together > most:
                for row in busy:
                    row[chip] *= most / together
        return busy

    def _roaming(self, index: int, chips: list[int]) -> list[dict[int, float]]:
        name = self.run.partitions[index]
        shares = [self._mean(name, f"{where}_share") for where in ("home", "near", "far")]
        nodes = {self.tree.node_of(chip) for chip in chips}
        active = {
            self.tree.chip_of(core) for node in self.tree.nodes for core in self.tree.cores_of(node)
        }
        near = [chip for chip in sorted(active) if self.tree.node_of(chip) in nodes]
        far = [chip for chip in sorted(active) if self.tree.node_of(chip) not in nodes]
        places = (chips, near or chips, far or near or chips)
        used = self.used[index]
        return [
            even(used * share, place) for share, place in zip(shares, places, strict=True) if place
        ]
