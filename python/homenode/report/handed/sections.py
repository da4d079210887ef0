"""What stands in a report: the question, the layout, the answer, where the cores went, what would
help, how far it can be trusted, where it is from.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from homenode.errors import listed
from homenode.evidence.study import StudyResult
from homenode.model.catalog import profile
from homenode.model.catalog import profiles as shipped
from homenode.model.numbers import number
from homenode.planner import Advice
from homenode.planner.reasons import told_change
from homenode.report import charts
from homenode.report.advice import advice_lines, advice_table, command_lines
from homenode.report.advice_pictures import advice_picture
from homenode.report.course_pictures import course_parts
from homenode.report.courses import course_tables
from homenode.report.handed.section import Picture, Section, grid_of
from homenode.report.handed.trust import (
    assumed_table,
    outcomes,
    studies_of,
    trust_line,
    trust_table,
)
from homenode.report.machine_drawing import MachineDrawing
from homenode.report.machine_map import map_of
from homenode.report.map_text import map_tables
from homenode.report.pictures import waterfall
from homenode.report.precision import wide_line
from homenode.report.runs import frame_line, run_tables, unanswered_lines, unsteady_lines
from homenode.simulate.explain.explanation import Explanation, explain
from homenode.simulate.kept.course import course_of
from homenode.simulate.kept.frame import frame_of
from homenode.simulate.kept.grid import Grid
from homenode.simulate.kept.points import changes_in_words
from homenode.simulate.run import Run
from homenode.simulate.scenario import Scenario

if TYPE_CHECKING:
    from homenode.model.scenario import Scenario as ModelScenario

_MOST_DRAWN = 4
"""Partitions whose waterfall is drawn, those that use most; of all there is a table."""
_MOST_COURSES = 9
"""Partitions of a drawing over time: of three rows letters are read on paper too."""
_WIDE = 200
_USEFUL = "useful work"
_MOST_CHANGES = 6
_DIGITS = 12
"""Of a sum that names a state or a file."""


def sections(
    runs: Sequence[Run], question: str | None = None, advice: Advice | None = None
) -> list[Section]:
    """Of one run, or of a run and those held against it: the first is the layout as it is.
    `advice` is what the planner says of it.
    """
    base, *others = runs
    found = [_question(base, question), _layout(base)]
    explained = [explain(base, name) for name in base.partitions]
    studies = outcomes(studies_of(scenario_of(base).machine, frozenset(_profiles(base))))
    third = _would_change(base, others, advice) or trust_line(studies)
    found += [_answer(base, explained, third), _cores(base, explained)]
    found += [_against(base, other) for other in others]
    found += [_advice(advice)] if advice is not None else []
    return [*found, _over_time(base), _trust(studies), _origin(runs), _assumed(base)]


def _names(base: Run, other: Run) -> tuple[str, str]:
    """Of two runs: those of their scenarios, or of the runs where these are the same."""
    return (base.id, other.id) if base.name == other.name else (base.name, other.name)


def scenario_of(run: Run) -> ModelScenario:
    """What a run was made of."""
    return Scenario.load(run.path / "scenario.toml")


def _question(run: Run, question: str | None) -> Section:
    title = scenario_of(run).data.get("title")
    asked = question or (f"What does this layout cost? {title}" if title else "")
    what = f"{len(run.partitions)} partitions on {map_of(scenario_of(run), run)['title']}"
    told = f"{what}; run {run.id}{_with_changes(run)}."
    return Section("Question", (asked or "What does this layout cost?", told))


def _with_changes(run: Run) -> str:
    """` with db.home = drawer1`: what tells it from other runs of its scenario."""
    return f" with {changes_in_words(run.changes)}" if run.changes else ""


def _layout(run: Run) -> Section:
    told = map_of(scenario_of(run), run)
    says = (
        "Machine map: the cores of each chip by owner, with homes and memory beside;"
        f" {told['active']} active cores, {number(told['free'])} {told['unit']} promised to nobody"
    )
    tables = tuple(grid_of(one) for one in map_tables(told))
    return Section("Layout", (), (Picture(MachineDrawing(told), says),), tables)


def _answer(run: Run, explained: Sequence[Explanation], third: str) -> Section:
    """Three sentences: what is used, what of it is lost most, and what would change it or, where
    nobody asked, how far it can be trusted. Below what keeps it from being sure, if anything.
    """
    lines = (f"{frame_line(frame_of(run)).capitalize()}.", _greatest(explained), third)
    doubts = (*unsteady_lines(run), *unanswered_lines(run), *wide_line(run))
    return Section("Answer", (*lines, *doubts))


def _would_change(run: Run, others: Sequence[Run], advice: Advice | None) -> str:
    """What other layouts use, and what is advised, in a sentence; nothing if neither was asked."""
    frame, told = frame_of(run), []
    for other in others:
        used, before = frame_of(other).used.mean, frame.used.mean
        if used is not None and before is not None:
            word = "fewer" if used < before else "more"
            text = f"{_names(run, other)[1]} uses {number(abs(before - used))} {frame.unit} {word}"
            told.append(f"{text}, {number(used)} in place of {number(before)}")
    if advice is not None:
        word = "advice" if told else "Advice"
        told.append(f"{word}: {advice.told.rstrip('.')}{_first_changes(advice)}")
    return f"{'; '.join(told)}." if told else ""


def _first_changes(advice: Advice) -> str:
    """What changes in the best layout: `: lpar1 to book1 and lpar2 with 15 virtual processors`."""
    changes = [told_change(one) for best in advice.best[:1] for one in best.changes]
    return f": {listed(changes, _MOST_CHANGES)}" if changes else ""


def _greatest(explained: Sequence[Explanation]) -> str:
    """The cause that costs most beside useful work, of all partitions."""
    causes = [
        (row.value, row.label, one.breakdown.partition)
        for one in explained
        for row in one.rows
        if row.label != _USEFUL
    ]
    # Of what the tables round to their own sums: the frame's, a line above, is rounded once.
    total = math.fsum(cores for one in explained for cores in one.breakdown.cores.values())
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
    before, after = _names(base, other)
    title = f"{after} against {before}"
    found = f"{other.id} is of {other.name}{_with_changes(other)}."
    lines = [*([found] if other.changes else []), *(one.paragraph for one in told)]
    return Section(title, lines, pictures[:_MOST_DRAWN], tables)


def _advice(told: Advice) -> Section:
    """Doing nothing first, then the best few with their reasons and commands."""
    lines = [line for line in advice_lines(told) if line]
    commands = tuple(command_lines(told))
    picture = Picture(advice_picture(told), f"Advice, before and after: {told.told}")
    return Section("Advice", lines, (picture,), (grid_of(advice_table(told)),), commands)


def _over_time(run: Run) -> Section:
    told = course_of(run, 0)
    says = "The first replication, interval by interval, as in the tables beneath"
    pictures = [
        Picture(part, f"{says}. {charts.said([part])}")
        for part in course_parts(told, _MOST_COURSES)
    ]
    tables = tuple(grid_of(one) for one in course_tables(told, _WIDE))
    return Section("Over time", ("The first replication, interval by interval.",), pictures, tables)


def _trust(studies: list[StudyResult]) -> Section:
    table = trust_table(studies)
    where = "" if table is None else "The table holds studies of what this run uses against that. "
    assumes = "What nothing publishes, of the machine and of the work, is assumed, as listed at the"
    lines = [trust_line(studies), f"{where}{assumes} end."]
    tables = [] if table is None else [grid_of(table)]
    return Section("How far it can be trusted", lines, (), tables)


def _assumed(run: Run) -> Section:
    """Last, for it is long and small print."""
    profiles = [profile(name) for name in dict.fromkeys(_profiles(run)) if name in shipped()]
    told = [assumed_table(scenario_of(run).machine), *map(assumed_table, profiles)]
    lines = ("Each figure with the range that it may have, and why it is taken to be that.",)
    return Section("What is assumed", lines, (), [grid_of(one) for one in told])


def _profiles(run: Run) -> Iterator[str]:
    """Names of the profiles that the partitions' work has, that of virtual machines among it."""
    yield from _named(scenario_of(run).data.get("partition", []))


def _named(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            found = one.get("profile")
            name = found.get("base") if isinstance(found, dict) else found
            if isinstance(name, str):
                yield name
            for inner in one.values():
                yield from _named(inner)


def _origin(runs: Sequence[Run]) -> Section:
    lines = []
    for run in runs:
        made = run.provenance
        count = len(made["replications"])
        commit = made.get("commit")
        version = f"homenode {made['version']}{f' of {commit[:_DIGITS]}' if commit else ''}"
        content = (run.path / "scenario.toml").read_bytes()
        lines.append(
            f"{run.id}: {version}, seed {made['seed']}, {count} replications, {made['date'][:10]};"
            " intervals are 95 % of the mean. The SHA-256 of its scenario begins with"
            f" {hashlib.sha256(content).hexdigest()[:_DIGITS]}."
        )
    return Section("Where it is from", lines)
