"""A validation from its first trial to the verdicts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import nearest
from homenode.measure.errors import MeasureError
from homenode.measure.validate import database
from homenode.measure.validate.experiments import (
    Experiment,
    Group,
    databases,
    experiments,
)
from homenode.measure.validate.judge import Row, judge
from homenode.measure.validate.loads import Database, Job, Pace
from homenode.measure.validate.report import HostFacts, Report, compare_again, load
from homenode.measure.validate.scene import Alone
from homenode.measure.validate.simulated import Simulation
from homenode.measure.validate.trial import Trial, reason_of, run_trial
from homenode.measure.validate.twin import Twin, read_twin

if TYPE_CHECKING:
    from homenode.measure.host import Host

Progress = Callable[[float, str], None]
"""Share done, and what is going on."""

_NEEDED = frozenset({"weight", "quota", "cpuset", "account"})
_PROCESSORS = 2
_PASSES = 4
_SECONDS = 4.0
_JOB_S = 1.0
_QUICK_PASSES = 3
_QUICK_SECONDS = 3.0
_QUICK_JOB_S = 0.5
_RETRIES = 2
_WAIT_QUIET_S = 30.0
_FIRST_PACE = Pace(500e6)
"""Guess of the generator's speed for the trial that measures it [turns/s]."""
_PACE_S = 0.3
_SIMULATING = 0.15
"""Share of the progress bar that simulating takes."""


@dataclass(frozen=True)
class Plan:
    """What is done, how often and how long."""

    experiments: tuple[Experiment, ...]
    passes: int
    seconds: float
    job_s: float
    left_out: tuple[str, ...] = ()


@dataclass
class Session:
    """Trials on an open host."""

    host: Host
    processors: tuple[int, ...]
    plan: Plan
    foreign_limit: float | None
    progress: Progress | None = None
    trials: list[Trial] = field(default_factory=list)
    interrupted: bool = False

    def measure(self, folder: Path) -> Pace:
        """All passes, the second of each two in reverse. Ctrl-C ends them; what is done stays."""
        pace = self._pace(folder)
        stores = database.Databases(self.host, self.processors, folder / "databases")
        try:
            for number in range(self.plan.passes):
                turn = self.plan.experiments[:: -1 if number % 2 else 1]
                for place, experiment in enumerate(turn):
                    self._tell(number * len(turn) + place, experiment)
                    self._once(experiment, pace, stores, folder / f"{number}-{place}")
        except KeyboardInterrupt:
            self.interrupted = True
        return pace

    def _once(
        self, experiment: Experiment, pace: Pace, stores: database.Databases, folder: Path
    ) -> None:
        """A trial; again, so many times, if others were busy."""
        for attempt in range(1 + _RETRIES):
            if self.foreign_limit is not None:
                self.host.gate.wait_quiet(_WAIT_QUIET_S, foreign_limit=self.foreign_limit)
            trial = self._trial(experiment, pace, stores, folder / str(attempt))
            why = reason_of(trial, self.foreign_limit)
            self.trials.append(replace(trial, rejected=why))
            if why is None:
                return

    def _trial(
        self, experiment: Experiment, pace: Pace, stores: database.Databases, folder: Path
    ) -> Trial:
        folder.mkdir(parents=True)
        if any(isinstance(group.load, Database) for group in experiment.groups):
            stores.prepare(experiment)
            return stores.run(experiment, self.plan.seconds, folder)
        return run_trial(self.host, experiment, self.processors, pace, self.plan.seconds, folder)

    def _pace(self, folder: Path) -> Pace:
        """Speed of the generator by its own processor time, the best of three: on a host that is
        not yet at its clock the first is slow.
        """
        loop = Experiment("pace", "", (Group("a", Job(_PACE_S)),))
        best = 0.0
        for number in range(3):
            place = folder / f"pace-{number}"
            place.mkdir(parents=True)
            trial = run_trial(
                self.host, loop, self.processors, _FIRST_PACE, self.plan.seconds, place
            )
            total = trial.totals["a"]
            best = max(best, total["iterations"] / total["cpu_s"])
        return Pace(best)

    def _tell(self, done: int, experiment: Experiment) -> None:
        if self.progress is not None:
            whole = self.plan.passes * len(self.plan.experiments)
            self.progress((1.0 - _SIMULATING) * done / whole, experiment.title)


