"""What several runs were made to find, as a table and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from homenode.model.numbers import number, with_interval
from homenode.report.scores import score_text
from homenode.report.tables import plain_table
from homenode.simulate.seek.users import STOP_RULE, UsersFound

if TYPE_CHECKING:
    from homenode.simulate.seek.look import Found
    from homenode.simulate.seek.warehouses import ScoreFound


def found_table(found: Found) -> Table:
    """A row a run, by rising numbers."""
    if not isinstance(found, UsersFound):
        table = plain_table("warehouses", "etr/s", title=f"Score of {found.partition}")
        table.add_column("run")
        for count, run in found.trials:
            rate = run.metric(found.partition, "etr_per_s")
            table.add_row(f"{count:,}", with_interval(rate, 1), escape(run.id))
        return table
    table = plain_table("users", "response s", "", "etr/s", title=f"Users of {found.partition}")
    table.add_column("run")
    for one in sorted(found.trials, key=lambda one: one.users):
        response = with_interval(one.response_s, 3)
        verdict = "under" if one.under else "over"
        table.add_row(
            f"{one.users:,}",
            response,
            verdict,
            with_interval(one.rate_per_s, 1),
            escape(one.run.id),
        )
    return table


def found_lines(found: Found) -> list[str]:
    """The answer, how exact it is, and what it is in the benchmark's own unit."""
    if not isinstance(found, UsersFound):
        return _score_lines(found)
    return [_users_line(found), _exact_line(found)]


def _users_line(found: UsersFound) -> str:
    best, over = found.best, found.over
    text = (
        f"{found.partition}: {found.users:,} users with a mean response under "
        f"{found.response_s:g} s ({with_interval(best.response_s, 3)} s)"
        f"{score_text(best.run, found.partition)}."
    )
    if over is None:
        return text
    if over.response_s.mean is None:
        return f"{text} With {over.users:,} there is no steady state."
    return f"{text} With {over.users:,} it is {number(over.response_s.mean, 3)} s."


def _exact_line(found: UsersFound) -> str:
    off = found.ci95
    if off is None:
        return f"Told {STOP_RULE}; how far chance may move it takes more replications to tell."
    return (
        f"Told {STOP_RULE}; the replications scatter by ± {max(round(off), 1):,} users (95 %). "
        "All runs see the same random numbers."
    )


def _score_lines(found: ScoreFound) -> list[str]:
    first, last = found.trials[0][0], found.trials[-1][0]
    score = score_text(found.run, found.partition, found.rate_per_s)
    rate = found.rate_per_s
    if rate.mean is None:
        return [f"{found.partition}: no score: {rate.reason}."]
    return [
        (
            f"{found.partition}: {with_interval(rate, 1)} transactions a second, mean over "
            f"{first:,} to {last:,} warehouses{score}."
        )
    ]
