"""Instances of any size, drawn: for how placement grows, where none are at hand."""

from __future__ import annotations

import numpy as np
from instance import Instance

from homenode.errors import HomenodeError

TOGETHER = 5
"""Processes of a service; they start on machines that follow each other."""


def generate(machines: int, processes: int, resources: int, seed: int) -> Instance:
    """A sound start, as tight as the larger ones of the challenge: more is used than is safe, so
    that the lower bound is near.

    Raises:
        HomenodeError: A service's processes would not have machines of their own.

    """
    if machines < TOGETHER or processes < 1 or resources < 1:
        asked = f"{machines} machines, {processes} processes, {resources} resources"
        raise HomenodeError(f"{asked}; use {TOGETHER} machines, one process, one resource or more")
    dice = np.random.default_rng(seed)
    kinds = np.arange(resources)
    size = np.exp(dice.normal(9.0, 1.2, (processes, 1)))
    requirement = (size * np.exp(dice.normal(0.0, 0.5, (processes, resources)))).astype(np.int64)
    start = np.arange(processes) % machines
    used = np.zeros((machines, resources), dtype=np.int64)
    np.add.at(used, start, requirement)
    capacity = (used * dice.uniform(1.05, 1.3, used.shape)).astype(np.int64) + 1
    services = -(-processes // TOGETHER)
    machine = np.arange(machines)
    # So much later a service starts on the same machines, if these divide without rest.
    later = machines // TOGETHER if machines % TOGETHER == 0 else services
    return Instance(
        name=f"{machines}x{processes}x{resources}",
        transient=(kinds % 4 == 3).astype(np.int64),
        load_weight=np.full(resources, 10),
        neighbourhood=machine % (machines // 100 + 1),
        location=machine % (machines // 20 + 1),
        capacity=capacity,
        safety=(capacity * dice.uniform(0.7, 0.9, used.shape)).astype(np.int64),
        way=dice.integers(0, 10, (machines, machines)),
        spread=np.where((dice.random(services) < 0.3) & (machines >= 2 * 20), 2, 0),
        needs=[(one, one + later) for one in range(0, services - later, 3)],
        service=np.arange(processes) // TOGETHER,
        requirement=requirement,
        move_cost=dice.integers(1, 100, processes),
        balances=np.array([[0, 1, 1, 10]] if resources > 1 else []).reshape(-1, 4),
        weights=np.array([1, 10, 100]),
        start=start,
    )