def make_plan(
    *,
    quick: bool,
    passes: int | None,
    seconds: float | None,
    processors: int,
    only: Sequence[str],
    with_database: bool,
) -> Plan:
    """What to do; raises `MeasureError` for numbers or names that make no sense."""
    job_s = _QUICK_JOB_S if quick else _JOB_S
    every = experiments(job_s, processors)
    left_out: list[str] = []
    lacking = database.missing() if with_database else []
    if lacking:
        left_out.append(f"the databases: {', '.join(lacking)} not on this host")
    elif with_database:
        every += databases()
    passes = passes or (_QUICK_PASSES if quick else _PASSES)
    seconds = seconds or (_QUICK_SECONDS if quick else _SECONDS)
    if not 1 <= passes <= 100 or not 1.0 <= seconds <= 60.0:
        raise MeasureError(
            f"{passes} passes of {seconds:g} s are asked",
            next_step="ask for 1 to 100 passes of 1 to 60 s",
        )
    for name in only:
        known = [one.name for one in every]
        if name not in known:
            raise MeasureError(
                f"there is no experiment {name}{nearest(name, known)}",
                next_step=f"name some of {', '.join(known)}",
            )
    wanted = [
        one
        for one in every
        if (one.calibrates and not (only and one.name.startswith("database")))
        or (one.name in only if only else one.quick or not quick)
    ]
    if any(name.startswith("database") for name in only):
        wanted = list(dict.fromkeys([*[e for e in every if e.calibrates], *wanted]))
    return Plan(tuple(wanted), passes, seconds, job_s, tuple(left_out))


def run(
    *,
    quick: bool = False,
    passes: int | None = None,
    seconds: float | None = None,
    processors: int = _PROCESSORS,
    only: Sequence[str] = (),
    against: Path | None = None,
    with_database: bool = True,
    foreign_limit: float | None = 0.03,
    progress: Progress | None = None,
) -> Report:
    """Validate the simulation on this host; needs control groups whose weight, quota and cpuset
    we may set. `foreign_limit` None lets busy hosts count, which shows nothing but that it works.

    Raises `MeasureError` for a host or a request that will not do.
    """
    from homenode.measure.host import Host
    from homenode.measure.host.cpus import pick

    earlier = None if against is None else load(against)
    plan = make_plan(
        quick=quick,
        passes=passes,
        seconds=seconds,
        processors=processors,
        only=only,
        with_database=with_database,
    )
    twin = read_twin()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with Host.open() as host, tempfile.TemporaryDirectory(prefix="homenode-validate-") as name:
        _check(host)
        session = Session(host, pick(processors), plan, foreign_limit, progress)
        Path(name).chmod(0o711)  # the database's user passes through
        session.measure(Path(name))
        kind = host.groups.kind
    simulation = Simulation(twin, session.processors, plan.seconds)
    alone = calibrated(session.trials, simulation.second_instructions(), plan.job_s)
    rows = _rows(session, simulation, alone)
    return Report(
        version=_version(),
        started=started,
        host=_facts(twin, session.processors, kind),
        seconds=plan.seconds,
        passes=plan.passes,
        alone=alone,
        rows=rows,
        trials=session.trials,
        not_shown=not_shown(twin, len(session.processors)),
        left_out=plan.left_out,
        again=[] if earlier is None else compare_again(rows, earlier),
        interrupted=session.interrupted,
        titles={one.name: one.title for one in plan.experiments},
    )


