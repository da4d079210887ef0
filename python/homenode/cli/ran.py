"""A run, or a solved layout, as the command line shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from homenode.cli.output import show, show_json, show_text, tell

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.simulate.kept.figures import Figures
    from homenode.simulate.run import Run

_JSON_KEYS = ("run", "partitions", "workload_category", "machine", "steady", "unanswered")


def figures_json(of: Figures) -> dict[str, object]:
    """What `--json` prints of a layout, run or solved; the category is that of machines which have
    one, scores those of benchmarks.
    """
    from homenode.report.scores import score_of
    from homenode.simulate.kept.frame import frame_of

    summary: Mapping[str, object] = of.summary
    told = {key: summary[key] for key in _JSON_KEYS if key in summary}
    workloads = of.summary.get("workloads", {})
    told["partitions"] = {
        name: {**metrics, "workloads": workloads[name]} if name in workloads else metrics
        for name, metrics in of.summary["partitions"].items()
    }
    told["frame"] = frame_of(of).as_json()
    scores = {name: score_of(of, name) for name in of.partitions}
    found = {name: {"unit": s[0], **s[1].as_json()} for name, s in scores.items() if s is not None}
    return {**told, "scores": found} if found else told


def run_json(done: Run) -> dict[str, object]:
    """What `--json` prints of a run."""
    from homenode.simulate.kept.changed import changes_of
    from homenode.simulate.kept.hours import by_hour

    told = figures_json(done)
    changes = changes_of(done.spec)
    told |= {"changes": changes} if changes else {}
    day = by_hour(done)
    return {**told, "day": day.as_json()} if day is not None else told


def show_figures(
    of: Figures, point: Mapping[str, object], more: list[Table | str] | None = None
) -> None:
    """Print the tables of a layout, run or solved, with `more` after them."""
    from homenode.report.runs import frame_line, run_tables
    from homenode.simulate.kept.frame import frame_of

    if point:
        show_text(", ".join(f"{axis} = {value}" for axis, value in point.items()))
    processors, *others = run_tables(of)
    show(processors, frame_line(frame_of(of)), *others, *(more or []))


def show_run(done: Run, point: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a run's figures."""
    from homenode.report.day import day_line, day_tables
    from homenode.report.equals import equals_lines
    from homenode.report.precision import wide_line
    from homenode.report.runs import unanswered_lines, unsteady_lines
    from homenode.report.told_work import found_lines
    from homenode.simulate.kept.changed import changed_lines
    from homenode.simulate.kept.hours import by_hour

    if as_json:
        show_json(run_json(done))
        return
    day = by_hour(done)
    show_figures(done, point, [] if day is None else [*day_tables(day), day_line(day)])
    show_text(found_lines(done))
    show_text(changed_lines(done.spec))
    show_text([*unsteady_lines(done), *unanswered_lines(done), *equals_lines(done)])
    show_text(wide_line(done))
    plural = "s" if done.replications > 1 else ""
    tell(
        f"run {done.id}: {done.replications} replication{plural} of "
        f"{done.summary['machine']['simulated_s']:g} s, seed {done.seed}, kept in {done.path}"
    )
