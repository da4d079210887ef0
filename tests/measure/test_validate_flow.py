"""The course of a validation, without a host: passes, what is done with the time left, its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from homenode.hosts.errors import MeasureError
from homenode.judge import database
from homenode.judge import session as module
from homenode.judge.experiments import databases
from homenode.judge.kinds import Experiment, Group, Judged
from homenode.judge.loads import Pace, Spin
from homenode.judge.plan import Plan
from homenode.judge.scene import Alone
from homenode.judge.session import Session
from homenode.judge.simulated import Simulation
from homenode.judge.trial import Trial

pytestmark = pytest.mark.anywhere

LASTS = 5.0


class Clock:
    """Stands still but for trials."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


class Made(Session):
    """A session whose trials are made up: each takes as long, and gives the next of its values."""

    clock: Clock
    values: dict[str, list[float]]
    settled: list[float]
    stop_after: int | None = None
    broken: tuple[str, int] = ("", 0)
    """An experiment that fails, and from which of all trials on."""
    ready_with: float = 0.0
    """Time to be ready that is enough, as a factor on the usual."""

    def _pace(self, folder: Path) -> Pace:
        return Pace(5e8)

    def _trial(
        self,
        experiment: Experiment,
        pace: Pace,
        stores: database.Databases,
        folder: Path,
        settling: float,
    ) -> Trial:
        if self.stop_after is not None and len(self.trials) >= self.stop_after:
            raise KeyboardInterrupt
        if experiment.name == self.broken[0] and len(self.trials) >= self.broken[1]:
            raise MeasureError("a load generator ended with 9")
        self.clock.now += LASTS
        self.settled.append(settling)
        mine = [one for one in self.trials if one.experiment == experiment.name]
        values = self.values[experiment.name]
        found = values[len(mine) % len(values)]
        late = 0.2 if settling < self.ready_with else 0.0
        return Trial(experiment.name, {"a": {"share_pct": found}}, 0.0, 0.0, late_s=late)


def experiment(name: str) -> Experiment:
    judged = (Judged("a", "share_pct", 1.0, "points"),)
    return Experiment(name, name, (Group("a", Spin()),), judged)


PLAN = Plan((experiment("calm"), experiment("wild")), 3, 3.0, 0.7, minutes=2.0)


def done(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, calm: list[float], wild: list[float], **more: Any
) -> Made:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    host = cast("Any", None)
    session = Made(host, (0, 1), plan, None, _began=clock.now)
    session.clock, session.values = clock, {"calm": calm, "wild": wild}
    session.settled = []
    for name, value in more.items():
        setattr(session, name, value)
    session.measure(Path("/nowhere"))
    return session


@pytest.fixture(autouse=True)
def no_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: None)


def order(session: Session) -> list[str]:
    return [one.experiment for one in session.trials]


def test_processes_that_begin_late_get_more_time_to_be_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = replace(PLAN, minutes=None, passes=1, experiments=PLAN.experiments[:1])
    session = done(monkeypatch, plan, [50.0], [], ready_with=10.0)
    assert session.settled == [1.0, 4.0, 16.0]
    assert [one.rejected is None for one in session.trials] == [False, False, True]


def test_every_second_pass_goes_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    session = done(monkeypatch, replace(PLAN, minutes=None), [50.0], [40.0, 50.0, 60.0])
    assert order(session) == ["calm", "wild", "wild", "calm", "calm", "wild"]


