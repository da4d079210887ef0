"""How many runs a claim takes, case by case."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from homenode.errors import listed
from homenode.hosts.reduce.plan import Plan
from homenode.model.numbers import NOTHING
from homenode.report.hosts.words import percent
from homenode.report.tables import plain_table


def plan_table(plans: Sequence[Plan], deviation: float) -> Table:
    """A row a case."""
    several = len({plan.cell.key.processors for plan in plans}) > 1
    systems = len({plan.cell.key.system for plan in plans}) > 1
    table = plain_table(
        "case",
        "runs here",
        "CV %",
        "show %",
        "runs of each host",
        "pairs in turn",
        title=f"To see {100 * deviation:g} %",
    )
    for plan in plans:
        key = plan.cell.key
        table.add_row(
            escape(
                f"{key.case}{f' of {key.system}' if systems else ''}"
                f"{f', {key.processors} CPUs' if several else ''}"
            ),
            str(len(plan.cell.runs)),
            percent(plan.cv),
            percent(plan.shows),
            NOTHING if plan.runs is None else f"{plan.runs:,}",
            NOTHING if plan.pairs is None else f"{plan.pairs:,}",
        )
    return table


def plan_sentences(plans: Sequence[Plan], deviation: float) -> list[str]:
    """What all cases together take, and how to read the table."""
    lost = [plan.cell.key.case for plan in plans if plan.runs is None]
    most = max((plan for plan in plans if plan.runs is not None), key=_runs, default=None)
    lines = []
    if most is not None:
        lines.append(
            f"All cases but those with a dash: --repeats {most.runs} ({most.cell.key.case} takes "
            "the most); a quieter host takes fewer."
            if lost
            else f"All cases: --repeats {most.runs} ({most.cell.key.case} takes the most); a "
            "quieter host takes fewer."
        )
    if lost:
        lines.append(f"No number of runs shows {100 * deviation:g} % in {listed(lost, 6)}.")
    fewest = min(len(plan.cell.runs) for plan in plans)
    lines.append(
        "CV: variation from run to run of this result; show: the least gain that as many runs of "
        "another host would show, four times in five."
    )
    if fewest < 6:
        lines.append(
            f"The noise of {fewest} runs is known badly itself: take these numbers for a size."
        )
    return lines


def _runs(plan: Plan) -> int:
    return plan.runs or 0
