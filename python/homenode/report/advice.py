"""Advice as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from homenode.errors import listed
from homenode.model.numbers import NOTHING, number, with_interval
from homenode.planner.reasons import told_change
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.planner.advice import Advice, Answer, Change
    from homenode.planner.questions import Most

_SEVERAL = 3
"""Changes that are alike and told in one line."""


def advice_table(told: Advice) -> Table:
    """A row for the layout as it is, then one for each that is advised."""
    money = told.currency is not None
    heads = ["layout", "cores", "saves", "response ms", "headroom", *(["money"] if money else [])]
    goal = {"headroom": "most headroom"}.get(told.goal, f"least {told.goal}")
    table = plain_table(*heads, title=f"Advice for {told.name}: {goal}")
    table.add_column("changes", justify="right")
    table.add_column("run")
    for count, answer in enumerate((told.do_nothing, *told.best)):
        table.add_row(*_cells(answer, count, told.currency))
    return table


def _cells(answer: Answer, count: int, currency: str | None) -> list[str]:
    cells = [
        "do nothing" if not count else f"advice {count}",
        with_interval(answer.cores),
        with_interval(answer.saving_cores) if count else NOTHING,
        with_interval(answer.response_ms),
        number(answer.headroom),
    ]
    if currency is not None:
        cells.append(f"{number(answer.money, 0)} {currency}")
    return [*cells, str(len(answer.changes)), answer.run or NOTHING]


def advice_lines(told: Advice) -> Iterator[str]:
    """The verdict, the changes with their reasons, what is forbidden."""
    yield told.told
    for count, answer in enumerate(told.best, start=1):
        yield ""
        yield f"Advice {count}:"
        yield from _changes(answer)
    for named in told.conflict if len(told.conflict) > 1 else ():  # one alone is told above
        yield f"  {named}"
    if told.refused:
        yield ""
        yield "Forbidden, though it would save more:"
        yield from (f"  {one}" for one in told.refused)
    if told.unfit:
        yield ""
        yield "Not possible, or not looked at:"
        yield from (f"  {one}" for one in told.unfit)
    yield ""
    yield _looked_at(told)


def command_lines(told: Advice) -> Iterator[str]:
    """What brings the best advice about, and what takes it back."""
    if told.best and told.best[0].commands:
        yield ""
        yield "To bring advice 1 about (homenode runs none of it):"
        yield from told.best[0].commands
        if told.best[0].back:
            yield ""
            yield "And back:"
            yield from told.best[0].back


def _changes(answer: Answer) -> Iterator[str]:
    """A line a change; of several that are alike, one line with the reason of the first."""
    alike: dict[tuple[str, str, str], list[Change]] = {}
    for change in answer.changes:
        key = (change.word, str(change.before), str(change.after))
        alike.setdefault(key, []).append(change)
    for changes in alike.values():
        first, several = changes[0], len(changes) >= _SEVERAL
        for change in changes if not several else ():
            yield f"  {told_change(change)}{f': {change.why}' if change.why else ''}"
        if several:
            names = listed((change.partition for change in changes), 6)
            told = told_change(replace(first, partition=names))
            yield f"  {told}; {first.partition}: {first.why}"


def _looked_at(told: Advice) -> str:
    every = ", all there are" if told.proven else ""
    how = "simulated" if told.simulated else "solved"
    which = f"{told.solved:,} layout{'s were' if told.solved != 1 else ' was'} {how}{every}"
    if told.do_nothing.run is None:
        return f"{which}."
    several = any(len(one.changes) > 1 for one in told.best)
    parts = ' What "without it" says is of the search, not of these runs.' if several else ""
    pairs = "of what is saved from pairs of replications with the same arrivals"
    return f"{which}; ± 95 %, {pairs}.{parts}"


def most_line(told: Most) -> str:
    """How much fits, and what would not hold beyond."""
    amount = f"{told.most:,.0f}" if told.what.startswith("more") else f"{told.most:.2f}"
    beyond = f" Beyond: {told.limit}." if told.limit else ""
    if told.late or told.stopped:
        why = "the time was over" if told.late else "it was interrupted"
        missing = "What a response takes now was not simulated" if told.found else None
        beyond += f" {missing or 'More was not looked for'}: {why}."
    if not told.most:
        return f"{amount} {told.what}.{beyond}"
    sure = f" (run {told.run})" if told.run else ", no run confirms it"
    waits = ""
    if told.response_ms is not None:
        before = "" if told.response_ms_now is None else f" for {number(told.response_ms_now)} now"
        waits = f", and a response takes {number(told.response_ms)} ms{before}"
    return f"{amount} {told.what}: {number(told.cores)} cores are used then{waits}{sure}.{beyond}"
