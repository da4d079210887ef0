"""One question on its way to its answer: search, simulations of the best, what they teach."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from homenode.errors import listed
from homenode.model.numbers import with_interval
from homenode.planner import advice as words
from homenode.planner.advice import Advice, Answer, Named, Refusal
from homenode.planner.answers import Answers
from homenode.planner.budget import Budget, Until
from homenode.planner.choice import EACH, SAME, Refused, best_rows, needed, refused, trim
from homenode.planner.combining import Branch, Combining
from homenode.planner.confirm import Groups, Runs, cores_of, is_sure, responses_of, saved
from homenode.planner.conflict import conflict, exact_of, never_together
from homenode.planner.lessons import lessons
from homenode.planner.overload import Overload, overloads
from homenode.planner.played import Played, Saying, say_nothing
from homenode.planner.problem import Problem
from homenode.planner.reasons import UNITS
from homenode.planner.rules import Rule
from homenode.planner.search import Search
from homenode.planner.space import Rows
from homenode.planner.unseen import Unseen, in_words, joined, unseen
from homenode.planner.variants import Variant
from homenode.simulate.run import Run
from homenode.simulate.sweep.whole import InterruptedRuns

_TRIES = 4
"""Times that layouts are chosen: simulations may contradict the solver."""
_MOST_TRIES = 8
"""The same where none holds so far,"""
_WIDE = 3
"""and how many are chosen then at least."""
_OF_EXACT = 0.2
"""Part of a limited time for the layout that keeps the linear rules."""
_LONGER = 0.5
"""Part of what is left of a limited time for going on, where nothing was found that is better."""
_ALIKE = 1e-4
"""Difference of two limits that is none: solving leaves as much open."""
_AGAIN = 2
"""Rounds of a search that begins where another one ended."""


@dataclass
class Advising:
    """A problem, its search, and how its layouts are simulated; None for not at all."""

    problem: Problem
    search: Search
    runs: Runs | None
    base: Run | None = None
    """The run of the layout as it is, once there is one."""
    variants: Sequence[Branch] = ()
    """What else may be searched, each in a space of its own."""
    unfit: Sequence[str] = ()
    """Variants that cannot be, and why."""
    branch_of: Callable[[Variant], Branch] | None = None
    """A variant with its search, where variants may be combined."""
    say: Saying = say_nothing
    """Is told what comes after a search whose time is over."""
    answers: dict[int, Answers] = field(init=False)
    """By branch, the problem itself first."""
    _cut: set[bytes] = field(default_factory=set)
    """Layouts that were chosen, and for whose simulation there was no time."""
    _least: float = 0.0
    """What another change must bring, of the goal's figure."""
    _of_unseen: list[Rows] | None = None
    """What simulations found of `unseen`; None while nobody looked."""
    refuted: tuple[Answer, ...] = ()
    """Layouts that were chosen and break a rule all the same."""

    def __post_init__(self) -> None:
        self.branches = [Branch(self.problem, self.search), *self.variants]
        self.answers = {at: self._answers(one) for at, one in enumerate(self.branches)}
        if self.base is not None:
            self._begin(self.base)

    def _answers(self, one: Branch) -> Answers:
        return Answers(one.problem, one.variant, self.problem if one.variant else None)

    def _begin(self, run: Run) -> None:
        """Takes the run of the layout as it is."""
        self.base, now = run, self.problem.space.now()[0]
        self.answers[0].runs[now.tobytes()] = (now, run)
        for one in self.answers.values():
            one.base = run

    def advice(self, best: int) -> Advice:
        """The answer."""
        search, stop = self.search, self.search.stop
        search.run(self._starts())
        for branch in self.variants:
            if not self.stopped and not self.budget.over:
                branch.search.run()
        self._combine()
        if not any(one.search.seen.kept.any() for one in self._searched()) and not (
            self.stopped or self.late
        ):
            rules, *sure = conflict(search, self.problem, stop)
            if rules or not (search.stopped or search.seen.kept.any()):
                return self._conflict(rules, *sure)
        try:
            answers = self._confirmed(best)
        except KeyboardInterrupt:  # while layouts were chosen: with those found so far, once more
            self.search.stopped = True
            answers = self._confirmed(best)
        self.refuted = tuple(one for one in answers[1:] if one.breaks)
        return self._told(answers[0], answers[1:], best)

    def _confirmed(self, best: int) -> list[Answer]:
        """The layout as it is and the best others, which were chosen anew as often as simulations
        taught something; where none holds more of them, so that it does not hang on how many are
        told whether one is found.
        """
        width, good = best, False
        for tried in range(1, _MOST_TRIES + 1):
            self.search.each(1.0, "solving the best by themselves")
            chosen = self._chosen(width)
            while not chosen and self.search.late and not self.stopped and not self.budget.over:
                # What was to be simulated is not there: its time is for looking.
                self.search.longer(self.budget.share(_LONGER))
                chosen = self._chosen(width)
            chosen += self._leaner(chosen)
            chosen += self._unseen(chosen)
            now, *others = self._simulated([(0, self.problem.space.now()[0]), *chosen])
            good = good or any(self._is_better(one, now) for one in others)
            learnt = self._learnt()
            over = self.stopped or self.budget.over or not chosen or (good and tried >= _TRIES)
            if over or not (learnt or (not good and width < _WIDE)):
                break
            width = best if good else max(best, _WIDE)
        return [now, *others]

    def _combine(self) -> None:
        """Searches variants on top of each other, and keeps those that are better than each."""
        now = float(self.search.seen.goal[0]) if self.search.begun else 0.0
        self._least = EACH * self.problem.wishes.told.worth * abs(now)
        if self.branch_of is None or self.stopped or self.budget.over:
            return
        combining = Combining(self.branches[0], self.variants, self.branch_of, self._least)
        for branch in combining.all():
            self.answers[len(self.branches)] = self._answers(branch)
            self.branches.append(branch)
            branch.search.run()
            if branch.search.stopped or branch.search.late:
                break
        self.unfit = (*self.unfit, *combining.left_out)

    @property
    def budget(self) -> Budget:
        """The time that all of it shares."""
        return self.search.budget

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped it."""
        return any(one.search.stopped for one in self.branches)

    @property
    def late(self) -> bool:
        """Whether the time was over before a search was."""
        return any(one.search.late for one in self.branches)

    def _searched(self) -> list[Branch]:
        return [one for one in self.branches if one.search.begun]

    def _chosen(self, best: int) -> list[tuple[int, Rows]]:
        """Layouts that are simulated: the best of the scenario, and of each variant its best."""
        rows = needed(self.problem, self._holding(0, best))
        chosen = [(0, row) for row in rows]
        for at, one in enumerate(self.branches):
            if at and one.search.begun and one.brings(self._least):
                found = self._holding(at, 1)
                found = needed(one.problem, found, of_variant=True)
                chosen += [(at, row) for row in found]
        if not self.variants:
            return chosen
        chosen.sort(key=lambda one: self._score(*one))
        # The best that keeps machine and partitions is told beside those that do not.
        own = next((at for at, (branch, _) in enumerate(chosen) if not branch), 0)
        return chosen[:best] if best == 1 or own < best else [*chosen[: best - 1], chosen[own]]

    def _leaner(self, chosen: Sequence[tuple[int, Rows]]) -> list[tuple[int, Rows]]:
        """What is left of the first without changes each of which brings less than all together
        must: whether these bring anything is told by simulations, of both.
        """
        if self.runs is None or not chosen or self.stopped or self.budget.over:
            return []
        at, row = chosen[0]
        search = self.branches[at].search
        lean = trim(search, row, self.problem.wishes.told.worth * abs(float(search.seen.goal[0])))
        known = any(one == at and np.array_equal(lean, other) for one, other in chosen)
        return [] if known or not lean.any() else [(at, lean)]

    def _unseen(self, chosen: Sequence[tuple[int, Rows]]) -> list[tuple[int, Rows]]:
        """What a few brief simulations found of those whose responses the solver does not know, by
        itself and on top of the best that was solved.
        """
        if self._of_unseen is None:
            self._of_unseen = self._look_at_unseen()
        best = [row for at, row in chosen[:1] if not at]
        more = [one for row in self._of_unseen[:1] for one in joined(row, best)]
        rows = {row.tobytes(): row for row in (*more, *self._of_unseen)}
        known = {row.tobytes() for at, row in chosen if not at}
        return [(0, row) for key, row in rows.items() if key not in known]

    def _look_at_unseen(self) -> list[Rows]:
        """The best few layouts of these partitions."""
        search, runs = self.search, self.runs
        if runs is None or self.stopped or self.budget.over or not self.unseen:
            return []
        look = Unseen(self.problem, self.unseen, search.seed, self.budget, search.each, runs.stop)
        found, over = look.rows(self.say)
        self.answers[0].by_runs |= {row.tobytes() for row in found}
        search.stopped, search.late = search.stopped or over.stopped, search.late or over.late
        return found

    @functools.cached_property
    def unseen(self) -> tuple[str, ...]:
        """Partitions whose responses count, and which the solver does not know."""
        return unseen(self.problem)

    def _holding(self, at: int, count: int) -> list[Rows]:
        """The best rows of a branch that hold once each is solved by itself: of neighbours that are
        solved together where homes are full another balance may have been found.
        """
        search, worth = self.branches[at].search, self.problem.wishes.told.worth
        first, breaking = self.search.seen if at else None, list[Rows]()
        for _ in range(_TRIES):
            rows = best_rows(search, worth, count, first)
            broken = [row for row in rows if self._breaks(at, row)]
            wrong = [*broken, *(row for row in rows if not self._saves(at, row))]
            breaking += broken
            if not wrong or self.stopped:
                break
            search.refuse(wrong)
        # Where nothing holds, what is in the way is told of those that break a rule.
        return [row for row in rows if row.tobytes() not in search.refused] or breaking[:count]

    def _breaks(self, at: int, row: Rows) -> bool:
        """Whether a row solved by itself breaks a rule; what simulations tell is left to them."""
        problem = self.branches[at].problem
        over = problem.broken(row[None, :])[0]
        left = [self.runs is not None and rule.simulated for rule in problem.rules]
        return any(one > 0 and not later for one, later in zip(over, left, strict=True))

    def _saves(self, at: int, row: Rows) -> bool:
        """Whether a row solved by itself saves what it must."""
        problem, now = self.branches[at].problem, self.problem.solved_now
        if not self.search.seen.kept[0]:
            return True
        was = float(now.goal(self.problem.goal)[0])
        goal = float(problem.exactly(row[None, :]).goal(problem.goal)[0])
        return goal <= was - self.problem.wishes.told.worth * abs(was)

    def _score(self, at: int, row: Rows) -> float:
        return float(self.branches[at].search.look(row[None, :])[0])

    def overloads(self) -> list[Overload]:
        """Partitions that cannot meet their demand in the layout as it is."""
        return overloads(self.problem, self.base)

    def in_the_way(self, stuck: Sequence[Overload]) -> set[str]:
        """What layouts break that give them room, where the search took it to be kept: some rule is
        broken once such a layout is solved, or simulated, by itself.
        """
        rules = {one.rule for one in stuck}
        named = ({name.split(": ")[0] for name in one.breaks} for one in self.refuted)
        return set().union(*(broken for broken in named if not broken & rules))

    def is_mended(self, told: Advice) -> bool:
        """Whether they can in what is told, or whether that is not known yet."""
        return bool(told.best) or told.late or told.stopped

    def _learnt(self) -> bool:
        """Whether simulations contradicted the solver, so that another search knows better."""
        base = self.base
        if base is None or self.stopped:
            return False
        taught = [self._taught(at, base) for at in self.answers]
        return any(taught)

    def _taught(self, at: int, base: Run) -> bool:
        """Whether one of the branches learnt anything."""
        search, told = self.branches[at].search, self.answers[at]
        if not told.runs:
            return False
        limits, forbidden = lessons(told.problem, told.runs, base, search.limits, told.groups)
        alike = np.allclose(limits, search.limits, rtol=0.0, atol=_ALIKE)
        if alike and forbidden <= search.forbidden:
            return False
        search.stricter(limits, search.forbidden | forbidden, _AGAIN)
        return True

    def _starts(self) -> list[Rows]:
        """The layout that keeps all linear rules with the fewest changes."""
        rules = self.problem.rules
        wished = any(rule.linear is not None and rule.wished for rule in rules)
        exact = exact_of(self.problem.space) if wished else None
        row = None if exact is None else exact.layout(rules, self.budget.share(_OF_EXACT))[0]
        return [] if row is None or not row.any() else [row]

    def _simulated(self, chosen: Sequence[tuple[int, Rows]]) -> list[Answer]:
        """Answers of layouts, simulated as long as nobody stops it and there is time."""
        open_ones = [(at, row) for at, row in chosen if self.answers[at].run_of(row) is None]
        if self.runs is not None and not self.stopped:
            first = self._at_least(self.runs, open_ones)
            self._play(self.runs, open_ones[:first])
            until = Until(self.budget, self.runs.stop)
            if not self.search.stopped and not until.is_set():
                self._play(replace(self.runs, stop=until), open_ones[first:], until)
            others = [(at, row) for at, row in open_ones if at or row.any()]
            left = {row.tobytes() for at, row in others if self.answers[at].run_of(row) is None}
            self._cut = left if until.by_time else set()
        return [self.answers[at].of(row) for at, row in chosen]

    def _at_least(self, runs: Runs, layouts: Sequence[tuple[int, Rows]]) -> int:
        """How many of these are simulated whatever the time: where it is limited, that of now and
        one beside it.
        """
        told = self.answers.values()
        known = sum(run is not self.base for one in told for _, run in one.runs.values())
        if not self.budget.is_limited or known:
            return 0
        count = min(2 if self.base is None else 1, len(layouts))
        if self.budget.over and len(layouts) == 1 and self.base is None:
            return 0  # that of now alone confirms nothing
        if self.budget.over and count:
            each = runs.count(self.problem.scenario)
            self.say(
                f"the time is over; {count * each} simulations follow, {each} of each layout, for"
                " without one nothing is confirmed (--no-simulate leaves them out)"
            )
        return count

    def _play(
        self, how: Runs, layouts: Sequence[tuple[int, Rows]], until: Until | None = None
    ) -> None:
        """Simulate layouts, all of them unless it is stopped."""
        runs: Sequence[Run | None] = ()
        try:
            runs = how.of([self.answers[at].problem.space.applied(row) for at, row in layouts])
        except KeyboardInterrupt as cut:
            self.search.stopped |= until is None or not until.by_time
            runs = cut.runs if isinstance(cut, InterruptedRuns) else ()
        for (at, row), run in zip(layouts, runs, strict=False):
            if run is None:
                continue
            self.answers[at].runs[row.tobytes()] = (row, run)
            if self.base is None:
                self._begin(run)

    def _conflict(self, rules: Sequence[Rule], proven: bool, least: bool) -> Advice:
        """That no layout keeps all rules, and which of them contradict each other."""
        now = self._simulated([(0, self.problem.space.now()[0])])[0]
        named = [Named(rule.name, rule.where) for rule in rules]
        told = f"No layout keeps all rules. Not together: {listed(map(str, named), 20)}."
        if len(named) < 2:
            what = named[0] if named else "the rules of the machine itself"
            told = f"No layout keeps {what}."
        elif not least:
            told += " Fewer may contradict each other too: the smallest set took too long to find."
        if not proven:
            told += " Local search found none, which is no proof."
        return self._advice(now, (), words.CONFLICT, told, conflict=tuple(named))

    def _told(self, now: Answer, others: Sequence[Answer], best: int) -> Advice:
        # What held while the search went on counts as much as what was chosen last.
        every = [*others, *(one for one in self._tried() if one not in others)]
        if self._cut:
            every = [one for one in every if one.run is not None]
        good = [one for one in every if self._is_better(one, now)]
        good = self._fewest_first(self._told_apart(sorted(good, key=self._rank)))[:best]
        refusals = self._refusals((good[0].saving.mean or 0.0) if good else 0.0)
        if not good:
            text = self._nothing(now, others)
            tried = self._tried()
            never = never_together([now, *tried]) if now.breaks and tried else ()
            if len(never) < 2:
                never = ()  # That one rule is broken is told above.
            else:
                text += f" Not together, in what was simulated: {listed(map(str, never), 20)}."
            return self._advice(now, (), words.DO_NOTHING, text, refusals, never)
        verdict, text = words.CHANGE, self._sentence(good[0], now)
        if good[0].run is None:
            verdict = words.NOT_CONFIRMED
            text += " By the solver alone: it was not simulated."
            if good[0].unknown:
                text += f" It does not know how long {listed(good[0].unknown, 6)} would answer."
        return self._advice(now, tuple(good), verdict, text, refusals)

    def _is_better(self, one: Answer, now: Answer) -> bool:
        """Whether it is better than the layout as it is, and beyond chance where that is known."""
        if one.breaks:
            return False
        if now.breaks:
            return True
        figure = {"cores": now.cores.mean, "response": now.response_ms.mean, "money": now.money}
        least = self.problem.wishes.told.worth * (figure.get(self._goal) or 0.0)
        if one.run is None:
            saved_alone = one.saving.mean or 0.0
            return saved_alone > 0 and saved_alone >= least
        return is_sure(one.saving, least)

    def _rank(self, one: Answer) -> float:
        """The less the better: by what it saves, else by its figure."""
        if one.saving.mean is not None:
            return -one.saving.mean
        figures = {"cores": one.cores.mean, "response": one.response_ms.mean, "money": one.money}
        told = figures.get(self._goal, -one.headroom)
        return math.inf if told is None else told

    def _fewest_first(self, answers: Sequence[Answer]) -> list[Answer]:
        """Those that are as good as the best but for what counts as none, the fewest changes first,
        and the others.
        """
        most = min(map(self._rank, answers), default=0.0) + self._least

        def order(one: Answer) -> tuple[float, int]:
            rank = self._rank(one)
            return (most, len(one.changes)) if rank <= most else (rank, 0)

        return sorted(answers, key=order)

    def _told_apart(self, answers: Sequence[Answer]) -> list[Answer]:
        """Without those that bring no more than another one with fewer changes, beyond chance."""
        left: list[Answer] = []
        for one in sorted(answers, key=lambda one: len(one.changes)):
            if all(self._is_more(one, other) for other in left):
                left.append(one)
        return [one for one in answers if one in left]

    def _is_more(self, one: Answer, other: Answer) -> bool:
        """Whether an answer is told apart from one with fewer changes, in anything that counts."""
        found = [self._run(answer.run) for answer in (other, one)]
        runs = [told for told in found if told is not None]
        cheaper = (other.money or 0.0) > (one.money or 0.0)
        if len(runs) < len(found):
            quicker = (other.response_ms.mean or 0.0) - (one.response_ms.mean or 0.0)
            more = (one.saving.mean or 0.0) - (other.saving.mean or 0.0) > self._least
            return more or cheaper or quicker > SAME * (other.response_ms.mean or 0.0)
        held = self.problem.held
        base = runs[0][0] if self.base is None or not self.variants else self.base
        cores = [cores_of(run, base, held, groups) for run, groups in runs]
        slow = [responses_of(run, held) for run, _ in runs]
        less = [saved(cores[0], cores[1]), saved(slow[0], slow[1])]
        roomier = one.headroom > other.headroom + self._least and self._goal == "headroom"
        words = ("cores", "response")
        least = [self._least if word == self._goal else 0.0 for word in words]
        return cheaper or roomier or any(map(is_sure, less, least))

    def _run(self, name: str | None) -> tuple[Run, Groups] | None:
        """A run with what its partitions were before."""
        for one in self.answers.values():
            run = one.run(name)
            if run is not None:
                return run, one.groups
        return None

    def _nothing(self, now: Answer, others: Sequence[Answer]) -> str:
        """Why nothing is advised."""
        if self.late or self.stopped or self._cut:
            return "Nothing better was found so far."
        if now.breaks:
            return f"No beneficial move, though this does not hold now: {'; '.join(now.breaks)}."
        worth = f"{100 * self.problem.wishes.told.worth:g} % of the {self._goal}"
        others = others or self._tried()
        if not others:
            blind = in_words(self.problem, self.unseen) if self.unseen else ""
            blind = blind and f" {blind[0].upper()}{blind[1:]}."
            return f"No beneficial move: nothing saves {worth}.{blind}"
        how = "solved by itself" if self.runs is None else "simulated"
        sound = [one for one in others if not one.breaks]
        if not sound:
            told = f"saves {with_interval(others[0].saving)} {self._unit}, but breaks"
            return f"No beneficial move: {how}, the best {told} {'; '.join(others[0].breaks)}."
        less = f"less than {worth}" + ("" if self.runs is None else " or chance")
        saves = f"saves {with_interval(sound[0].saving)} {self._unit}"
        return f"No beneficial move: {how}, the best {saves}, {less}."

    def _tried(self) -> list[Answer]:
        """All layouts but that of now that were simulated, the one that saves most first."""
        ran = [(told, *pair) for told in self.answers.values() for pair in told.runs.values()]
        found = [told.of(row) for told, row, run in ran if run is not self.base]
        return sorted(found, key=lambda one: -(one.saving.mean or 0.0))

    def _refusals(self, saved_best: float) -> tuple[Refusal, ...]:
        """What wished rules forbid: of each, or of several together, what simulations found where
        they broke no other, and else what the solver says; `saved_best` is what the best that
        is told saves.
        """
        seen, told, solved = self.search.seen, self.answers[0], list[Refused]()
        least = self.problem.wishes.told.worth * abs(float(seen.goal[0]))
        if seen.kept.any():
            solved = refused(self.search, float(seen.goal[seen.kept].min()), least)
        found = told.refuted(saved_best, least)
        for one in solved:
            known = found.get(one.rule.name)
            if told.run_of(one.row) is None and (known is None or known.saving < one.saving):
                found[one.rule.name] = told.refusal(one)
        named = (replace(one, unit=self._unit) for one in found.values())
        return tuple(sorted(named, key=lambda one: -one.saving))

    @property
    def _goal(self) -> str:
        return self.problem.goal

    @property
    def _unit(self) -> str | None:
        """That of the goal's figure, in words."""
        return self.problem.wishes.currency if self._goal == "money" else UNITS[self._goal]

    def _sentence(self, best: Answer, now: Answer) -> str:
        count = len(best.changes)
        changes = "1 change" if count == 1 else f"{count} changes"
        ending = "s" if count == 1 else ""
        verb = "bring" if self._goal == "headroom" else "save"
        saves = f"{verb}{ending} {with_interval(best.saving)} {self._unit}"
        if self._goal == "headroom" and best.run is not None:
            saves += ", by the solver alone"  # of a node simulations tell nothing
        elif self._goal != "money" and best.run is not None and best.saving.ci95 is None:
            saves += ", of one replication, which tells nothing of chance"
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
        scenario = self.problem.scenario
        solver = self.problem.space.solver
        if isinstance(solver, Played):
            full = any(one.search.full for one in self.branches)
            told += f" Layouts of this machine are simulated, not solved ({solver.why})"
            told += ": not all that there are were tried." if full else "."
        why = self.problem.space.unsound
        if why is not None and len(self.search.seen.rows) == 1:
            told += f" No other layout was found that can be: {why}."
        if self.late:
            told += " The time was over before the search was: more of it may find more."
        if self._cut:
            told += f" There was no time to simulate {len(self._cut)} more that were chosen."
        if self.stopped:
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
            sum(int(np.size(one.search.seen.goal)) for one in self._searched()),
            all(one.search.proven for one in self.branches) and self.branch_of is None,
            self.late or bool(self._cut),
            self.stopped,
            simulated=isinstance(solver, Played),
            unfit=tuple(self.unfit),
        )
