"""What a validation does, how often and how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.errors import listed, nearest
from homenode.hosts.errors import MeasureError
from homenode.judge import database
from homenode.judge.experiments import databases, experiments
from homenode.judge.kinds import Experiment

_PASSES = 4
"""With fewer, Student's t alone makes an interval wider than what is asked of most figures."""
_QUICK_PASSES = 3
_MOST = 12
_SECONDS = 4.0
_JOB_S = 1.0
_MINUTES = 13.0
_FULL_MINUTES = 22.0
_QUICK_SECONDS = 2.5
_QUICK_JOB_S = 0.5
_QUICK_MINUTES = 4.0


@dataclass(frozen=True)
class Plan:
    """Which experiments are made, how often and how long."""

    experiments: tuple[Experiment, ...]
    passes: int
    """How often each of the experiments is made at least."""
    seconds: float
    job_s: float
    left_out: tuple[str, ...] = ()
    minutes: float | None = None
    """Time for all trials; None has no limit. What is left after the passes goes to the experiments
    whose figures are not known well enough.
    """
    most: int = _MOST
    """Trials of an experiment in all."""


def make_plan(
    *,
    quick: bool,
    full: bool = False,
    passes: int | None,
    seconds: float | None,
    processors: int,
    only: Sequence[str],
    with_database: bool,
    minutes: float | None = None,
) -> Plan:
    """What to do; raises `MeasureError` for numbers or names that make no sense. So many passes
    and no more are done if they are asked for and minutes are not.
    """
    if quick and full:
        raise MeasureError(
            "quick and full are both asked", next_step="ask for one of them, or for neither"
        )
    job_s = _QUICK_JOB_S if quick else _JOB_S
    every = experiments(job_s, processors)
    left_out = [] if not with_database else database.lacking(processors)
    if with_database and not left_out:
        every += databases()
    if minutes is None and passes is None:
        minutes = _QUICK_MINUTES if quick else _FULL_MINUTES if full else _MINUTES
    passes = passes or (_QUICK_PASSES if quick else _PASSES)
    seconds = seconds or (_QUICK_SECONDS if quick else _SECONDS)
    _check(passes, seconds, minutes, only, [one.name for one in every])
    wanted, beyond = _fitting(_wanted(every, quick, full, only), processors, only)
    return Plan(tuple(wanted), passes, seconds, job_s, (*left_out, *beyond), minutes)


def _check(
    passes: int, seconds: float, minutes: float | None, only: Sequence[str], known: Sequence[str]
) -> None:
    if not 1 <= passes <= 100 or not 1.0 <= seconds <= 60.0:
        raise MeasureError(
            f"{passes} passes of {seconds:g} s are asked",
            next_step="ask for 1 to 100 passes of 1 to 60 s",
        )
    if minutes is not None and not 0.5 <= minutes <= 600.0:
        raise MeasureError(
            f"{minutes:g} minutes are asked", next_step="ask for half a minute to 600"
        )
    for name in only:
        if name not in known:
            raise MeasureError(
                f"there is no experiment {name}{nearest(name, known)}",
                next_step=f"name some of {', '.join(known)}",
            )


def _wanted(
    every: Sequence[Experiment], quick: bool, full: bool, only: Sequence[str]
) -> list[Experiment]:
    """Those named, or those of the set, or the quick ones of it; with them what calibrates, but the
    database that is alone only where a database is judged.
    """
    if not only:
        return [
            one
            for one in every
            if one.calibrates or ((full or not one.full) and (one.quick or not quick))
        ]
    stores = any(name.startswith("database") for name in only)
    return [
        one
        for one in every
        if one.name in only or (one.calibrates and (stores or not one.name.startswith("database")))
    ]


def _fitting(
    wanted: Sequence[Experiment], processors: int, only: Sequence[str]
) -> tuple[list[Experiment], list[str]]:
    """Those that find all processors that they name, and what is said of the others.

    Raises `MeasureError` for one that was asked for by its name.
    """
    beyond = [one for one in wanted if one.places > processors]
    if beyond and only:
        raise MeasureError(
            f"{beyond[0].name} needs {beyond[0].places} processors",
            there=f"{processors} is used",
            next_step=f"ask for --processors {beyond[0].places}",
        )
    said = [f"{listed([one.name for one in beyond])}: more processors are needed"] if beyond else []
    return [one for one in wanted if one.places <= processors], said


def split_by_ability(
    plan: Plan, can: frozenset[str]
) -> tuple[tuple[Experiment, ...], tuple[str, ...]]:
    """The experiments that this host's control groups can set, and what is said of the others."""
    done = tuple(one for one in plan.experiments if one.needs <= can)
    lacking = [
        f"{one.name}: control groups here have no {', '.join(sorted(one.needs - can))}"
        for one in plan.experiments
        if not one.needs <= can
    ]
    return done, tuple(lacking)
