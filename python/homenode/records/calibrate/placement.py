"""Processor time as if threads had been dispatched as near as was recorded, not as near as played.

Whose work a partition's neighbours do is seldom recorded, so that a played scenario keeps its
threads nearer than they were. Two differences are priced by the engine's own cost model, without
simulating: dispatches farther from home pay longer ways to memory, caches and sharers; threads that
were moved to another core find their own part of the footprint cold there and fetch it from where
they came. What was played as it was recorded changes nothing.

Assumed: a dispatch far from home lasts as long as one at home; levels S2rd and S3rd are on the
chip, S4rd on the node, S5rd beyond; a moved thread refills until its footprint is there or until it
is switched again, whichever is first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.model.spec import ProfileSpec, Spec
from homenode.records.calibrate.levels import Levels
from homenode.simulate.answers import PriceAnswer, Refill
from homenode.simulate.engine import Engine
from homenode.simulate.explain.places import Tree, even
from homenode.simulate.kept.books import IDLE
from homenode.simulate.kept.totals import NS_PER_S, Totals

PRICED = ("physc", "cpu_per_tx_us", "cpi")
"""Figures that go with the time of an instruction."""
_DISTANCES = (None, None, 0, 0, 1, 2)
"""Of each level of redispatch: same core, then chip, node, beyond."""
_LEAST = 0.05
_SAME = 1e-6


@dataclass(frozen=True)
class Placed:
    """Where threads were and where they are played, and what the difference costs."""

    condition: str
    recorded: Levels
    played: Levels | None
    factor: float
    """By which the played time of an instruction is multiplied."""
    why_not: str = ""
    """Why the difference was not priced, if it was not."""

    def as_json(self) -> dict[str, object]:
        """The same as plain data."""
        return {
            "condition": self.condition,
            "recorded": self.recorded.as_json(),
            "played": None if self.played is None else self.played.as_json(),
            "factor": self.factor,
            "why_not": self.why_not or None,
        }


def priced(
    title: str,
    engine: Engine,
    spec: Spec,
    index: int,
    totals: Sequence[Sequence[Totals]],
    recorded: Levels,
    played: Levels | None,
) -> Placed:
    """`totals` are those of each partition, by replication, as played; `index` is the partition's
    place among them.
    """
    if played is None:
        return Placed(title, recorded, None, 1.0, "played, none of its threads was dispatched")
    tree = Tree(spec["machine"])
    if not tree.seats(spec["partitions"][index]):
        return Placed(title, recorded, played, 1.0, "the scenario names no home for it")
    used = [_used(each) for each in totals]
    here = _busy(tree, spec, used, index, played.home)
    there = _busy(tree, spec, used, index, (played.home and recorded.home) or played.home)
    try:
        now = _price(engine, spec, here, index)
        then = now if _alike(here, there) else _price(engine, spec, there, index)
    except ValueError as error:
        return Placed(title, recorded, played, 1.0, f"the layout has no price: {error}")
    if now is None or then is None:
        return Placed(title, recorded, played, 1.0, "played, it used no processor")
    work = _rate([one["instructions"] for one in totals[index]], totals[index])
    profile, line = spec["partitions"][index]["profile"], spec["machine"]["line_bytes"]
    extra = _moves_ns(recorded, played, now[1], profile, line, work)
    factor = then[0] / now[0] * (1.0 + extra / now[0])
    return Placed(title, recorded, played, max(factor, _LEAST))


def _used(replications: Sequence[Totals]) -> float:
    """Cores that a partition kept busy with work."""
    busy = [one["busy_ns"] - one.sum(*(f"book_{name}" for name in IDLE)) for one in replications]
    return max(0.0, _rate(busy, replications) / NS_PER_S)


def _rate(values: Sequence[float], replications: Sequence[Totals]) -> float:
    return math.fsum(values) / math.fsum(one.seconds for one in replications)


def _busy(
    tree: Tree,
    spec: Spec,
    used: Sequence[float],
    index: int,
    home: tuple[float, ...] | None,
) -> list[list[float]]:
    """Busy cores of each partition by chip: at home, the one in question by its shares."""
    rows = []
    for place, partition in enumerate(spec["partitions"]):
        chips = list(tree.seats(partition).elements()) or list(tree.chips)
        shares = home if place == index and home is not None else (1.0, 0.0, 0.0)
        row = [0.0] * len(tree.chips)
        for share, where in zip(shares, _places(tree, chips), strict=True):
            for chip, cores in even(used[place] * share, where).items():
                row[chip] += cores
        rows.append(row)
    most = float(tree.machine["cores_per_chip"])
    for chip in tree.chips:
        together = math.fsum(row[chip] for row in rows)
        for row in rows if together > most else ():
            row[chip] *= most / together
    return rows


def _places(tree: Tree, chips: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Home chips, the other chips of their nodes, those of other nodes; the nearer ones where there
    are none.
    """
    nodes = {tree.node_of(chip) for chip in chips}
    active = {tree.chip_of(core) for node in tree.nodes for core in tree.cores_of(node)}
    near = sorted(one for one in active - set(chips) if tree.node_of(one) in nodes)
    far = sorted(one for one in active if tree.node_of(one) not in nodes)
    return chips, near or chips, far or near or chips


def _alike(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> bool:
    return all(
        abs(a - b) < _SAME
        for row, twin in zip(one, other, strict=True)
        for a, b in zip(row, twin, strict=True)
    )


def _price(
    engine: Engine, spec: Spec, busy: list[list[float]], index: int
) -> tuple[float, Refill] | None:
    """Time of an instruction [ns], and what it takes to refill a cold footprint."""
    answer: PriceAnswer = json.loads(engine.price(json.dumps(spec), json.dumps(busy)))
    told = answer["partitions"][index]
    ns, refill = told["ns"], told["refill"]
    return None if ns is None or refill is None else (ns, refill)


def _moves_ns(
    recorded: Levels,
    played: Levels,
    refill: Refill,
    profile: ProfileSpec,
    line_bytes: float,
    work: float,
) -> float:
    """Time that an instruction takes longer because more threads were moved than are played, at
    `work` instructions a second [ns].
    """
    if not (work > 0 and refill["lines"] > 0 and played.per_s):
        return 0.0
    held = min(profile["footprint_bytes"] / line_bytes, refill["private_lines"])
    cold = held * (1.0 - profile["footprint_common"]) / refill["lines"]

    def spent(levels: Levels, switches: float) -> float:
        if not switches > 0:
            return 0.0
        slow = min(cold, work / switches)
        return math.fsum(
            switches * share / work * slow * refill["ns"][distance]
            for share, distance in zip(levels.redispatches, _DISTANCES, strict=True)
            if distance is not None
        )

    switches = played.per_s["cs"]
    told = switches if recorded.per_s is None else recorded.per_s["cs"]
    return spent(recorded, told) - spent(played, switches)
