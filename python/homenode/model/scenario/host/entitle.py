"""What weights, quotas and pins entitle a partition to: its part if everybody wants all they can
use.

Level by level, a group's processors are divided among the groups and threads in it by weight; what
one cannot use goes to the others (facts of `cpu.weight` and `cpu.max`). A thread weighs 100 at a
nice value of 0 and a quarter more with each step down, as the kernel's table has it. It is what the
shares tend to; how near the scheduler comes, the simulation says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from homenode.model.scenario.host.groups import PlacedCgroup

_THREAD = 100.0
_NICE = 1.25
"""Ratio of weights between two neighbouring nice values."""
_IDLE = 300 / 1024
"""Of a group with `cpu.idle`: 3 where 1024 are a weight of 100 (`WEIGHT_IDLEPRIO`)."""


@dataclass
class Threads:
    """Threads of one partition, which are in one group."""

    name: str
    cgroup: int | None
    """Index of the group; None for the root."""
    count: int
    nice: int = 0
    pins: Sequence[Sequence[int]] = ()

    @property
    def limit(self) -> float:
        """Processors they can use at most."""
        allowed = {cpu for pin in self.pins for cpu in pin}
        return float(min(self.count, len(allowed)) if allowed else self.count)

    @property
    def weight(self) -> float:
        """All of them together."""
        return self.count * _THREAD * _NICE**-self.nice


@dataclass
class _Node:
    """A group with what is in it."""

    weight: float
    most: float
    groups: list[_Node] = field(default_factory=list)
    threads: list[Threads] = field(default_factory=list)

    @property
    def demand(self) -> float:
        """Processors that can be used below it."""
        below = sum(one.demand for one in self.groups) + sum(one.limit for one in self.threads)
        return min(self.most, below)


def entitlements(
    groups: Sequence[PlacedCgroup], threads: Sequence[Threads], cpus: int
) -> dict[str, float]:
    """Processors for each partition by name."""
    root = _Node(1.0, float(cpus))
    nodes: list[_Node] = []
    for group in groups:
        most = min(
            float(cpus),
            float(cpus) if group.cap is None else group.cap,
            float(cpus if group.cpuset is None else len(group.cpuset)),
        )
        node = _Node(_IDLE if group.idle else float(group.weight), most)
        nodes.append(node)
        (root if group.parent is None else nodes[group.parent]).groups.append(node)
    for one in threads:
        (root if one.cgroup is None else nodes[one.cgroup]).threads.append(one)
    found: dict[str, float] = {}
    _divide(root, root.demand, found)
    return found


def _divide(node: _Node, cores: float, found: dict[str, float]) -> None:
    weights = [one.weight for one in node.groups] + [one.weight for one in node.threads]
    limits = [one.demand for one in node.groups] + [one.limit for one in node.threads]
    parts = fill(cores, weights, limits)
    for group, part in zip(node.groups, parts, strict=False):
        _divide(group, part, found)
    for one, part in zip(node.threads, parts[len(node.groups) :], strict=True):
        found[one.name] = part


def fill(cores: float, weights: Sequence[float], limits: Sequence[float]) -> list[float]:
    """Divide by weight; what is beyond a limit goes to the others, again by weight."""
    parts = [0.0] * len(weights)
    left, open_ones = cores, list(range(len(weights)))
    while open_ones:
        total = sum(weights[one] for one in open_ones)
        each = left / total if total else 0.0
        full = [one for one in open_ones if weights[one] * each >= limits[one]]
        if not full:
            for one in open_ones:
                parts[one] = weights[one] * each
            break
        for one in full:
            parts[one] = limits[one]
            left -= limits[one]
        left = max(left, 0.0)
        open_ones = [one for one in open_ones if one not in full]
    return parts
