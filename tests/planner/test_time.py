"""A time that an answer may take: what it is spent on, and what is told where it is over."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import layouts
import numpy as np
import pytest
from numpy.typing import NDArray

from homenode.planner import advise, advising
from homenode.planner.budget import Budget
from homenode.planner.confirm import Runs
from homenode.planner.front import Asked, advised
from homenode.planner.problem import Problem
from homenode.planner.questions import _Asking, more, rate
from homenode.planner.search import Search
from homenode.planner.solver import Figures, Solver
from homenode.planner.space import Rows
from homenode.report.advice import most_line
from homenode.simulate.run import Run
from homenode.simulate.scenario import Scenario
from homenode.simulate.sweep.drive import Drive


def searched(problem: Problem, **options: Any) -> Search:
    search = Search(problem.space, problem.cost, problem.rules, problem.goal, **options)
    search.run()
    return search


def test_a_time_that_binds_is_told() -> None:
    found = advise(layouts.crowded(), seconds=1e-9, confirm=False)
    assert found.late
    assert "The time was over" in found.told


class Clock:
    """One that goes by what is done, whatever the machine: told seconds for each thing."""

    def __init__(self, patch: pytest.MonkeyPatch, solving: float, simulating: float) -> None:
        self.now, self.solved, self.simulated = 0.0, 0, 0
        solve, exactly, drive = Solver.solve, Solver.exactly, Drive._keep

        def solved(solver: Solver, options: NDArray[np.int64]) -> Figures:
            self.now, self.solved = self.now + solving * len(options), self.solved + len(options)
            return solve(solver, options)

        def by_itself(solver: Solver, options: NDArray[np.int64]) -> Figures:
            self.now += solving * len(options)
            return exactly(solver, options)

        def simulated(one: Drive, reply: Any) -> None:
            self.now += simulating * len(reply.done)
            self.simulated += len(reply.done)
            drive(one, reply)

        patch.setattr(Solver, "solve", solved)
        patch.setattr(Solver, "exactly", by_itself)
        patch.setattr(Drive, "_keep", simulated)

    def __call__(self) -> float:
        return self.now


def test_a_time_is_kept_however_long_a_layout_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what is solved at once nor what simulations teach takes longer."""
    problem = layouts.problem(layouts.crowded(), free=["home", "virtual"])
    clock = Clock(monkeypatch, solving=0.01, simulating=0.0)
    search = searched(problem, seconds=2.0, budget=Budget(None, clock))
    search.stricter(search.limits, set(), 1)
    assert search.late
    assert clock.now < 6.0
    partitions = {search.space.variables[at].partition for at in np.nonzero(search.seen.rows)[1]}
    assert partitions == {0, 1, 2, 3}
    # What brings something by itself is looked at together too.
    assert search.seen.changes.max() > 1
    assert search.least < search.seen.goal[search.seen.kept & (search.seen.changes == 1)].min()


def test_a_time_that_ends_while_neighbours_are_made_ends_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No look told of it, and the descent waited for what was known of rows that none came to."""

    clock = Clock(monkeypatch, solving=0.0, simulating=0.0)

    class Slow(Search):
        def _single(self, row: Rows) -> Rows:
            rows = super()._single(row)
            clock.now = max(clock.now, self._end or 0.0) + 0.01
            return rows

    problem = layouts.problem(layouts.crowded(), free=["home"])
    told = (problem.space, problem.cost, problem.rules, problem.goal)
    search = Slow(*told, seconds=0.2, budget=Budget(None, clock))
    ended = threading.Event()
    thread = threading.Thread(target=lambda: (search.run(), ended.set()), daemon=True)
    thread.start()
    assert ended.wait(60)
    assert search.late


@pytest.mark.parametrize("seconds", [0.001, 3.0, 10.0, 40.0])
def test_a_time_is_that_of_all_there_is_to_do(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search, choice and simulations share it; but one layout is simulated beside that of now."""
    problem = layouts.problem(layouts.crowded(), free=["home", "virtual"])
    clock, said = Clock(monkeypatch, solving=0.002, simulating=1.0), list[str]()
    asked = Asked(budget=Budget(seconds, clock), say=said.append)
    told = advised(problem, asked, Runs(out=tmp_path, jobs=1))
    least = 6.0  # three replications of two layouts
    assert clock.now <= max(seconds, 0.7 * seconds + least) + 1.0
    runs = sum(not path.name.startswith(".") for path in tmp_path.iterdir())
    # With no time at all nothing is found that could be confirmed.
    assert (runs == 0) if seconds < 1 else (runs == 2) if seconds < least else (runs >= 2)
    assert clock.simulated >= 3 * min(runs, 2)
    assert told.late == (seconds < 40)
    assert ("time was over" in told.told) == (seconds < 10)
    if seconds >= 3:
        assert told.best
        assert all(one.run is not None for one in told.best)
    assert not said


def test_what_there_was_no_time_to_simulate_is_said_and_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = layouts.problem(layouts.crowded(), free=["home"])
    clock = Clock(monkeypatch, solving=0.0, simulating=1.0)
    told = advised(problem, Asked(budget=Budget(6.5, clock)), Runs(out=tmp_path, jobs=1))
    assert "There was no time to simulate" in told.told
    (best,) = told.best
    assert best.run is not None
    assert clock.now <= 9.0
    enough = advised(problem, Asked(budget=Budget(7500, clock)), Runs(out=tmp_path, jobs=1))
    assert not enough.late
    assert enough.as_json() == advised(problem, Asked(), Runs(out=tmp_path)).as_json()


