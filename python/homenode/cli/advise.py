"""`homenode advise`."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli.output import (
    DarkOption,
    JsonOption,
    OnOption,
    OutOption,
    PictureOption,
    ProcessesOption,
    ReplicationsOption,
    draw,
    show,
    show_json,
    show_text,
    show_whole,
    tell,
)
from homenode.cli.progress import progress_bar
from homenode.cli.scenarios import ScenarioArgument, scenario_at
from homenode.errors import HomenodeError, Interrupted

if TYPE_CHECKING:
    from homenode.planner.advice import Advice
    from homenode.planner.questions import Most
    from homenode.simulate.scenario import Scenario


class Goal(enum.StrEnum):
    """What is to be least, or most."""

    CORES = "cores"
    MONEY = "money"
    HEADROOM = "headroom"
    RESPONSE = "response"


_SO_FAR = "interrupted: this is the best so far"
_OPTIONS = {"pinned": "pin"}
"""Options that are not called like the key of [advise] they replace."""


class Load(enum.StrEnum):
    """What is looked for in place of a layout."""

    RATE = "rate"


GoalOption = Annotated[
    Goal | None, typer.Option("--goal", help="What is to be best, in place of the file's.")
]
FreeOption = Annotated[
    str | None,
    typer.Option(
        "--free",
        help="What may change: home, memory, entitlement, virtual, smt, capped, weight, pool,"
        " folding, throughput, cores, cpuset, pins, unparking, polarization, pages, tiles,"
        " switches, guests, split, merge, machine, granules.",
        metavar="WORDS",
    ),
]
PinOption = Annotated[
    list[str] | None,
    typer.Option("--pin", help="A partition of which nothing changes.", metavar="NAME"),
]
ChangesOption = Annotated[
    int | None, typer.Option("--changes", help="At most so many changes.", metavar="N")
]
WorthOption = Annotated[
    str | None,
    typer.Option("--worth", help='What advice must save, such as "2%".', metavar="SHARE"),
]
SlowerOption = Annotated[
    str | None,
    typer.Option(
        "--slower", help='How much longer responses may take, such as "10%".', metavar="SHARE"
    ),
]
HeadroomOption = Annotated[
    str | None,
    typer.Option("--headroom", help='Cores that stay unused, such as "20%".', metavar="SHARE"),
]
BestOption = Annotated[
    int, typer.Option("--best", min=1, max=20, help="Layouts that are told.", metavar="N")
]
TimeOption = Annotated[
    str | None,
    typer.Option("--time", help='The most it takes, such as "60 s".', metavar="TIME"),
]
SimulateOption = Annotated[bool, typer.Option(help="Simulate the best beside the layout as it is.")]
AddOption = Annotated[
    Path | None,
    typer.Option("--add", help="Where do the partitions of this file go?", metavar="FILE"),
]
MoreOption = Annotated[
    str | None,
    typer.Option("--more", help="How many more of this partition fit?", metavar="NAME"),
]
FindOption = Annotated[
    Load | None, typer.Option("--find", help="How much more load holds all wishes?")
]
GrowingOption = Annotated[
    str | None,
    typer.Option(
        "-p", "--partition", help="With --find rate: only of this partition.", metavar="NAME"
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed", "-s", help="Seed of the search; the scenario's if not given.", metavar="N"
    ),
]


def advise(
    scenario: ScenarioArgument,
    goal: GoalOption = None,
    free: FreeOption = None,
    pinned: PinOption = None,
    changes: ChangesOption = None,
    worth: WorthOption = None,
    slower: SlowerOption = None,
    headroom: HeadroomOption = None,
    best: BestOption = 3,
    seconds: TimeOption = None,
    simulate: SimulateOption = True,
    add: AddOption = None,
    more: MoreOption = None,
    find: FindOption = None,
    partition: GrowingOption = None,
    replications: ReplicationsOption = None,
    seed: SeedOption = None,
    picture: PictureOption = None,
    dark: DarkOption = False,
    jobs: ProcessesOption = None,
    on: OnOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """The layout that costs least, with its reasons.

    Searches layouts by the steady solver, simulates the best beside the layout as it is with the
    same arrivals, and says what each change brings. What may change, the goal and what must hold
    stand in the scenario's table [advise].
    """
    loaded = scenario_at(scenario)
    asked = {
        "goal": None if goal is None else goal.value,
        "free": None if free is None else [word.strip() for word in free.split(",") if word],
        "pinned": pinned or None,
        "changes": changes,
        "worth": _share("--worth", worth),
        "slower": _share("--slower", slower),
        "headroom": _share("--headroom", headroom),
    }
    _one_question(add=add, more=more, find=find)
    if partition is not None and find is None:
        raise HomenodeError(
            "--partition says whose load grows", next_step="add --find rate, or leave it out"
        )
    if picture is not None:
        _check_picture(picture, of_layouts=more is None and find is None)
    running = {"replications": replications, "jobs": jobs, "on": on, "out": out}
    how = {"best": best, "seed": seed}
    limit = time_of("--time", seconds)
    if more is not None or find is not None:
        from homenode.report.advice import most_line

        with _as_options(asked):
            runs = running if simulate else None
            most = _most(loaded, more, partition, asked, limit, runs)
        show_json(most.as_json()) if as_json else show_text(most_line(most))
        if most.stopped:
            raise Interrupted(_SO_FAR)
        return
    with _as_options(asked):
        told = _advise(loaded, add, limit, how, running if simulate else None, asked)
    show_json(told.as_json()) if as_json else show_advice(told)
    if picture is not None:
        from homenode.report.advice_pictures import advice_picture

        draw(advice_picture(told), picture, dark=dark)
    if told.stopped:
        raise Interrupted(_SO_FAR)


@contextmanager
def _as_options(asked: Mapping[str, object]) -> Iterator[None]:
    """Names the option that was given where a fault names the key of [advise] it stands for."""
    try:
        yield
    except HomenodeError as fault:
        if fault.where is not None:
            raise

        def option(key: re.Match[str]) -> str:
            word = key["key"]
            return key[0] if asked.get(word) is None else f"--{_OPTIONS.get(word, word)}"

        said = [fault.problem, fault.there, fault.next_step]
        now = [one and re.sub(r"advise\.(?P<key>\w+)(\[\d+\])?( =)?", option, one) for one in said]
        if now == said:
            raise
        raise HomenodeError(
            now[0] or "", asked=fault.asked, there=now[1], next_step=now[2]
        ) from fault


def _check_picture(picture: Path, *, of_layouts: bool) -> None:
    """Refuse what cannot be drawn before the search, which takes long."""
    from homenode.report.pictures import picture_path

    if not of_layouts:
        raise HomenodeError("a picture is of layouts", next_step="leave out --more and --find")
    picture_path(picture)


def _one_question(**questions: object) -> None:
    given = [f"--{name}" for name, value in questions.items() if value is not None]
    if len(given) > 1:
        raise HomenodeError(
            f"{' and '.join(given)} are different questions", next_step="ask one after the other"
        )


def _advise(
    scenario: Scenario,
    add: Path | None,
    limit: float | None,
    how: dict[str, Any],
    running: dict[str, Any] | None,
    asked: dict[str, Any],
) -> Advice:
    from homenode.planner.budget import Budget
    from homenode.planner.confirm import Runs
    from homenode.planner.front import Asked, advised
    from homenode.planner.problem import problem_of
    from homenode.planner.questions import add as best_place

    with progress_bar(f"advice for {scenario.name}") as progress:

        def each(share: float, words: str) -> None:
            if progress is not None:
                progress(share, None, words)

        def simulating(share: float, _: float | None) -> None:
            each(share, "simulating the best")

        # It begins once the program is read, which takes seconds on a busy machine.
        searching = Asked(budget=Budget(limit), each=each, say=_remark(scenario), **how)
        runs = None if running is None else Runs(progress=simulating, **running)
        if add is not None:
            return best_place(scenario, add, searching, runs, **asked)
        return advised(problem_of(scenario, asked), searching, runs)


def _remark(scenario: Scenario) -> Callable[[str], None]:
    """Tells what should be known of a scenario before an answer that takes long."""
    return lambda words: tell(f"{scenario.name}: {words}")


def _most(
    scenario: Scenario,
    name: str | None,
    partition: str | None,
    asked: dict[str, Any],
    limit: float | None,
    running: dict[str, Any] | None,
) -> Most:
    from homenode.planner.budget import Budget
    from homenode.planner.confirm import Runs
    from homenode.planner.questions import more, rate

    with progress_bar(f"asking {scenario.name}") as progress:
        runs = None if running is None else Runs(progress=progress, **running)
        say = _remark(scenario)
        return (
            rate(scenario, partition, runs, say, Budget(limit), **asked)
            if name is None
            else more(scenario, name, runs, say, Budget(limit), **asked)
        )


def show_advice(told: Advice) -> None:
    """The table, then the reasons."""
    from homenode.report.advice import advice_lines, advice_table, command_lines

    show(advice_table(told))
    show_text(["", *advice_lines(told)])
    for line in command_lines(told):
        show_whole(line)


def _share(option: str, text: str | None) -> float | None:
    """A share such as `5%`."""
    from homenode.model.units import SHARE, UnitError

    try:
        return None if text is None else float(SHARE.parse(text))
    except UnitError as error:
        raise HomenodeError(
            f"{option} {text}: {error}", next_step=f'write {option} "5%"'
        ) from error


def time_of(option: str, text: str | None) -> float | None:
    """Seconds of a time such as `60 s`."""
    from homenode.model.units import TIME, UnitError

    try:
        found = None if text is None else float(TIME.parse(text)) / 1e9
    except UnitError as error:
        raise HomenodeError(
            f"{option} {text}: {error}", next_step=f'write {option} "60 s"'
        ) from error
    if found is not None and found <= 0:
        raise HomenodeError(f"{option} {text}: no time at all", next_step=f'write {option} "60 s"')
    return found
