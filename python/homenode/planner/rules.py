"""What must hold of a layout, and by how much a row breaks it.

Rules of the machine (there is room, demand is met) always hold; the others are wished for, have a
name and, where the scenario's file says them, a place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from homenode.errors import ScenarioError, Where
from homenode.model.estimate import Estimate
from homenode.model.spec import capacity_of
from homenode.model.units import TIME
from homenode.planner.cost import Cost, Solved
from homenode.planner.solver import Floats, is_open, offered
from homenode.planner.wishes import Wishes

SLACK = 1e-6
"""Excess that is none."""
_LEAST_LACKING = 0.01
"""Part of what comes in that one lacks at least whose backlog grows."""
_LESS_WORK, _LESS_BY_CHANCE = 0.01, 0.03
"""Part of its throughput of now that a partition may lose: what solving leaves open, and what
chance makes of brief simulations.
"""
NO_LESS_WORK = "no less work is done"
MEETS_DEMAND = "meets its demand"
"""The name of a rule, after the partition's."""


@dataclass(frozen=True)
class Simulated:
    """What a rule looks at of a layout that was simulated."""

    mean: Callable[[str, str], float | None]
    """Of a partition, the mean of a metric."""
    cores: float
    """Cores that all partitions use together."""
    unsteady: Mapping[str, str]
    """Partitions that do not meet their demand, and why."""
    longer: Callable[[str, float], Estimate] = lambda _, __: Estimate(None)
    """Of a partition, the mean response beyond so many times that of the layout as it is [ms], with
    the interval of the pairs of replications that saw the same arrivals.
    """


@dataclass(frozen=True)
class Rule:
    """One thing that must hold."""

    name: str
    excess: Callable[[Solved], Floats]
    """By how much each row breaks it, as a share of what is allowed; 0, or less, where it holds."""
    where: Where | None = None
    wished: bool = True
    """Whether somebody asked for it; else it is the machine's."""
    in_words: Callable[[Simulated], str | None] = lambda _: None
    """Of a simulated layout, how it breaks the rule; None where it holds."""
    simulated: bool = False
    """Whether `in_words` decides where there was a simulation."""
    ratio: Callable[[Simulated], float | None] = lambda _: None
    """Of a simulated layout, what there is by what is allowed; None where it is not known."""
    linear: tuple[str, Any] | None = None
    """What it is to an exact solver, which knows homes, entitlements and numbers of changes."""
    partition: int | None = None
    """Whose response it is about."""
    guessed: bool = False
    """Whether it stands for one of which the solver knows nothing: see `guesses`."""

    def __str__(self) -> str:
        """Its name, with its place."""
        return self.name if self.where is None else f"{self.name} ({self.where})"


def rules_of(wishes: Wishes, cost: Cost, solved_now: Solved) -> list[Rule]:
    """All rules, those of the machine first."""
    return [
        *_of_machine(wishes, cost, solved_now),
        *_of_response(wishes, cost, solved_now),
        *_of_room(wishes, cost),
        *_of_place(wishes, cost),
    ]


def excess_of(rules: Sequence[Rule], solved: Solved) -> Floats:
    """By how much each row breaks each rule, a column a rule; 0 or less where it holds."""
    columns = [np.where(solved.sound, rule.excess(solved), np.inf) for rule in rules]
    return np.stack(columns, axis=1)