def test_where_nothing_is_found_the_time_of_simulations_is_for_looking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first look at neighbours takes longer than the part of the time that is for searching."""
    problem = layouts.problem(layouts.crowded(), free=["home"], worth=0.9)
    clock = Clock(monkeypatch, solving=0.25, simulating=0.1)
    told = advised(problem, Asked(budget=Budget(20.0, clock)), Runs(out=tmp_path, jobs=1))
    assert clock.solved > 0.6 * 20 / 0.25
    assert clock.now <= 20.0 + 4.0  # a few layouts are solved at once
    assert told.late


def test_what_follows_a_time_that_is_over_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    problem = layouts.problem(layouts.crowded(), free=["home"])
    clock = Clock(monkeypatch, solving=0.001, simulating=1.0)

    def each(_: float, words: str) -> None:
        clock.now += 100.0 if words.startswith("solving the best") else 0.0

    asked = Asked(budget=Budget(10.0, clock), say=said.append, each=each)
    told = advised(problem, asked, Runs(out=tmp_path))
    assert told.best[0].run is not None
    (only,) = said
    assert only.startswith("the time is over; 6 simulations follow, 3 of each layout")
    assert sum(not path.name.startswith(".") for path in tmp_path.iterdir()) == 2
    alone = advised(problem, Asked(say=said.append), None)
    assert alone.best
    assert len(said) == 1


def test_a_time_that_does_not_bind_changes_nothing() -> None:
    told = layouts.scenario(*(layouts.partition(f"lpar{n}") for n in (1, 2)))
    searches = [
        searched(layouts.problem(told, free=["virtual"]), rounds=1, seconds=seconds)
        for seconds in (None, 3600.0)
    ]
    one, other = (search.seen for search in searches)
    assert (one.rows == other.rows).all()
    assert (one.goal == other.goal).all()


def filling(tmp_path: Path) -> tuple[Scenario, Runs]:
    """A scenario of which some more fit, and how it is simulated."""
    return layouts.crowded(rate=100), Runs(out=tmp_path, jobs=1)


def test_how_many_more_fit_is_told_as_far_as_the_time_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, runs = filling(tmp_path)
    clock = Clock(monkeypatch, solving=1.0, simulating=1.0)
    found = more(told, "lpar1", None, budget=Budget(12.0, clock))
    assert found.late
    assert clock.now <= 22.0  # what is told is solved once more
    assert found.as_json()["time_over"]
    assert 0 < found.most < more(told, "lpar1").most
    assert most_line(found).endswith("More was not looked for: the time was over.")
    nothing = rate(told, None, runs, budget=Budget(0.0, clock))
    assert (nothing.most, nothing.run) == (0.0, None)
    assert most_line(nothing).startswith("0.00 times the load of all partitions.")


def test_who_interrupts_while_layouts_are_chosen_is_told_the_best_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed, times = advising.needed, list[int]()

    def interrupted(*asked: Any, **more: Any) -> list[Rows]:
        times.append(1)
        if len(times) == 1:
            raise KeyboardInterrupt
        return needed(*asked, **more)

    monkeypatch.setattr(advising, "needed", interrupted)
    told = advise(layouts.crowded(), free=["home"], out=tmp_path)
    assert told.stopped
    assert told.best
    assert told.best[0].run is None


def test_who_interrupts_is_told_the_most_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, runs = filling(tmp_path)
    solved = more(told, "lpar1")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runs, "of", interrupted)
    found = more(told, "lpar1", runs)
    assert found.stopped
    assert found.most == solved.most
    assert found.run is None
    assert "no run confirms it" in most_line(found)
    assert most_line(found).endswith("it was interrupted.")


def test_who_interrupts_the_first_simulations_of_a_limited_time_sees_no_more_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[int] = []

    def interrupted(_: Runs, scenarios: Sequence[Scenario]) -> list[Run]:
        times.append(len(scenarios))
        raise KeyboardInterrupt

    monkeypatch.setattr(Runs, "of", interrupted)
    problem = layouts.problem(layouts.crowded(), free=["home"])
    told = advised(problem, Asked(budget=Budget(7500.0, lambda: 0.0)), Runs(out=tmp_path))
    assert told.stopped
    assert times == [2]


def test_the_most_is_told_though_the_last_simulation_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of now, which is only told beside it; no time is left for it either."""
    told, runs = filling(tmp_path)
    of, clock = Runs.of, [0.0]

    def interrupted(how: Runs, scenarios: Sequence[Scenario]) -> list[Run]:
        if any(one is told for one in scenarios):
            raise KeyboardInterrupt
        clock[0] += 100.0
        return of(how, scenarios)

    monkeypatch.setattr(Runs, "of", interrupted)
    found = more(told, "lpar1", runs)
    assert found.stopped
    assert found.most > 0
    assert found.run is not None
    assert found.response_ms is not None
    assert found.response_ms_now is None
    assert most_line(found).endswith(
        "What a response takes now was not simulated: it was interrupted."
    )
    timed = more(told, "lpar1", runs, budget=Budget(50.0, lambda: clock[0]))
    assert not timed.stopped
    assert (timed.most, timed.response_ms_now) == (found.most, None)


def test_a_load_that_holds_is_not_told_as_one_that_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, times = _Asking.broken, list[float]()

    def interrupted(one: _Asking, amount: float, *, whole: bool) -> str | None:
        times.append(amount)
        if len(times) > 1:
            raise KeyboardInterrupt
        return broken(one, amount, whole=whole)

    monkeypatch.setattr(_Asking, "broken", interrupted)
    found = rate(layouts.crowded(rate=100))
    assert (found.most, found.limit) == (1.0, "")
    assert "Beyond" not in most_line(found)