def _check(host: Host) -> None:
    lacking = sorted(_NEEDED - host.groups.can)
    if lacking:
        raise MeasureError(
            f"this host does not let us set {', '.join(lacking)} of control groups",
            there=host.groups.why_not or f"control groups here are of kind {host.groups.kind}",
            next_step="run as root, or in a delegated tree: "
            "systemd-run --user --scope -p Delegate=yes homenode measure validate",
        )


def _rows(session: Session, simulation: Simulation, alone: Alone) -> list[Row]:
    rows: list[Row] = []
    judged = [one for one in session.plan.experiments if one.judged]
    for number, experiment in enumerate(judged):
        if session.progress is not None:
            share = 1.0 - _SIMULATING + _SIMULATING * number / len(judged)
            session.progress(share, f"simulating: {experiment.title}")
        model = simulation.run(experiment, alone)
        trials = _counted(session.trials, experiment.name)
        for figure in experiment.judged:
            measured = [
                trial.figures[figure.group][figure.metric]
                for trial in trials
                if figure.metric in trial.figures[figure.group]
            ]
            simulated = model[figure.group].get(figure.metric, ())
            rows.append(judge(experiment.name, figure, measured, simulated))
    return rows


def _counted(trials: Sequence[Trial], experiment: str) -> list[Trial]:
    return [one for one in trials if one.experiment == experiment and one.rejected is None]


def calibrated(trials: Sequence[Trial], second_instructions: float, job_s: float) -> Alone:
    """The model's numbers from what ran alone.

    Raises `MeasureError` if no such trial counts.
    """
    loops = [one.totals["a"] for one in _counted(trials, "loops-1")]
    bursts = [one.totals["a"] for one in _counted(trials, "on-off-alone")]
    if not loops or not bursts:
        raise MeasureError(
            "nothing can be calibrated: no trial of a loop or of on/off work alone counts",
            there="; ".join(sorted({one.rejected for one in trials if one.rejected})) or None,
            next_step="run it while the host is quiet",
        )
    loop_s = sum(one["cpu_s"] for one in loops) / len(loops)
    done = sum(one["bursts"] for one in bursts)
    burst_s = sum(one["cpu_s"] for one in bursts) / done
    cycle_s = sum(one["elapsed_s"] for one in bursts) / done
    stores = [one.totals["a"] for one in _counted(trials, "database-alone")]
    return Alone(
        second_instructions=second_instructions,
        job_stretch=loop_s / job_s,
        run_s=burst_s,
        sleep_s=cycle_s - burst_s,
        switches_per_s=sum(one["involuntary"] for one in loops)
        / sum(one["elapsed_s"] for one in loops),
        transaction_s=sum(one["cpu_s"] for one in stores) / sum(one["done"] for one in stores)
        if stores
        else 0.0,
    )


def not_shown(twin: Twin, processors: int) -> list[str]:
    """What of the model no experiment here touches."""
    found = []
    if twin.nodes < 2:
        found.append("several memory nodes: distances, NUMA balancing (this host has one node)")
    if twin.threads_per_core < 2:
        found.append("threads of a core: placement on idle siblings (one thread a core here)")
    if processors < 4:
        found.append("balancing between domains (so few processors are one domain)")
    found.append(
        "KVM: exits, halt polling, steal, pause loops (processes stand for virtual processors)"
    )
    found.append("Xen's credit2, and CFS where the kernel has EEVDF")
    return found


def _facts(twin: Twin, processors: tuple[int, ...], kind: str) -> HostFacts:
    return HostFacts(
        processor=twin.processor,
        release=twin.kernel.release,
        processors=processors,
        threads_per_core=twin.threads_per_core,
        nodes=twin.nodes,
        groups=kind,
        settings={name: (one.value, one.source) for name, one in twin.kernel.settings.items()},
        unread=twin.kernel.unread,
    )


def _version() -> str:
    from importlib.metadata import version

    return version("homenode")
