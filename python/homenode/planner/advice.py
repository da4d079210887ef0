"""What is advised: the layout as it is, the best others, what they save, why, how to get there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from homenode.errors import Where, listed
from homenode.model.estimate import Estimate
from homenode.model.numbers import number
from homenode.planner.overload import Overload

DO_NOTHING = "no beneficial move"
CHANGE = "change"
CONFLICT = "no layout keeps all rules"
NOT_CONFIRMED = "not confirmed by simulation"


@dataclass(frozen=True)
class Change:
    """One change, and why."""

    partition: str
    word: str
    """What of the partition changes, as `--free` calls it."""
    path: str
    before: object
    after: object
    why: str
    also: Mapping[str, object] = field(default_factory=dict)
    """What else of the scenario changes with it, by path."""

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        told = {"path": self.path, "from": self.before, "to": self.after, "why": self.why}
        return {**told, "also": {**self.also}} if self.also else told


@dataclass(frozen=True)
class Answer:
    """A layout with its figures, from simulation where there was one, else from the solver."""

    changes: tuple[Change, ...]
    cores: Estimate
    """Cores for the work of now."""
    money: float | None
    response_ms: Estimate
    headroom: float
    """Cores left over on the fullest node."""
    saving: Estimate = field(default=Estimate(None))
    """Of the goal's figure: how much less it is than that of the layout as it is."""
    saving_cores: Estimate = field(default=Estimate(None))
    run: str | None = None
    """The run that confirms it."""
    breaks: tuple[str, ...] = ()
    """Rules that it breaks, in words,"""
    lacks: tuple[Named, ...] = ()
    """and by name and place."""
    unknown: tuple[str, ...] = ()
    """Partitions whose responses the solver does not know, where nothing was simulated."""
    commands: tuple[str, ...] = ()
    """What brings it about, in order."""
    back: tuple[str, ...] = ()
    """What takes it back."""

    def as_json(self, currency: str | None = None) -> dict[str, Any]:
        """The same for programs; money is in a currency."""
        money = {"mean": self.money, "ci95": None, "currency": currency}
        return {
            "cores": self.cores.as_json(),
            "saving_cores": self.saving_cores.as_json(),
            "saving": self.saving.as_json(),
            "money": None if self.money is None else money,
            "response_ms": self.response_ms.as_json(),
            "headroom_cores": self.headroom,
            "changes": [change.as_json() for change in self.changes],
            "breaks": [*self.breaks],
            "responses_not_solved": [*self.unknown],
            "run": self.run,
            "commands": [*self.commands],
            "back": [*self.back],
        }


@dataclass(frozen=True)
class Named:
    """A rule by name and place."""

    rule: str
    where: Where | None

    def __str__(self) -> str:
        """The name, with the place."""
        return self.rule if self.where is None else f"{self.rule} ({self.where})"

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        file = None if self.where is None else self.where.file
        line = None if self.where is None else self.where.line
        return {"constraint": self.rule, "file": file, "line": line}


@dataclass(frozen=True)
class Refusal:
    """What a rule forbids, or several that it breaks at once, though it would save more."""

    rule: Named
    saving: float
    """Of the goal's figure, beyond the best that is allowed."""
    changes: tuple[str, ...]
    shown: str | None = None
    """How a simulation broke the rule, where one did: then the saving is its too."""
    run: str | None = None
    """That simulation."""
    also: tuple[Named, ...] = ()
    """The other rules that this simulation broke."""
    unit: str | None = None
    """Of the saving, in words."""

    def __str__(self) -> str:
        """What would save how much more, but for which rules."""
        rules = listed(map(str, (self.rule, *self.also)), 20)
        saving = f"{number(self.saving)} {self.unit}" if self.unit else number(self.saving)
        told = f"{', '.join(self.changes)}: {saving} more, but for {rules}"
        return told if self.shown is None else f"{told}: {self.shown} (run {self.run})"

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        told = {**self.rule.as_json(), "saving": self.saving, "changes": [*self.changes]}
        also = [one.as_json() for one in self.also]
        return {**told, "also": also, "shown": self.shown, "run": self.run}


@dataclass(frozen=True)
class Advice:
    """The answer to a question for the best layout."""

    name: str
    goal: str
    currency: str | None
    machine: str
    node_name: str
    do_nothing: Answer
    best: tuple[Answer, ...]
    verdict: str
    """One of the words above."""
    told: str
    """The verdict in a sentence or two."""
    refused: tuple[Refusal, ...] = ()
    conflict: tuple[Named, ...] = ()
    solved: int = 0
    """Layouts that were looked at."""
    proven: bool = False
    """Whether these were all layouts that there are."""
    late: bool = False
    """Whether the time was over before the search was."""
    stopped: bool = False
    """Whether somebody stopped it."""
    overloaded: tuple[Overload, ...] = ()
    """Partitions that cannot meet their demand in the layout as it is."""
    unfit: tuple[str, ...] = ()
    """Other machines, and other numbers of partitions, that cannot be, and why."""
    simulated: bool = False
    """Whether each layout was simulated, since this machine is not solved."""

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "scenario": self.name,
            "goal": self.goal,
            "currency": self.currency,
            "verdict": self.verdict,
            "told": self.told,
            "do_nothing": self.do_nothing.as_json(self.currency),
            "best": [answer.as_json(self.currency) for answer in self.best],
            "refused": [one.as_json() for one in self.refused],
            "conflict": [one.as_json() for one in self.conflict],
            "layouts": self.solved,
            "layouts_simulated": self.simulated,
            "proven": self.proven,
            "time_over": self.late,
            "interrupted": self.stopped,
            "overloaded": [one.as_json() for one in self.overloaded],
            "unfit": [*self.unfit],
        }

    def __str__(self) -> str:
        """The verdict."""
        return self.told
