"""A validation from its first trial to the verdicts."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.hosts.errors import MeasureError
from homenode.hosts.live import Host
from homenode.hosts.live.cpus import pick
from homenode.judge import database
from homenode.judge.calibration import calibrated, counted
from homenode.judge.judge import Row, judge
from homenode.judge.kinds import Experiment, Group
from homenode.judge.loads import Database, Job, Pace
from homenode.judge.narrowing import further
from homenode.judge.plan import Plan, make_plan, split_by_ability
from homenode.judge.report import HostFacts, Report, compare_again, load
from homenode.judge.scene import Alone
from homenode.judge.simulated import Simulation
from homenode.judge.trial import LATE_S, STEAL, Trial, reason_of, run_trial
from homenode.judge.twin import Twin, read_twin
from homenode.model.estimate import mean_of

if TYPE_CHECKING:
    from homenode.hosts.live import Host

Progress = Callable[[float, str], None]
"""Share done, and what is going on."""

_NEEDED = frozenset({"weight", "quota", "cpuset", "account"})
_PROCESSORS = 2
_RETRIES = 2
_SETTLING = 4.0
"""Factor on the time to be ready after a trial that did not begin together."""
_HOPELESS_FROM = 20
"""Trials of which one at least must count, or the session ends."""
_WAIT_QUIET_S = 30.0
_PATIENCE_S = 120.0
"""Time to wait for a quiet host, in all."""
_FIRST_PACE = Pace(500e6)
"""Guess of the generator's speed for the trial that measures it [turns/s]."""
_PACE_S = 0.3
_SIMULATING = 0.15
"""Share of the progress bar that simulating takes."""


@dataclass
class Session:
    """Trials on an open host."""

    host: Host
    processors: tuple[int, ...]
    plan: Plan
    foreign_limit: float | None
    progress: Progress | None = None
    steal_limit: float = STEAL
    trials: list[Trial] = field(default_factory=list)
    interrupted: bool = False
    left_out: list[str] = field(default_factory=list)
    """What there was no time for, and what failed, in words."""
    _began: float = field(default_factory=time.monotonic)
    _patience_s: float = _PATIENCE_S
    _took: dict[str, float] = field(default_factory=dict)
    """Longest time that an experiment took, retries included [s]."""
    _failed: set[str] = field(default_factory=set)
    """Experiments of which a trial failed: nothing more is tried of them."""

    def measure(self, folder: Path) -> Pace:
        """All passes, the second of each two in reverse; then, while there is time, what is not
        known well enough. Ctrl-C ends them; what is done stays.
        """
        pace = self._pace(folder)
        stores = database.Databases(self.host, self.processors, folder / "databases")
        try:
            if not self._passes(pace, stores, folder):
                return pace
            number = 0
            while one := self._next():
                self._tell(one)
                self._once(one, pace, stores, folder / f"again-{number}")
                number += 1
        except KeyboardInterrupt:
            self.interrupted = True
        return pace

    def _passes(self, pace: Pace, stores: database.Databases, folder: Path) -> bool:
        """One trial of each in every pass; false if the time was up before the end."""
        whole = [
            (number, one)
            for number in range(self.plan.passes)
            for one in self.plan.experiments[:: -1 if number % 2 else 1]
        ]
        for place, (number, experiment) in enumerate(whole):
            if experiment.name in self._failed:
                continue
            if not self._time_for(experiment):
                self.left_out.append(
                    f"{len(whole) - place} trials of passes {number + 1} to {self.plan.passes}: "
                    f"the {self.plan.minutes:g} minutes were up"
                )
                return False
            self._tell(experiment)
            self._once(experiment, pace, stores, folder / str(place))
            if self._is_hopeless():
                self._gives_up([one for _, one in whole[place + 1 :]])
                return False
        return True

    def _gives_up(self, rest: Sequence[Experiment]) -> None:
        """Say what of the passes is left out; of those that failed nothing was to come."""
        left = sum(one.name not in self._failed for one in rest)
        if left or self.plan.minutes is not None:
            told = f"{left} trials" if left else "further trials"
            self.left_out.append(f"{told}: none of the first {len(self.trials)} counts")

    def _is_hopeless(self) -> bool:
        """Whether the gate has thrown out so many trials, all there are: the next will not do."""
        counts = any(one.rejected is None for one in self.trials)
        return len(self.trials) >= _HOPELESS_FROM and not counts

    def _next(self) -> Experiment | None:
        """What to run once more; none without a time to fill, or when it is up."""
        if self.plan.minutes is None:
            return None
        able = [one for one in self.plan.experiments if one.name not in self._failed]
        found = further(able, self.trials, self.plan.most)
        return next((one for one in found if self._time_for(one)), None)

    def _time_for(self, experiment: Experiment) -> bool:
        if self.plan.minutes is None:
            return True
        ends = time.monotonic() - self._began + self._took.get(experiment.name, 0.0)
        return ends <= 60.0 * self.plan.minutes

    def _once(
        self, experiment: Experiment, pace: Pace, stores: database.Databases, folder: Path
    ) -> None:
        """A trial; again, so many times, if others were busy; with more time to be ready if some
        process was not. One that fails costs nothing that others have found.

        Raises `MeasureError` if nothing was found before.
        """
        began, late = time.monotonic(), 0
        for attempt in range(1 + _RETRIES):
            self._wait_quiet()
            settling = _SETTLING**late
            try:
                trial = self._trial(experiment, pace, stores, folder / str(attempt), settling)
            except MeasureError as error:
                if not self.trials:
                    raise
                self._failed.add(experiment.name)
                self.left_out.append(f"{experiment.name}, from a failure on: {error}")
                return
            late += trial.late_s > LATE_S
            why = reason_of(trial, self.foreign_limit, self.steal_limit)
            self.trials.append(replace(trial, rejected=why))
            if why is None or self._is_hopeless() or not self._time_for(experiment):
                break
        took = time.monotonic() - began
        self._took[experiment.name] = max(took, self._took.get(experiment.name, 0.0))

    def _wait_quiet(self) -> None:
        """Waits for a quiet host, while there is patience left."""
        if self.foreign_limit is None or self._patience_s <= 0.0:
            return
        began = time.monotonic()
        quiet = self.host.gate.wait_quiet(
            min(_WAIT_QUIET_S, self._patience_s),
            foreign_limit=self.foreign_limit,
            steal_limit=self.steal_limit,
        )
        if not quiet:
            self._patience_s -= time.monotonic() - began

    def _trial(
        self,
        experiment: Experiment,
        pace: Pace,
        stores: database.Databases,
        folder: Path,
        settling: float,
    ) -> Trial:
        folder.mkdir(parents=True)
        if any(isinstance(group.load, Database) for group in experiment.groups):
            stores.prepare(experiment)
            return stores.run(experiment, self.plan.seconds, folder)
        return run_trial(
            self.host, experiment, self.processors, pace, self.plan.seconds, folder, settling
        )

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

    def _tell(self, experiment: Experiment) -> None:
        """By the time where it is set, else by the trials."""
        if self.progress is None:
            return
        if self.plan.minutes is None:
            done = sum(one.rejected is None for one in self.trials)
            share = done / (self.plan.passes * len(self.plan.experiments))
        else:
            share = (time.monotonic() - self._began) / (60.0 * self.plan.minutes)
        self.progress((1.0 - _SIMULATING) * min(1.0, share), experiment.title)