def test_what_is_left_of_the_time_goes_to_what_is_known_worst(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = done(monkeypatch, PLAN, [50.0, 50.1], [49.0, 50.0, 51.0])
    # 120 s are 24 trials of 5 s; 12 are the most of one experiment, and wild scatters: s is near
    # 0.8, so that its interval is within a point from 6 trials on, and within half a point never.
    counts = Counter(order(session))
    assert counts["calm"] == 3
    assert 5 <= counts["wild"] <= 12
    assert session.left_out == []


def test_a_hopeless_figure_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    session = done(monkeypatch, PLAN, [50.0], [10.0, 50.0, 90.0])
    assert Counter(order(session)) == {"calm": 3, "wild": 3}


def test_when_none_of_the_first_twenty_counts_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # Late whatever is done: each experiment takes three trials a pass, none of which counts.
    many = replace(PLAN, minutes=None, passes=10)
    session = done(monkeypatch, many, [50.0], [50.0], ready_with=1e9)
    assert len(session.trials) == 20
    assert session.left_out == ["13 trials: none of the first 20 counts"]
    # At the last place nothing is left out but what the rest of the time was for.
    last = replace(many, experiments=PLAN.experiments[:1], passes=7)
    assert done(monkeypatch, last, [50.0], [], ready_with=1e9).left_out == []
    timed = done(monkeypatch, replace(last, minutes=60.0), [50.0], [], ready_with=1e9)
    assert timed.left_out == ["further trials: none of the first 20 counts"]
    # Of what has failed nothing was to come: 7 of the other 10 took place.
    failed = done(monkeypatch, many, [50.0], [50.0], ready_with=1e9, broken=("wild", 3))
    assert failed.left_out[1:] == ["3 trials: none of the first 20 counts"]
    # One that counts is reason enough to go on.
    better = done(monkeypatch, many, [50.0], [50.0], ready_with=10.0)
    assert len(better.trials) == 60
    assert better.left_out == []


def test_when_the_time_is_up_it_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    session = done(monkeypatch, replace(PLAN, minutes=0.5), [50.0, 50.1], [49.0, 51.0])
    assert len(session.trials) == 30.0 // LASTS
    short = done(monkeypatch, replace(PLAN, minutes=0.3), [50.0, 50.1], [49.0, 51.0])
    assert len(short.trials) == 18.0 // LASTS
    assert short.left_out == ["3 trials of passes 2 to 3: the 0.3 minutes were up"]


def test_what_was_measured_is_shown_where_nothing_can_be_calibrated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = done(monkeypatch, PLAN, [50.0], [50.0])
    alone, why_not = module._alone(session, 1e9)
    assert alone.second_instructions == 1e9
    assert "nothing can be calibrated" in why_not[0]
    rows = module._rows(session, None, alone)
    assert {row.verdict for row in rows} == {"not simulated"}
    assert rows[0].measured is not None
    assert rows[0].measured.mean == 50.0
    session.trials = [replace(one, rejected="others") for one in session.trials]
    with pytest.raises(MeasureError, match="nothing can be calibrated"):
        module._alone(session, 1e9)


def test_databases_are_not_simulated_where_none_that_is_alone_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Asked:
        def run(self, experiment: Experiment, alone: Alone) -> dict[str, dict[str, list[float]]]:
            asked.append(experiment.name)
            return {}

    asked: list[str] = []
    session = done(monkeypatch, PLAN, [50.0], [50.0])
    stores = tuple(databases())
    session.plan = replace(session.plan, experiments=stores)
    judged = [one.name for one in stores if one.judged]
    assert judged
    simulation = cast(Simulation, Asked())
    rows = module._rows(session, simulation, Alone(1e9))
    assert not asked
    assert {row.verdict for row in rows} <= {"not simulated", "not measured"}
    module._rows(session, simulation, Alone(1e9, transaction_s=1e-3))
    assert asked == judged


def test_what_was_done_before_an_interruption_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    session = done(monkeypatch, PLAN, [50.0], [50.0], stop_after=4)
    assert session.interrupted
    assert len(session.trials) == 4


def test_a_trial_that_fails_costs_nothing_that_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    session = done(monkeypatch, PLAN, [50.0, 50.1], [49.0, 50.0, 51.0], broken=("wild", 3))
    # It fails in the third pass, after five trials.
    assert Counter(order(session)) == {"calm": 3, "wild": 2}
    assert session.left_out == ["wild, from a failure on: a load generator ended with 9"]
    assert module._rows(session, None, module._alone(session, 1e9)[0])[1].measured is not None
    with pytest.raises(MeasureError, match="ended with 9"):
        done(monkeypatch, PLAN, [50.0], [50.0], broken=("calm", 0))
