"""What an assignment costs and which rules it breaks, from scratch.

Nothing of the engine is used here: it is judged by this. Plain loops over plain integers, so that
each rule can be read beside the challenge's text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from instance import Instance


def broken(one: Instance, at: Sequence[int]) -> Iterator[str]:
    """Each rule that does not hold, in words."""
    machines = len(one.capacity)
    if len(at) != len(one.service):
        yield f"{len(at)} machines are named for {len(one.service)} processes"
        return
    if any(not 0 <= machine < machines for machine in at):
        yield "a process is on a machine that is not there"
        return
    yield from _capacity(one, at)
    yield from _services(one, at)


def _capacity(one: Instance, at: Sequence[int]) -> Iterator[str]:
    taken: dict[tuple[int, int], int] = defaultdict(int)
    transient = one.transient.tolist()
    rows = zip(one.requirement.tolist(), at, one.start.tolist(), strict=True)
    for requirement, machine, start in rows:
        for resource, amount in enumerate(requirement):
            taken[machine, resource] += amount
            if transient[resource] and machine != start:
                taken[start, resource] += amount
    capacity = one.capacity.tolist()
    for (machine, resource), amount in sorted(taken.items()):
        if amount > capacity[machine][resource]:
            there = capacity[machine][resource]
            yield f"machine {machine}: {amount} of resource {resource} is taken, {there} is there"


def _services(one: Instance, at: Sequence[int]) -> Iterator[str]:
    on: dict[int, list[int]] = defaultdict(list)
    for service, machine in zip(one.service.tolist(), at, strict=True):
        on[service].append(machine)
    location, neighbourhood = one.location.tolist(), one.neighbourhood.tolist()
    around = {of: {neighbourhood[machine] for machine in who} for of, who in on.items()}
    for service, machines in on.items():
        if len(set(machines)) < len(machines):
            yield f"service {service}: two processes are on one machine"
        spread, least = len({location[machine] for machine in machines}), one.spread[service]
        if spread < least:
            yield f"service {service}: in {spread} locations, {least} asked"
    for service, other in one.needs:
        for place in around.get(service, set()) - around.get(other, set()):
            yield f"service {service}: in neighbourhood {place} without service {other}"


def cost(one: Instance, at: Sequence[int]) -> int:
    """The whole cost."""
    kinds = len(one.load_weight)
    used = [[0] * kinds for _ in range(len(one.capacity))]
    for requirement, machine in zip(one.requirement.tolist(), at, strict=True):
        for resource, amount in enumerate(requirement):
            used[machine][resource] += amount
    return _loads(one, used) + _balances(one, used) + _moves(one, at)


def bound(one: Instance) -> int:
    """What no assignment costs less than: loads and balances as if all machines were a single one,
    which is the least that they can be, since both costs grow ever faster with what is used.
    """
    used = [sum(column) for column in one.requirement.T.tolist()]
    weights, cost = one.load_weight.tolist(), 0
    for weight, amount, safe in zip(weights, used, one.safety.sum(axis=0).tolist(), strict=True):
        cost += weight * max(0, amount - safe)
    capacity = one.capacity.sum(axis=0).tolist()
    free = [there - amount for there, amount in zip(capacity, used, strict=True)]
    for first, second, target, weight in one.balances.tolist():
        cost += weight * max(0, target * free[first] - free[second])
    return cost


def _loads(one: Instance, used: list[list[int]]) -> int:
    weights, cost = one.load_weight.tolist(), 0
    for row, safety in zip(used, one.safety.tolist(), strict=True):
        for weight, amount, safe in zip(weights, row, safety, strict=True):
            cost += weight * max(0, amount - safe)
    return cost


def _balances(one: Instance, used: list[list[int]]) -> int:
    cost = 0
    for row, capacity in zip(used, one.capacity.tolist(), strict=True):
        free = [there - amount for there, amount in zip(capacity, row, strict=True)]
        for first, second, target, weight in one.balances.tolist():
            cost += weight * max(0, target * free[first] - free[second])
    return cost


def _moves(one: Instance, at: Sequence[int]) -> int:
    process_weight, service_weight, machine_weight = one.weights.tolist()
    moved: dict[int, int] = defaultdict(int)
    cost = 0
    for process, (machine, start) in enumerate(zip(at, one.start.tolist(), strict=True)):
        if machine != start:
            moved[int(one.service[process])] += 1
            cost += process_weight * int(one.move_cost[process])
            cost += machine_weight * int(one.way[start, machine])
    return cost + service_weight * max(moved.values(), default=0)