def run(
    *,
    quick: bool = False,
    full: bool = False,
    passes: int | None = None,
    seconds: float | None = None,
    processors: int = _PROCESSORS,
    only: Sequence[str] = (),
    against: Path | None = None,
    with_database: bool = True,
    foreign_limit: float | None = 0.03,
    steal_limit: float = STEAL,
    minutes: float | None = None,
    progress: Progress | None = None,
) -> Report:
    """Validate the simulation on this host; needs control groups whose weight, quota and cpuset
    we may set. `foreign_limit` None lets busy hosts count, which shows nothing but that it works;
    up to `steal_limit` of the processors' time may be stolen from a trial that counts.
    After the passes, what is left of the minutes goes to the figures that are known worst.

    Raises `MeasureError` for a host or a request that will not do.
    """
    earlier = None if against is None else load(against)
    plan = make_plan(
        quick=quick,
        full=full,
        passes=passes,
        seconds=seconds,
        processors=processors,
        only=only,
        with_database=with_database,
        minutes=minutes,
    )
    twin, used = read_twin(), pick(processors)
    simulation = Simulation(twin, used, plan.seconds)
    second = simulation.second_instructions()  # before the host's time is spent: it may refuse
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with Host.open() as host, tempfile.TemporaryDirectory(prefix="homenode-validate-") as name:
        _check(host)
        able, lacking = split_by_ability(plan, host.groups.can)
        plan = replace(plan, experiments=able, left_out=(*plan.left_out, *lacking))
        session = Session(host, used, plan, foreign_limit, progress, steal_limit)
        Path(name).chmod(0o711)  # the database's user passes through
        session.measure(Path(name))
        kind = host.groups.kind
    alone, why_not = _alone(session, second)
    rows = _rows(session, None if why_not else simulation, alone)
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
        left_out=(*plan.left_out, *session.left_out, *why_not),
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


def _alone(session: Session, second: float) -> tuple[Alone, tuple[str, ...]]:
    """The model's numbers, or why there are none: what was measured is worth showing all the same.

    Raises `MeasureError` if nothing that is compared was measured either.
    """
    plan = session.plan
    try:
        found = calibrated(session.trials, second, plan.job_s, len(session.processors))
    except MeasureError as error:
        if not any(counted(session.trials, one.name) for one in plan.experiments if one.judged):
            raise
        why = f"{error.problem} ({error.there})" if error.there else error.problem
        return Alone(second), (f"the simulation: {why}",)
    if found.transaction_s or all(_is_known(one, found) for one in plan.experiments):
        return found, ()
    return found, ("the simulation of databases: no trial of one that is alone counts",)


def _is_known(experiment: Experiment, alone: Alone) -> bool:
    """Whether the model has the numbers that an experiment takes."""
    databases = any(isinstance(group.load, Database) for group in experiment.groups)
    return alone.transaction_s > 0 or not databases


def _rows(session: Session, simulation: Simulation | None, alone: Alone) -> list[Row]:
    rows: list[Row] = []
    judged = [one for one in session.plan.experiments if one.judged]
    for number, experiment in enumerate(judged):
        if session.progress is not None:
            share = 1.0 - _SIMULATING + _SIMULATING * number / len(judged)
            session.progress(share, f"simulating: {experiment.title}")
        known = simulation is not None and _is_known(experiment, alone)
        model = simulation.run(experiment, alone) if simulation and known else {}
        trials = counted(session.trials, experiment.name)
        stolen = mean_of([trial.steal for trial in trials]) if trials else 0.0
        for figure in experiment.judged:
            measured = [
                trial.figures[figure.group][figure.metric]
                for trial in trials
                if figure.metric in trial.figures[figure.group]
            ]
            simulated = model.get(figure.group, {}).get(figure.metric, ())
            rows.append(judge(experiment.name, figure, measured, simulated, stolen))
    return rows


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
    found.append("threads of the class SCHED_IDLE (idle groups are shown)")
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
        notes=twin.kernel.notes,
    )


def _version() -> str:
    from importlib.metadata import version

    return version("homenode")
