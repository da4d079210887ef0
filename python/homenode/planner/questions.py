"""What else may be asked of a machine: where the next partition goes, how many more of one fit, and
how much more load it takes.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from homenode.errors import HomenodeError, NotFoundError, ScenarioError, listed, nearest
from homenode.model.document import Document, parse_document, read_document, to_toml
from homenode.model.document.positions import split_key
from homenode.model.scenario import Scenario
from homenode.model.scenario.file.advise import Word
from homenode.model.scenario.paths import spelt
from homenode.model.scenario.placed import PlacedPartition
from homenode.model.scenario.places import name_of_chip, node_word
from homenode.planner.advice import Advice
from homenode.planner.budget import Budget, Until
from homenode.planner.commands import added
from homenode.planner.confirm import Runs, looked_at, responses_of, unsteady
from homenode.planner.front import Asked, advised
from homenode.planner.loads import grown
from homenode.planner.played import Saying, say_if_played, say_nothing
from homenode.planner.problem import Problem, problem_of
from homenode.planner.rules import Rule
from homenode.planner.unseen import unknown
from homenode.planner.variables import is_known
from homenode.planner.wishes import wishes_of
from homenode.simulate.run import Run

MOST = 1_024
"""Partitions of a scenario."""
_MOST_TIMES = 64.0
_LONGEST = 48
"""Letters of a name that copies of a partition keep: their numbers come behind it."""
_EXACT = 0.005
"""Share of a rate to which it is found."""
_NEAR = 0.02
"""Share of a rate to which simulations find it where they contradict the solver."""
_TRIES = 12
"""Simulations that look for it."""
_WHERE: tuple[Word, ...] = ("home", "cpuset", "pins", "virtual")
"""What is asked of a new partition, the first that there is: PR/SM alone says where one runs, so
how wide it is, is all that is left to ask.
"""


_BRINGS = ("apart", "limit", "licence")
"""Keys of `[advise]` that a file of new partitions may hold."""


@dataclass(frozen=True)
class Most:
    """The most of something that the machine takes."""

    what: str
    """In words: `more of lpar1`, `times the rate of now`."""
    most: float
    amounts: dict[str, str]
    """Values by path at the most."""
    limit: str
    """What would not hold beyond."""
    cores: float
    """Cores that are used then, by the simulation where there is one."""
    run: str | None
    """The run that confirms it."""
    response_ms: float | None = None
    """Mean response over all transactions then [ms]; None where nobody waits for any."""
    response_ms_now: float | None = None
    """The same as it is now."""
    late: bool = False
    """Whether the time was over before it was found,"""
    stopped: bool = False
    """or somebody stopped it: then it is the most so far,"""
    found: bool = False
    """unless it was found by then, and only that of now was still to be simulated."""

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "what": self.what,
            "most": self.most,
            "values": self.amounts,
            "limit": self.limit,
            "cores": self.cores,
            "run": self.run,
            "response_ms": self.response_ms,
            "response_ms_now": self.response_ms_now,
            "time_over": self.late,
            "interrupted": self.stopped,
        }


def add(
    scenario: Scenario,
    path: str | Path,
    how: Asked | None = None,
    runs: Runs | None = None,
    **asked: Any,
) -> Advice:
    """Where the partitions of a file go best; the layout as it is has them where the hypervisor
    would put them. `asked` are keys of `[advise]`; of the new partitions alone something changes,
    their home if nothing is said, or what comes nearest to it (`_WHERE`). The file's own `[advise]`
    may hold rules about them (`_BRINGS`), which are kept beside those of the scenario.
    """
    how = how or Asked()
    file = _added_file(Path(path))
    told = _joined(scenario, file)
    names = [one.name for one in scenario.partitions]
    if asked.get("free") is None:
        asked["free"] = [next((one for one in _WHERE if is_known(one, told)), _WHERE[0])]
    wishes = wishes_of(told, **{**asked, "pinned": names})
    own = parse_document(scenario.text, scenario.source, ScenarioError)
    wishes = replace(wishes, document=own, added=file)
    found = advised(problem_of(told, {}, wishes), how, runs)
    new = [one for one in told.partitions if one.name not in names]
    if runs is not None:
        found = added(found, [one.name for one in new], runs.out)
    stays = listed(f"{one.name} at {_at_home(told, one.home)}" for one in new)
    text = f"{found.told} Left to the hypervisor: {stays}."
    return replace(found, told=text)


def _joined(scenario: Scenario, file: Document) -> Scenario:
    """The scenario with the partitions of a file. Raises with the places of that file."""
    data, new = scenario.data, file.data
    joined = {**data, "name": scenario.name, "partition": [*data["partition"], *new["partition"]]}
    rules, own = new.get("advise", {}), data.get("advise", {})
    if isinstance(rules, dict) and all(isinstance(rows, list) for rows in rules.values()):
        rules = {**own, **{key: [*own.get(key, []), *rows] for key, rows in rules.items()}}
    if rules or own:
        joined["advise"] = rules
    source = f"{scenario.source} with {file.file}"
    try:
        return Scenario.from_toml(to_toml(joined), source, scenario.folder)
    except ScenarioError as error:
        raise _in_its_file(error, scenario, file) from error


def _in_its_file(error: ScenarioError, scenario: Scenario, file: Document) -> ScenarioError:
    """The error as it reads where the file itself comes first; lines of what was joined are
    nobody's, so that no place is told where it is about both.
    """
    tables = {key: value for key, value in scenario.data.items() if isinstance(value, dict | list)}
    rest = {key: one for key, one in tables.items() if key == "partition" or key not in file.data}
    found: list[HomenodeError] = []
    try:
        Scenario.from_toml(f"{file.text}\n{to_toml(rest)}", file.file, scenario.folder)
    except ScenarioError as other:
        last = len(file.text.splitlines())
        found = [one for one in other.problems if one.where and (one.where.line or 0) <= last]
    first, *others = found or [error]
    where = first.where if found else None
    there, step = first.there, first.next_step
    problem = first.problem if found else f"{scenario.source} with {file.file}: {first.problem}"
    return ScenarioError(problem, there=there, where=where, next_step=step, others=others)


def _added_file(path: Path) -> Document:
    """A file that holds partitions, and rules about them: anything else would mean nothing."""
    document = read_document(path, ScenarioError)
    rules = document.data.get("advise", {})
    unknown: list[tuple[str, ...]] = [
        (key,) for key in document.data if key not in ("partition", "advise")
    ]
    if isinstance(rules, dict):
        unknown += [("advise", key) for key in rules if key not in _BRINGS]
    for key in unknown:
        can = listed(f"advise.{one}" for one in _BRINGS)
        raise ScenarioError(
            f"{'.'.join(key)} cannot be added",
            there=f"partitions can, and {can}: all else stands in the scenario itself",
            where=document.where(key),
            next_step="leave it out",
        )
    tables = document.data.get("partition")
    if not isinstance(tables, list) or not tables:
        raise ScenarioError(
            f"{path} holds no partition", next_step="write [[partition]] with what is to be added"
        )
    return document


def _at_home(scenario: Scenario, chips: tuple[int, ...]) -> str:
    machine = scenario.machine
    nodes = sorted({chip // machine.chips_per_node for chip in chips})
    if len(chips) == 1:
        return name_of_chip(chips[0], machine)
    return " and ".join(f"{node_word(machine)}{node}" for node in nodes)


def more(
    scenario: Scenario,
    name: str,
    runs: Runs | None = None,
    say: Saying = say_nothing,
    budget: Budget | None = None,
    **asked: Any,
) -> Most:
    """How many more of a partition fit, placed by the hypervisor's rule, while all wishes hold and
    everybody meets his demand. `say` is told before what makes it long; once the `budget` is over,
    or at Ctrl-C, the most so far is told.
    """
    names = [one.name for one in scenario.partitions]
    if name not in names:
        raise NotFoundError(f"there is no partition {name}{nearest(name, names)}", asked=name)

    def with_more(count: float) -> Scenario:
        return _with_copies(scenario, name, round(count))

    asking = _Asking(scenario, with_more, asked, runs, say, budget or Budget())
    best, limit = asking.most_of(float(MOST - len(names)), whole=True)
    best, run, limit = asking.confirmed(best, limit, whole=True)
    return asking.told(f"more of {name}", best, run, limit, {})


def rate(
    scenario: Scenario,
    partition: str | None = None,
    runs: Runs | None = None,
    say: Saying = say_nothing,
    budget: Budget | None = None,
    **asked: Any,
) -> Most:
    """How much more load all partitions take, or one of them: the largest factor of its rates,
    users, clients and cores of demand at which all wishes hold. `say` and `budget` are as those of
    `more`.
    """
    loads = dict(_loads(scenario, partition))

    def loaded(times: float) -> Scenario:
        return scenario.with_({path: change(times) for path, change in loads.items()})

    asking = _Asking(scenario, loaded, asked, runs, say, budget or Budget())
    best, limit = asking.most_of(_MOST_TIMES, whole=False)
    best, run, limit = asking.confirmed(best, limit, whole=False)
    amounts = {path: str(change(best)) for path, change in loads.items()}
    names = list(dict.fromkeys((split_key(path) or ("", ""))[1] for path in loads))
    whose = "all partitions"
    if len(names) < len(scenario.partitions):
        whose = f"{listed(names, 6)}, all else as it is"
    return asking.told(f"times the load of {whose}", best, run, limit, amounts)


def _loads(
    scenario: Scenario, partition: str | None
) -> Iterator[tuple[str, Callable[[float], object]]]:
    """By path, the load of so many times as much."""
    names = [one.name for one in scenario.partitions]
    if partition is not None and partition not in names:
        near = nearest(partition, names)
        raise NotFoundError(f"there is no partition {partition}{near}", asked=partition)
    found = False
    for one in scenario.partitions:
        if partition not in (None, one.name):
            continue
        for below, of in grown(one):
            found = True
            yield f"partition.{spelt(one.name)}.{below}", of
    if not found:
        raise HomenodeError(
            f"{partition or scenario.name} has no load that could be told in a rate or in users",
            there="loops and recorded demand have neither rate, users, clients nor cores",
            next_step='a workload of kind "transactions", "users", "web" or "cores" has',
        )


def _with_copies(scenario: Scenario, name: str, count: int) -> Scenario:
    """So many more partitions like one, which the hypervisor places."""
    data = scenario.data
    like = next(one for one in scenario.partitions if one.name == name)
    table = {k: v for k, v in data["partition"][like.row].items() if k not in ("home", "number")}
    table |= _played_by(like, table.get("workload"))
    # A core of one's own by its path is no other's.
    processors = {k: v for k, v in table["processors"].items() if k not in ("boot", "paths")}
    table = {**table, "processors": processors}
    copies = {**table, "name": _free_name(scenario, name), "count": count}
    tables = [*data["partition"], copies] if count else data["partition"]
    return Scenario.from_toml(
        to_toml({**data, "partition": tables}), scenario.source, scenario.folder
    )


def _played_by(like: PlacedPartition, work: Any) -> dict[str, object]:
    """The workload of copies, where what is recorded is found by the partition's name: they have
    another.
    """
    loads = work if isinstance(work, list) else [work]
    plays = [like.demand, *(one.demand for one in like.beside)]
    told = [
        load if played is None else {**load, "series": played.series}
        for load, played in zip(loads, plays, strict=True)
    ]
    return {} if work is None else {"workload": told if isinstance(work, list) else told[0]}


def _free_name(scenario: Scenario, name: str) -> str:
    """One for copies, which get numbers, that no partition's begins with."""
    names = [one.name for one in scenario.partitions]
    asked = (f"{name[:_LONGEST]}-more{'-' * times}" for times in range(len(names) + 1))
    return next(one for one in asked if not any(of.startswith(one) for of in names))


