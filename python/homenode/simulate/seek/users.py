"""The most users of a partition whose mean response is under a limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from homenode.errors import RunError
from homenode.model.estimate import Estimate
from homenode.model.scenario.sought import Sought
from homenode.simulate.run import Run
from homenode.simulate.runner import FrozenScenario, InterruptedRun, ProgressFn, run_scenario
from homenode.simulate.seek.search import PART, Aim, Reply, bracket, is_under, next_count

At = Callable[[int], FrozenScenario]
"""The scenario with so many users or warehouses."""
Doing = Callable[[str], None]
"""Called before each run with what it is."""
MOST_USERS = 1_000_000
"""As in a scenario file."""
_APART = 0.01
"""Share of the users by which two runs differ whose responses tell how steeply it rises."""


@dataclass(frozen=True)
class Trial:
    """A run with so many users."""

    users: int
    run: Run
    response_s: Estimate
    rate_per_s: Estimate
    under: bool


@dataclass(frozen=True)
class UsersFound:
    """The most users, and every run on the way to them."""

    partition: str
    response_s: float
    """What the mean response stays under [s]."""
    think_s: float
    trials: tuple[Trial, ...]
    """In the order they were run; all are kept."""

    @property
    def best(self) -> Trial:
        """The run with the most users under the limit."""
        return max((one for one in self.trials if one.under), key=lambda one: one.users)

    @property
    def over(self) -> Trial | None:
        """The next larger number that was tried; None where there can be no more."""
        larger = [one for one in self.trials if one.users > self.best.users]
        return min(larger, key=lambda one: one.users, default=None)

    @property
    def users(self) -> int:
        """How many there are."""
        return self.best.users

    @property
    def run(self) -> Run:
        """The run with the most users under the limit."""
        return self.best.run

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run on the way."""
        return tuple(one.run for one in self.trials)

    @property
    def ci95(self) -> float | None:
        """By how many users the answer may be off, for the response of a run has an interval: that
        of the best run's, by what a user adds to it; None of a single replication.
        """
        half, rise = self.best.response_s.ci95, self._rise_s()
        return None if half is None or rise <= 0.0 else half / rise

    def _rise_s(self) -> float:
        """What a user adds to the mean response [s], by the nearest run that is apart enough to
        tell, else by a full system's law, 1 / X.
        """
        best, mean = self.best, self.best.response_s.mean
        apart = [
            one
            for one in self.trials
            if abs(one.users - best.users) >= _APART * best.users
            and one.response_s.mean is not None
        ]
        other = min(apart, key=lambda one: abs(one.users - best.users), default=None)
        if other is not None and other.response_s.mean is not None and mean is not None:
            return (other.response_s.mean - mean) / (other.users - best.users)
        return 1.0 / (best.rate_per_s.mean or 1.0)

    def as_json(self) -> dict[str, object]:
        """What `homenode run --find users --json` prints of it."""
        return {
            "of": "users",
            "partition": self.partition,
            "users": self.users,
            "users_ci95": self.ci95,
            "response_under_s": self.response_s,
            "run": self.run.id,
            "trials": [
                {
                    "users": one.users,
                    "response_s": one.response_s.as_json(),
                    "etr_per_s": one.rate_per_s.as_json(),
                    "under": one.under,
                    "run": one.run.id,
                }
                for one in self.trials
            ],
        }

    def __repr__(self) -> str:
        return f"UsersFound({self.partition!r}, {self.users} users, run {self.run.id})"


def find_users(
    sought: Sought,
    at: At,
    *,
    replications: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | Path = "runs",
    progress: ProgressFn | None = None,
    doing: Doing | None = None,
    stop: threading.Event | None = None,
) -> UsersFound:
    """Run a scenario with more and fewer users until the most are known whose mean response is
    under the limit; the first run has as many as the scenario. Ctrl-C raises `InterruptedRun`,
    which names the runs that were complete.
    """
    aim = Aim(sought.think_s, sought.response_s, MOST_USERS)
    trials: list[Trial] = []
    replies: list[Reply] = []
    count: int | None = sought.workload.count
    while count is not None:
        if doing is not None:
            doing(f"{sought.partition.name}: {count:,} users")
        try:
            run = run_scenario(
                at(count),
                replications=replications,
                seed=seed,
                jobs=jobs,
                out=out,
                progress=progress,
                stop=stop,
            )
        except InterruptedRun as stopped:
            stopped.earlier = tuple(one.run.id for one in trials)
            raise
        reply = _reply(run, sought.partition.name, count)
        replies.append(reply)
        trials.append(_trial(run, sought.partition.name, count, under=is_under(reply, aim)))
        count = next_count(replies, aim)
    if bracket(replies, aim)[0] is None:
        raise RunError(
            f"{sought.partition.name}: not even one user has a mean response under "
            f"{sought.response_s:g} s",
            there=_waits(replies[-1]),
            next_step="ask for a longer one",
        )
    return UsersFound(sought.partition.name, sought.response_s, sought.think_s, tuple(trials))


def _reply(run: Run, partition: str, count: int) -> Reply:
    metrics = run.metrics[partition]
    response_ms = metrics["response_ms_mean"].mean
    return Reply(
        count,
        None if response_ms is None else response_ms / 1e3,
        metrics["etr_per_s"].mean,
        metrics["itr_per_s"].mean,
    )


def _waits(reply: Reply) -> str:
    if reply.response_s is None:
        return "there is no steady state"
    return f"it takes {reply.response_s:.3g} s"


def _trial(run: Run, partition: str, count: int, *, under: bool) -> Trial:
    metrics = run.metrics[partition]
    return Trial(count, run, _seconds(metrics["response_ms_mean"]), metrics["etr_per_s"], under)


def _seconds(told: Estimate) -> Estimate:
    mean, ci95 = (None if one is None else one / 1e3 for one in (told.mean, told.ci95))
    return Estimate(mean, ci95, told.reason)


STOP_RULE = f"to one user, or to one in {PART:,} where there are more"
"""How exactly the users are told."""
