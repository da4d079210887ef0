"""`compare_machines`: every case of a suite on two machines."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass
from pathlib import Path

from homenode.evidence.compare.outcome import US_PER_S, CaseResult, MachineComparison, Pair, Side
from homenode.evidence.compare.scenarios import Adjust, Point, case_points
from homenode.evidence.compare.simulate import Pool, Sample, Simulated, collect, mean_response_ms
from homenode.evidence.compare.suite import Case, Suite, WorkClass, load_suite
from homenode.evidence.compare.walk import WalkedMachine, walk_case, walk_machine
from homenode.model import catalog
from homenode.simulate.answers import Answer
from homenode.simulate.engine import load_engine
from homenode.simulate.runner.job import refuse_replications

ProgressFn = Callable[[float, float | None], None]
_LOOK_EVERY_S = 0.1
Answers = list["Future[Answer]"]
Adjusts = tuple[Adjust | None, Adjust | None]
"""What changes figures of the base, and of the machine."""


@dataclass(frozen=True)
class _Running:
    """A case whose simulations were handed out: points and replications of either machine."""

    group: WorkClass
    case: Case
    sides: tuple[list[tuple[Point, Answers]], list[tuple[Point, Answers]]]

    @property
    def futures(self) -> list[Future[Answer]]:
        return [answer for side in self.sides for _, answers in side for answer in answers]

    @property
    def is_done(self) -> bool:
        """Whether all were simulated to their end."""
        return all(f.done() and not f.cancelled() and f.exception() is None for f in self.futures)


def compare_machines(
    base: str | Path,
    machine: str | Path,
    suite: Suite | str | Path = "linux",
    *,
    only: Sequence[str] = (),
    replications: int | None = None,
    jobs: int | None = None,
    adjust: Adjusts = (None, None),
    progress: ProgressFn | None = None,
) -> MachineComparison:
    """Every case of a suite on two machines: throughput and processor time of a unit.

    `only` names classes or cases; `jobs` is the number of threads (default: all cores); `adjust`
    changes figures of the base and of the machine. Ctrl-C ends it soon: what comes back then holds
    the cases that were complete.
    """
    names = str(base), str(machine)
    if replications is not None:
        refuse_replications(replications)
    for name in names:
        catalog.machine(name)
    suite = suite if isinstance(suite, Suite) else load_suite(suite)
    chosen = suite.chosen(only)
    every = [(group, case) for group, cases in chosen for case in cases]
    left_out = {case.name: why for group, case in every if (why := _unfit(group, case, names))}
    fit = [(group, case) for group, case in every if case.name not in left_out]
    walked = [_walk(g, case, names, adjust) for g, case in fit if g.measure == "walk"]
    simulated = [(group, case) for group, case in fit if group.measure == "simulation"]
    done, interrupted = _simulate(suite, simulated, names, replications, jobs, adjust, progress)
    order = {name: position for position, name in enumerate(suite.case_names)}
    results = sorted([*walked, *done], key=lambda result: order[result.case.name])
    unrated = tuple(n for n in dict.fromkeys(names) if catalog.machine(n).core_rate is None)
    sets = tuple(catalog.machine(name).instruction_set for name in names)
    rates = unrated if simulated else ()
    told = (catalog.machine(name).pci for name in names)
    pci = tuple(None if one is None else one.value for one in told)
    return MachineComparison(
        suite,
        *names,
        tuple(results),
        left_out,
        interrupted,
        rates,
        instruction_sets=sets,
        pci=pci,
    )


def _unfit(group: WorkClass, case: Case, names: tuple[str, str]) -> str | None:
    """Why a case cannot be held against the other on one of the machines; None if it can."""
    cores = sum(part.cores for part in case.partition) or case.cores or group.cores or 0
    for name in names:
        machine = catalog.machine(name)
        if cores > machine.active_cores:
            return f"it needs {cores} cores, {name} has {machine.active_cores}"
        if machine.zvm is None and any(part.virtual_machine for part in case.partition):
            return f"its guests are virtual machines of z/VM, which does not run on {name}"
        if group.measure == "simulation" and machine.platform is not None:
            return f"{name} is divided into nPartitions, which a suite does not lay out"
        if group.measure == "walk" and machine.streams is None:
            return f"how {name} streams through memory is not described"
    return None


def _walk(group: WorkClass, case: Case, names: tuple[str, str], adjust: Adjusts) -> CaseResult:
    """A walk through the memory hierarchies of both machines."""
    sides = []
    for name, change in zip(names, adjust, strict=True):
        described: WalkedMachine = {"machine": walk_machine(catalog.machine(name))}
        if change is not None:
            change(described)
        answer = walk_case(described["machine"], case.walk or {})
        parts = {cause: ns / 1e3 for cause, ns in answer.parts.items()}
        sides.append(Side(answer.units_per_s, sum(parts.values()), parts, level=answer.level))
    ratio = sides[1].units_per_s / sides[0].units_per_s
    return CaseResult(group, case, (Pair(sides[0], sides[1], (ratio,), (1.0 / ratio,)),))


def _simulate(
    suite: Suite,
    cases: Sequence[tuple[WorkClass, Case]],
    names: tuple[str, str],
    replications: int | None,
    jobs: int | None,
    adjust: Adjusts,
    progress: ProgressFn | None,
) -> tuple[list[CaseResult], bool]:
    """Results of the simulated cases, and whether someone stopped them."""
    if not cases:
        return [], False
    pool = Pool(load_engine(), max(1, jobs or os.cpu_count() or 1))
    running: list[_Running] = []
    interrupted = False
    try:
        for group, case in cases:
            running.append(_start(pool, suite, group, case, names, replications, adjust))
        _look_on([f for one in running for f in one.futures], progress)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        pool.close()
    if not interrupted:
        for one in running:
            for future in one.futures:
                future.result()
    return [_result(one) for one in running if one.is_done], interrupted


def _start(
    pool: Pool,
    suite: Suite,
    group: WorkClass,
    case: Case,
    names: tuple[str, str],
    replications: int | None,
    adjust: Adjusts,
) -> _Running:
    """Hand out the simulations of a case."""

    def handed_out(side: int) -> list[tuple[Point, Answers]]:
        points = case_points(suite, group, case, names[side], adjust[side])
        return [
            (point, [pool.submit(point, i) for i in range(replications or point.replications)])
            for point in points
        ]

    return _Running(group, case, (handed_out(0), handed_out(1)))


def _look_on(futures: Sequence[Future[Answer]], progress: ProgressFn | None) -> None:
    """Report progress until all have ended or one has failed."""
    started = time.monotonic()
    while True:
        finished, pending = wait(futures, timeout=_LOOK_EVERY_S, return_when=FIRST_EXCEPTION)
        if progress is not None:
            share = len(finished) / len(futures)
            elapsed = time.monotonic() - started
            progress(share, elapsed * (1.0 - share) / share if share > 0 else None)
        if not pending or any(future.exception() for future in finished):
            return


def _result(one: _Running) -> CaseResult:
    pairs, guests = [], {}
    for (point, base), (other, machine) in zip(*one.sides, strict=True):
        sides = _collected(point, base), _collected(other, machine)
        reason = sides[0].reason or sides[1].reason
        pairs.append(_pair(sides[0].whole, sides[1].whole, point.load, reason))
        if len(sides[0].guests) > 1:
            guests = {
                name: _pair(samples, sides[1].guests[name], point.load, reason)
                for name, samples in sides[0].guests.items()
            }
    return CaseResult(one.group, one.case, tuple(pairs), guests)


def _collected(point: Point, answers: Answers) -> Simulated:
    return collect(point, [answer.result() for answer in answers])


def _pair(
    base: Sequence[Sample], machine: Sequence[Sample], load: int | None, reason: str | None
) -> Pair:
    empty = any(sample.units_per_s == 0 for sample in (*base, *machine))
    if empty:
        reason = reason or "no unit of work was done in the time"
        return Pair(_side(base), _side(machine), (), (), load, reason)
    return Pair(
        base=_side(base),
        machine=_side(machine),
        ratios=tuple(_quotients(base, machine, lambda s: s.units_per_s)),
        times=tuple(_quotients(base, machine, lambda s: s.cpu_s_per_s / s.units_per_s)),
        load=load,
        reason=reason,
    )


def _quotients(
    base: Sequence[Sample], machine: Sequence[Sample], value: Callable[[Sample], float]
) -> Iterator[float]:
    return (value(mine) / value(theirs) for theirs, mine in zip(base, machine, strict=True))


def _side(samples: Sequence[Sample]) -> Side:
    units = sum(s.units_per_s for s in samples)
    causes = dict.fromkeys(cause for sample in samples for cause in sample.by_cause)
    instructions = sum(s.instructions for s in samples)

    def per_unit(seconds: float) -> float:
        return US_PER_S * seconds / units if units else 0.0

    return Side(
        units_per_s=units / len(samples),
        us_per_unit=per_unit(sum(s.cpu_s_per_s for s in samples)),
        us_by_cause={c: per_unit(sum(s.by_cause.get(c, 0.0) for s in samples)) for c in causes},
        cpi=sum(s.cycles for s in samples) / instructions if instructions else None,
        response_ms=mean_response_ms(samples),
    )