def _is_of_load(rule: Rule) -> bool:
    """Whether more load, or more partitions, can break it: where partitions are does not change."""
    return rule.linear is None or rule.linear[0] not in ("apart", "changes")


@dataclass
class _Asking:
    """Looks for the most of something."""

    scenario: Scenario
    at: Callable[[float], Scenario]
    asked: dict[str, Any]
    runs: Runs | None
    say: Saying
    budget: Budget
    late: bool = False
    stopped: bool = False

    def most_of(self, most: float, *, whole: bool) -> tuple[float, str]:
        """The most by the solver, and what would not hold beyond."""
        low, limit = 0.0, ""
        if whole:
            self._problem(self.scenario)  # What cannot be asked at all is no want of room.
        high = 1.0
        with self._as_long_as_it_goes():
            while (told := self.broken(high, whole=whole)) is None and high < most:
                low, high = high, min(2 * high, most)
            if told is None:
                return most, "nothing was in the way; more was not looked at"
            limit = told
            while high - low > (1 if whole else _EXACT * high):
                middle = (low + high) // 2 if whole else (low + high) / 2
                told = self.broken(middle, whole=whole)
                if told is None:
                    low = middle
                else:
                    high, limit = middle, told
                if not whole and high < _EXACT:
                    break
        return low, limit if low or limit or not self.is_over else "nothing was looked at"

    @contextlib.contextmanager
    def _as_long_as_it_goes(self) -> Iterator[None]:
        """Until Ctrl-C, or until the time is over: what is found by then counts."""
        try:
            yield
        except KeyboardInterrupt:
            self.stopped = True
        except _Late:
            self.late = True

    @property
    def is_over(self) -> bool:
        """Whether it ended before it was done."""
        return self.late or self.stopped

    def _tick(self) -> None:
        if self.budget.over:
            raise _Late

    def broken(self, amount: float, *, whole: bool) -> str | None:
        """What does not hold of so much, by the solver; None where all does. Of a load that of now
        is told as what is wrong with the scenario; of one partition more there may be no room.
        """
        self._tick()
        try:
            problem = self._problem(self.at(amount))
        except ScenarioError as error:
            if amount <= 1 and not whole:
                raise
            return error.there or error.problem
        over = problem.broken(problem.space.now())[0]
        rules = zip(problem.rules, over, strict=True)
        broken = (rule for rule, amount in rules if amount and _is_of_load(rule))
        return next((f"this would not hold: {rule}" for rule in broken), None)

    def _problem(self, scenario: Scenario) -> Problem:
        wishes = wishes_of(self.scenario, **self.asked)
        problem = problem_of(scenario, {}, wishes, searched=False)
        say_if_played(problem.space.solver, self.say, searched=False)
        self.say = say_nothing  # Once is enough.
        return problem

    def confirmed(self, best: float, limit: str, *, whole: bool) -> tuple[float, Run | None, str]:
        """The most of which a simulation says the same; where it contradicts, simulations look for
        it themselves, from nothing up to there.
        """
        runs = self.runs
        if runs is None or best <= 0 or self.stopped:
            return best, None, limit
        with self._as_long_as_it_goes():
            run, told = self._simulated(runs, best)
            return (best, run, limit) if told is None else self._less(runs, best, told, whole=whole)
        return best, None, limit

    def _less(
        self, runs: Runs, best: float, told: str, *, whole: bool
    ) -> tuple[float, Run | None, str]:
        """What simulations find below what they refused."""
        low, high, found = 0.0, best, None
        with self._as_long_as_it_goes():
            for _ in range(_TRIES):
                if high - low <= (1 if whole else _NEAR * high):
                    break
                self._tick()
                middle = (low + high) // 2 if whole else (low + high) / 2
                run, broken = self._simulated(runs, middle)
                if broken is None:
                    low, found = middle, run
                else:
                    high, told = middle, broken
        return low, found, told

    def _simulated(self, runs: Runs, amount: float) -> tuple[Run, str | None]:
        """The run of so much, and what does not hold in it."""
        scenario = self.at(amount)
        (run,) = runs.of([scenario])
        return run, self._broken_in(run, scenario)

    def _broken_in(self, run: Run, scenario: Scenario) -> str | None:
        for name, reason in unsteady(run).items():
            return f"{name}: {reason}"
        for rule in self._problem(scenario).rules:
            told = rule.in_words(looked_at(run))
            if told is not None:
                return f"{rule}: {told}"
        return None

    def told(
        self, what: str, best: float, run: Run | None, limit: str, amounts: dict[str, str]
    ) -> Most:
        """The answer."""
        ended = {"late": self.late, "stopped": self.stopped}
        if best <= 0:
            return Most(what, best, amounts, limit, 0.0, None, **ended)
        if run is None or self.runs is None:
            problems = [self._problem(one) for one in (self.at(best), self.scenario)]
            cores = float(problems[0].solved_now.figures.cores[0].sum())
            waits, waited = map(_response_solved, problems)
            return Most(what, best, amounts, limit, cores, None, waits, waited, **ended)
        ended["found"] = not self.is_over
        cores, waits, before = looked_at(run).cores, _response_ms(run), self._before(self.runs)
        ended["stopped"] = self.stopped
        return Most(what, best, amounts, limit, cores, run.id, waits, before, **ended)

    def _before(self, runs: Runs) -> float | None:
        """Mean response of now by a simulation [ms]; None where there is no time for it, which the
        most is told without.
        """
        until = Until(self.budget, runs.stop)
        if self.stopped:
            return None
        with contextlib.suppress(KeyboardInterrupt):
            if not until.is_set():
                return _response_ms(*replace(runs, stop=until).of([self.scenario]))
        self.stopped = not until.by_time
        return None


class _Late(Exception):  # noqa: N818 - no error: the time is over
    """Nothing more is to be looked at."""


def _response_solved(problem: Problem) -> float | None:
    """Mean response over all transactions [ms]; None where there are none, or where that of
    somebody is not solved: a mean of the others is no figure to hold against one with all.
    """
    solved = problem.solved_now
    return None if unknown(problem, solved) else float(solved.response[0]) or None


def _response_ms(run: Run) -> float | None:
    """Mean response over all transactions [ms]; None where there are none."""
    every = responses_of(run)
    return math.fsum(every) / len(every) if every else None
