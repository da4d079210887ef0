"""A run as the command line shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from homenode.cli.output import show, show_json, show_text, tell

if TYPE_CHECKING:
    from homenode.simulate.run import Run

_JSON_KEYS = ("run", "partitions", "workload_category", "machine", "steady")


def run_json(done: Run) -> dict[str, object]:
    """What `--json` prints of a run; the category is that of machines which have one, scores those
    of benchmarks.
    """
    from homenode.report.scores import score_of
    from homenode.simulate.kept.changed import changes_of
    from homenode.simulate.kept.frame import frame_of
    from homenode.simulate.kept.hours import by_hour

    summary: Mapping[str, object] = done.summary
    told = {key: summary[key] for key in _JSON_KEYS if key in summary}
    workloads = done.summary.get("workloads", {})
    told["partitions"] = {
        name: {**metrics, "workloads": workloads[name]} if name in workloads else metrics
        for name, metrics in done.summary["partitions"].items()
    }
    changes = changes_of(done.spec)
    told |= {"changes": changes} if changes else {}
    scores = {name: score_of(done, name) for name in done.partitions}
    found = {name: {"unit": s[0], **s[1].as_json()} for name, s in scores.items() if s is not None}
    told["frame"] = frame_of(done).as_json()
    day = by_hour(done)
    told |= {"day": day.as_json()} if day is not None else {}
    return {**told, "scores": found} if found else told


def show_run(done: Run, point: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a run's figures."""
    from homenode.report.day import day_line, day_tables
    from homenode.report.precision import wide_line
    from homenode.report.runs import frame_line, run_tables, unsteady_lines
    from homenode.report.told_work import found_lines
    from homenode.simulate.kept.changed import changed_lines
    from homenode.simulate.kept.frame import frame_of
    from homenode.simulate.kept.hours import by_hour

    if as_json:
        show_json(run_json(done))
        return
    if point:
        show_text(", ".join(f"{axis} = {value}" for axis, value in point.items()))
    processors, *others = run_tables(done)
    day = by_hour(done)
    by_the_hour: list[Any] = [] if day is None else [*day_tables(day), day_line(day)]
    show(processors, frame_line(frame_of(done)), *others, *by_the_hour)
    show_text(found_lines(done))
    show_text(changed_lines(done.spec))
    show_text(unsteady_lines(done))
    show_text(wide_line(done))
    plural = "s" if done.replications > 1 else ""
    tell(
        f"run {done.id}: {done.replications} replication{plural} of "
        f"{done.summary['machine']['simulated_s']:g} s, seed {done.seed}, kept in {done.path}"
    )
