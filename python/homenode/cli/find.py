"""`homenode run --find`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from homenode.cli.output import show, show_json, show_text, tell
from homenode.cli.progress import progress_bar
from homenode.cli.ran import run_json, show_run
from homenode.errors import HomenodeError, ScenarioError
from homenode.simulate.runner import InterruptedRun
from homenode.simulate.runner.ready import all_ready
from homenode.simulate.scenario import Scenario
from homenode.simulate.seek.look import Found


def run_find(
    scenario: Scenario,
    asked: Mapping[str, str | None],
    options: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Find what is asked for, at each point of a sweep; print the way, and the run it leads to."""
    points = all_ready(list(_asking(scenario, asked).expand()))
    answers: list[dict[str, object]] = []
    kept: list[str] = []
    for number, point in enumerate(points, start=1):
        count = f" ({number} of {len(points)})" if len(points) > 1 else ""
        try:
            found = _find(point, options, count)
        except InterruptedRun as stopped:
            stopped.earlier = (*kept, *stopped.earlier)
            if answers:
                show_json({"runs": answers})
            raise
        kept.append(found.run.id)
        if not as_json:
            show_found(found, point.point)
            continue
        answer = {"find": found.as_json(), **run_json(found.run)}
        if len(points) > 1:
            answers.append({"point": dict(point.point), **answer})
        else:
            show_json(answer)
    if answers:
        show_json({"runs": answers})


def _asking(scenario: Scenario, asked: Mapping[str, str | None]) -> Scenario:
    """The scenario with what the command line asks for in place of what it says itself."""
    given = {key: value for key, value in asked.items() if value is not None}
    told = scenario.looks_for
    if told is None and "of" not in given:
        raise HomenodeError(
            f"--{next(iter(given))} says what to look for",
            next_step='add --find users, as in --find users --response "2 s"',
        )
    same = told is not None and told.of == given.get("of", told.of)
    before = scenario.data["find"] if same else {}
    try:
        return scenario.with_({"find": {**before, **given}}) if given else scenario
    except ScenarioError as error:
        # Of the command line, not of a place in the file.
        step = error.next_step
        raise HomenodeError(
            f"--find: {error.problem}", there=error.there, next_step=step
        ) from error


def _find(point: Scenario, options: Mapping[str, Any], count: str) -> Found:
    """What one point of a sweep looks for, with a progress bar."""
    with progress_bar(f"running {point.name}{count}") as progress:

        def doing(words: str) -> None:
            if progress is not None:
                progress(0.0, None, f"{words}{count}")

        return point.find(progress=progress, doing=doing, **options)


def show_found(found: Found, point: Mapping[str, Any]) -> None:
    """The runs on the way, the answer in a sentence, and the figures of the run it is of."""
    from homenode.report.found import found_lines, found_table

    if point:
        show_text(", ".join(f"{axis} = {value}" for axis, value in point.items()))
    show(found_table(found))
    show_text(["", *found_lines(found), ""])
    show_run(found.run, {}, as_json=False)
    tell(f"all {len(found.runs)} runs are kept: {', '.join(run.id for run in found.runs)}")