def _of_machine(wishes: Wishes, cost: Cost, now: Solved) -> Iterator[Rule]:
    """Entitlements fit the pools, memory its domains; who meets demand now goes on so."""
    steady = now.figures.steady[0] > 0
    met = steady & [is_open(one) for one in cost.solver.spec["partitions"]]
    work = np.where(np.isin(cost.names, wishes.told.gives_way) | met, 0.0, cost.work)
    less = _LESS_BY_CHANCE if cost.solver.simulates else _LESS_WORK
    as_is = _but_now if cost.holds_now else lambda excess: excess
    yield Rule(
        "entitlements fit the machine",
        lambda s: _entitled(cost, s, 0.0),
        wished=False,
        linear=("entitled", 0.0),
    )
    yield Rule("pools hold their partitions", lambda s: _pools(cost, s), wished=False)
    held = _memory(cost, now)[0]
    # As placing has it, the machine's memory is spread evenly; who has more now keeps it.
    room = np.maximum(held, cost.most_memory / len(held))
    yield Rule(
        "memory fits its domains",
        lambda s: np.maximum(_memory(cost, s) - room, 0).sum(axis=1) / room.max(),
        wished=False,
        linear=("memory", room),
    )
    yield Rule(
        "demand is met",
        as_is(lambda s: ((s.figures.steady <= 0) & steady).sum(axis=1).astype(float)),
        wished=False,
    )
    for index in np.flatnonzero(~steady):
        name = cost.names[index]
        if name in cost.held:
            continue
        yield Rule(
            f"{name} {MEETS_DEMAND}",
            lambda s, at=index: _lacking(cost, s, at),  # type: ignore[misc]
            in_words=lambda run, name=name: run.unsteady.get(name),  # type: ignore[misc]
            simulated=True,
        )
    yield Rule(
        NO_LESS_WORK,
        as_is(lambda s: _less_work(work, less, s)),
        wished=False,
    )


def _lacking(cost: Cost, solved: Solved, at: int) -> Floats:
    """The part of what comes in that a partition does not get done; all where that is not known."""
    comes = offered(cost.solver.spec["partitions"][at])
    done = solved.figures.throughput[:, at] / comes if comes > 0 else 0.0
    lacks = np.nan_to_num(np.clip(1 - done, _LEAST_LACKING, 1.0), nan=1.0)
    return np.asarray(np.where(solved.figures.steady[:, at] <= 0, lacks, 0.0))


def _less_work(work: Floats, least: float, solved: Solved) -> Floats:
    """The parts of their work of now that partitions lose, beyond what is left open."""
    done = solved.figures.throughput / np.maximum(work, 1e-12)
    return np.asarray(np.maximum(np.where(work > 0, 1 - done, 0) - least, 0).sum(axis=1))


def _entitled(cost: Cost, solved: Solved, less: float) -> Floats:
    """Entitlement beyond what there is without so many cores."""
    spec: Any = cost.solver.spec
    if spec["machine"]["hypervisor"]["policy"] != "phyp":
        return np.zeros(len(solved.rows))
    total = np.full(len(solved.rows), sum(pool["reserved"] for pool in spec["pools"]))
    for index in range(len(cost.names)):
        total += cost.solver.features.column(index, "entitlement", solved.options)
    room = spec["machine"]["active_cores"] - less
    return np.asarray(np.maximum(total - room, 0) / room)


def _pools(cost: Cost, solved: Solved) -> Floats:
    pools = cost.solver.spec["pools"]
    if all(pool["maximum"] is None for pool in pools):
        return np.zeros(len(solved.rows))
    used = np.zeros((len(solved.rows), len(pools) + 1))
    used[:, :-1] = [pool["reserved"] for pool in pools]
    tell = cost.solver.features.column
    for index in range(len(cost.names)):
        pool = tell(index, "pool", solved.options)
        used[np.arange(len(pool)), pool] += tell(index, "entitlement", solved.options)
    limits = [np.inf if pool["maximum"] is None else pool["maximum"] for pool in pools]
    over = np.maximum(used[:, :-1] - np.array(limits), 0)
    return np.asarray(over.sum(axis=1))


def _memory(cost: Cost, solved: Solved) -> Floats:
    """Bytes in each memory domain."""
    parts = [
        cost.solver.features.column(index, "memory", solved.options)
        for index in range(len(cost.names))
    ]
    return np.asarray(np.sum(parts, axis=0))


