"""What stands in a report: the question, the layout, the answer, where the cores went, what would
help, how far it can be trusted, where it is from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from homenode.model.numbers import number
from homenode.planner import Advice
from homenode.report.advice import advice_lines, advice_table, command_lines
from homenode.report.advice_pictures import advice_picture
from homenode.report.course_pictures import course_picture
from homenode.report.courses import course_tables
from homenode.report.handed.section import Picture, Section, grid_of
from homenode.report.handed.trust import assumed_table, studies_of, trust_table
from homenode.report.machine_drawing import MachineDrawing
from homenode.report.machine_map import map_of
from homenode.report.map_text import map_tables
from homenode.report.pictures import waterfall
from homenode.report.precision import wide_line
from homenode.report.runs import frame_line, run_tables, unsteady_lines
from homenode.simulate.explain.explanation import Explanation, explain
from homenode.simulate.kept.course import course_of
from homenode.simulate.kept.frame import frame_of
from homenode.simulate.kept.grid import Grid
from homenode.simulate.run import Run
from homenode.simulate.scenario import Scenario

if TYPE_CHECKING:
    from homenode.model.scenario import Scenario as ModelScenario

_MOST_DRAWN = 4
"""Partitions whose waterfall is drawn, those that use most; of all there is a table."""
_WIDE = 200
_USEFUL = "useful work"


def sections(
    runs: Sequence[Run], question: str | None = None, advice: Advice | None = None
) -> list[Section]:
    """Of one run, or of a run and those held against it: the first is the layout as it is.
    `advice` is what the planner says of it.
    """
    base, *others = runs
    found = [_question(base, question), _layout(base)]
    explained = [explain(base, name) for name in base.partitions]
    found += [_answer(base, explained, others, advice), _cores(base, explained)]
    found += [_against(base, other) for other in others]
    found += [_advice(advice)] if advice is not None else []
    return [*found, _over_time(base), _trust(base), _origin(runs)]


def scenario_of(run: Run) -> ModelScenario:
    """What a run was made of."""
    return Scenario.load(run.path / "scenario.toml")


def _question(run: Run, question: str | None) -> Section:
    title = scenario_of(run).data.get("title")
    asked = question or (f"What does this layout cost? {title}" if title else "")
    what = f"{len(run.partitions)} partitions on {map_of(scenario_of(run), run)['title']}"
    return Section("Question", (asked or "What does this layout cost?", f"{what}; run {run.id}."))


def _layout(run: Run) -> Section:
    told = map_of(scenario_of(run), run)
    says = (
        "Machine map: the cores of each chip by owner, with homes and memory beside;"
        f" {told['active']} active cores, {number(told['free'])} {told['unit']} promised to nobody"
    )
    tables = tuple(grid_of(one) for one in map_tables(told))
    return Section("Layout", (), (Picture(MachineDrawing(told), says),), tables)


def _answer(
    run: Run, explained: Sequence[Explanation], others: Sequence[Run], advice: Advice | None
) -> Section:
    """Three sentences: what is used, what of it is lost most, and what the others would use."""
    frame = frame_of(run)
    lines = [f"{frame_line(frame).capitalize()}."]
    lines += [_greatest(explained)]
    for other in others:
        used = frame_of(other).used.mean
        before = frame.used.mean
        if used is not None and before is not None:
            word = "fewer" if used < before else "more"
            text = f"{other.name} uses {number(abs(before - used))} {frame.unit} {word}"
            lines.append(f"{text}: {number(used)} in place of {number(before)}.")
    lines += [advice.told] if advice is not None else []
    return Section("Answer", (*lines, *unsteady_lines(run), *wide_line(run)))


def _greatest(explained: Sequence[Explanation]) -> str:
    """The cause that costs most beside useful work, of all partitions."""
    causes = [
        (row.value, row.label, one.breakdown.partition)
        for one in explained
        for row in one.rows
        if row.label != _USEFUL
    ]
    total = sum(one.total for one in explained)
    useful = sum(row.value for one in explained for row in one.rows if row.label == _USEFUL)
    cost, label, name = max(causes)
    return (
        f"{number(useful)} of {number(total)} cores are useful work; the most of the rest is"
        f" {label} of {name}, {number(cost)} cores."
    )


def _cores(run: Run, explained: Sequence[Explanation]) -> Section:
    largest = sorted(explained, key=lambda one: -one.total)[:_MOST_DRAWN]
    pictures = [Picture(waterfall(one), f"{one.title}: as in the table beneath") for one in largest]
    lines = [one.paragraph for one in largest]
    tables = [*(grid_of(one) for one in run_tables(run)), *(one.grid() for one in explained)]
    plain = [_without_words(one) for one in tables]
    return Section("Where the cores went", lines, pictures, plain)


def _without_words(one: Grid) -> Grid:
    """The paragraph stands above."""
    return replace(one, paragraphs=())


def _against(base: Run, other: Run) -> Section:
    """What another layout pays more or less, partition by partition."""
    shared = [name for name in base.partitions if name in other.partitions]
    told = [explain(other, name, base, name) for name in shared]
    pictures = [Picture(waterfall(one), f"{one.title}: as in the table beneath") for one in told]
    tables = [_without_words(one.grid()) for one in told]
    title = f"{other.name} against {base.name}"
    lines = [one.paragraph for one in told]
    return Section(title, lines, pictures[:_MOST_DRAWN], tables)


def _advice(told: Advice) -> Section:
    """Doing nothing first, then the best few with their reasons and commands."""
    lines = [line for line in advice_lines(told) if line]
    commands = tuple(command_lines(told))
    picture = Picture(advice_picture(told), f"Advice, before and after: {told.told}")
    return Section("Advice", lines, (picture,), (grid_of(advice_table(told)),), commands)


def _over_time(run: Run) -> Section:
    told = course_of(run, 0)
    says = "Cores of each partition by interval, against entitlement, pool and capacity"
    tables = tuple(grid_of(one) for one in course_tables(told, _WIDE))
    lines = ("The first replication, interval by interval.",)
    return Section("Over time", lines, (Picture(course_picture(told), says),), tables)


def _trust(run: Run) -> Section:
    scenario = scenario_of(run)
    machine = scenario.machine
    studies = studies_of(machine, frozenset(_profiles(run)))
    table = trust_table(studies)
    lines = ["Studies of what this run uses, held against published results:"]
    if table is None:
        lines = ["No study touches this machine or these profiles: nothing published holds it."]
    lines.append("What nothing publishes of the machine, and is assumed within its range, follows.")
    tables = [*([grid_of(table)] if table is not None else []), grid_of(assumed_table(machine))]
    return Section("How far it can be trusted", lines, (), tables)


def _profiles(run: Run) -> Iterator[str]:
    """Names of the profiles that the partitions' work has."""
    for one in scenario_of(run).data.get("partition", []):
        work = one.get("workload", {})
        for each in work if isinstance(work, list) else [work]:
            profile = each.get("profile")
            name = profile.get("base") if isinstance(profile, dict) else profile
            if isinstance(name, str):
                yield name


def _origin(runs: Sequence[Run]) -> Section:
    lines = []
    for run in runs:
        made = run.provenance
        count = len(made["replications"])
        lines.append(
            f"{run.id}: homenode {made['version']}, seed {made['seed']}, {count} replications,"
            f" {made['date'][:10]}; intervals are 95 % of the mean."
        )
    return Section("Where it is from", lines)
