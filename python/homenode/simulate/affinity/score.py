"""The affinity score of a partition and of a frame.

IBM does not publish its formula. What is told of it: 0 is the worst, 100 the best, and resources on
more chips, modules or drawers than required lower it by how far they deviate from the ideal
placement (D. Singh, "Power 11 minimum affinity scoring"); the score of the system sums those of its
partitions by their part of all resources (US 9,043,563). Here:

```text
local = sum over i, j of p(i) m(j) w(i, j)        score = 100 local / local alone
```
p(i) is the share of the partition's entitled cores on chip i, m(j) the share of its memory beside
chip j: every core uses all memory alike. w is 1 where the memory is beside the chip, 0 on another
node, and between the two on another chip of the node: as much as near memory spares of the way from
local to far. `local alone` is the same where the partition is placed alone on the empty frame.

The score of a frame is the mean of its partitions by their size: entitled capacity plus memory,
each as a share of the frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from homenode.model.spec import MachineSpec, PartitionSpec
from homenode.simulate.explain.places import Tree

BEST = 100
HOW = (
    "the formula of the HMC's score is not published; here it is the share of entitled cores and "
    "memory that are local to each other, near ones counted in part, of what the partition would "
    "have alone on the frame"
)
"""What the score is, in a sentence."""


@dataclass(frozen=True)
class Distances:
    """Pairs of an entitled core and a piece of memory, by how far they are apart; together 1."""

    local: float
    near: float
    far: float


def distances(tree: Tree, partition: PartitionSpec) -> Distances:
    """Of a partition where its processors have their place, and its memory."""
    seats = tree.seats(partition)
    count = sum(seats.values())
    memory = tree.memory_by_domain(partition)
    beside = math.fsum(
        cores / count * memory.get(tree.domain_of(chip), 0.0) for chip, cores in seats.items()
    )
    of_node = tree.memory_by_node(partition)
    in_node = math.fsum(
        cores / count * of_node.get(tree.node_of(chip), 0.0) for chip, cores in seats.items()
    )
    return Distances(beside, max(in_node - beside, 0.0), max(1.0 - in_node, 0.0))


def worth_of_near(machine: MachineSpec) -> float:
    """How much of local memory near memory is worth: what it spares of the way from local to far;
    nothing where there is no way farther.
    """
    latency = machine["memory_ns"]
    way = latency["far"] - latency["local"]
    if machine["nodes"] == 1 or way <= 0:
        return 0.0
    return (latency["far"] - latency["near"]) / way


def locality(machine: MachineSpec, apart: Distances) -> float:
    """What a partition has of local memory, near memory counted in part [0..1]."""
    return apart.local + apart.near * worth_of_near(machine)


def score(locality_now: float, locality_alone: float) -> int:
    """Of a partition, 0 to 100."""
    if locality_alone <= 0:
        return BEST
    return min(round(BEST * locality_now / locality_alone), BEST)


def frame_score(scores: Iterable[tuple[int, float]]) -> int:
    """Of a frame, from the scores of its partitions and their sizes."""
    told = list(scores)
    total = math.fsum(size for _, size in told)
    return round(math.fsum(one * size for one, size in told) / total) if total else BEST
