"""`advise`: search by the solver, confirm by simulation, say why."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from homenode.errors import listed
from homenode.model.numbers import with_interval
from homenode.model.scenario import Scenario
from homenode.planner import advice as words
from homenode.planner.advice import Advice, Answer, Named, Refusal
from homenode.planner.answers import Answers
from homenode.planner.choice import best_rows, needed, refused
from homenode.planner.confirm import Runs, cores_of, is_sure, responses_of, saved
from homenode.planner.conflict import conflict, is_freed
from homenode.planner.exact import Exact
from homenode.planner.lessons import lessons
from homenode.planner.problem import Problem, problem_of
from homenode.planner.reasons import UNITS
from homenode.planner.rules import Rule
from homenode.planner.search import EVERY, ROUNDS, Search, Telling
from homenode.planner.space import Rows
from homenode.simulate.runner import InterruptedRun, ProgressFn

MOST = 3
"""Layouts that are simulated and told."""
_TRIES = 4
"""Times that layouts are chosen: simulations may contradict the solver."""
_AGAIN = 2
"""Rounds of a search that begins where another one ended."""


def advise(
    scenario: Scenario | str | Path,
    *,
    best: int = MOST,
    seconds: float | None = None,
    confirm: bool = True,
    seed: int | None = None,
    rounds: int = ROUNDS,
    replications: int | None = None,
    jobs: int | None = None,
    out: str | Path = "runs",
    each: Telling = lambda _, __: None,
    stop: threading.Event | None = None,
    **asked: Any,
) -> Advice:
    """The layout that costs least, beside the layout as it is.

    `asked` are keys of the scenario's table `[advise]`, which they replace, such as `goal="cores"`
    and `free=["home"]`. At most `best` layouts are told; `seconds` limits the search, not the
    simulations, which `confirm=False` leaves out. `seed` is that of the search; the scenario's own
    if not given. `each` is told how far it is [0..1], and in words; once `stop` is set, the best so
    far is told.

    Raises `HomenodeError` for what cannot be asked of this machine. That no layout keeps all rules
    is an answer: `conflict` holds the fewest rules that contradict each other.
    """
    return advised(
        problem_of(scenario, asked),
        Asked(best, seconds, seed, rounds, each, stop),
        Runs(replications, jobs, out, _simulating(each), stop) if confirm else None,
    )


@dataclass(frozen=True)
class Asked:
    """How a search goes about; see `advise`."""

    best: int = MOST
    seconds: float | None = None
    seed: int | None = None
    rounds: int = ROUNDS
    each: Telling = lambda _, __: None
    stop: threading.Event | None = None


def _simulating(each: Telling) -> ProgressFn:
    def tell(share: float, _: float | None) -> None:
        each(share, "simulating the best")

    return tell


def advised(problem: Problem, asked: Asked, runs: Runs | None) -> Advice:
    """The answer to a problem; `runs` is how layouts are simulated, None for not at all."""
    search = Search(
        problem.space,
        problem.cost,
        problem.rules,
        problem.goal,
        most=problem.space.solver.most,
        seed=problem.scenario.timing.seed if asked.seed is None else asked.seed,
        rounds=asked.rounds,
        seconds=asked.seconds,
        each=asked.each,
        stop=asked.stop,
    )
    return Advising(problem, search, runs).advice(asked.best)


@dataclass
class Advising:
    """One question on its way to its answer."""

    problem: Problem
    search: Search
    runs: Runs | None
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        self.answers = Answers(self.problem)

    def advice(self, best: int) -> Advice:
        """The answer."""
        search = self.search
        exact = self._exact()
        search.run(self._starts(exact))
        if not search.seen.kept.any() and not (search.stopped or search.late):
            rules = conflict(search, exact)
            machine = [rule for rule in self.problem.rules if not rule.wished]
            proven = exact is not None and exact.layout([*machine, *rules])[1]
            return self._conflict(rules, proven=proven or search.proven)
        now = self.problem.space.now()[0]
        for _ in range(_TRIES):
            rows = best_rows(search, self.problem.wishes.told.worth, best)
            rows = needed(self.problem, rows) if self._goal == "headroom" else rows
            answers = self._simulated([now, *rows])
            if not self._learnt(answers[1:]):
                break
        return self._told(answers[0], answers[1:])

    def _learnt(self, answers: Sequence[Answer]) -> bool:
        """Whether simulations contradicted the solver, so that another search knows better."""
        base = self.answers.run_of(self.problem.space.now()[0])
        if base is None or self.search.stopped or not any(one.breaks for one in answers):
            return False
        limits, forbidden = lessons(self.problem, self.answers.runs, base, self.search.limits)
        if (limits == self.search.limits).all() and forbidden <= self.search.forbidden:
            return False
        self.search.stricter(limits, self.search.forbidden | forbidden, _AGAIN)
        return True

    def _exact(self) -> Exact | None:
        """CP-SAT, where local search would have to look for what keeps a linear rule."""
        wished = any(rule.linear is not None and rule.wished for rule in self.problem.rules)
        large = self.problem.space.count > EVERY and not self.problem.space.solver.whole
        return Exact(self.problem.space) if wished and large else None

    def _starts(self, exact: Exact | None) -> list[Rows]:
        """The layout that keeps all linear rules with the fewest changes."""
        row = None if exact is None else exact.layout(self.problem.rules)[0]
        return [] if row is None or not row.any() else [row]

    def _simulated(self, rows: Sequence[Rows]) -> list[Answer]:
        """Answers of rows, simulated as long as nobody stops it."""
        for row in rows:
            if self.runs is None or self.search.stopped:
                break
            if self.answers.run_of(row) is not None:
                continue
            try:
                run = self.runs.of(self.problem.space.applied(row))
            except (InterruptedRun, KeyboardInterrupt):
                self.search.stopped = True
            else:
                self.answers.runs[row.tobytes()] = (row, run)
        return [self.answers.of(row) for row in rows]

    def _conflict(self, rules: Sequence[Rule], *, proven: bool) -> Advice:
        """That no layout keeps all rules, and which of them contradict each other."""
        now = self._simulated([self.problem.space.now()[0]])[0]
        named = [Named(rule.name, rule.where) for rule in rules]
        pins = self.problem.wishes.told.pinned
        if pins and is_freed(self.search, self.problem.unpinned(), rules):
            where = self.problem.wishes.where("pinned")
            named.append(Named(f"pinned: nothing of {listed(pins)} changes", where))
        told = f"No layout keeps all rules. Not together: {listed(map(str, named), 20)}."
        if not named:
            told = "No layout keeps the rules of the machine itself."
        if not proven:
            told += " Local search found none, which is no proof."
        return self._advice(now, (), words.CONFLICT, told, conflict=tuple(named))

    def _told(self, now: Answer, others: Sequence[Answer]) -> Advice:
        good = [one for one in others if self._is_better(one, now)]
        good = self._told_apart(sorted(good, key=lambda one: -(one.saving.mean or 0.0)))
        refusals = self._refusals()
        if not good:
            text = self._nothing(now, others)
            return self._advice(now, (), words.DO_NOTHING, text, refusals)
        verdict, text = words.CHANGE, self._sentence(good[0], now)
        if good[0].run is None:
            verdict = words.NOT_CONFIRMED
            text += " By the solver alone: it was not simulated."
        return self._advice(now, tuple(good), verdict, text, refusals)

    def _is_better(self, one: Answer, now: Answer) -> bool:
        """Whether it is better than the layout as it is, and beyond chance where that is known."""
        if one.breaks:
            return False
        if now.breaks or one.run is None:
            return True
        figure = {"cores": now.cores.mean, "response": now.response_ms.mean, "money": now.money}
        return is_sure(one.saving, self.problem.wishes.told.worth * (figure.get(self._goal) or 0.0))

    def _told_apart(self, answers: Sequence[Answer]) -> list[Answer]:
        """Without those that bring no more than another one with fewer changes, beyond chance."""
        left: list[Answer] = []
        for one in sorted(answers, key=lambda one: len(one.changes)):
            if all(self._is_more(one, other) for other in left):
                left.append(one)
        return [one for one in answers if one in left]

    def _is_more(self, one: Answer, other: Answer) -> bool:
        """Whether an answer is told apart from one with fewer changes, in anything that counts."""
        runs = [self.answers.run(answer.run) for answer in (other, one)]
        if runs[0] is None or runs[1] is None:
            return True
        base = runs[0]
        less = [
            saved(cores_of(runs[0], base), cores_of(runs[1], base)),
            saved(responses_of(runs[0]), responses_of(runs[1])),
        ]
        cheaper = (other.money or 0.0) > (one.money or 0.0)
        roomier = one.headroom > other.headroom and self._goal == "headroom"
        return cheaper or roomier or any(is_sure(saving, 0.0) for saving in less)

    def _nothing(self, now: Answer, others: Sequence[Answer]) -> str:
        """Why nothing is advised."""
        if self.search.late or self.search.stopped:
            return "Nothing better was found so far."
        if now.breaks:
            return f"No beneficial move, though this does not hold now: {'; '.join(now.breaks)}."
        worth = f"{100 * self.problem.wishes.told.worth:g} % of the {self._goal}"
        if not others:
            return f"No beneficial move: nothing saves {worth}."
        broken = [one for one in others if one.breaks]
        if len(broken) == len(others):
            return f"No beneficial move: simulated, the best breaks {'; '.join(broken[0].breaks)}."
        told = with_interval(others[0].saving)
        return f"No beneficial move: simulated, the best saves {told}, less than {worth} or chance."

    def _refusals(self) -> tuple[Refusal, ...]:
        seen = self.search.seen
        if not seen.kept.any():
            return ()
        least = self.problem.wishes.told.worth * abs(float(seen.goal[0]))
        best = float(seen.goal[seen.kept].min())
        return tuple(map(self.answers.refusal, refused(self.search, best, least)))

    @property
    def _goal(self) -> str:
        return self.problem.goal

    def _sentence(self, best: Answer, now: Answer) -> str:
        count = len(best.changes)
        changes = "1 change" if count == 1 else f"{count} changes"
        ending = "s" if count == 1 else ""
        unit = self.problem.wishes.currency if self._goal == "money" else UNITS[self._goal]
        verb = "bring" if self._goal == "headroom" else "save"
        saves = f"{verb}{ending} {with_interval(best.saving)} {unit}"
        if self._goal == "headroom" and best.run is not None:
            saves += ", by the solver alone"  # of a node simulations tell nothing
        if now.breaks:
            broken = "; ".join(now.breaks)
            more = f", and {saves}" if (best.saving.mean or 0.0) > 0 else ""
            return f"{changes} mend{ending} what does not hold now ({broken}){more}."
        return f"{changes} {saves}."

    def _advice(
        self,
        now: Answer,
        best: tuple[Answer, ...],
        verdict: str,
        told: str,
        refusals: tuple[Refusal, ...] = (),
        conflict: tuple[Named, ...] = (),
    ) -> Advice:
        search, scenario = self.search, self.problem.scenario
        if self.problem.space.solver.simulates:
            told += " Layouts of this machine are simulated, not solved"
            told += ": not all that there are were tried." if search.full else "."
        if search.late:
            told += " The time was over before the search was: more of it may find more."
        if search.stopped:
            told += " It was interrupted: this is the best so far."
        return Advice(
            scenario.name,
            self._goal,
            self.problem.wishes.currency,
            scenario.machine.title,
            scenario.machine.node_name,
            now,
            best,
            verdict,
            told,
            refusals,
            conflict,
            int(np.size(search.seen.goal)),
            search.proven,
            search.late,
            search.stopped,
        )