def _of_response(wishes: Wishes, cost: Cost, now: Solved) -> Iterator[Rule]:
    limited = set()
    for row, limit in enumerate(wishes.told.limit):
        told = {"response": limit.response, "p95": limit.p95}
        for index, name in enumerate(cost.names):
            if limit.partition not in (None, name):
                continue
            if cost.solver.silent[index]:
                if limit.partition is None:
                    continue
                raise ScenarioError(
                    f"{name} has no response that could be limited",
                    there="loops, and what is idle, answer nobody",
                    where=wishes.where("limit", row, "partition"),
                    next_step="leave its [[advise.limit]] out",
                )
            for word, most in told.items():
                if most is not None:
                    limited.add((word, name))
                    where = wishes.where("limit", row, word)
                    title = f"{word} of {name} under {TIME.format(most)}"
                    yield _response(title, index, name, word, float(most), where)
    told_of = {name for word, name in limited if word == "response"}
    yield from _of_slower(wishes, cost, now, {*cost.held, *wishes.told.gives_way, *told_of})


def _of_slower(wishes: Wishes, cost: Cost, now: Solved, free: Collection[str]) -> Iterator[Rule]:
    """All but those that are free to be slower answer about as soon as now: where it is not solved
    how soon that is, simulations alone tell.
    """
    slower = wishes.told.slower
    for index, name in enumerate(cost.names):
        before = float(cost.now.response_ns[index])
        known = np.isfinite(before) and before > 0
        late = cost.holds_now and now.figures.steady[0, index] <= 0
        if name in free or (not known and (late or cost.solver.silent[index])):
            continue
        where = wishes.where("slower")
        title = f"response of {name} at most {100 * slower:g} % longer"
        most = before * (1 + slower) if known else np.nan
        rule = _response(title, index, name, "response", most, where)
        ratio = _longer(name, slower)
        excess = _but_now(rule.excess) if cost.holds_now else rule.excess
        yield replace(rule, excess=excess, in_words=_how_long(name, ratio, slower), ratio=ratio)


def _but_now(excess: Callable[[Solved], Floats]) -> Callable[[Solved], Floats]:
    """The same of all but the layout as it is, which is no slower than it is, and does no less: of
    a full machine a search knows it less exactly than such a rule asks.
    """
    return lambda s: np.where(s.rows.any(axis=1), excess(s), np.minimum(excess(s), 0.0))


def _response(
    title: str, index: int, name: str, word: str, most: float, where: Where | None
) -> Rule:
    """A limit of a partition's mean response, or of the one that 95 of 100 stay under [ns]."""
    metric = {"response": "response_ms_mean", "p95": "response_ms_p95"}[word]

    def excess(solved: Solved) -> Floats:
        told = solved.figures.response_ns
        if word == "p95":
            # Where it is not solved the mean stands for it, until a simulation tells how far off.
            told = np.where(np.isfinite(solved.figures.p95_ns), solved.figures.p95_ns, told)
        return np.asarray(np.nan_to_num(told[:, index] / most - 1, nan=-1.0, posinf=1e6))

    def ratio(told: Simulated) -> float | None:
        found = told.mean(name, metric)
        return None if found is None else found * 1e6 / most

    def in_words(told: Simulated) -> str | None:
        found = ratio(told)
        return None if found is None or found <= 1 else f"it is {found * most / 1e6:.3g} ms"

    return Rule(
        title, excess, where, in_words=in_words, simulated=True, ratio=ratio, partition=index
    )


def _longer(name: str, slower: float) -> Callable[[Simulated], float | None]:
    """A simulated response by what it may be beside that of the layout as it is, simulated too:
    more than that only where chance alone does not make it so, as with what is saved. Of rare
    transactions means differ by more than what is allowed from layouts that are alike.
    """

    def ratio(told: Simulated) -> float | None:
        found, beyond = told.mean(name, "response_ms_mean"), told.longer(name, 1 + slower)
        if found is None or beyond.mean is None or found <= beyond.mean:
            return None
        by_chance = beyond.ci95 is not None and beyond.mean <= beyond.ci95
        most = found - beyond.mean
        return min(found / most, 1.0) if by_chance else found / most

    return ratio


def _how_long(
    name: str, ratio: Callable[[Simulated], float | None], slower: float
) -> Callable[[Simulated], str | None]:
    def in_words(told: Simulated) -> str | None:
        found = ratio(told)
        if found is None or found <= 1:
            return None
        longer = 100 * (found * (1 + slower) - 1)
        return f"it is {told.mean(name, 'response_ms_mean'):.3g} ms, {longer:.3g} % longer"

    return in_words


