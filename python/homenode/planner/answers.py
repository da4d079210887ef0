"""From rows to answers: their figures, what each change brings, which rules they break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from homenode.errors import listed
from homenode.model.estimate import Estimate, estimate
from homenode.planner.advice import Answer, Change, Named, Refusal
from homenode.planner.choice import Refused
from homenode.planner.commands import commands
from homenode.planner.confirm import (
    Groups,
    cores_of,
    is_sure,
    looked_at,
    responses_of,
    saved,
    unsteady,
)
from homenode.planner.cost import Solved
from homenode.planner.problem import Problem
from homenode.planner.reasons import alone, in_words, of_groups, why
from homenode.planner.rules import MEETS_DEMAND, Rule
from homenode.planner.space import Rows
from homenode.planner.unseen import unknown
from homenode.planner.variants import Variant
from homenode.simulate.run import Run


@dataclass
class Answers:
    """Makes answers of the rows of a problem, or of those of a variant of the problem that was
    asked; `runs` are those that were simulated.
    """

    problem: Problem
    variant: Variant | None = None
    first: Problem | None = None
    """The problem that was asked, of a variant."""
    runs: dict[bytes, tuple[Rows, Run]] = field(default_factory=dict)
    by_runs: set[bytes] = field(default_factory=set)
    """Rows that simulations found, not the solver, which knows little of what they bring."""
    base: Run | None = None
    """The run of the layout as it is, once there is one."""

    @property
    def groups(self) -> Groups:
        """Partitions as they are beside those of the variant."""
        return () if self.variant is None else self.variant.groups

    def run_of(self, row: Rows) -> Run | None:
        """The run of a row, if it was simulated."""
        return self.runs[row.tobytes()][1] if row.tobytes() in self.runs else None

    def run(self, name: str | None) -> Run | None:
        """The run of that id."""
        return next((run for _, run in self.runs.values() if run.id == name), None)

    def of(self, row: Rows) -> Answer:
        """A row as an answer."""
        run, base = self.run_of(row), self.base
        was = (self.first or self.problem).solved_now
        solved = self.problem.exactly(row[None, :])
        goals = [one.goal(self.problem.goal)[0] for one in (was, solved)]
        broken = self._broken(row, run, base)
        answer = Answer(
            changes=self._changes(row, run, base),
            cores=Estimate(float(solved.cores[0])),
            money=float(solved.money[0]) if self.problem.wishes.told.licence else None,
            response_ms=self._response(solved),
            headroom=float(solved.headroom[0]),
            saving=Estimate(float(goals[0] - goals[1])),
            saving_cores=Estimate(float(was.cores[0] - solved.cores[0])),
            breaks=tuple(words for _, words in broken),
            lacks=tuple(named for named, _ in broken),
            unknown=() if run is not None else unknown(self.problem, solved),
        )
        if run is None or base is None:
            return answer
        return self._simulated(answer, run, base)

    def _simulated(self, answer: Answer, run: Run, base: Run) -> Answer:
        """The answer with what was simulated in place of what was solved."""
        problem, held = self.problem, self.problem.held
        before, after = cores_of(base, base, held), cores_of(run, base, held, self.groups)
        slow, fast = responses_of(base, held), responses_of(run, held)
        savings = {"cores": saved(before, after), "response": saved(slow, fast)}
        saving, late = savings.get(problem.goal, answer.saving), unsteady(base, held)
        if late:
            reason = f"{listed(late)} cannot meet the demand now"
            savings["cores"] = saving = Estimate(None, None, reason)
        grows = unsteady(run, held)
        return replace(
            answer,
            cores=_unless(grows, estimate(after)),
            response_ms=_unless(grows, estimate(fast)),
            saving=saving,
            saving_cores=savings["cores"],
            run=run.id,
            commands=_between(base, run, answer.changes),
            back=_between(
                run,
                base,
                [replace(c, before=c.after, after=c.before) for c in answer.changes],
                back=True,
            ),
        )

    def _changes(self, row: Rows, run: Run | None, base: Run | None) -> tuple[Change, ...]:
        """Each with what it brings: what the layout would cost without it."""
        places = np.flatnonzero(row)
        without = np.repeat(row[None, :], len(places), axis=0)
        without[np.arange(len(places)), places] = 0
        costs = self.problem.exactly(np.concatenate([row[None, :], without]))
        over = self.problem.broken(without)
        goals = costs.goal(self.problem.goal)
        steps = () if self.variant is None else self.variant.steps
        found = [self._varied(one, run, base) for one in steps]
        count = len(found) + len(places)
        for at, place in enumerate(places):
            one = self.problem.space.variables[place]
            name = self.problem.scenario.partitions[one.partition].name
            lacks = next(
                (rule for rule, amount in zip(self.problem.rules, over[at], strict=True) if amount),
                None,
            )
            more = None if row.tobytes() in self.by_runs else float(goals[at + 1] - goals[0])
            worth = self._without(more, bool(costs.sound[at + 1]), lacks)
            # Without a single one all is as it is, which is told by itself, and simulated.
            worth = worth if count > 1 else ""
            after = one.value(int(row[place]))
            # Its books are told once, and of a part of what was one there are none to compare with.
            told = name in {other.partition for other in found}
            told |= base is not None and name not in base.partitions
            reason = why(worth, name, None if told else run, base)
            also = one.with_it(after)
            found.append(Change(name, one.word, one.path, one.now, after, reason, also))
        return tuple(found)

    def _varied(self, step: Variant, run: Run | None, base: Run | None) -> Change:
        """A step to the variant, with the cores before and after of those that it is about."""
        first = self.problem if self.first is None else self.first
        told = (
            one
            for one in first.scenario.partitions
            if step.name in (one.table.name, one.in_cells and one.in_cells.npartition.name)
        )
        names = {one.name for one in told}
        groups = [one for one in self.groups if step.word == "machine" or names & {*one[0]}]
        reason = ""
        if run is not None and base is not None and step.word == "granules" and len(names) == 1:
            reason = why("", min(names), run, base)
        elif run is not None and base is not None:
            reason = of_groups(groups, run, base, self.problem.held)
        what = (step.word, step.path, step.before, step.after)
        return Change(step.name, *what, reason, step.also)

    def _without(self, less: float | None, sound: bool, lacks: Rule | None) -> str:
        """What would be without a change; nothing where that is not known."""
        if not sound:
            return "the others are not possible without it"
        if lacks is not None:
            return f"without it this would not hold: {lacks.name}"
        if less is None:
            return ""
        return f"without it {alone(less, self.problem.goal, self.problem.wishes.currency)}"

    def _response(self, solved: Solved) -> Estimate:
        """The mean over all transactions, where it is known of all."""
        names = unknown(self.problem, solved)
        if names:
            return Estimate(None, None, f"{listed(names, 6)}: not solved")
        return Estimate(float(solved.response[0]) or None)

    def _broken(self, row: Rows, run: Run | None, base: Run | None) -> list[tuple[Named, str]]:
        """Rules that a layout breaks, and how in words: by the simulation where there is one, else
        by the solver.
        """
        excess = self.problem.broken(row[None, :])[0]
        found = []
        at = None if run is None else looked_at(run, base, self.problem.held, self.groups)
        for rule, over in zip(self.problem.rules, excess, strict=True):
            told = None if at is None else rule.in_words(at)
            if told is not None:
                found.append((Named(rule.name, rule.where), f"{rule}: {told}"))
            elif over > 0 and not (run is not None and rule.simulated):
                found.append((Named(rule.name, rule.where), str(rule)))
        for name, reason in at.unsteady.items() if at is not None else ():
            late = Named(f"{name} {MEETS_DEMAND}", None)
            if late not in [named for named, _ in found]:
                found.append((late, f"{late}: {reason}"))
        return found

    def refusal(self, one: Refused) -> Refusal:
        """What a rule forbids, in words."""
        changes = [self._words(one.row, int(at)) for at in np.flatnonzero(one.row)]
        return Refusal(Named(one.rule.name, one.rule.where), one.saving, tuple(changes))

    def refuted(self, best: float, least: float) -> dict[str, Refusal]:
        """By rule, or by several that are broken at once, the best of what they forbid once it is
        simulated, where that saves at least `least` more than `best`, beyond chance.
        """
        found: dict[str, Refusal] = {}
        for row, run in self.runs.values():
            if run is self.base:
                continue
            at = looked_at(run, self.base, self.problem.held, self.groups)
            broken = [one for one in self.problem.rules if one.in_words(at) is not None]
            one = self.of(row)
            more = (one.saving.mean or 0.0) - best
            wished = all(rule.wished for rule in broken) and len(broken) == len(one.breaks)
            if not broken or not wished or more < least or not is_sure(one.saving, least):
                continue
            told = self.refusal(Refused(broken[0], row, more))
            shown = "; ".join(str(rule.in_words(at)) for rule in broken)
            told = replace(told, shown=shown, run=run.id, also=one.lacks[1:])
            key = " and ".join(rule.name for rule in broken)
            if key not in found or more > found[key].saving:
                found[key] = told
        return _worth_telling(found, least)

    def _words(self, row: Rows, at: int) -> str:
        one = self.problem.space.variables[at]
        name = self.problem.scenario.partitions[one.partition].name
        return in_words(name, one, one.value(int(row[at])))


def _worth_telling(found: Mapping[str, Refusal], least: float) -> dict[str, Refusal]:
    """Without what several rules forbid where one of them by itself forbids as much."""
    alone = {one.rule: one.saving for one in found.values() if not one.also}

    def is_more(one: Refusal) -> bool:
        each = [alone.get(rule, -np.inf) for rule in (one.rule, *one.also)]
        return not one.also or one.saving > max(each) + least

    return {key: one for key, one in found.items() if is_more(one)}


def _unless(reasons: Mapping[str, str], told: Estimate) -> Estimate:
    """No mean where something is not steady."""
    return Estimate(None, None, next(iter(reasons.values()))) if reasons else told


def _between(
    one: Run, other: Run, changes: Sequence[Change], *, back: bool = False
) -> tuple[str, ...]:
    return commands(one, other, changes, back=back) if changes else ()