def _of_room(wishes: Wishes, cost: Cost) -> Iterator[Rule]:
    told = wishes.told
    active = float(capacity_of(cost.solver.spec["machine"]))

    def used(most: float) -> Callable[[Solved], Floats]:
        # Where all are to stay unused, none is allowed: no layout keeps it.
        return lambda s: s.figures.cores.sum(axis=1) / max(most, SLACK) - 1

    def share(most: float) -> Callable[[Simulated], float]:
        return lambda t: t.cores / max(most, SLACK)

    def uses(most: float) -> Callable[[Simulated], str | None]:
        return lambda t: f"{t.cores:.2f} cores are used" if t.cores > most else None

    if told.headroom:
        most = active * (1 - told.headroom)
        title = f"headroom of {100 * told.headroom:g} %"
        where = wishes.where("headroom")
        yield Rule(title, used(most), where, in_words=uses(most), simulated=True, ratio=share(most))
    if told.node_lost:
        yield from _node_lost(wishes, cost, used, uses)
    for row, licence in enumerate(told.licence):
        if licence.owned is not None:
            owned = licence.owned
            yield Rule(
                f"{owned:g} licences of {licence.product}",
                lambda s, one=licence, most=owned: (
                    np.maximum(  # type: ignore[misc]
                        cost.licensed(one, s.options) - most, 0
                    )
                    / max(most, 1.0)
                ),
                wishes.where("licence", row, "owned"),
            )


def _node_lost(
    wishes: Wishes,
    cost: Cost,
    used: Callable[[float], Callable[[Solved], Floats]],
    uses: Callable[[float], Callable[[Simulated], str | None]],
) -> Iterator[Rule]:
    """Work, entitlements and memory fit the machine without its largest node, whatever of it is
    lost: a simulation tells of the work alone.
    """
    where = wishes.where("node_lost")
    lost, active = float(cost.node_cores.max()), float(cost.node_cores.sum())
    left = active - lost
    title = f"one node of {lost:g} cores may be lost"

    def fits(solved: Solved) -> Floats:
        return used(left)(solved) if left > 0 else np.ones(len(solved.rows))

    def entitled(solved: Solved) -> Floats:
        return _entitled(cost, solved, lost)

    def remembered(solved: Solved) -> Floats:
        room = cost.most_memory * (1 - 1 / len(cost.node_cores))
        return np.asarray(np.maximum(_memory(cost, solved).sum(axis=1) / room - 1, 0))

    yield Rule(title, fits, where, in_words=uses(left), simulated=True)
    if left > 0:
        linear = ("entitled", lost)
        yield Rule(f"{title}, entitlements fit the others", entitled, where, linear=linear)
        yield Rule(f"{title}, memory fits the others", remembered, where)


def _of_place(wishes: Wishes, cost: Cost) -> Iterator[Rule]:
    told = wishes.told
    if told.changes is not None:
        most = told.changes
        yield Rule(
            f"at most {most} change{'s' if most > 1 else ''}",
            lambda s: np.maximum((s.rows > 0).sum(axis=1) - most, 0).astype(float),
            wishes.where("changes"),
            linear=("changes", most),
        )
    for row, group in enumerate(told.apart):
        indices = [cost.names.index(name) for name in group]
        yield Rule(
            f"{', '.join(group)} apart",
            lambda s, members=tuple(indices): _same_node(cost, s, members),  # type: ignore[misc]
            wishes.where("apart", row),
            # The exact solver knows nodes alone.
            linear=("apart", tuple(indices)) if len(cost.node_cores) > 1 else None,
        )


def _same_node(cost: Cost, solved: Solved, members: Sequence[int]) -> Floats:
    """How many pairs have a node in common, or a chip of a machine that is one node."""
    tell = cost.solver.features.column
    there = sum((tell(index, "places", solved.options) > 0).astype(float) for index in members)
    return np.asarray(np.maximum(there - 1, 0).sum(axis=1))
